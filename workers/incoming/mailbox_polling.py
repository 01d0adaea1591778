"""Fetches answers from an ordinary mailbox by IMAP, and hands each on as a mail server in front of us would.

Nothing in the mailbox is changed, so no other reader of it loses a mail. Which mails were looked at is noted in the
book by the numbers that the mailbox gives them (UID, RFC 3501), after the mail is stored; a mail that comes twice is
the same row there. So each is played once, wherever a process ends.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from threading import Event
from urllib.parse import unquote, urlsplit

import structlog
from imap_tools import AND, U
from imap_tools.mailbox import BaseMailBox, MailBox, MailBoxUnencrypted
from msgspec import Struct

from service.app import App
from service.settings import Settings
from service.store import facts
from workers.incoming import bounce_reports, inbox
from workers.incoming.mail_headers import MailHeaders

log = structlog.get_logger()

WAIT = 30.0  # seconds for each word of the mail server
EVERY = 30.0  # seconds between two looks where the server does not tell of new mail
IDLE = 120.0  # and at most so long where it does, for a connection may be dead and not say so
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 600.0
BACK = timedelta(days=7)  # so far goes the first look, and the one after the mailbox numbered its mails anew
ADDRESSES = ("Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To", "To", "Cc")
TOKEN = re.compile(r"\[([0-9a-z]{1,40}\.[0-9]{1,3}\.[0-9a-z]{1,60})\]", re.IGNORECASE | re.ASCII)
# The same proof at the end of the ids of our letters, where answers need not come to an address of their seat.
PROVEN_ID = re.compile(r"<([0-9a-z]{16})\.(?:[0-9]{1,9}\.)?([0-9]{1,3})\.[\w.-]{1,60}\.([a-z2-7]{26})@", re.ASCII)


class NotStored(Exception):
    """The book could not take a mail; it is fetched again."""


class OpenMailbox(Struct, frozen=True):
    """A mailbox being looked into; its numbers hold as long as `numbering` stays the same."""

    box: BaseMailBox
    name: str
    numbering: int


def watch(app: App, stop: Event) -> None:
    """Fetch what comes until told to stop; a mailbox out of reach is tried ever more seldom, and told once."""
    pause = 0.0
    while not stop.is_set():
        try:
            with opened(app.settings) as found:
                while not stop.is_set():
                    collect(app, found)
                    if pause:
                        log.info("mailbox reached again")
                    pause = 0.0
                    _rest(found.box, stop)
        except Exception as error:  # of the network, the server or the database: the next try may go well
            if not pause:
                log.warning("mailbox not reached", error=str(error) or type(error).__name__)
            pause = min(max(FIRST_PAUSE, 2 * pause), LONGEST_PAUSE)
            stop.wait(pause)


@contextmanager
def opened(settings: Settings) -> Iterator[OpenMailbox]:
    """The mailbox of `imaps://user:password@host[:port][/folder]`, for reading only; its certificate is verified."""
    parts = urlsplit(settings.imap)
    host, user, password = parts.hostname or "", unquote(parts.username or ""), unquote(parts.password or "")
    folder = unquote(parts.path.strip("/")) or "INBOX"
    box: BaseMailBox
    if parts.scheme == "imaps":
        box = MailBox(host, parts.port or 993, timeout=WAIT, ssl_context=ssl.create_default_context())
    else:
        box = MailBoxUnencrypted(host, parts.port or 143, timeout=WAIT)
    try:
        enter = box.login if (user + password).isascii() else box.login_utf8
        enter(user, password, initial_folder=None)
        box.folder.set(folder, readonly=True)
        numbering = box.client.response("UIDVALIDITY")[1]
        name = sha256(f"{user}@{host}:{parts.port}/{folder}".encode()).hexdigest()[:16]
        yield OpenMailbox(box, f"imap/{name}", int(numbering[0] or 0))
    finally:
        with suppress(Exception):  # what remains of a lost connection
            box.client.logout()
        with suppress(OSError):
            box.client.shutdown()  # a goodbye that was not answered leaves it open


def tells(box: BaseMailBox) -> bool:
    """Whether the server says by itself that mail has come (RFC 2177)."""
    said = box.client.capability()[1]
    return b"IDLE" in bytes(said[0] or b"").upper().split()


def collect(app: App, found: OpenMailbox) -> None:
    """Hand on what has come since the last look, in its order."""
    found.box.client.noop()  # some servers tell what is new only then
    last = _last(app, found)
    since = (datetime.fromtimestamp(app.now(), UTC) - BACK).date()
    wanted = AND(uid=U(str(last + 1), "*")) if last else AND(date_gte=since)
    for uid in sorted(map(int, found.box.uids(wanted, charset=None))):
        if uid > last:  # a range that ends in * holds at least the newest mail
            if raw := _fetched(found.box, uid):
                hand_on(app, raw)
            _note(app, found, uid)


def _fetched(box: BaseMailBox, uid: int) -> bytes:
    """A mail as far as we read any; nothing where it was deleted meanwhile."""
    status, said = box.client.uid("fetch", str(uid), f"(BODY.PEEK[]<0.{inbox.READ}>)")
    if status != "OK":
        raise NotStored(f"mail {uid} could not be fetched: {status}")
    return next((bytes(part[1]) for part in said if isinstance(part, tuple)), b"")


def hand_on(app: App, raw: bytes) -> None:
    """Take a mail for every seat that it names; other mail in this box is none of ours."""
    headers = MailHeaders.read(raw)
    for recipient in recipients(headers, raw):
        if inbox.received(app, raw, recipient, headers.envelope_sender()) == inbox.LATER:
            raise NotStored("a mail could not be stored")


def recipients(headers: MailHeaders, raw: bytes) -> tuple[str, ...]:
    """The addresses of ours that a mail is for, by its headers, its subject, or the letter it answers or returns."""
    named = " ".join(headers.every(*ADDRESSES)).casefold()
    ours = [found[0] for address in (inbox.TO, bounce_reports.ADDRESS) for found in address.finditer(named)]
    if not ours and headers.is_report():
        returned = bounce_reports.ADDRESS.search(raw[: bounce_reports.READ].decode("ascii", "replace"))
        ours = [returned[0]] if returned else []
    return tuple(dict.fromkeys(ours or (f"play+{token}@" for token in _tokens(headers))))


def _tokens(headers: MailHeaders) -> Iterator[str]:
    """What tells the seat in the subject; or, where the subject was changed, in the id of the letter answered."""
    told = TOKEN.search("".join(headers.decoded("Subject").split()))
    proven = next(filter(None, map(PROVEN_ID.match, headers.answered())), None)
    if told:
        yield told[1]
    elif proven:
        yield ".".join(proven.groups())


def _last(app: App, found: OpenMailbox) -> int:
    """The number of the last mail that was looked at; 0 where none was, or the mailbox has numbered its mails anew."""
    with app.store.reading() as connection:
        kept = facts.get_facts(connection, [found.name])
    numbering, _, last = kept.get(found.name, "0:0").partition(":")
    return int(last) if int(numbering) == found.numbering else 0


def _note(app: App, found: OpenMailbox, uid: int) -> None:
    with app.store.writing() as connection:
        facts.set_fact(connection, found.name, f"{found.numbering}:{uid}")


def _rest(box: BaseMailBox, stop: Event) -> None:
    """Wait until the server tells of something new, or for a while."""
    if not tells(box):
        stop.wait(EVERY)
        return
    until = time.monotonic() + IDLE
    with box.idle as idle:
        while not stop.is_set() and (now := time.monotonic()) < until:
            if idle.poll(timeout=1) or time.monotonic() - now < 0.5:  # at once and empty: the connection is lost
                return
