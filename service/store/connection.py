"""Reaching the database: SQLite in one process, PostgreSQL for many."""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url
from sqlalchemy.exc import InvalidatePoolError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from engine.refusal import Refused
from service.monitoring import Outage
from service.store import queries
from service.store.schema import REVISION, metadata

# A statement that waits longer for a lock fails and is tried again; a transaction that is left open is ended.
TIMEOUTS = "-c lock_timeout=2s -c statement_timeout=60s -c idle_in_transaction_session_timeout=60s"
UNAVAILABLE = ("08", "53", "57P", "58")  # classes of PostgreSQL's errors: connection, resources, shutdown, disk
POOL_CHECK_AFTER_S = 0.5  # a connection that was unused for longer is tried before it is used
CONNECT_ARGS = {"connect_timeout": 10}
BUSY_TIMEOUT_MS, SCRUB_TIMEOUT_MS = 20_000, 1_000
WRITER_POLL_S = 0.0005
PRIMARY_ERROR_BITS = 0xFF  # of an error code of SQLite; further bits tell variants of an error apart
SQLITE = "sqlite:///"  # what the URL of a file begins with
MIGRATIONS = Path(__file__).parent / "migrations"
REVISIONS = (REVISION,)  # the newest last
MIGRATION_LOCK = 7236127  # any number: with it, processes that upgrade the same database wait for each other
VERSION_TABLE = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"  # as Alembic reads it


def find_database_file(url: str) -> Path | None:
    """Return the file of an SQLite database, which need not exist; None for another kind of database."""
    return Path(url.removeprefix(SQLITE)) if url.startswith(SQLITE) else None


