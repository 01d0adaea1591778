"""What the doctor looks at: database, schema, secret, Redis, mail, inbound, clock, disk. Nothing is made or changed."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, text

from engine.refusal import Refused
from service.app import connect_redis
from service.commands.findings import Finding, ill, odd, tried, well
from service.links import Links
from service.settings import EMBEDDED, Settings, keep_secret, listening_address
from service.store import Store, identity
from service.store.schema import letters, submissions, tables
from workers.incoming import mailbox_polling
from workers.outgoing import post

LATE = 15 * 60  # seconds; a letter or submission that waits longer has no worker
LEAST_ROOM, LITTLE_ROOM = 16 * 2**20, 512 * 2**20  # bytes; below the first /healthz fails
CLOCKS_APART = 5  # seconds, beyond which deadlines and leases are told differently by two machines
PATIENCE = 5.0
Work = Callable[[], Iterable[Finding]]


def all_of(settings: Settings) -> Iterator[Finding]:
    """Every part of the house, whether or not the one before it is well."""
    database, redis = (url.rpartition("@")[2] for url in (settings.database_url, settings.redis))
    yield from tried(
        "database", f"database {database}", "start the database server, or mend DEPESCHE_DATABASE",
        lambda: _database(settings, database),
    )  # fmt: skip
    if settings.replica:
        name = settings.replica.rpartition("@")[2]
        yield from tried(
            "replica", f"replica {name}", "start it, or mend DEPESCHE_REPLICA; meanwhile the first server does all",
            lambda: _replica(settings, name),
        )  # fmt: skip
    yield from tried(
        "redis", f"Redis {redis}", "start it, or mend DEPESCHE_REDIS; an empty one does, for nothing in it is missed",
        lambda: _redis(settings, redis),
    )  # fmt: skip
    if settings.smtp != EMBEDDED:
        name, mend = settings.smtp.rpartition("@")[2], "mend DEPESCHE_SMTP, or ask whoever runs that server"
        yield from tried("smtp", f"mail server {name}", mend, lambda: _relay(settings, name))
    yield from _inbound(settings)
    if settings.imap:
        name, mend = settings.imap.rpartition("@")[2], "mend DEPESCHE_IMAP: user, password, or the folder's name"
        yield from tried("inbound", f"mailbox {name}", mend, lambda: _mailbox(settings, name))
    yield from _disk(settings)


def is_made(settings: Settings) -> bool:
    """Whether there is a database; one in a file is made by the first start."""
    url = settings.database_url
    return not url.startswith("sqlite:///") or Path(url.removeprefix("sqlite:///")).exists()


def _database(settings: Settings, name: str) -> Iterator[Finding]:
    if not is_made(settings):
        yield well("database", f"database {name}: not there yet; the first start makes it")
        return
    with closing(Store(settings.database_url)) as store:
        shape = store.revision()
        yield well("database", f"database {name}: {_size(store)}")
        yield from _schema(store, shape)
        yield from tried(
            "secret", "secret", "put back the secret that this house had", lambda: _secret(settings, store)
        )
        if store.is_current():
            yield from _clock(store)


def _replica(settings: Settings, name: str) -> Iterator[Finding]:
    """Whether it follows: what it has not heard for minutes may only be that nobody moved."""
    with closing(Store(settings.replica)) as store, store.reading() as connection:
        asked = "SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())"
        follows, behind = connection.execute(text(asked)).one()
    if follows:
        yield well("replica", f"replica {name}: it follows, {int(behind or 0)} bytes behind what it has received")
    else:
        yield odd("replica", f"replica {name}: it follows no other server", "make it a standby of the first one")


def _size(store: Store) -> str:
    asked = {"postgresql": "pg_database_size(current_database())"}
    size = asked.get(
        store.engine.dialect.name, "(SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)"
    )
    with store.reading() as connection:
        return f"{int(connection.execute(text(f'SELECT {size}')).scalar_one()) / 2**20:,.1f} MB"


def _schema(store: Store, shape: str) -> Iterator[Finding]:
    if store.is_current():
        yield well("schema", f"schema {shape}")
    elif not shape:
        yield odd("schema", "schema: the database is empty", "the first start fills it")
    else:
        mend = "copy the house with: depesche backup FILE, and start the newest version you have; it renews the schema"
        yield odd("schema", f"schema {shape}: of another version than this program", mend)


def _secret(settings: Settings, store: Store) -> Iterator[Finding]:
    file = settings.folder / "secret"
    if not settings.secret and not file.exists():
        raise Refused("The secret that its links were made with is missing; put back the file, or DEPESCHE_SECRET.")
    identity.check(store, Links(keep_secret(settings)))
    if not settings.secret and file.stat().st_mode & 0o077:
        yield odd("secret", f"secret: everybody on this machine can read {file}", f"chmod 600 {file}")
    else:
        yield well("secret", "secret: the links in this house's letters were made with it")


def _redis(settings: Settings, name: str) -> Iterator[Finding]:
    with closing(connect_redis(settings.redis)) as redis:
        if settings.redis == EMBEDDED:
            yield well("redis", "Redis embedded: in this process")
            return
        seconds, _ = redis.time()
        yield well("redis", f"Redis {name}: it answers, and holds nothing that would be missed")
        yield from _apart("that of Redis", time.time() - seconds)


def _relay(settings: Settings, name: str) -> Iterator[Finding]:
    post.connect(settings.smtp).quit()
    yield well("smtp", f"mail server {name}: it answers")


def _inbound(settings: Settings) -> Iterator[Finding]:
    """The ear for answers, as the mail server in front finds it."""
    if not settings.inbound:
        return
    mend = "start the house; while it runs, DEPESCHE_INBOUND is where it listens"
    try:
        with socket.create_connection(listening_address("DEPESCHE_INBOUND", settings.inbound), PATIENCE) as asking:
            asking.settimeout(PATIENCE)
            greeting = asking.recv(512).decode("ascii", "replace").strip()
    except OSError as error:
        yield odd("inbound", f"answers by mail at {settings.inbound}: {error.strerror or error}", mend)
        return
    if greeting.startswith("220"):
        yield well("inbound", f"answers by mail are taken at {settings.inbound}")
    else:
        yield odd("inbound", f"at {settings.inbound} another program answers: “{greeting[:60]}”", "choose another port")


def _mailbox(settings: Settings, name: str) -> Iterator[Finding]:
    """Whether it opens, and how soon an answer is noticed."""
    with mailbox_polling.opened(settings) as found:
        soon = "at once" if mailbox_polling.tells(found.box) else f"within {mailbox_polling.EVERY:.0f} seconds"
        yield well("inbound", f"mailbox {name}: an answer is noticed {soon}")


def _clock(store: Store) -> Iterator[Finding]:
    """This machine's clock beside the database's, and beside the last thing that was written."""
    now = int(time.time())
    with store.reading() as connection:
        last = connection.execute(select(func.max(tables.c.moved_at))).scalar_one() or 0
        theirs: Any = None
        if connection.dialect.name == "postgresql":
            theirs = connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
    mend = "set the clock of this machine by the network: apt install systemd-timesyncd"
    if last > now + CLOCKS_APART:
        yield odd("clock", f"clock: the last move is {last - now} s in the future, so this clock was set back", mend)
    elif theirs is None:
        yield well("clock", f"clock: {time.strftime('%Y-%m-%d %H:%M:%S UTC', time.gmtime(now))}")
    yield from _apart("that of the database", time.time() - float(theirs)) if theirs is not None else ()


def _apart(whose: str, seconds: float) -> Iterator[Finding]:
    if abs(seconds) > CLOCKS_APART:
        mend = "set the clocks of all machines by the network: apt install systemd-timesyncd"
        yield odd("clock", f"clock: this one and {whose} are {abs(seconds):.0f} s try_table", mend)
    else:
        yield well("clock", f"clock: as {whose}, within {max(1, round(abs(seconds)))} s")


def _disk(settings: Settings) -> Iterator[Finding]:
    """Room in the house's folder; a copy of the database needs as much again as the database."""
    folder = next(
        place for place in (settings.folder.absolute(), *settings.folder.absolute().parents) if place.exists()
    )
    try:
        free, files = shutil.disk_usage(folder).free, os.statvfs(folder)
    except OSError as error:
        yield ill("disk", f"disk: {folder}: {error.strerror or error}", "name a folder with DEPESCHE_FOLDER")
        return
    database = Path(settings.database_url.removeprefix("sqlite:///"))
    held = database.stat().st_size if settings.database_url.startswith("sqlite:///") and database.exists() else 0
    said, mend = f"disk: {free // 2**20:,} MB free in {folder}", "make room, or move the house to a larger disk"
    if not os.access(folder, os.W_OK | os.X_OK):
        yield ill("disk", f"disk: {folder} cannot be written", f"chown {folder} to the user the house runs as")
    elif free < LEAST_ROOM or (files.f_files and not files.f_favail):
        yield ill("disk", said, mend)
    elif free < max(LITTLE_ROOM, held):
        yield odd("disk", said, mend)
    else:
        yield well("disk", said)


def lying(settings: Settings) -> Iterator[Finding]:
    """Work that waits so long that no process can be looking after it."""
    if not is_made(settings):
        return
    since = int(time.time()) - LATE
    late = (letters.c.sent_at.is_(None), letters.c.due_at < since)
    waiting = {
        "letters that nobody sends": select(func.count()).where(*late),
        "moves that nobody judges": select(func.count()).where(
            submissions.c.accepted.is_(None), submissions.c.at < since
        ),
    }
    with closing(Store(settings.database_url)) as store:
        if not store.is_current():
            return
        with store.reading() as connection:
            for what, wanted in waiting.items():
                if count := connection.execute(wanted).scalar_one():
                    yield odd("work", f"{what}: {count}", "start one: depesche worker, or depesche serve")
