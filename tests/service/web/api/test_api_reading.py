"""What a program reads over the JSON interface: the table, its menu, its news and its past, each as its seat may."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from engine import catalogue, record
from service import create_app
from service.accounts import preferences
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


def begun(client: FlaskClient, game: str) -> tuple[list[str], str]:
    """The links of a table of that game where both sit, and the one for who looks on."""
    opened = client.post("/api/v1/tables", json={"game": game, "players": PLAYERS}).json
    for link in opened["links"]:
        assert client.post(f"/api/v1/t/{link}/sit", json={}).status_code == 200
    return opened["links"], opened["watch"]


def move(client: FlaskClient, links: list[str]) -> tuple[str, str]:
    """A seat that may act makes the first move of its menu."""
    for link in links:
        seen = get(client, f"/t/{link}").json
        if seen["menu"]:
            sent = {"move": seen["moves"][0], "seen": seen["length"] - 1}
            assert client.post(f"/api/v1/t/{link}/moves", json=sent).status_code == 200
            return link, sent["move"]
    raise AssertionError("nobody may act")


def finished(client: FlaskClient, links: list[str]) -> None:
    """Give up, so that the game is over."""
    assert client.post(f"/api/v1/t/{links[1]}/moves", json={"move": "resign"}).status_code == 200


def test_who_has_the_answer_already_is_told_so(client):
    (link, other), _ = begun(client, "kaiser")
    for path in (f"/t/{link}", f"/t/{link}/events?since=2", f"/t/{link}/events?since=2&language=de"):
        first = get(client, path)
        assert first.headers["Cache-Control"] == "private, no-cache"
        again = get(client, path, **{"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
        assert again.headers["ETag"] == first.headers["ETag"]
    tags = {get(client, f"/t/{one}").headers["ETag"] for one in (link, other)}
    assert len(tags) == 2
    move(client, [link, other])
    assert get(client, f"/t/{link}", **{"If-None-Match": next(iter(tags))}).status_code == 200
    assert get(client, f"/t/{link}").headers["ETag"] not in tags


def test_a_new_deadline_is_news_too(client, app):
    """What a table shows can change without an entry: a player's quiet hours move the deadline."""
    (link, other), _ = begun(client, "kaiser")
    mine = next(one for one in (link, other) if get(client, f"/t/{one}").json["menu"])
    tag = get(client, f"/t/{link}").headers["ETag"]
    app.now.advance(3600)  # type: ignore[attr-defined]
    assert get(client, f"/t/{link}", **{"If-None-Match": tag}).status_code == 304
    place = access.find(app, mine)
    person = apps.load_table(app, place.table).seats[place.seat].person
    preferences.change_calendar(app, ProvenPerson(person), Calendar("Europe/Amsterdam", (1, 13), weekends=True))
    assert get(client, f"/t/{link}", **{"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize("name", catalogue.find_all())
def test_everybody_hears_what_his_seat_may_hear(client, app, name):
    """While a table is played: the redacted entries, no more; afterwards all of them."""
    links, watch = begun(client, name)
    for _ in range(6):
        move(client, links)
    look = apps.load_table(app, access.find(app, watch).table)
    written = apps.load_entries(app, look)
    for seat, link in [*enumerate(links), (None, watch)]:
        told = get(client, f"/t/{link}/events").json
        assert told["next"] == told["length"] == len(told["entries"]) == len(written)
        for heard, entry in zip(told["entries"], written, strict=True):
            known = record.redact(look.game, entry, seat)
            assert heard["move"] == known.move
            assert [heard["events"], heard["draws"]] == json.loads(msgspec.json.encode([known.events, known.draws]))
    finished(client, links)
    told = get(client, f"/t/{watch}/events").json
    bodies = [link["entry"] for link in get(client, f"/t/{watch}/log").json["entries"]]
    assert [entry["move"] for entry in told["entries"]] == [body["move"] for body in bodies]
    assert [entry["draws"] for entry in told["entries"]] == [body["draws"] for body in bodies]


def test_news_come_in_portions(client):
    links, _ = begun(client, "kaiser")
    for _ in range(5):
        move(client, links)
    length, since, heard = get(client, f"/t/{links[0]}").json["length"], 1, []
    while since < length:
        told = get(client, f"/t/{links[0]}/events?since={since}&limit=3").json
        heard += [entry["seq"] for entry in told["entries"]]
        since = told["next"]
    assert heard == list(range(1, length))
    after = get(client, f"/t/{links[0]}/events?since={length + 5}").json
    assert (after["entries"], after["next"]) == ([], length + 5)


def test_prose_and_refusals_are_in_the_language_asked_for(client):
    links, _ = begun(client, "kaiser")
    move(client, links)

    def prose(query: str = "", **headers: str) -> str:
        told = get(client, f"/t/{links[0]}/events{query}", **headers).json["entries"]
        return " ".join(sentence for entry in told for sentence in entry["prose"])

    told = {code: prose(f"?language={code}") for code in ("en", "nl", "fr", "de")}
    assert len(set(told.values())) == 4
    assert prose() == told["en"]
    assert prose(**{"Accept-Language": "fr-BE, fr;q=0.9, en;q=0.3"}) == told["fr"]
    assert "führt" in get(client, "/t/nolink", **{"Accept-Language": "de"}).json["refused"]
    boxes = [get(client, f"/games/kaiser?language={code}").json["options"][0]["about"] for code in ("en", "de")]
    assert boxes[0] != boxes[1]


def test_the_past_is_what_this_seat_could_see_then(client, app):
    links, watch = begun(client, "kurier")
    for _ in range(5):
        move(client, links)
    look = apps.load_table(app, access.find(app, watch).table)
    for seq in (2, 3, 5, look.row.length - 1):
        then = apps.load_past(app, look, seq)
        for seat, link in [*enumerate(links), (None, watch)]:
            moment = get(client, f"/t/{link}/replay/{seq}").json
            assert moment["receipt"] == apps.load_receipt(app, look, seq)
            assert moment["entry"]["seq"] == seq
            view = look.game.view(then.state, seat) if then.state is not None else None
            assert moment["view"] == json.loads(msgspec.json.encode(view))
    first = get(client, f"/t/{watch}/replay/0").json
    assert (first["view"], first["standing"]) == (None, [])


def test_through_other_eyes_only_after_the_end(client):
    links, watch = begun(client, "kurier")
    at = get(client, f"/t/{watch}").json["length"] - 1
    peeping = get(client, f"/t/{watch}/replay/{at}?as=0")
    assert (peeping.status_code, "own eyes" in peeping.json["refused"]) == (422, True)
    own = get(client, f"/t/{links[0]}/replay/{at}?as=0").json["view"]
    finished(client, links)
    assert get(client, f"/t/{watch}/replay/{at}?as=0").json["view"] == own
    assert get(client, f"/t/{watch}/replay/{at}?as=7").status_code == 422


def test_what_is_not_there_yet_is_not_found(client):
    links, _ = begun(client, "kaiser")
    for path in ("replay/400", f"replay/{10**30}", "replay/-1", "submissions/77", f"submissions/{10**30}"):
        answer = get(client, f"/t/{links[0]}/{path}")
        assert (answer.status_code, bool(answer.json["refused"])) == (404, True), path
    assert get(client, "/games/chess").status_code == 404


def test_a_menu_can_be_followed_word_by_word(client):
    links, watch = begun(client, "kaiser")
    link = next(one for one in links if get(client, f"/t/{one}").json["menu"])
    told = get(client, f"/t/{link}/menu").json
    assert told["count"] == len(told["moves"])
    assert told["way"] is None
    said: list[str] = []
    way: dict[str, Any] = {"move": None, "following": [told["menu"][0]["verb"]]}
    while way["move"] is None:
        said.append(way["following"][0])
        way = get(client, f"/t/{link}/menu?said={' '.join(said)}").json["way"]
    assert way["move"] in told["moves"]
    assert get(client, f"/t/{link}/menu?said=fly").status_code == 422
    assert get(client, f"/t/{watch}/menu").json["menu"] == []


def test_what_the_address_asks_wrongly_is_refused(client):
    links, _ = begun(client, "kaiser")
    for query in ("since=-1", "since=x", f"since={10**20}", "limit=0", "limit=501", "language=it", "from=3"):
        answer = get(client, f"/t/{links[0]}/events?{query}")
        assert (answer.status_code, "address" in answer.json["refused"]) == (422, True), query


def test_a_verdict_that_takes_its_time_can_be_asked_for_later(client, app, monkeypatch):
    links, _ = begun(client, "kaiser")
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
        for method, told in operations.items():
            assert f'id="{told["operationId"]}"' in page
            assert f'<span class="verb">{method.upper()}</span> {path}</code>' in page
    for name in ("Seen", "Refusal", "Opening", "Choice"):
        assert f'<section class="sheet" id="{name}">' in page