class Store:
    """A database and its transactions. A replica, where there is one, serves what may be a moment old."""

    def __init__(self, url: str, replica: str = "") -> None:
        self.url = url
        self.engine = _make_engine(url)
        self.outage = Outage("The database")
        self._snapshots = _make_snapshot_engine(self.engine)
        self._peeks = _make_peek_engine(self.engine)
        self.replica = _make_snapshot_engine(_make_engine(replica)) if replica else None
        self.written = threading.Event()  # set after each change by this process; the clock waits for it
        self._version_connection: sqlite3.Connection | None = None

    @contextmanager
    def reading(self, *, replica: bool = False) -> Iterator[Connection]:
        """A transaction that only reads, and sees one moment of the database, or of its replica if there is one."""
        if replica and self.replica:
            with self.replica.begin() as connection:  # no outage: while it is away, pages read from the database
                yield connection
        else:
            with self._log_outages(), self._snapshots.begin() as connection:
                yield connection

    @contextmanager
    def peeking(self) -> Iterator[Connection]:
        """A connection for single statements by `queries.fetch`; with PostgreSQL each is a transaction of its own."""
        with self._log_outages(), self._peeks.connect() as connection:
            yield connection

    @contextmanager
    def writing(
        self, *, durable: bool = True, lock_timeout: str | None = None, autocommit: bool = False
    ) -> Iterator[Connection]:
        """A transaction that writes all of its changes or none.

        A commit that is not durable survives the death of this process, but maybe not a power cut: it does not wait
        for the disk. `autocommit` is for a single statement; on PostgreSQL that statement itself says whether it is
        durable (see `insert_new`). `lock_timeout`, such as "100ms", limits how long a statement waits for a lock.
        """
        is_postgresql = self.engine.dialect.name == "postgresql"
        options = {"isolation_level": "AUTOCOMMIT"} if autocommit and is_postgresql else {}
        connection = self.engine.connect().execution_options(writing=True, durable=durable, **options)
        with self._log_outages(), connection, connection.begin():
            if is_postgresql and not durable and not autocommit:
                connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
            if is_postgresql and lock_timeout:
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{lock_timeout}'")
            yield connection
        self.written.set()  # for the clock, which may have something to do earlier now

    def sync(self) -> None:
        """Wait until everything that was committed so far is on the disk: a durable commit carries it along."""
        with self.writing() as connection:
            queries.set_fact(connection, "synced", secrets.token_hex(4))

    @contextmanager
    def _log_outages(self) -> Iterator[None]:
        """Log once that the database is unavailable, and once that it is back."""
        try:
            yield
        except OperationalError as error:
            if is_unavailable(error):
                self.outage.record_failure(error)
            raise
        if self.outage.since is not None:
            self.outage.record_answer()

    def find_version(self) -> int | None:
        """Return a number that changes with each commit of any process; None with PostgreSQL, which has none.

        Only one thread may call this.
        """
        path = self.engine.url.database
        if self.engine.dialect.name != "sqlite" or not path or path == ":memory:":
            return None
        if self._version_connection is None:
            self._version_connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        (version,) = self._version_connection.execute("PRAGMA data_version").fetchone()
        return int(version)

    def migrate(self) -> None:
        """Upgrade the schema to the newest revision; several processes may try at once.

        Raise Refused if the database was made by a version that this one does not know.
        """
        if self.is_current() or self._create_in_sqlite():
            return
        from alembic import command  # 70 ms and 11 MB that a database without migrations does not need
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        with self.writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = 0")
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
            if _find_revision(connection) not in ("", *REVISIONS):
                raise Refused("Another version of Depesche made this database; install that version here too.")
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def _create_in_sqlite(self) -> bool:
        """Create the newest schema in an empty SQLite database; return whether it was empty."""
        if self.engine.dialect.name != "sqlite":
            return False
        with self.writing() as connection:
            if inspect(connection).get_table_names():
                return False
            metadata.create_all(connection)
            connection.exec_driver_sql(VERSION_TABLE)
            connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (REVISIONS[-1],))
        return True

    def is_current(self) -> bool:
        """Whether the schema is the newest one; changes nothing."""
        return self.find_revision() == REVISIONS[-1]

    def find_revision(self) -> str:
        """Return the revision of the database's schema; empty if there is none."""
        with self.reading() as connection:
            return _find_revision(connection)

    def scrub(self) -> None:
        """Empty SQLite's write-ahead log, which still holds what was deleted; as far as other readers allow."""
        if self.engine.dialect.name == "sqlite":
            with closing(self.engine.raw_connection()) as connection:
                cursor = connection.cursor()
                cursor.execute(f"PRAGMA busy_timeout={SCRUB_TIMEOUT_MS}")  # backup programs never stop reading
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")

    def close(self) -> None:
        """Close all connections, those of the replica too."""
        self.engine.dispose()
        self._peeks.dispose()
        if self._version_connection is not None:
            self._version_connection.close()
        if self.replica:
            self.replica.dispose()


