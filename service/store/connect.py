"""Reaching the database: SQLite in one process, PostgreSQL for many."""

from __future__ import annotations

import math
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import alembic.command
import alembic.config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import InvalidatePoolError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from engine.refusal import Refused
from service.outages import Outage
from service.store import appending, facts
from service.store.appending import Unwritten

# What waits for a lock so long fails, and is tried again; whoever forgets a transaction loses it.
LIMITS = "-c lock_timeout=2s -c statement_timeout=60s -c idle_in_transaction_session_timeout=60s"
AWAY = ("08", "53", "57P", "58")  # classes of PostgreSQL's errors: connection, resources, shutdown, disk
HURRIED = "100ms"
RESTED = 0.5  # seconds in the pool, after which a connection is tried before it is used
BUSY, SCRUBBED_WITHIN = 20_000, 1_000  # milliseconds that SQLite waits for others
SECURED = "secured"
LOOK = 0.0005  # seconds between two looks whether another writer is ready
MIGRATIONS = Path(__file__).parent / "migrations"
_elsewhere = ContextVar("elsewhere", default=False)


class Store:
    """A database, and transactions on it; its replica, if it has one, answers what may be a moment old."""

    def __init__(self, url: str, replica: str = "") -> None:
        self.url = url
        self.engine = _engine(url)
        self.outage = Outage("The database")
        self._snapshots = _snapshots(self.engine)
        self.replica = _snapshots(_engine(replica)) if replica else None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only looks, and sees one moment however long it looks."""
        replica = self.replica if _elsewhere.get() else None
        with nullcontext() if replica else self._noticed(), (replica or self._snapshots).begin() as connection:
            yield connection

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """What is read in here comes from the replica."""
        before = _elsewhere.set(True)
        try:
            yield
        finally:
            _elsewhere.reset(before)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that changes something: all of it, or nothing."""
        with self._noticed(), self._writer(unwritten=Unwritten()) as connection, connection.begin():
            event.listen(connection, "before_cursor_execute", appending.before_statement)
            yield connection
            appending.write(connection)

    @contextmanager
    def noting(self) -> Iterator[Connection]:
        """The same for what may be done once more: kept when this process dies, but it does not wait for the disk."""
        with self._noticed(), self._writer(lasting=False) as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
            yield connection

    @contextmanager
    def stating(self) -> Iterator[Connection]:
        """A transaction of one statement that does not wait for the disk; PostgreSQL is told so in it, by `HASTE`."""
        alone = {} if self.engine.dialect.name == "sqlite" else {"isolation_level": "AUTOCOMMIT"}
        with self._noticed(), self._writer(lasting=False, **alone) as connection, connection.begin():
            yield connection

    def secure(self) -> None:
        """Wait until everything that was committed so far lies on the disk: it lies there before what comes later."""
        with self.writing() as connection:
            facts.note(connection, SECURED, secrets.token_hex(4))

    def hurry(self, connection: Connection) -> None:
        """What others hold is hardly waited for in this transaction: it holds much that others may want."""
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{HURRIED}'")

    def _writer(self, **options: Any) -> Connection:
        return self.engine.connect().execution_options(writing=True, **options)

    @contextmanager
    def _noticed(self) -> Iterator[None]:
        """Tells where the database is away, and when it is back, once each."""
        try:
            yield
        except OperationalError as error:
            if is_away(error):
                self.outage.met(error)
            raise
        if self.outage.since is not None:
            self.outage.over()

    def migrate(self) -> None:
        """Upgrade the schema to the newest revision; several processes may try at once.

        Raise Refused if the database was made by a version that this one does not know.
        """
        config = alembic.config.Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        with self.writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = 0")
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7236127)")
            if _is_unknown(connection):
                raise Refused("Another version of Depesche made this database; install that version here too.")
            config.attributes["connection"] = connection
            alembic.command.upgrade(config, "head")

    def is_current(self) -> bool:
        """Whether the schema is the newest one; changes nothing."""
        wanted = ScriptDirectory(str(MIGRATIONS)).get_heads()
        with self.reading() as connection:
            return set(MigrationContext.configure(connection).get_current_heads()) == set(wanted)

    def revision(self) -> str:
        """The name of the database's schema; changes nothing."""
        with self.reading() as connection:
            return MigrationContext.configure(connection).get_current_revision() or ""

    def scrub(self) -> None:
        """Of what was deleted, leave no copy in SQLite's log ahead of the file; while others read, as far as can be."""
        if self.engine.dialect.name == "sqlite":
            with closing(self.engine.raw_connection()) as connection:
                cursor = connection.cursor()
                cursor.execute(f"PRAGMA busy_timeout={SCRUBBED_WITHIN}")  # a program that copies reads all the time
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                cursor.execute(f"PRAGMA busy_timeout={BUSY}")

    def close(self) -> None:
        self.engine.dispose()
        if self.replica:
            self.replica.dispose()


