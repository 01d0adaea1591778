"""Programs read the table, its menu, its news and its past over the JSON interface, each for its seat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from engine import catalogue, log
from service import create_app
from service.app import App
from service.people.proof import ProvenPerson
from service.store.schema import people
from service.tables import access
from service.timing import Calendar
from service.web.api.routes import make_document
from tests import apps
from workers import referee

PLAYERS = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Bert", "address": "bert@example.org"}]


@pytest.fixture
def app(tmp_path, monkeypatch) -> Iterator[App]:
    with apps.run_app(apps.make_settings(tmp_path), apps.FakeTime()) as app:
        monkeypatch.setattr(app.wakeups, "wake", lambda queue: referee.run() if queue == "referee" else None)
        yield app


@pytest.fixture
def client(app) -> FlaskClient:
    return create_app(app).test_client()


def get(client: FlaskClient, path: str, **headers: str) -> TestResponse:
    return client.get(f"/api/v1{path}", headers=headers)


def start_table(client: FlaskClient, game: str) -> tuple[list[str], str]:
    """Open a table where both players sit; return their links and the spectator's link."""
    opened = client.post("/api/v1/tables", json={"game": game, "players": PLAYERS}).json
    for link in opened["links"]:
        assert client.post(f"/api/v1/t/{link}/sit", json={}).status_code == 200
    return opened["links"], opened["watch"]


def make_move(client: FlaskClient, links: list[str]) -> tuple[str, str]:
    """Make the first move of a seat that may act; return its link and the move."""
    for link in links:
        seen = get(client, f"/t/{link}").json
        if seen["menu"]:
            sent = {"move": seen["moves"][0], "seen": seen["length"] - 1}
            assert client.post(f"/api/v1/t/{link}/moves", json=sent).status_code == 200
            return link, sent["move"]
    raise AssertionError("no seat may act")


def finish_game(client: FlaskClient, links: list[str]) -> None:
    """Resign for a seat, so that the game is over."""
    assert client.post(f"/api/v1/t/{links[1]}/moves", json={"move": "resign"}).status_code == 200


