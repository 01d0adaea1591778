"""A real replica of PostgreSQL: pages of finished games are read from it, and from the first server where it cannot."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from flask.testing import FlaskClient
from sqlalchemy import event

from service import create_app
from service.app import App
from service.memory import Caches
from service.tables.access import Place
from tests import apps, servers
from tests.chaos import machines
from tests.chaos.machines import Server
from tests.conftest import or_skip
from workers.commands import checkups


@contextmanager
def standby(first: machines.Postgres) -> Iterator[tuple[Server, str]]:
    """A server that follows another one, and its URL."""
    user = servers.find_unprivileged_user()
    with servers.temporary_folder(user) as folder:
        copy = [str(first.programs / "pg_basebackup"), "-D", str(folder / "data"), "-h", str(first.folder)]
        subprocess.run([*copy, "-U", "postgres", "-R", "-c", "fast"], check=True, user=user, cwd=folder)
        os.chmod(folder / "data", 0o700)
        url = f"postgresql+psycopg://postgres@/postgres?host={folder}"
        listen = ["-c", "listen_addresses=", "-k", str(folder), "-c", "hot_standby_feedback=on"]
        command = [str(first.programs / "postgres"), "-D", str(folder / "data"), *listen]
        follower = Server(command, folder, lambda: psycopg.connect(url.replace("+psycopg", "")).close(), user)
        follower.start()
        try:
            yield follower, url
        finally:
            follower.stop()


class Twins:
    """An app with a replica, a finished game and a running one; it counts the queries to each server."""

    def __init__(self, app: App, follower: Server) -> None:
        self.app, self.follower = app, follower
        self.over, self.playing = apps.start_table(app), apps.start_table(app)
        for place in self.over:
            apps.submit(app, place, "resign")
        self.queries = {"first": 0, "replica": 0}
        assert app.store.replica
        for name, engine in (("first", app.store.engine), ("replica", app.store.replica)):
            event.listen(engine, "before_cursor_execute", self._counter(name))
        flask_app = create_app(app)
        self.browser: FlaskClient = flask_app.test_client()

    def _counter(self, name: str) -> Any:
        def count(_: object, __: object, statement: str, *___: object) -> None:
            self.queries[name] += "FROM entries" in statement

        return count

    def wait_for_replica(self) -> None:
        with self.app.store.reading() as connection:
            position = connection.exec_driver_sql("SELECT pg_current_wal_lsn()").scalar_one()
        until = time.monotonic() + servers.START_TIMEOUT_S
        while not self._has_reached(position):
            assert time.monotonic() < until
            time.sleep(0.02)

    def _has_reached(self, position: str) -> bool:
        with self.app.store.reading(replica=True) as connection:
            query = f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn"
            return bool(connection.exec_driver_sql(query).scalar_one())

    def count_queries(self, place: Place, page: str) -> dict[str, int]:
        """Open a page without a cache; return the number of queries for entries to each server."""
        self.app.caches = Caches()
        before = dict(self.queries)
        answer = self.browser.get(f"/t/{place.link}/{page}".rstrip("/"))
        assert answer.status_code == 200, answer.text
        return {name: self.queries[name] - before[name] for name in before}


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    with or_skip(machines.killable_postgres) as first, standby(first) as (follower, replica):
        chosen = apps.make_settings(tmp_path_factory.mktemp("app"), first.url, replica=replica)
        with apps.run_app(chosen, apps.FakeTime()) as app:
            twins = Twins(app, follower)
            twins.wait_for_replica()
            yield twins


@pytest.mark.parametrize("page", ["replay", "replay/frame", "log.json", "log.txt"])
def test_a_finished_game_is_read_from_the_replica(twins: Twins, page: str) -> None:
    queries = twins.count_queries(twins.over[0], page)
    assert queries["first"] == 0
    assert queries["replica"] > 0


@pytest.mark.parametrize("page", ["replay", "log.json", ""])
def test_a_game_that_is_played_is_read_from_the_first_server(twins: Twins, page: str) -> None:
    queries = twins.count_queries(twins.playing[0], page)
    assert queries["replica"] == 0
    assert queries["first"] > 0


def test_the_gallery_is_read_from_the_replica(twins: Twins) -> None:
    queries: list[str] = []
    assert twins.app.store.replica
    event.listen(twins.app.store.replica, "before_cursor_execute", lambda *words: queries.append(words[2]))
    assert twins.browser.get("/gallery").status_code == 200
    assert any("FROM tables" in statement for statement in queries)


def test_the_doctor_says_whether_it_follows(twins: Twins) -> None:
    settings = twins.app.settings
    (finding,) = checkups._check_replica(settings, "db")
    assert (finding.verdict, "it follows" in finding.what) == ("ok", True)
    (finding,) = checkups._check_replica(apps.make_settings(settings.folder, replica=settings.database), "db")
    assert (finding.verdict, "no other server" in finding.what) == ("warning", True)


def test_where_the_replica_is_away_the_first_server_answers(twins: Twins) -> None:
    """The last test: its server does not come back."""
    twins.follower.kill()
    queries = twins.count_queries(twins.over[0], "replay")
    assert queries["first"] > 0
    assert twins.browser.get("/gallery").status_code == 200
