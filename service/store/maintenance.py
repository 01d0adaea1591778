"""Maintenance of the database: copies, and partitions of the largest PostgreSQL tables."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import msgspec
from msgspec import Struct
from sqlalchemy import URL, Connection, inspect, make_url, text

from engine.canonical_json import make_decoder
from engine.refusal import Refused
from service.settings import Settings, load_secret, write_secret
from service.store.connection import REVISIONS, Store

FORMAT = 1
CONTENTS, SECRET, DATABASE = "copy.json", "secret", "database"


class Contents(Struct, frozen=True):
    """The description of a backup, stored inside it."""

    format: int
    kind: str  # of database: sqlite or postgresql
    revision: str  # of the schema
    at: int


def save_backup(settings: Settings, file: Path, now: int) -> None:
    """Write a backup of the server, which may be running; the file appears when it is complete."""
    url = make_url(settings.database_url)
    with TemporaryDirectory(dir=file.parent, prefix=".copy-") as folder:
        database, unfinished = Path(folder, DATABASE), Path(folder, "copy")
        _dump(url, database)
        contents = Contents(FORMAT, url.get_backend_name(), _get_revision(settings), now)
        unfinished.touch(0o600)  # it has addresses, hands and the key to every seat
        with ZipFile(unfinished, "w", ZIP_DEFLATED) as copy:
            copy.writestr(CONTENTS, msgspec.json.encode(contents))
            copy.writestr(SECRET, load_secret(settings))
            copy.write(database, DATABASE)
        with unfinished.open("rb") as written:
            os.fsync(written.fileno())
        unfinished.replace(file)


def restore_backup(settings: Settings, file: Path) -> Contents:
    """Restore a server from a backup; raise Refused, and change nothing, if there is a database already."""
    url = make_url(settings.database_url)
    with _open_backup(file) as copy:
        contents, secret = _load_contents(copy), copy.read(SECRET).decode("ascii")
        _refuse_other_kind(contents, url)
        _refuse_existing_database(settings, url)
        _refuse_other_secret(settings, secret)
        with TemporaryDirectory(dir=_make_folder(settings.folder), prefix=".copy-") as folder:
            copy.extract(DATABASE, folder)
            _restore(url, Path(folder, DATABASE))
    if not settings.secret:
        write_secret(settings.folder / SECRET, secret)
    return contents


def _make_folder(folder: Path) -> Path:
    """Make a folder if there is none, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def _open_backup(file: Path) -> Iterator[ZipFile]:
    """Open a backup after checking every byte of it; raise Refused if it is damaged or not complete."""
    try:
        with ZipFile(file) as copy:
            is_damaged = copy.testzip() is not None
            missing_files = {CONTENTS, SECRET, DATABASE} - set(copy.namelist())
            if is_damaged or missing_files:
                raise BadZipFile
            yield copy
    except BadZipFile:
        raise Refused("{file} is no complete backup; use a file that `depesche backup` made.", file=file) from None


def _load_contents(copy: ZipFile) -> Contents:
    """Return the description of the backup; raise Refused if this version cannot read it."""
    contents = make_decoder(Contents).decode(copy.read(CONTENTS))
    if contents.format != FORMAT or contents.revision not in REVISIONS:
        raise Refused("This backup was made by a newer Depesche; install that version, and restore the backup with it.")
    return contents


def _refuse_other_kind(contents: Contents, url: URL) -> None:
    """Raise Refused if the backup is not of the kind of database that the settings name."""
    if contents.kind != url.get_backend_name():
        raise Refused(
            "This backup has a {kind} database, and the settings name a {other} one; set DEPESCHE_DATABASE to the kind "
            "that the backup has.",
            kind=contents.kind,
            other=url.get_backend_name(),
        )


def _refuse_existing_database(settings: Settings, url: URL) -> None:
    """Raise Refused if there is a database: to restore a backup would delete what happened since."""
    if url.get_backend_name() == "sqlite":
        exists = bool(url.database and Path(url.database).exists())
    else:
        with closing(Store(settings.database_url)) as store:
            exists = bool(inspect(store.engine).get_table_names())
    if exists:
        raise Refused(
            "There is a database already: {database}. Name an empty place with DEPESCHE_DATABASE or DEPESCHE_FOLDER, "
            "or move that database away first.",
            database=settings.database_url.rpartition("@")[2],
        )


def _refuse_other_secret(settings: Settings, secret: str) -> None:
    """Raise Refused if this server has another secret: the links in sent letters would stop working."""
    file = settings.folder / SECRET
    if (settings.secret or file.exists()) and load_secret(settings) != secret:
        raise Refused(
            "The backup has another secret than {where}; remove that one, and the backup brings its own.",
            where="DEPESCHE_SECRET" if settings.secret else file,
        )


def _get_revision(settings: Settings) -> str:
    """Return the revision of the schema that the database has."""
    with closing(Store(settings.database_url)) as store:
        return store.find_revision()


