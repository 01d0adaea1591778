"""Answers say the truth about waiting times, results and health, and nothing about other people."""

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from redis import ConnectionError as NoRedis
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from service import create_app
from service.app import App
from service.store.connection import Store
from service.tables import seat_commands, submitting
from service.tables.access import Place
from service.web import host_pages
from tests import apps


@pytest.fixture
def places(app: App) -> list[Place]:
    return apps.start_table(app)


@pytest.fixture
def client(app: App) -> FlaskClient:
    flask_app = create_app(app)
    return flask_app.test_client()


def test_a_refused_move_does_not_tell_a_program_to_wait(client: FlaskClient, places: list[Place]) -> None:
    answer = client.post(f"/api/v1/t/{places[0].link}/moves", json={"move": "nonsense"})
    assert answer.status_code in (202, 422)
    assert "Retry-After" not in answer.headers


def test_moves_by_the_form_have_a_limit_too(tmp_path: Path, clock: apps.FakeTime) -> None:
    with apps.run_app(apps.make_settings(tmp_path, moves_per_minute=3), clock) as app:
        flask_app = create_app(app)
        place = apps.start_table(app)[0]
        answers = [
            flask_app.test_client().post(f"/t/{place.link}", data={"move": f"move {number}"}) for number in range(5)
        ]
        assert [answer.status_code for answer in answers] == [303, 303, 303, 429, 429]
        assert int(answers[-1].headers["Retry-After"]) > 0


def test_what_others_keep_for_themselves_changes_no_tag(app: App, client: FlaskClient, places: list[Place]) -> None:
    def tag() -> str | None:
        return client.get(f"/api/v1/t/{places[0].link}").headers["ETag"]

    mine = tag()
    apps.change(app, seat_commands.store_note, places[1], "a note of my own")
    other = next(place for place in places if place == places[1])
    assert apps.submit(app, other, "letters none").accepted
    assert tag() == mine
    assert apps.submit(app, *apps.find_move(app, places)).accepted
    assert tag() != mine


def test_a_fault_does_not_say_that_nothing_was_done(
    client: FlaskClient, places: list[Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submitting, "wait_for_verdict", lambda *_: 1 / 0)
    answer = client.post(f"/t/{places[0].link}", data={"move": "pass"})
    assert answer.status_code == 500
    assert "Nothing was changed" not in answer.text
    assert "look again to see what was done" in answer.text


@pytest.fixture
def down(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database does not answer."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise OperationalError("SELECT 1", {}, Exception("connection refused"))

    for way in ("reading", "writing"):
        monkeypatch.setattr(Store, way, refuse)


def test_while_the_database_is_down_a_page_says_so_and_when_to_come_back(
    client: FlaskClient,
    places: list[Place],
    clock: apps.FakeTime,
    down: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock.advance(3_600)  # what pages remember is old by now
    for answer in (client.get(f"/t/{places[0].link}"), client.get(f"/api/v1/t/{places[0].link}")):
        assert answer.status_code == 503
        assert "cannot be reached just now" in answer.text
        assert int(answer.headers["Retry-After"]) > 0
    assert "Traceback" not in capsys.readouterr().out


def test_health_is_503_while_the_database_is_down(client: FlaskClient, down: None) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json) == (503, {"ok": False})


def test_health_is_503_where_nothing_can_be_written(client: FlaskClient, app: App) -> None:
    assert client.get("/healthz").status_code == 200
    event.listen(app.store.engine, "connect", lambda connection, _: connection.execute("PRAGMA query_only = ON"))
    app.store.engine.dispose()
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json) == (503, {"ok": False})


def test_health_is_503_on_a_disk_that_is_almost_full(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/healthz").status_code == 200
    monkeypatch.setattr(host_pages, "MIN_FREE_BYTES", 2**63)
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json) == (503, {"ok": False})


def test_health_says_nothing_but_ok_and_readiness_needs_redis(
    tmp_path: Path, clock: apps.FakeTime, redis_url: str
) -> None:
    with apps.run_app(apps.make_settings(tmp_path, redis=redis_url), clock) as app:
        apps.open_table(app)
        client = create_app(app).test_client()
        assert [client.get(path).json for path in ("/healthz", "/readyz")] == [{"ok": True}] * 2
        app.redis.ping = lambda: (_ for _ in ()).throw(NoRedis("gone"))  # type: ignore[method-assign]
        assert client.get("/healthz").json == {"ok": True}
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json) == (503, {"ok": False})
