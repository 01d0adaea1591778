"""A database that crashes may forget a submission, but the server never says that it is still being checked."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from service import create_app
from service.app import App
from service.store.schema import submissions
from service.tables.access import Place
from tests import apps
from tests.apps import FakeTime
from tests.chaos import machines
from tests.chaos.machines import Postgres
from tests.conftest import or_skip


@pytest.fixture
def server() -> Iterator[Postgres]:
    """A PostgreSQL that leaves commits that are not durable in memory for ten seconds, instead of a fifth of one."""
    with or_skip(machines.killable_postgres) as server:
        with psycopg.connect(server.url.replace("+psycopg", ""), autocommit=True) as db:
            db.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
            db.execute("SELECT pg_reload_conf()")
        yield server


@pytest.fixture
def crashing(server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """An app whose database is killed, and started again, while the first request waits for its verdict."""
    with apps.run_app(apps.make_settings(tmp_path, server.url, verdict_wait=0.1), FakeTime()) as app:
        wait, crashes = app.verdicts.wait, [True]

        def crash(*words: object) -> bytes | None:
            if crashes:
                crashes.clear()
                server.kill()
                server.start()
                app.store.engine.dispose()
            return wait(*words)  # type: ignore[arg-type]

        app.crash = lambda: monkeypatch.setattr(app.verdicts, "wait", crash)  # type: ignore[attr-defined]
        yield app


def count_waiting(app: App) -> int:
    with app.store.reading() as db:
        return db.execute(select(func.count()).where(submissions.c.accepted.is_(None))).scalar_one()


def start(app: App) -> tuple[FlaskClient, Place, str]:
    place, move = apps.find_move(app, apps.start_table(app))
    app.store.sync()
    app.crash()  # type: ignore[attr-defined]
    return create_app(app).test_client(), place, move


def test_a_program_reads_that_it_must_send_a_lost_move_again(crashing: App) -> None:
    client, place, move = start(crashing)
    body = {"move": move, "key": "once"}
    answer = client.post(f"/api/v1/t/{place.link}/moves", json=body)
    assert (answer.status_code == 202) == bool(count_waiting(crashing))
    assert answer.status_code == 422
    assert "please send it again" in answer.text
    assert client.post(f"/api/v1/t/{place.link}/moves", json=body).status_code == 202
    assert count_waiting(crashing) == 1


def test_a_page_says_that_a_lost_move_has_to_be_sent_again(crashing: App) -> None:
    client, place, move = start(crashing)
    answer = client.post(f"/t/{place.link}", data={"move": move})
    assert answer.status_code == 422
    assert "please send it again" in answer.text
