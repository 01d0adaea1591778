"""The checks of `depesche doctor`: database, schema, secret, Redis, mail, channels, clock, disk. They change nothing.

The relay is tried with a test letter if the host names an address for it.
"""

from __future__ import annotations

import os
import shutil
import smtplib
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import localtime, make_msgid
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from sqlalchemy import func, select, text
from sqlalchemy.exc import OperationalError

from engine.refusal import Refused
from service.app import connect_redis
from service.commands.terminal import CheckResult, make_failure, make_success, make_warning, try_check
from service.internet.safe_http import SafeClient
from service.links import Links
from service.notify import webhooks
from service.settings import EMBEDDED, Settings, load_secret, parse_listening_address
from service.store import Store, server_facts
from service.store.connection import find_database_file
from service.store.schema import channels, deliveries, followers, letters, submissions, tables
from workers.incoming import mailbox_polling
from workers.outgoing import emails
from workers.outgoing.emails import WirePolicy

OVERDUE_S = 15 * 60  # a letter or submission that waits longer has no worker
MIN_FREE_BYTES, LOW_FREE_BYTES = 16 * 2**20, 512 * 2**20  # below the first /healthz fails
RIGHTS_OF_OTHERS = 0o077  # to a file: of its group, and of everybody
MAIL_GREETING = "220"  # of SMTP and LMTP
LETTER_ACCEPTED = 250  # the reply of SMTP
FIRST_REFUSAL = 400  # from this reply of SMTP on, all refuse
MAX_CLOCK_SKEW_S = 5  # beyond it two machines disagree about deadlines and leases
TIMEOUT_S = 5.0
START_WORKER = "start one: depesche worker, or depesche serve"
TEST_TEXT = """\
This letter tries the way from {address} to you.

Look at its headers ("show original" in your mail program):
- Authentication-Results should say spf=pass, dkim=pass and dmarc=pass.
- The DKIM-Signature should list list-unsubscribe and list-unsubscribe-post in h=,
  or large providers show no button to unsubscribe.
- Should it lie among the spam, begin with what is not "pass".
"""
MEND_CHANNEL = "let this machine reach it by https, or name a proxy with DEPESCHE_PROXY"


def check_all(settings: Settings) -> Iterator[CheckResult]:
    """Check every part of the service, even if another check failed."""
    database, redis = _hide_password(settings.database_url), _hide_password(settings.redis)
    yield from try_check(
        "database", f"database {database}", "start the database server, or correct DEPESCHE_DATABASE",
        lambda: _check_database(settings, database),
    )  # fmt: skip
    if settings.replica:
        name = _hide_password(settings.replica)
        yield from try_check(
            "replica", f"replica {name}", "start it, or correct DEPESCHE_REPLICA; meanwhile the first server does all",
            lambda: _check_replica(settings, name),
        )  # fmt: skip
    yield from try_check(
        "redis", f"Redis {redis}", "start it, or correct DEPESCHE_REDIS; an empty one is enough",
        lambda: _check_redis(settings, redis),
    )  # fmt: skip
    if settings.smtp != EMBEDDED:
        name = _hide_password(settings.smtp)
        mend = "correct DEPESCHE_SMTP, or ask its administrator"
        yield from try_check("smtp", f"mail server {name}", mend, lambda: _check_relay(settings, name))
    yield from _check_inbound(settings)
    if settings.imap:
        name = _hide_password(settings.imap)
        mend = "correct DEPESCHE_IMAP: user, password, or the folder's name"
        yield from try_check("inbound", f"mailbox {name}", mend, lambda: _check_mailbox(settings, name))
    yield from check_channels(settings)
    yield from _check_disk(settings)


def _hide_password(url: str) -> str:
    """Return the part of a server's address after its user and password; all of it if it has none."""
    return url.rpartition("@")[2]


def has_database(settings: Settings) -> bool:
    """Return whether there is a database; the first start makes an SQLite file."""
    file = find_database_file(settings.database_url)
    return file is None or file.exists()


def _check_database(settings: Settings, name: str) -> Iterator[CheckResult]:
    """Check that the database opens, and then its schema, the secret and the clock."""
    if not has_database(settings):
        yield make_success("database", f"database {name}: not there yet; the first start makes it")
        return
    with closing(Store(settings.database_url)) as store:
        yield make_success("database", f"database {name}: {_measure_size(store)}")
        yield from _check_schema(store)
        yield from try_check(
            "secret", "secret", "restore the secret that this server had", lambda: _check_secret(settings, store)
        )
        if store.is_current():
            yield from _check_clock(store)


def _check_replica(settings: Settings, name: str) -> Iterator[CheckResult]:
    """Check that the replica follows, and report how many bytes it is behind.

    A time would say nothing: on a quiet server the last change is old.
    """
    with closing(Store(settings.replica)) as store, store.reading() as connection:
        query = "SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())"
        follows, behind = connection.execute(text(query)).one()
    if follows:
        yield make_success(
            "replica", f"replica {name}: it follows, {int(behind or 0)} bytes behind what it has received"
        )
    else:
        yield make_warning(
            "replica", f"replica {name}: it follows no other server", "make it a standby of the first one"
        )