def test_an_answer_that_the_client_has_already_is_304(client):
    (link, other), _ = start_table(client, "kaiser")
    for path in (f"/t/{link}", f"/t/{link}/events?since=2", f"/t/{link}/events?since=2&language=de"):
        first = get(client, path)
        assert first.headers["Cache-Control"] == "private, no-cache"
        again = get(client, path, **{"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
        assert again.headers["ETag"] == first.headers["ETag"]
    tags = {get(client, f"/t/{one}").headers["ETag"] for one in (link, other)}
    assert len(tags) == 2
    make_move(client, [link, other])
    assert get(client, f"/t/{link}", **{"If-None-Match": next(iter(tags))}).status_code == 200
    assert get(client, f"/t/{link}").headers["ETag"] not in tags


def test_a_new_deadline_changes_the_etag(client, app):
    """A table can change without an entry: a player's quiet hours move the deadline."""
    (link, other), _ = start_table(client, "kaiser")
    mine = next(one for one in (link, other) if get(client, f"/t/{one}").json["menu"])
    tag = get(client, f"/t/{link}").headers["ETag"]
    app.now.advance(3600)  # type: ignore[attr-defined]
    assert get(client, f"/t/{link}", **{"If-None-Match": tag}).status_code == 304
    place = access.find(app, mine)
    person = apps.load_table(app, place.table).seats[place.seat].person
    apps.change_calendar(app, ProvenPerson(person), Calendar("Europe/Amsterdam", (1, 13), weekends=True))
    assert get(client, f"/t/{link}", **{"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize("name", catalogue.find_all())
def test_each_seat_reads_the_entries_redacted_for_it(client, app, name):
    """While a table is played: the redacted entries, no more; afterwards all of them."""
    links, watch = start_table(client, name)
    for _ in range(6):
        make_move(client, links)
    snapshot = apps.load_table(app, access.find(app, watch).table)
    written = apps.load_entries(app, snapshot)
    for seat, link in [*enumerate(links), (None, watch)]:
        answer = get(client, f"/t/{link}/events").json
        assert answer["next"] == answer["length"] == len(answer["entries"]) == len(written)
        for received, entry in zip(answer["entries"], written, strict=True):
            redacted = log.redact(snapshot.game, entry, seat)
            assert received["move"] == redacted.move
            assert [received["events"], received["draws"]] == json.loads(
                msgspec.json.encode([redacted.events, redacted.draws])
            )
    finish_game(client, links)
    answer = get(client, f"/t/{watch}/events").json
    bodies = [link["entry"] for link in get(client, f"/t/{watch}/log").json["entries"]]
    assert [entry["move"] for entry in answer["entries"]] == [body["move"] for body in bodies]
    assert [entry["draws"] for entry in answer["entries"]] == [body["draws"] for body in bodies]


def test_news_come_in_portions(client):
    links, _ = start_table(client, "kaiser")
    for _ in range(5):
        make_move(client, links)
    length, since, received = get(client, f"/t/{links[0]}").json["length"], 1, []
    while since < length:
        answer = get(client, f"/t/{links[0]}/events?since={since}&limit=3").json
        received += [entry["seq"] for entry in answer["entries"]]
        since = answer["next"]
    assert received == list(range(1, length))
    after = get(client, f"/t/{links[0]}/events?since={length + 5}").json
    assert (after["entries"], after["next"]) == ([], length + 5)


def test_prose_and_refusals_are_in_the_language_asked_for(client):
    links, _ = start_table(client, "kaiser")
    make_move(client, links)

    def prose(query: str = "", **headers: str) -> str:
        entries = get(client, f"/t/{links[0]}/events{query}", **headers).json["entries"]
        return " ".join(sentence for entry in entries for sentence in entry["prose"])

    texts = {code: prose(f"?language={code}") for code in ("en", "nl", "fr", "de")}
    assert len(set(texts.values())) == 4
    assert prose() == texts["en"]
    assert prose(**{"Accept-Language": "fr-BE, fr;q=0.9, en;q=0.3"}) == texts["fr"]
    assert "führt" in get(client, "/t/nolink", **{"Accept-Language": "de"}).json["refused"]
    boxes = [get(client, f"/games/kaiser?language={code}").json["options"][0]["about"] for code in ("en", "de")]
    assert boxes[0] != boxes[1]


def test_a_replay_shows_what_this_seat_could_see_then(client, app):
    links, watch = start_table(client, "kurier")
    for _ in range(5):
        make_move(client, links)
    snapshot = apps.load_table(app, access.find(app, watch).table)
    for seq in (2, 3, 5, snapshot.row.length - 1):
        then = apps.load_past(app, snapshot, seq)
        for seat, link in [*enumerate(links), (None, watch)]:
            moment = get(client, f"/t/{link}/replay/{seq}").json
            assert moment["receipt"] == apps.load_receipt(app, snapshot, seq)
            assert moment["entry"]["seq"] == seq
            view = snapshot.game.view(then.state, seat) if then.state is not None else None
            assert moment["view"] == json.loads(msgspec.json.encode(view))
    first = get(client, f"/t/{watch}/replay/0").json
    assert (first["view"], first["standing"]) == (None, [])


def test_through_other_eyes_only_after_the_end(client):
    links, watch = start_table(client, "kurier")
    at = get(client, f"/t/{watch}").json["length"] - 1
    peeping = get(client, f"/t/{watch}/replay/{at}?as=0")
    assert (peeping.status_code, "own eyes" in peeping.json["refused"]) == (422, True)
    own = get(client, f"/t/{links[0]}/replay/{at}?as=0").json["view"]
    finish_game(client, links)
    assert get(client, f"/t/{watch}/replay/{at}?as=0").json["view"] == own
    assert get(client, f"/t/{watch}/replay/{at}?as=7").status_code == 422


def test_entries_and_submissions_that_do_not_exist_are_404(client):
    links, _ = start_table(client, "kaiser")
    for path in ("replay/400", f"replay/{10**30}", "replay/-1", "submissions/77", f"submissions/{10**30}"):
        answer = get(client, f"/t/{links[0]}/{path}")
        assert (answer.status_code, bool(answer.json["refused"])) == (404, True), path
    assert get(client, "/games/chess").status_code == 404


def test_a_menu_can_be_followed_word_by_word(client):
    links, watch = start_table(client, "kaiser")
    link = next(one for one in links if get(client, f"/t/{one}").json["menu"])
    answer = get(client, f"/t/{link}/menu").json
    assert answer["count"] == len(answer["moves"])
    assert answer["way"] is None
    chosen: list[str] = []
    way: dict[str, Any] = {"move": None, "following": [answer["menu"][0]["verb"]]}
    while way["move"] is None:
        chosen.append(way["following"][0])
        way = get(client, f"/t/{link}/menu?said={' '.join(chosen)}").json["way"]
    assert way["move"] in answer["moves"]
    assert get(client, f"/t/{link}/menu?said=fly").status_code == 422
    assert get(client, f"/t/{watch}/menu").json["menu"] == []


def test_a_wrong_query_is_refused_with_a_sentence(client):
    links, _ = start_table(client, "kaiser")
    for query in ("since=-1", "since=x", f"since={10**20}", "limit=0", "limit=501", "language=it", "from=3"):
        answer = get(client, f"/t/{links[0]}/events?{query}")
        assert (answer.status_code, "address" in answer.json["refused"]) == (422, True), query


def test_a_verdict_that_takes_its_time_can_be_asked_for_later(client, app, monkeypatch):
    links, _ = start_table(client, "kaiser")
    monkeypatch.setattr(app.wakeups, "wake", lambda queue: None)
    link = next(one for one in links if get(client, f"/t/{one}").json["menu"])
    command = {"move": get(client, f"/t/{link}").json["moves"][0], "key": "k"}
    later = client.post(f"/api/v1/t/{link}/moves", json=command)
    assert (later.status_code, later.json["accepted"]) == (202, None)
    where = later.headers["Location"]
    assert client.get(where).json == {**later.json}
    referee.run()
    assert client.get(where).json["accepted"] is True
    assert client.post(f"/api/v1/t/{link}/moves", json=command).json == client.get(where).json
    other = next(one for one in links if one != link)
    assert client.get(where.replace(link, other)).status_code == 404


def test_a_link_moves_only_so_often_a_minute(tmp_path):
    with apps.run_app(apps.make_settings(tmp_path, moves_per_minute=3), apps.FakeTime()) as app:
        client = create_app(app).test_client()
        first, second = apps.start_table(app)
        answers = [client.post(f"/api/v1/t/{first.link}/moves", json={"move": "fly"}) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [202, 202, 202, 429]
        assert 0 < int(answers[-1].headers["Retry-After"]) <= 60
        assert answers[-1].json["refused"]
        assert client.post(f"/api/v1/t/{second.link}/moves", json={"move": "fly"}).status_code == 202


def test_a_program_opens_no_more_tables_than_people_would(tmp_path):
    with apps.run_app(apps.make_settings(tmp_path, opens_per_hour=1), apps.FakeTime()) as app:
        client, opening = create_app(app).test_client(), {"game": "kaiser", "players": PLAYERS}
        answers = [client.post("/api/v1/tables", json=opening) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [201, 429]
        assert 0 < int(answers[1].headers["Retry-After"]) <= 3_600


def test_an_api_opening_can_say_the_language_of_its_letters(client, app):
    opening = {"game": "kaiser", "players": PLAYERS, "language": "nl"}
    assert client.post("/api/v1/tables", json=opening).status_code == 201
    with app.store.reading() as connection:
        assert set(connection.execute(select(people.c.language)).scalars()) == {"nl"}
    assert client.post("/api/v1/tables", json={**opening, "language": "it"}).status_code == 422


def test_the_page_for_people_tells_every_operation(client):
    page = client.get("/api").get_data(as_text=True)
    for path, operations in make_document()["paths"].items():
        for method, operation in operations.items():
            assert f'id="{operation["operationId"]}"' in page
            assert f'<span class="verb">{method.upper()}</span> {path}</code>' in page
    for name in ("Seen", "Refusal", "Opening", "Choice"):
        assert f'<section class="sheet" id="{name}">' in page
