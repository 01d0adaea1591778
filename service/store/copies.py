"""Copies of a whole house in one file: its database, and the secret that the links in its letters are made with."""

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
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from msgspec import Struct
from sqlalchemy import URL, inspect, make_url

from engine.canonical_json import make_decoder
from engine.refusal import Refused
from service.settings import Settings, keep_secret, put_secret
from service.store.connection import MIGRATIONS, Store

FORMAT = 1
CONTENTS, SECRET, DATABASE = "copy.json", "secret", "database"


class Contents(Struct, frozen=True):
    """What the file says of itself."""

    format: int
    kind: str  # of database: sqlite or postgresql
    revision: str  # of its shape
    at: int


def save(settings: Settings, file: Path, now: int) -> None:
    """Write a copy of the house, which may go on working; the file appears when it is whole."""
    url = make_url(settings.database_url)
    with TemporaryDirectory(dir=file.parent, prefix=".copy-") as folder:
        database, made = Path(folder, DATABASE), Path(folder, "copy")
        _dump(url, database)
        contents = Contents(FORMAT, url.get_backend_name(), _revision(settings), now)
        made.touch(0o600)  # it holds addresses, hands and the key to every seat
        with ZipFile(made, "w", ZIP_DEFLATED) as copy:
            copy.writestr(CONTENTS, msgspec.json.encode(contents))
            copy.writestr(SECRET, keep_secret(settings))
            copy.write(database, DATABASE)
        with made.open("rb") as written:
            os.fsync(written.fileno())
        made.replace(file)


def load(settings: Settings, file: Path) -> Contents:
    """Found the house anew from a copy; refused where there is a house already, which then stays as it is."""
    url = make_url(settings.database_url)
    with _opened(file) as copy:
        contents, secret = _contents(copy), copy.read(SECRET).decode("ascii")
        _refuse_other_kind(contents, url)
        _refuse_inhabited(settings, url)
        _refuse_other_secret(settings, secret)
        with TemporaryDirectory(dir=_made(settings.folder), prefix=".copy-") as folder:
            copy.extract(DATABASE, folder)
            _fill(url, Path(folder, DATABASE))
    if not settings.secret:
        put_secret(settings.folder / SECRET, secret)
    return contents


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def _opened(file: Path) -> Iterator[ZipFile]:
    """The copy, with every byte of it checked."""
    try:
        with ZipFile(file) as copy:
            if copy.testzip() or {CONTENTS, SECRET, DATABASE} - set(copy.namelist()):
                raise BadZipFile
            yield copy
    except BadZipFile:
        raise Refused("{file} is no whole copy of a house; take one that `depesche backup` made.", file=file) from None


def _contents(copy: ZipFile) -> Contents:
    """What is in the copy, where this version can read it."""
    contents = make_decoder(Contents).decode(copy.read(CONTENTS))
    try:
        known = bool(ScriptDirectory(str(MIGRATIONS)).get_revision(contents.revision))
    except CommandError:
        known = False
    if contents.format != FORMAT or not known:
        raise Refused("This copy was made by a newer Depesche; install that one, and restore the copy with it.")
    return contents


def _refuse_other_kind(contents: Contents, url: URL) -> None:
    if contents.kind != url.get_backend_name():
        raise Refused(
            "This copy holds a {kind} database, and the settings name a {other} one; set DEPESCHE_DATABASE to the kind "
            "that the copy has.",
            kind=contents.kind,
            other=url.get_backend_name(),
        )


def _refuse_inhabited(settings: Settings, url: URL) -> None:
    """A copy never replaces a house: what happened in it since would be gone."""
    if url.get_backend_name() == "sqlite":
        inhabited = bool(url.database) and Path(url.database or "").exists()
    else:
        with closing(Store(settings.database_url)) as store:
            inhabited = bool(inspect(store.engine).get_table_names())
    if inhabited:
        raise Refused(
            "There is a house already in {database}; name an empty place with DEPESCHE_DATABASE or DEPESCHE_FOLDER, "
            "or move that house away first.",
            database=settings.database_url.rpartition("@")[2],
        )


def _refuse_other_secret(settings: Settings, secret: str) -> None:
    """With another secret than its own, no link in a letter would open anything."""
    file = settings.folder / SECRET
    if (settings.secret or file.exists()) and keep_secret(settings) != secret:
        raise Refused(
            "The copy has another secret than {where}; take that one away, and the copy brings its own.",
            where="DEPESCHE_SECRET" if settings.secret else file,
        )


def _revision(settings: Settings) -> str:
    with closing(Store(settings.database_url)) as store:
        return store.revision()


def _dump(url: URL, file: Path) -> None:
    """The database as it is at one moment, while others go on writing."""
    if url.get_backend_name() == "sqlite":
        with (
            closing(sqlite3.connect(f"file:{url.database}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(file)) as made,
        ):
            source.backup(made)
    else:
        _postgresql(url, "pg_dump", "--format=custom", "--no-owner", "--no-acl", f"--file={file}")


def _fill(url: URL, file: Path) -> None:
    if url.get_backend_name() == "sqlite":
        target = Path(url.database or "")
        _made(target.parent)
        file.chmod(0o600)
        shutil.move(file, target)
    else:
        database = f"--dbname={url.database}"
        _postgresql(url, "pg_restore", "--no-owner", "--no-acl", "--single-transaction", database, str(file))


def _postgresql(url: URL, program: str, *args: str) -> None:
    """Run a program of PostgreSQL; what it has to know goes by the environment, where no list of processes shows it."""
    found = shutil.which(program)
    if not found:
        raise Refused("{program} is needed; install PostgreSQL's programs, of the server's version.", program=program)
    done = subprocess.run([found, *args], env={**os.environ, **_environment(url)}, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise Refused("{program} could not do it: {said}", program=program, said=said)


def _environment(url: URL) -> dict[str, str]:
    """The address of a database as PostgreSQL's programs read it: PGHOST, PGPASSWORD and so on."""
    named: dict[str, object] = {"host": url.host, "port": url.port, "user": url.username, "password": url.password}
    named |= {"database": url.database, **dict(url.query)}
    return {f"PG{name.upper()}": str(value) for name, value in named.items() if value}