def _measure_size(store: Store) -> str:
    """Return the size of the database as text."""
    query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    if store.engine.dialect.name == "postgresql":
        query = "SELECT pg_database_size(current_database())"
    with store.reading() as connection:
        size = int(connection.execute(text(query)).scalar_one())
    return f"{size / 2**20:,.1f} MB"


def _check_schema(store: Store) -> Iterator[CheckResult]:
    """Check that the schema fits this program."""
    revision = store.find_revision()
    if store.is_current():
        yield make_success("schema", f"schema {revision}")
    elif not revision:
        yield make_warning("schema", "schema: the database is empty", "the first start fills it")
    else:
        mend = "copy everything with: depesche backup FILE, and start your newest version; it updates the schema"
        yield make_warning("schema", f"schema {revision}: of another version than this program", mend)


def _check_secret(settings: Settings, store: Store) -> Iterator[CheckResult]:
    """Check that the secret fits the database, and that only its owner can read it."""
    file = settings.folder / "secret"
    if not settings.secret and not file.exists():
        raise Refused("The secret that its links were made with is missing; restore the file, or DEPESCHE_SECRET.")
    server_facts.check_database(store, Links(load_secret(settings)))
    if not settings.secret and file.stat().st_mode & RIGHTS_OF_OTHERS:
        yield make_warning("secret", f"secret: everybody on this machine can read {file}", f"chmod 600 {file}")
    else:
        yield make_success("secret", "secret: the links in this server's letters were made with it")


def _check_redis(settings: Settings, name: str) -> Iterator[CheckResult]:
    """Check that Redis answers, and that its clock agrees."""
    with closing(connect_redis(settings.redis)) as redis:
        if settings.redis == EMBEDDED:
            yield make_success("redis", "Redis embedded: in this process")
            return
        seconds, _ = redis.time()
        yield make_success("redis", f"Redis {name}: it answers")
        yield from _compare_clocks("that of Redis", time.time() - seconds)


def _check_relay(settings: Settings, name: str) -> Iterator[CheckResult]:
    """Check that the mail server for letters answers."""
    emails.connect(settings.smtp).quit()
    yield make_success("smtp", f"mail server {name}: it answers")


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
        yield make_warning("inbound", f"answers by mail at {settings.inbound}: {error.strerror or error}", mend)
        return
    if greeting.startswith(MAIL_GREETING):
        yield make_success("inbound", f"answers by mail are taken at {settings.inbound}")
    else:
        yield make_warning(
            "inbound", f"at {settings.inbound} another program answers: “{greeting[:60]}”", "choose another port"
        )


def _check_mailbox(settings: Settings, name: str) -> Iterator[CheckResult]:
    """Check that the mailbox opens, and how soon an answer is noticed."""
    with mailbox_polling.open_mailbox(settings) as mailbox:
        has_idle = mailbox_polling.supports_idle(mailbox.box)
        when = "at once" if has_idle else f"within {mailbox_polling.POLL_S:.0f} seconds"
        yield make_success("inbound", f"mailbox {name}: an answer is noticed {when}")


def _check_clock(store: Store) -> Iterator[CheckResult]:
    """Compare this machine's clock with that of the database, and with the last move."""
    now = int(time.time())
    with store.reading() as connection:
        last = connection.execute(select(func.max(tables.c.moved_at))).scalar_one() or 0
        database_time: Any = None  # SQLite has the clock of this machine
        if connection.dialect.name == "postgresql":
            database_time = connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
    mend = "synchronise the clock of this machine: apt install systemd-timesyncd"
    is_set_back = last > now + MAX_CLOCK_SKEW_S
    if is_set_back:
        yield make_warning(
            "clock", f"clock: the last move is {last - now} s in the future, so this clock was set back", mend
        )
    if database_time is not None:
        yield from _compare_clocks("that of the database", time.time() - float(database_time))
    elif not is_set_back:
        yield make_success("clock", f"clock: {time.strftime('%Y-%m-%d %H:%M:%S UTC', time.gmtime(now))}")


def _compare_clocks(other: str, difference_s: float) -> Iterator[CheckResult]:
    """Report whether this machine's clock and the other one agree."""
    apart_s = abs(difference_s)
    if apart_s > MAX_CLOCK_SKEW_S:
        mend = "synchronise the clocks of all machines: apt install systemd-timesyncd"
        yield make_warning("clock", f"clock: this one and {other} are {apart_s:.0f} s apart", mend)
    else:
        yield make_success("clock", f"clock: as {other}, within {max(1, round(apart_s))} s")