def _dump(url: URL, file: Path) -> None:
    """Write the database as it is at one moment to a file, while other processes write to it."""
    if url.get_backend_name() == "sqlite":
        with (
            closing(sqlite3.connect(f"file:{url.database}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(file)) as made,
        ):
            source.backup(made)
    else:
        _run_program(url, "pg_dump", "--format=custom", "--no-owner", "--no-acl", f"--file={file}")


def _restore(url: URL, file: Path) -> None:
    """Put the database of a backup in its place, where none is yet."""
    if url.get_backend_name() == "sqlite":
        target = Path(url.database or "")
        _make_folder(target.parent)
        file.chmod(0o600)
        shutil.move(file, target)
    else:
        database = f"--dbname={url.database}"
        _run_program(url, "pg_restore", "--no-owner", "--no-acl", "--single-transaction", database, str(file))


def _run_program(url: URL, program: str, *args: str) -> None:
    """Run a program of PostgreSQL; the password goes by the environment, which no list of processes shows."""
    path = shutil.which(program)
    if not path:
        raise Refused("{program} is needed; install PostgreSQL's programs, of the server's version.", program=program)
    environment = {**os.environ, **_make_environment(url)}
    result = subprocess.run([path, *args], env=environment, capture_output=True, check=False)
    if result.returncode:
        reason = result.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise Refused("{program} failed: {reason}", program=program, reason=reason)


def _make_environment(url: URL) -> dict[str, str]:
    """Return the address of a database as the variables of PostgreSQL's programs: PGHOST, PGPASSWORD and so on."""
    named: dict[str, object] = {"host": url.host, "port": url.port, "user": url.username, "password": url.password}
    named |= {"database": url.database, **dict(url.query)}
    return {f"PG{name.upper()}": str(value) for name, value in named.items() if value}


PARTITIONED_TABLES = ("entries", "submissions", "letters")
MAX_PARTITIONS = 256

CONSTRAINTS = text(
    "SELECT conname, pg_get_constraintdef(oid) AS means FROM pg_constraint"
    " WHERE conrelid = CAST(:name AS regclass) AND contype IN ('p', 'u', 'f') ORDER BY contype DESC, conname"
)
INDEXES = text(
    "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = CAST(:name AS regclass)"
    " AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)"
)
SEQUENCES = text(
    "SELECT attname, pg_get_serial_sequence(:name, attname) AS sequence FROM pg_attribute"
    " WHERE attrelid = CAST(:name AS regclass) AND attnum > 0 AND NOT attisdropped"
)
PARTS = text("SELECT count(*) FROM pg_inherits WHERE inhparent = CAST(:name AS regclass)")


def count_partitions(connection: Connection) -> int:
    """Return the number of partitions of the largest tables; 1 if they are not partitioned."""
    return int(connection.execute(PARTS, {"name": PARTITIONED_TABLES[0]}).scalar_one()) or 1


def partition_tables(connection: Connection, parts: int) -> None:
    """Split the largest tables into partitions, or join them again (`parts` is 1); they are locked meanwhile."""
    if connection.dialect.name != "postgresql":
        raise Refused("SQLite keeps its database in one file; only PostgreSQL has partitions.")
    if not 1 <= parts <= MAX_PARTITIONS:
        raise Refused("Choose 1 to {most} partitions; one for each processor core is plenty.", most=MAX_PARTITIONS)
    if parts == count_partitions(connection):
        raise Refused("There is nothing to do: there are as many partitions already.")
    connection.exec_driver_sql("SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = 0")
    connection.exec_driver_sql(f"LOCK {', '.join(PARTITIONED_TABLES)}")
    for name in PARTITIONED_TABLES:
        _partition(connection, name, parts)


def _partition(connection: Connection, name: str, parts: int) -> None:
    """Copy a table, then give the copy its name, keys and indexes; building these after the rows is quicker.

    The copy has this many partitions; if `parts` is 1, it has none.
    """
    constraints = connection.execute(CONSTRAINTS, {"name": name}).all()
    indexes = connection.execute(INDEXES, {"name": name}).scalars().all()
    counted_columns = [row for row in connection.execute(SEQUENCES, {"name": name}) if row.sequence]
    run = connection.exec_driver_sql
    if parts == 1:
        run(f"CREATE TABLE copied (LIKE {name} INCLUDING DEFAULTS)")
    else:
        run(f'CREATE TABLE copied (LIKE {name} INCLUDING DEFAULTS) PARTITION BY HASH ("table")')
        for number in range(parts):
            part = f"{name}_{number}_of_{parts}"
            run(f"CREATE TABLE {part} PARTITION OF copied FOR VALUES WITH (MODULUS {parts}, REMAINDER {number})")
    run(f"INSERT INTO copied SELECT * FROM {name}")  # noqa: S608  # no text from outside
    for row in counted_columns:
        run(f"ALTER SEQUENCE {row.sequence} OWNED BY copied.{row.attname}")
    run(f"DROP TABLE {name}")
    run(f"ALTER TABLE copied RENAME TO {name}")
    for row in constraints:
        run(f'ALTER TABLE {name} ADD CONSTRAINT "{row.conname}" {row.means}')
    for definition in indexes:
        run(definition.replace(" ON ONLY ", " ON "))  # also on the partitions
