"""Fetches answers from an ordinary mailbox by IMAP, and passes each to the inbox.

Nothing in the mailbox is changed, so no other reader of it loses a mail. After a mail is stored, its number in the
mailbox (UID, RFC 3501) is stored too. A mail that is fetched twice is one row, so each is played once.
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
from service.store import queries
from workers.incoming import bounce_reports, inbox
from workers.incoming.mail_headers import MailHeaders

log = structlog.get_logger()

IMAP_PORT, IMAPS_PORT = 143, 993
TIMEOUT_S = 30.0  # for each reply of the mail server
POLL_S = 30.0  # if the server cannot announce new mail
MAX_IDLE_S = 120.0  # if it can; a connection may be dead without an error
IDLE_POLL_S = 1  # after which a request to stop is seen
FIRST_PAUSE_S, MAX_PAUSE_S = 5.0, 600.0
FIRST_FETCH = timedelta(days=7)  # how old a mail may be at first, or after the mailbox renumbered its mails
RECIPIENT_HEADERS = ("Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To", "To", "Cc")
SEAT_TOKEN = re.compile(r"\[([0-9a-z]{1,40}\.[0-9]{1,3}\.[0-9a-z]{1,60})\]", re.IGNORECASE | re.ASCII)
# The same proof at the end of the ids of letters, for servers whose seats have no address of their own.
LETTER_ID = re.compile(r"<([0-9a-z]{16})\.(?:[0-9]{1,9}\.)?([0-9]{1,3})\.[\w.-]{1,60}\.([a-z2-7]{26})@", re.ASCII)


class NotStored(Exception):
    """A mail could not be stored; it is fetched again."""


class OpenMailbox(Struct, frozen=True):
    """An open mailbox, and the key under which the UID of its last mail is stored.

    The UIDs stay valid as long as the mailbox has the same UIDVALIDITY (`numbering`).
    """

    box: BaseMailBox
    key: str
    numbering: int


def watch(app: App, stop: Event) -> None:
    """Fetch mails until `stop` is set. After an error, retry with growing pauses, and log the error once."""
    pause = 0.0
    while not stop.is_set():
        try:
            with open_mailbox(app.settings) as mailbox:
                while not stop.is_set():
                    fetch_new(app, mailbox)
                    if pause:
                        log.info("mailbox reached again")
                    pause = 0.0
                    _wait(mailbox.box, stop)
        except Exception as error:  # of the network, the server or the database: the next try may go well
            if not pause:
                log.warning("mailbox not reached", error=str(error) or type(error).__name__)
            pause = min(max(FIRST_PAUSE_S, 2 * pause), MAX_PAUSE_S)
            stop.wait(pause)


@contextmanager
def open_mailbox(settings: Settings) -> Iterator[OpenMailbox]:
    """Open the mailbox `imaps://user:password@host[:port][/folder]` for reading only, and verify its certificate."""
    parts = urlsplit(settings.imap)
    host = parts.hostname or ""
    user = unquote(parts.username or "")
    password = unquote(parts.password or "")
    folder = unquote(parts.path.strip("/")) or "INBOX"
    box: BaseMailBox
    if parts.scheme == "imaps":
        box = MailBox(host, parts.port or IMAPS_PORT, timeout=TIMEOUT_S, ssl_context=ssl.create_default_context())
    else:
        box = MailBoxUnencrypted(host, parts.port or IMAP_PORT, timeout=TIMEOUT_S)
    try:
        login = box.login if (user + password).isascii() else box.login_utf8
        login(user, password, initial_folder=None)
        box.folder.set(folder, readonly=True)
        _name, values = box.client.response("UIDVALIDITY")
        numbering = int(values[0] or 0)  # another one than before means that the mails have new UIDs
        mailbox_hash = sha256(f"{user}@{host}:{parts.port}/{folder}".encode()).hexdigest()[:16]
        yield OpenMailbox(box, f"imap/{mailbox_hash}", numbering)
    finally:
        with suppress(Exception):  # the connection may be lost
            box.client.logout()
        with suppress(OSError):
            box.client.shutdown()  # a logout that was not answered leaves it open


def supports_idle(box: BaseMailBox) -> bool:
    """Return whether the server can announce new mail (RFC 2177)."""
    _status, capabilities = box.client.capability()
    return b"IDLE" in bytes(capabilities[0] or b"").upper().split()


def fetch_new(app: App, mailbox: OpenMailbox) -> None:
    """Fetch the mails that have come since the last fetch, in their order."""
    mailbox.box.client.noop()  # some servers report new mail only after it
    last = _load_last_uid(app, mailbox)
    since = (datetime.fromtimestamp(app.now(), UTC) - FIRST_FETCH).date()
    criteria = AND(uid=U(str(last + 1), "*")) if last else AND(date_gte=since)
    for uid in sorted(map(int, mailbox.box.uids(criteria, charset=None))):
        if uid > last:  # a range that ends in * always contains the newest mail
            if raw := _fetch(mailbox.box, uid):
                receive_mail(app, raw)
            _store_last_uid(app, mailbox, uid)


def _fetch(box: BaseMailBox, uid: int) -> bytes:
    """Fetch the part of a mail that is parsed; empty if the mail was deleted meanwhile. Raise NotStored if it fails."""
    status, parts = box.client.uid("fetch", str(uid), f"(BODY.PEEK[]<0.{inbox.PARSED_BYTES}>)")
    if status != "OK":
        raise NotStored(f"mail {uid} could not be fetched: {status}")
    for part in parts:
        if isinstance(part, tuple):  # the number of the mail, and its content
            return bytes(part[1])
    return b""


def receive_mail(app: App, raw: bytes) -> None:
    """Receive a mail for each seat that it names; other mail is ignored. Raise NotStored if one has to wait."""
    headers = MailHeaders.parse(raw)
    for recipient in find_recipients(headers, raw):
        if inbox.receive(app, raw, recipient, headers.find_envelope_sender()) == inbox.REPLY_TRY_LATER:
            raise NotStored("a mail could not be stored")


def find_recipients(headers: MailHeaders, raw: bytes) -> tuple[str, ...]:
    """Find the addresses of seats and letters that a mail is for.

    They are in its headers, in its subject, or in the letter that it answers or returns.
    """
    named = " ".join(headers.list_values(*RECIPIENT_HEADERS)).casefold()
    patterns = (inbox.ANSWER_ADDRESS, bounce_reports.BOUNCE_ADDRESS)
    addresses = [match[0] for pattern in patterns for match in pattern.finditer(named)]
    if not addresses and headers.is_report():
        addresses = _list_returned_addresses(raw)
    if not addresses and (token := _find_seat_token(headers)):
        addresses = [f"play+{token}@"]  # in the form of ANSWER_ADDRESS
    return tuple(dict.fromkeys(addresses))


def _list_returned_addresses(raw: bytes) -> list[str]:
    """Return the bounce address of the letter that a report quotes, in a list; an empty list if it quotes none."""
    quoted = raw[: bounce_reports.PARSED_BYTES].decode("ascii", "replace")
    address = bounce_reports.BOUNCE_ADDRESS.search(quoted)
    return [address[0]] if address else []


def _find_seat_token(headers: MailHeaders) -> str:
    """Return the token of the seat from the subject; if the subject was changed, from the id of the answered letter.

    Empty if neither has one.
    """
    subject = "".join(headers.decode("Subject").split())  # a mail program may have broken the token
    named = SEAT_TOKEN.search(subject)
    if named:
        return named[1]
    for message_id in headers.iter_answered_ids():
        letter_id = LETTER_ID.match(message_id)
        if letter_id:
            return ".".join(letter_id.groups())
    return ""


def _load_last_uid(app: App, mailbox: OpenMailbox) -> int:
    """Load the UID of the last fetched mail; 0 if there is none, or if the mailbox has renumbered its mails."""
    with app.store.reading() as db:
        stored = queries.get_facts(db, [mailbox.key])
    numbering, _, last = stored.get(mailbox.key, "0:0").partition(":")
    return int(last) if int(numbering) == mailbox.numbering else 0


def _store_last_uid(app: App, mailbox: OpenMailbox, uid: int) -> None:
    """Store which mail was received last, with the numbering that its number belongs to."""
    with app.store.writing() as db:
        queries.set_fact(db, mailbox.key, f"{mailbox.numbering}:{uid}")


def _wait(box: BaseMailBox, stop: Event) -> None:
    """Wait until the server announces new mail, or for a while; return at once if the connection is lost."""
    if not supports_idle(box):
        stop.wait(POLL_S)
        return
    until = time.monotonic() + MAX_IDLE_S
    with box.idle as idle:
        while not stop.is_set() and time.monotonic() < until:
            asked_at = time.monotonic()
            has_news = bool(idle.poll(timeout=IDLE_POLL_S))
            is_early = time.monotonic() - asked_at < IDLE_POLL_S / 2
            is_lost = is_early and not has_news  # the connection
            if has_news or is_lost:
                return
