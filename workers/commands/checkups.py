"""The checks of `depesche doctor`: database, schema, secret, Redis, mail, inbound, clock, disk. They change nothing."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, text

from engine.refusal import Refused
from service.app import connect_redis
from service.commands.check_results import CheckResult, fail, succeed, try_check, warn
from service.links import Links
from service.settings import EMBEDDED, Settings, load_secret, parse_listening_address
from service.store import Store, server_facts
from service.store.schema import deliveries, letters, submissions, tables
from workers.commands import channel_checks
from workers.incoming import mailbox_polling
from workers.outgoing import emails

OVERDUE_S = 15 * 60  # a letter or submission that waits longer has no worker
MIN_FREE_BYTES, LOW_FREE_BYTES = 16 * 2**20, 512 * 2**20  # below the first /healthz fails
MAX_CLOCK_SKEW_S = 5  # beyond it two machines disagree about deadlines and leases
TIMEOUT_S = 5.0
START_WORKER = "start one: depesche worker, or depesche serve"


def check_all(settings: Settings) -> Iterator[CheckResult]:
    """Check every part of the service, even if another check failed."""
    database, redis = (url.rpartition("@")[2] for url in (settings.database_url, settings.redis))
    yield from try_check(
        "database", f"database {database}", "start the database server, or correct DEPESCHE_DATABASE",
        lambda: _check_database(settings, database),
    )  # fmt: skip
    if settings.replica:
        name = settings.replica.rpartition("@")[2]
        yield from try_check(
            "replica", f"replica {name}", "start it, or correct DEPESCHE_REPLICA; meanwhile the first server does all",
            lambda: _check_replica(settings, name),
        )  # fmt: skip
    yield from try_check(
        "redis", f"Redis {redis}", "start it, or correct DEPESCHE_REDIS; an empty one is enough",
        lambda: _check_redis(settings, redis),
    )  # fmt: skip
    if settings.smtp != EMBEDDED:
        name, mend = settings.smtp.rpartition("@")[2], "correct DEPESCHE_SMTP, or ask its administrator"
        yield from try_check("smtp", f"mail server {name}", mend, lambda: _check_relay(settings, name))
    yield from _check_inbound(settings)
    if settings.imap:
        name, mend = settings.imap.rpartition("@")[2], "correct DEPESCHE_IMAP: user, password, or the folder's name"
        yield from try_check("inbound", f"mailbox {name}", mend, lambda: _check_mailbox(settings, name))
    yield from channel_checks.check_channels(settings)
    yield from _check_disk(settings)


def has_database(settings: Settings) -> bool:
    """Return whether there is a database; the first start makes an SQLite file."""
    url = settings.database_url
    return not url.startswith("sqlite:///") or Path(url.removeprefix("sqlite:///")).exists()


def _check_database(settings: Settings, name: str) -> Iterator[CheckResult]:
    if not has_database(settings):
        yield succeed("database", f"database {name}: not there yet; the first start makes it")
        return
    with closing(Store(settings.database_url)) as store:
        shape = store.find_revision()
        yield succeed("database", f"database {name}: {_measure_size(store)}")
        yield from _check_schema(store, shape)
        yield from try_check(
            "secret", "secret", "restore the secret that this server had", lambda: _check_secret(settings, store)
        )
        if store.is_current():
            yield from _check_clock(store)


def _check_replica(settings: Settings, name: str) -> Iterator[CheckResult]:
    """Check that the replica follows; a long silence is no sign, for there may have been no moves."""
    with closing(Store(settings.replica)) as store, store.reading() as connection:
        query = "SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())"
        follows, behind = connection.execute(text(query)).one()
    if follows:
        yield succeed("replica", f"replica {name}: it follows, {int(behind or 0)} bytes behind what it has received")
    else:
        yield warn("replica", f"replica {name}: it follows no other server", "make it a standby of the first one")


def _measure_size(store: Store) -> str:
    queries = {"postgresql": "pg_database_size(current_database())"}
    size = queries.get(
        store.engine.dialect.name, "(SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)"
    )
    with store.reading() as connection:
        return f"{int(connection.execute(text(f'SELECT {size}')).scalar_one()) / 2**20:,.1f} MB"


def _check_schema(store: Store, shape: str) -> Iterator[CheckResult]:
    if store.is_current():
        yield succeed("schema", f"schema {shape}")
    elif not shape:
        yield warn("schema", "schema: the database is empty", "the first start fills it")
    else:
        mend = "copy everything with: depesche backup FILE, and start your newest version; it updates the schema"
        yield warn("schema", f"schema {shape}: of another version than this program", mend)


def _check_secret(settings: Settings, store: Store) -> Iterator[CheckResult]:
    file = settings.folder / "secret"
    if not settings.secret and not file.exists():
        raise Refused("The secret that its links were made with is missing; restore the file, or DEPESCHE_SECRET.")
    server_facts.check_database(store, Links(load_secret(settings)))
    if not settings.secret and file.stat().st_mode & 0o077:
        yield warn("secret", f"secret: everybody on this machine can read {file}", f"chmod 600 {file}")
    else:
        yield succeed("secret", "secret: the links in this server's letters were made with it")


def _check_redis(settings: Settings, name: str) -> Iterator[CheckResult]:
    with closing(connect_redis(settings.redis)) as redis:
        if settings.redis == EMBEDDED:
            yield succeed("redis", "Redis embedded: in this process")
            return
        seconds, _ = redis.time()
        yield succeed("redis", f"Redis {name}: it answers")
        yield from _compare_clocks("that of Redis", time.time() - seconds)


def _check_relay(settings: Settings, name: str) -> Iterator[CheckResult]:
    emails.connect(settings.smtp).quit()
    yield succeed("smtp", f"mail server {name}: it answers")


def _check_inbound(settings: Settings) -> Iterator[CheckResult]:
    """Connect to the inbox for answers, as the mail server in front does."""
    if not settings.inbound:
        return
    mend = "start Depesche, which listens there while it runs"
    try:
        with socket.create_connection(
            parse_listening_address("DEPESCHE_INBOUND", settings.inbound), TIMEOUT_S
        ) as connection:
            connection.settimeout(TIMEOUT_S)
            greeting = connection.recv(512).decode("ascii", "replace").strip()
    except OSError as error:
        yield warn("inbound", f"answers by mail at {settings.inbound}: {error.strerror or error}", mend)
        return
    if greeting.startswith("220"):
        yield succeed("inbound", f"answers by mail are taken at {settings.inbound}")
    else:
        yield warn(
            "inbound", f"at {settings.inbound} another program answers: “{greeting[:60]}”", "choose another port"
        )


def _check_mailbox(settings: Settings, name: str) -> Iterator[CheckResult]:
    """Check that the mailbox opens, and how soon an answer is noticed."""
    with mailbox_polling.open_mailbox(settings) as mailbox:
        soon = (
            "at once" if mailbox_polling.supports_idle(mailbox.box) else f"within {mailbox_polling.POLL_S:.0f} seconds"
        )
        yield succeed("inbound", f"mailbox {name}: an answer is noticed {soon}")


def _check_clock(store: Store) -> Iterator[CheckResult]:
    """Compare this machine's clock with that of the database, and with the last move."""
    now = int(time.time())
    with store.reading() as connection:
        last = connection.execute(select(func.max(tables.c.moved_at))).scalar_one() or 0
        theirs: Any = None
        if connection.dialect.name == "postgresql":
            theirs = connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
    mend = "synchronise the clock of this machine: apt install systemd-timesyncd"
    if last > now + MAX_CLOCK_SKEW_S:
        yield warn("clock", f"clock: the last move is {last - now} s in the future, so this clock was set back", mend)
    elif theirs is None:
        yield succeed("clock", f"clock: {time.strftime('%Y-%m-%d %H:%M:%S UTC', time.gmtime(now))}")
    yield from _compare_clocks("that of the database", time.time() - float(theirs)) if theirs is not None else ()