def _is_unknown(connection: Connection) -> bool:
    """Whether the schema has a revision that is none of this version's migrations."""
    heads = set(MigrationContext.configure(connection).get_current_heads())
    revisions = {script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions()}
    return not heads <= revisions


def is_away(error: OperationalError) -> bool:
    """Whether the database itself is away or full, which its store tells; not so where only a lock is held."""
    state = getattr(error.orig, "sqlstate", None)
    if isinstance(error.orig, sqlite3.Error):
        return "locked" not in str(error.orig)
    return state is None or state.startswith(AWAY)


def _engine(url: str) -> Engine:
    """What an error says goes to a log, so it holds no values: they may be addresses, or notes."""
    if not url.startswith("sqlite"):
        pool: dict[str, Any] = {"pool_size": 10, "max_overflow": 20, "pool_timeout": 10}
        engine = create_engine(_bounded(url), connect_args={"connect_timeout": 10}, hide_parameters=True, **pool)
        _ping_rested(engine)
        return engine
    _for_us_alone(url)
    engine = create_engine(url, connect_args={"timeout": 20, "check_same_thread": False}, hide_parameters=True)
    event.listen(engine, "connect", _sqlite_connected)
    event.listen(engine, "begin", _sqlite_begin)
    return engine


def _ping_rested(engine: Engine) -> None:
    """A connection that rested in the pool is tried before it is used: its server may have gone meanwhile."""

    def rests(_: Any, record: ConnectionPoolEntry) -> None:
        record.info["rests_since"] = time.monotonic()

    def wakes(connection: Any, record: ConnectionPoolEntry, _: Any) -> None:
        if record.info.get("rests_since", math.inf) > time.monotonic() - RESTED:
            return
        try:
            engine.dialect.do_ping(connection)
        except Exception as error:
            raise InvalidatePoolError from error

    event.listen(engine, "checkin", rests)
    event.listen(engine, "checkout", wakes)


def _for_us_alone(url: str) -> None:
    """The file holds addresses and what seats know: only its owner may read it, also one that was made before."""
    path = make_url(url).database
    if path and path != ":memory:" and not path.startswith("file:"):
        with suppress(OSError):  # whether it can be opened at all is found out, and told, by whoever opens it
            Path(path).touch(0o600)
            for name in (path, f"{path}-wal", f"{path}-shm"):
                with suppress(FileNotFoundError):
                    os.chmod(name, 0o600)


def _bounded(url: str) -> URL:
    """The same database, where nobody waits for ever; what the host chose himself stands above that."""
    found = make_url(url)
    own = found.query.get("options", "")
    return found.update_query_dict({"options": f"{LIMITS} {own if isinstance(own, str) else ' '.join(own)}".strip()})


def _snapshots(engine: Engine) -> Engine:
    """The same database, where a transaction sees what was true as it began; SQLite's always do."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ")


def _sqlite_connected(connection: Any, _: Any) -> None:
    """Durable, and readers never wait; what is deleted is overwritten; transactions are begun by us, not the driver."""
    connection.isolation_level = None
    for pragma in (f"busy_timeout={BUSY}", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
    _write_ahead(connection)


def _write_ahead(connection: Any) -> None:
    """Keep a log ahead of the file; while others change a new file to that, SQLite would fail instead of waiting."""
    until = time.monotonic() + 20
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() >= until:
                raise
            time.sleep(0.01)


def _sqlite_begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get("writing", False):
        connection.exec_driver_sql("BEGIN")
        return
    raw: Any = connection.connection.driver_connection
    raw.execute(f"PRAGMA synchronous={'FULL' if options.get('lasting', True) else 'NORMAL'}")
    if not _begun(raw):
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # which fails, and says why in the words of all databases


def _begun(raw: sqlite3.Connection) -> bool:
    """Whether it is our turn to write now; SQLite itself would sleep ten times as long as anybody writes."""
    until = time.monotonic() + BUSY / 1000
    raw.execute("PRAGMA busy_timeout=0")
    try:
        while time.monotonic() < until:
            try:
                raw.execute("BEGIN IMMEDIATE")
                return True
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    break
                time.sleep(LOOK)
        return False
    finally:
        raw.execute(f"PRAGMA busy_timeout={BUSY}")