def _check_disk(settings: Settings) -> Iterator[CheckResult]:
    """Check the free space in the folder; a copy of the database needs as much as the database."""
    folder = settings.folder.absolute()
    while not folder.exists():  # the first start makes it, in the nearest folder that exists
        folder = folder.parent
    try:
        free_bytes = shutil.disk_usage(folder).free
        disk = os.statvfs(folder)
    except OSError as error:
        yield make_failure("disk", f"disk: {folder}: {error.strerror or error}", "name a folder with DEPESCHE_FOLDER")
        return
    file = find_database_file(settings.database_url)
    database_bytes = file.stat().st_size if file and file.exists() else 0
    has_no_file_left = disk.f_files and not disk.f_favail  # some file systems count no files: 0 of 0
    what = f"disk: {free_bytes // 2**20:,} MB free in {folder}"
    mend = "free some space, or move to a larger disk"
    if not os.access(folder, os.W_OK | os.X_OK):
        yield make_failure(
            "disk", f"disk: {folder} cannot be written", f"chown {folder} to the user that Depesche runs as"
        )
    elif free_bytes < MIN_FREE_BYTES or has_no_file_left:
        yield make_failure("disk", what, mend)
    elif free_bytes < max(LOW_FREE_BYTES, database_bytes):
        yield make_warning("disk", what, mend)
    else:
        yield make_success("disk", what)


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
                yield make_warning("work", f"letters that are not sent: {count}", START_WORKER)
            if count := connection.execute(late_notices).scalar_one():
                yield make_warning("work", f"notices that are not sent: {count}", START_WORKER)
            if count := connection.execute(late_moves).scalar_one():
                yield make_warning("work", f"moves that are not judged: {count}", START_WORKER)


class LetterTrial(Struct, frozen=True):
    """The result of a test letter: whether the relay accepted it, its last reply, the TLS version, and the headers.

    The version is empty without TLS; `headers` are the names alone.
    """

    accepted: bool
    reply: str
    tls: str
    sender: str
    headers: tuple[str, ...]


def send_test_letter(settings: Settings, address: str) -> LetterTrial:
    """Hand one letter to the relay and return its reply; raise OSError if the relay cannot be reached."""
    message = write_test_letter(settings, address)
    sender = settings.sender_address
    with emails.connect(settings.smtp) as server:
        tls = str(server.sock.version()) if isinstance(server.sock, ssl.SSLSocket) else ""
        server.ehlo_or_helo_if_needed()
        code, text = _hand_over(server, sender, address, message)
    reply = f"{code} {text.decode('utf-8', 'replace')}"
    return LetterTrial(
        accepted=code == LETTER_ACCEPTED,
        reply=" ".join(reply.split()),
        tls=tls,
        sender=sender,
        headers=tuple(message.keys()),
    )


def _hand_over(server: smtplib.SMTP, sender: str, address: str, message: EmailMessage) -> tuple[int, bytes]:
    """Hand over sender, recipient and letter; return the relay's first reply that refuses one of them.

    If none is refused, return its reply to the letter.
    """
    code, reply = server.mail(sender)
    if code < FIRST_REFUSAL:
        code, reply = server.rcpt(address)
    if code >= FIRST_REFUSAL:
        return code, reply
    try:
        return server.data(message.as_bytes(policy=message.policy.clone(linesep="\r\n")))
    except smtplib.SMTPDataError as error:
        refusal = error.smtp_error
        return error.smtp_code, refusal if isinstance(refusal, bytes) else refusal.encode()


def write_test_letter(settings: Settings, address: str) -> EmailMessage:
    """Return a letter with the headers of letters that can be unsubscribed from."""
    message = EmailMessage(WirePolicy(cte_type="7bit"))
    message["From"] = Address(settings.sender_name, addr_spec=settings.sender_address)
    message["To"] = address
    message["Subject"] = f"Depesche: a letter to try the way ({settings.mail_host})"
    message["Date"] = localtime()
    message["Message-ID"] = make_msgid(domain=settings.mail_host)
    message["Auto-Submitted"] = "auto-generated"
    message["List-Id"] = f"Depesche <doctor.{settings.mail_host}>"
    message["List-Unsubscribe"] = f"<{settings.address}/wishes/doctor/stop>"
    message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message.set_content(TEST_TEXT.format(address=settings.address))
    return message


def check_channels(settings: Settings) -> Iterator[CheckResult]:
    """Ask the server of the newest channel of each kind for its first page; any answer is good."""
    if not has_database(settings):
        return
    rows: Sequence[Any] = ()
    with closing(Store(settings.database_url)) as store, suppress(OperationalError):  # `_check_database` reports it
        rows = _list_newest(store)
    client = SafeClient(settings.proxy, timeout_s=TIMEOUT_S)
    for row in rows:
        host = urlsplit(webhooks.TELEGRAM if row.kind == "telegram" else row.address).netloc
        try:
            client.request("GET", f"https://{host}/")
        except Refused as refusal:
            yield make_warning("channels", f"notices by {row.kind}: {refusal}", MEND_CHANNEL)
        else:
            yield make_success("channels", f"notices by {row.kind}: {host} answers")


def _list_newest(store: Store) -> Sequence[Any]:
    """List kind and address of the newest channel of each kind, and of the newest follower of each kind.

    The list is empty while the database waits for its migration.
    """
    if not store.is_current():
        return ()
    rows = list[Any]()
    with store.reading() as db:
        for table in (channels, followers):
            newest = select(func.max(table.c.id)).where(table.c.disabled_at.is_(None)).group_by(table.c.kind)
            rows += db.execute(select(table.c.kind, table.c.address).where(table.c.id.in_(newest))).all()
    return list(dict.fromkeys(rows))
