"""The JSON interface as a program meets it, bad input above all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient

from engine import catalogue
from service import create_app
from service.app import App
from service.store.queries import list_seats
from service.tables import access
from service.tables.history.replays import Archive
from tests import apps
from workers import bots, referee

PLAYERS = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Bert", "address": "bert@example.org"}]


@pytest.fixture
def app(tmp_path, monkeypatch) -> Iterator[App]:
    with apps.run_app(apps.make_settings(tmp_path), apps.FakeTime()) as app:
        monkeypatch.setattr(app.wakeups, "wake", lambda queue: referee.run() if queue == "referee" else None)
        yield app


@pytest.fixture
def client(app) -> FlaskClient:
    return create_app(app).test_client()


def post(client: FlaskClient, path: str, body: Any) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = client.post(f"/api/v1{path}", data=data, content_type="application/json")
    return answer.status_code, answer.get_json()


def get(client: FlaskClient, path: str) -> tuple[int, Any]:
    answer = client.get(f"/api/v1{path}")
    return answer.status_code, answer.get_json()


@pytest.fixture
def links(client) -> list[str]:
    """The links of a table where both have sat down."""
    status, opened = post(client, "/tables", {"game": "kaiser", "players": PLAYERS})
    assert status == 201
    for link in opened["links"]:
        assert post(client, f"/t/{link}/sit", {"nonce": "a word"})[0] == 200
    return list(opened["links"])


def find_mover(client: FlaskClient, links: list[str]) -> tuple[str, Any]:
    return next((link, seen) for link in links if (seen := get(client, f"/t/{link}")[1])["moves"])


def test_the_games_are_listed_with_their_options(client):
    status, listed = get(client, "/games")
    assert status == 200
    assert [game["name"] for game in listed] == list(catalogue.find_all())
    assert all(option["about"] for game in listed for option in game["options"])


def test_a_whole_game_can_be_played(client, links):
    for _ in range(2_000):
        seen = get(client, f"/t/{links[0]}")[1]
        if seen["phase"] == "over":
            break
        link, seen = find_mover(client, links)
        status, verdict = post(client, f"/t/{link}/moves", {"move": seen["moves"][0], "seen": seen["length"] - 1})
        if status == 200:
            continue
        raise AssertionError(verdict)
    assert sorted(seen["places"]) in ([1, 1], [1, 2])
    status, log = get(client, f"/t/{links[0]}/log")
    assert log["seed"]
    assert log["head"] == seen["receipt"]


def test_the_same_key_is_the_same_submission(client, links):
    link, seen = find_mover(client, links)
    command = {"move": seen["moves"][0], "key": "one"}
    first, again = post(client, f"/t/{link}/moves", command), post(client, f"/t/{link}/moves", command)
    assert first == again
    assert get(client, f"/t/{link}")[1]["length"] == seen["length"] + 1


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ([], "JSON"),
        ({}, "move"),
        ({"move": 7}, "move"),
        ({"move": "x" * 5_000}, "move"),
        ({"move": "move A1 A2", "seen": "3"}, "seen"),
        ({"move": "move A1 A2", "seen": -1}, "seen"),
        ({"move": "move A1 A2", "colour": "red"}, "colour"),
        ({"move": "   "}, "plain words"),
        ({"move": "fly \x00 me"}, "plain words"),
        ({"move": "fly me"}, "fly"),
        ({"move": "move"}, "move"),
    ],
    ids=str,
)
def test_a_bad_move_gets_a_sentence_and_changes_nothing(client, links, body, word):
    link, seen = find_mover(client, links)
    status, answer = post(client, f"/t/{link}/moves", body)
    assert status == 422
    assert word in answer["refused"]
    assert get(client, f"/t/{link}")[1]["length"] == seen["length"]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"game": "chess"}, "no game"),
        ({"game": 7}, "game"),
        ({"players": []}, "players"),
        ({"players": "Anna"}, "players"),
        ({"players": [{"name": "Anna"}]}, "played by"),
        ({"players": [{"name": "\x07", "address": "a@b.org"}, PLAYERS[1]]}, "control"),
        ({"players": [{"name": "", "address": "a@b.org"}, PLAYERS[1]]}, "name"),
        ({"players": [{"name": "Anna", "address": "no address"}, PLAYERS[1]]}, "e-mail address"),
        ({"players": [PLAYERS[0], PLAYERS[0]]}, "same name"),
        ({"players": [{"name": "A"}, {"name": "B"}]}, "e-mail address"),
        ({"options": {"corners": "round"}}, "corners"),
        ({"options": {"colour": "red"}}, "no option"),
        ({"options": {"rounds": 99}}, "rounds"),
        ({"pace": -1}, "pace"),
        ({"pace": "fast"}, "pace"),
    ],
    ids=str,
)
def test_a_bad_opening_gets_a_sentence_and_opens_nothing(client, app, change, word):
    status, answer = post(client, "/tables", {"game": "kaiser", "players": PLAYERS, **change})
    assert status == 422
    assert word in answer["refused"]
    assert get_tables(app) == 0


def test_a_bot_of_a_level_sits_at_the_table(client, app):
    hal = {"name": "Hal", "who": "bot", "level": "easy"}
    status, opened = post(client, "/tables", {"game": "kaiser", "players": [PLAYERS[0], hal]})
    assert status == 201
    with app.store.reading() as connection:
        levels = [(seat.name, seat.level) for seat in list_seats(connection, opened["table"])]
    assert levels[1] == ("Hal", "easy")
    status, answer = post(client, "/tables", {"game": "kaiser", "players": [PLAYERS[0], hal | {"level": "godlike"}]})
    assert status in (400, 422)
    assert answer["refused"]


def test_a_good_move_can_be_asked_for_where_the_table_has_hints(client, app):
    clock = {"pace": 0, "hints": True}
    _, opened = post(client, "/tables", {"game": "kaiser", "players": PLAYERS, "clock": clock})
    for link in opened["links"]:
        post(client, f"/t/{link}/sit", {"nonce": "a word"})
    link, seen = find_mover(client, opened["links"])
    assert client.post(f"/api/v1/t/{link}/hint").status_code == 202
    bots.answer_hints(app)
    answer = client.post(f"/api/v1/t/{link}/hint")
    assert answer.status_code == 200
    assert answer.get_json()["move"] in seen["moves"]
    other = next(one for one in opened["links"] if one != link)
    assert "your own turn" in client.post(f"/api/v1/t/{other}/hint").get_json()["refused"]


def get_tables(app: App) -> int:
    return len(Archive(app.store, app.links).list_tables())


@pytest.mark.parametrize("body", [b"", b"not json", b'{"move": ', b"\xff\xfe"], ids=str)
def test_a_body_that_is_not_json_is_refused(client, links, body):
    link, seen = find_mover(client, links)
    status, answer = post(client, f"/t/{link}/moves", body)
    assert (status, "as JSON" in answer["refused"]) == (400, True)
    assert get(client, f"/t/{link}")[1]["length"] == seen["length"]


def test_a_body_of_another_type_is_refused(client, links):
    answer = client.post(f"/api/v1/t/{links[0]}/moves", data={"move": "move A1 A2"})
    assert answer.status_code == 415
    assert "application/json" in answer.get_json()["refused"]


def test_a_wrong_method_says_which_there_are(client, links):
    answer = client.delete(f"/api/v1/t/{links[0]}/moves")
    assert answer.status_code == 405
    assert "POST" in answer.headers["Allow"]
    assert answer.get_json()["refused"]


def test_a_megabyte_of_garbage_is_refused(client, links):
    status, answer = post(client, f"/t/{links[0]}/moves", b"x" * 1_000_000)
    assert status == 413
    assert "64 kB" in answer["refused"]


@pytest.mark.parametrize("path", ["/t/nolink", "/t/nolink/log", "/nothing"])
def test_an_unknown_address_is_said_to_be_one(client, path):
    status, answer = get(client, path)
    assert status == 404
    assert answer["refused"]


def test_not_your_turn_and_only_looking_on(client, links, app):
    link, _ = find_mover(client, links)
    other = next(one for one in links if one != link)
    status, answer = post(client, f"/t/{other}/moves", {"move": "move A1 A2"})
    assert (status, "not your turn" in answer["refused"]) == (422, True)
    watch = app.links.make_watch_token(access.find(app, link).table)
    assert get(client, f"/t/{watch}")[1]["menu"] == []
    status, answer = post(client, f"/t/{watch}/moves", {"move": "move A1 A2"})
    assert (status, "looking on" in answer["refused"]) == (422, True)


def test_a_spectator_and_a_waiting_seat_see_only_their_view(client, app):
    """Kurier has hidden coins: what the interface shows is the game's own view for that reader."""
    _, opened = post(client, "/tables", {"game": "kurier", "players": PLAYERS})
    for link in opened["links"]:
        post(client, f"/t/{link}/sit", {})
    snapshot = apps.load_table(app, opened["table"])
    for seat, link in [*enumerate(opened["links"]), (None, opened["watch"])]:
        shown = get(client, f"/t/{link}")[1]["view"]
        assert shown == json.loads(json.dumps(_plain(snapshot.game.view(snapshot.position.state, seat))))


def _plain(view: Any) -> Any:
    return msgspec.to_builtins(view, str_keys=True)