def _find_revision(connection: Connection) -> str:
    """Find the revision of the schema; empty if there is no database yet."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    return str(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one_or_none() or "")


def is_unavailable(error: OperationalError) -> bool:
    """Return whether the database itself is unavailable or full; False if a statement only waited long for a lock."""
    if isinstance(error.orig, sqlite3.Error):
        return "locked" not in str(error.orig)
    state = getattr(error.orig, "sqlstate", None)
    if state is None:  # no server has answered
        return True
    return bool(state.startswith(UNAVAILABLE))


def _make_engine(url: str) -> Engine:
    """Make the engine for a database; its errors go to a log, so they hide values such as addresses and notes."""
    if not url.startswith("sqlite"):
        pool: dict[str, Any] = {"pool_size": 10, "max_overflow": 20, "pool_timeout": 10}
        engine = create_engine(_add_timeouts(url), connect_args=CONNECT_ARGS, hide_parameters=True, **pool)
        _ping_idle(engine)
        return engine
    _make_private(url)
    engine = create_engine(url, connect_args={"timeout": 20, "check_same_thread": False}, hide_parameters=True)
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _ping_idle(engine: Engine) -> None:
    """Try a connection that was idle in the pool before it is used: its server may have gone meanwhile."""

    def note_idle(_: Any, record: ConnectionPoolEntry) -> None:
        record.info["idle_since"] = time.monotonic()

    def ping(connection: Any, record: ConnectionPoolEntry, _: Any) -> None:
        idle_since = record.info.get("idle_since")
        if idle_since is None or idle_since > time.monotonic() - POOL_CHECK_AFTER_S:
            return  # the connection is new, or was used just now
        try:
            engine.dialect.do_ping(connection)
        except Exception as error:
            raise InvalidatePoolError from error

    event.listen(engine, "checkin", note_idle)
    event.listen(engine, "checkout", ping)


def _make_private(url: str) -> None:
    """Let only the owner read the file and its companions: it holds addresses and what seats know."""
    path = make_url(url).database
    if path and path != ":memory:" and not path.startswith("file:"):
        with suppress(OSError):  # opening the file fails later, with a clear error
            Path(path).touch(0o600)
            for name in (path, f"{path}-wal", f"{path}-shm"):
                with suppress(FileNotFoundError):
                    os.chmod(name, 0o600)


def _add_timeouts(url: str) -> URL:
    """Return the address with our timeouts; options that the host has set come later and win."""
    parsed = make_url(url)
    options = parsed.query.get("options", "")
    if not isinstance(options, str):  # there are several
        options = " ".join(options)
    return parsed.update_query_dict({"options": f"{TIMEOUTS} {options}".strip()})


def _make_snapshot_engine(engine: Engine) -> Engine:
    """The same database, with transactions that see the moment at which they began; SQLite's always do."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ")


def _make_peek_engine(engine: Engine) -> Engine:
    """The same database, for single statements: its few connections begin no transactions."""
    if engine.dialect.name == "sqlite":
        return engine
    pool: dict[str, Any] = {"pool_size": 8, "max_overflow": 0, "pool_timeout": 10, "pool_reset_on_return": None}
    options: dict[str, Any] = {"isolation_level": "AUTOCOMMIT", "connect_args": CONNECT_ARGS, "hide_parameters": True}
    peeks = create_engine(engine.url, **options, **pool)
    _ping_idle(peeks)
    return peeks


def _configure_sqlite(connection: Any, _: Any) -> None:
    """Make commits durable, let readers never wait, overwrite deleted data, and begin transactions ourselves."""
    connection.isolation_level = None
    for pragma in (f"busy_timeout={BUSY_TIMEOUT_MS}", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
    _enable_wal(connection)


def _enable_wal(connection: Any) -> None:
    """Switch to a write-ahead log; SQLite fails instead of waiting while others switch a new file, so try again."""
    until = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() >= until:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    """Begin a transaction: a writer waits until no other writes, and its commit is as durable as was chosen.

    A reader does not wait.
    """
    options = connection.get_execution_options()
    if not options.get("writing", False):
        connection.exec_driver_sql("BEGIN")
        return
    raw: Any = connection.connection.driver_connection
    raw.execute(f"PRAGMA synchronous={'FULL' if options.get('durable', True) else 'NORMAL'}")
    if not _begin_writing(raw):
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # most likely fails too, with an error of SQLAlchemy


def _begin_writing(raw: sqlite3.Connection) -> bool:
    """Begin a write transaction when no other is open; return False if that fails, or takes too long.

    SQLite itself would sleep ten times as long as a transaction lasts before it looks again.
    """
    until = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    raw.execute("PRAGMA busy_timeout=0")
    try:
        while time.monotonic() < until:
            try:
                raw.execute("BEGIN IMMEDIATE")
                return True
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & PRIMARY_ERROR_BITS != sqlite3.SQLITE_BUSY:
                    break
                time.sleep(WRITER_POLL_S)
        return False
    finally:
        raw.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