def _compare_clocks(whose: str, seconds: float) -> Iterator[CheckResult]:
    if abs(seconds) > MAX_CLOCK_SKEW_S:
        mend = "synchronise the clocks of all machines: apt install systemd-timesyncd"
        yield warn("clock", f"clock: this one and {whose} are {abs(seconds):.0f} s apart", mend)
    else:
        yield succeed("clock", f"clock: as {whose}, within {max(1, round(abs(seconds)))} s")


def _check_disk(settings: Settings) -> Iterator[CheckResult]:
    """Check the free space in the folder; a copy of the database needs as much as the database."""
    folder = next(
        place for place in (settings.folder.absolute(), *settings.folder.absolute().parents) if place.exists()
    )
    try:
        free, files = shutil.disk_usage(folder).free, os.statvfs(folder)
    except OSError as error:
        yield fail("disk", f"disk: {folder}: {error.strerror or error}", "name a folder with DEPESCHE_FOLDER")
        return
    database = Path(settings.database_url.removeprefix("sqlite:///"))
    size = database.stat().st_size if settings.database_url.startswith("sqlite:///") and database.exists() else 0
    what, mend = f"disk: {free // 2**20:,} MB free in {folder}", "free some space, or move to a larger disk"
    if not os.access(folder, os.W_OK | os.X_OK):
        yield fail("disk", f"disk: {folder} cannot be written", f"chown {folder} to the user that Depesche runs as")
    elif free < MIN_FREE_BYTES or (files.f_files and not files.f_favail):
        yield fail("disk", what, mend)
    elif free < max(LOW_FREE_BYTES, size):
        yield warn("disk", what, mend)
    else:
        yield succeed("disk", what)


def check_overdue_work(settings: Settings) -> Iterator[CheckResult]:
    """Find work that has waited so long that no process can be there to do it."""
    if not has_database(settings):
        return
    since = int(time.time()) - OVERDUE_S
    late_letters = select(func.count()).where(letters.c.sent_at.is_(None), letters.c.due_at < since)
    late_notices = select(func.count()).where(deliveries.c.ended_at.is_(None), deliveries.c.due_at < since)
    late_moves = select(func.count()).where(submissions.c.accepted.is_(None), submissions.c.at < since)
    with closing(Store(settings.database_url)) as store:
        if not store.is_current():
            return
        with store.reading() as connection:
            if count := connection.execute(late_letters).scalar_one():
                yield warn("work", f"letters that are not sent: {count}", START_WORKER)
            if count := connection.execute(late_notices).scalar_one():
                yield warn("work", f"notices that are not sent: {count}", START_WORKER)
            if count := connection.execute(late_moves).scalar_one():
                yield warn("work", f"moves that are not judged: {count}", START_WORKER)
