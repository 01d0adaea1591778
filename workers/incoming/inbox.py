"""The inbox: takes mails from the mail server in front of us. An answer of a player becomes a row and rings a bell."""

from __future__ import annotations

import asyncio
import hashlib
import re
from typing import Any

import msgspec
import structlog
from aiosmtpd.controller import Controller
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session
from msgspec import Struct
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError, OperationalError

from engine.refusal import Refused
from service.app import App
from service.people import register
from service.settings import DAY
from service.store import queries
from service.store.batch import OwedLetter
from service.store.schema import mails, seats
from service.tables import access
from service.tables.access import Place
from service.text.languages import Said
from workers.incoming import bounce_reports, reply_text, sender_checks
from workers.incoming.mail_headers import MailHeaders
from workers.incoming.mail_moves import ELSEWHERE
from workers.incoming.sender_checks import Ignored, Stranger
from workers.jobs import log_database_error

log = structlog.get_logger()

LARGEST = 4 * 1024 * 1024
LARGEST_HEARD = 32 * 1024 * 1024  # more than that the mail server is not even let say
READ = 512 * 1024  # pictures come after the text
SHOWABLE = re.compile(r"[\w.+-]{1,64}@[\w.-]{1,100}", re.ASCII)
TO = re.compile(r"[\w.=-]{1,64}\+(([0-9a-z]{1,40}\.[0-9]{1,3})\.[0-9a-z]{1,60})@", re.IGNORECASE | re.ASCII)
# The ids of our letters: table, entry (not in an invitation), seat, kind. The last group names kinds that begin a turn.
LETTER = re.compile(
    r"<([0-9a-z]{16})\.(?:([0-9]{1,9})\.)?([0-9]{1,3})\.(?:(turn|reminder|accepted|refused)|[a-z])[\w.]*@"
)
TAKEN, TOO_LARGE, LATER = "250 Thank you", "552 That is too large for an answer", "451 Please try again later"


class IncomingMail(Struct, frozen=True):
    """An answer as it came: for which seat, by whom, and what he wrote himself."""

    place: Place
    person: int
    key: str
    message_id: str
    answers: int | None
    lines: tuple[str, ...]


class Receiver:
    """Speaks with the mail server in front of us: what it hands over is in the book before it is thanked."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: ARG002, N802 - aiosmtpd calls it so
        raw = envelope.content if isinstance(envelope.content, bytes) else str(envelope.content).encode()
        said = [
            await asyncio.to_thread(received, self._app, raw, recipient, envelope.mail_from or "")
            for recipient in envelope.rcpt_tos
        ]
        if isinstance(server, LMTP):
            return "\r\n".join(said)  # RFC 2033: a word for each recipient
        return max(said, key=(TAKEN, TOO_LARGE, LATER).index)


def smtp(app: App, host: str, port: int) -> Controller:
    """A server that takes answers by SMTP; `start()` it, and in the end `stop()` it."""
    return Controller(Receiver(app), hostname=host, port=port, data_size_limit=LARGEST_HEARD)


def lmtp(app: App, host: str, port: int) -> Controller:
    """The same by LMTP, as a mail server in front of us speaks it."""
    return _ByLmtp(Receiver(app), hostname=host, port=port, data_size_limit=LARGEST_HEARD)


class _ByLmtp(Controller):
    def factory(self) -> SMTP:
        return LMTP(self.handler, **self.SMTP_kwargs)


def received(app: App, raw: bytes, recipient: str, envelope_sender: str) -> str:
    """Take a mail, and say to the mail server whether it may forget it; repeating it does no harm."""
    if len(raw) > LARGEST:
        log.info("mail not taken", recipient=_shown(recipient), why=f"It is too large: {len(raw)} bytes.")
        return TOO_LARGE
    try:
        take(app, raw, recipient, envelope_sender)
    except OperationalError as error:
        log_database_error(error, "mail not stored", recipient=_shown(recipient))
        return LATER
    except Exception:
        log.exception("mail not stored", recipient=_shown(recipient))
        return LATER
    return TAKEN


def take(app: App, raw: bytes, recipient: str, envelope_sender: str) -> int | None:
    """Note the answer in the book; None where it is no answer of a player, and the log says why.

    A report that a letter could not be delivered is heeded at once.
    """
    try:
        if bounce_reports.ADDRESS.match(recipient):
            bounce_reports.taken(app, raw, recipient, envelope_sender)
            return None
        letter = _read(app, raw, recipient, envelope_sender)
    except (Refused, Ignored) as refused:
        log.info("mail not taken", recipient=_shown(recipient), why=str(refused))
        return None
    return _store(app, letter)


def _read(app: App, raw: bytes, recipient: str, envelope_sender: str) -> IncomingMail:
    """The address proves the seat, its owner has to be the sender; programs do not play."""
    addressed = TO.match(recipient)
    if addressed is None:
        raise Ignored("This address is not one that takes answers.")
    place = access.answered(app, addressed[1])
    owner, person = access.owner(app, place), _person(app, place)
    try:
        message = sender_checks.parsed(raw[:READ])
        headers = MailHeaders.of(message)
        _sift(app, headers, envelope_sender, owner)
        lines, answers = reply_text.own_lines(message), _answers(headers, place)
        message_id = next(iter(headers.ids("Message-ID")), "")
    except Stranger as stranger:
        _warn(app, place, owner, stranger.address)
        raise
    except Ignored:
        raise
    except RecursionError as error:
        raise Ignored("This mail has parts inside parts without end.") from error
    except Exception as error:  # whatever it is that cannot be read, it will not become readable by waiting
        log.exception("mail not read", recipient=_shown(recipient))
        raise Ignored("This mail could not be read.") from error
    digest = hashlib.sha256(message_id.encode() or raw).hexdigest()[:40]
    key = f"{place.table}/{place.seat}/mail/{digest}"
    return IncomingMail(place, person, key, message_id, answers, lines)


def _warn(app: App, place: Place, owner: str, address: str) -> None:
    """Tell the player, at most once a day, of a mail from another address; its sender, perhaps forged, gets nothing."""
    if not owner or not SHOWABLE.fullmatch(address):
        return
    why = Said(
        "It came from {address}. At this table only answers from {own} play.", {"address": address, "own": owner}
    )
    with app.store.writing() as connection:
        letter = OwedLetter(place.seat or 0, f"stranger/{app.now() // DAY}", app.now())
        queries.owe_letter(connection, place.table, 0, letter, why)
    app.wakeups.wake("post")


def _sift(app: App, headers: MailHeaders, envelope_sender: str, owner: str) -> None:
    sender_checks.refuse_loops(headers, app.settings)
    sender_checks.refuse_machines(headers, envelope_sender)
    address = sender_checks.sender(headers)
    if sender_checks.mailbox(address) != sender_checks.mailbox(owner):
        raise Stranger(address)
    sender_checks.refuse_unproven(headers, address, app.settings)


def _answers(headers: MailHeaders, place: Place) -> int | None:
    """The entry that began the turn in the letter that this mail answers; `ELSEWHERE` for a letter to another seat."""
    found = next(filter(None, map(LETTER.match, headers.answered())), None)
    if found is None:
        return None
    if found.group(1, 3) != (place.table, str(place.seat)):
        return ELSEWHERE
    return int(found[2]) if found[2] and found[4] else None


def _person(app: App, place: Place) -> int:
    """Who holds the seat."""
    own = select(seats.c.person).where(seats.c.table == place.table, seats.c.seat == place.seat)
    with app.store.reading() as connection:
        return int(connection.execute(own).scalar_one())


def _shown(recipient: str) -> str:
    """An address as it may stand in a log: without its proof."""
    addressed = TO.match(recipient) or bounce_reports.ADDRESS.match(recipient)
    return addressed[2] if addressed else recipient[:40]


def _store(app: App, letter: IncomingMail) -> int:
    """The same mail twice is the same row."""
    row: dict[str, Any] = {
        "key": letter.key,
        "table": letter.place.table,
        "seat": letter.place.seat,
        "person": letter.person,
        "at": app.now(),
        "message_id": letter.message_id,
        "answers": letter.answers,
        "lines": msgspec.json.encode(letter.lines).decode(),
    }
    try:
        with app.store.writing() as connection:
            number = int(connection.execute(insert(mails).returning(mails.c.id), row).scalar_one())
            register.confirmed(connection, letter.person, app.now())
    except IntegrityError:
        with app.store.reading() as connection:
            number = int(connection.execute(select(mails.c.id).where(mails.c.key == letter.key)).scalar_one())
        log.info("mail not taken", mail=number, why="It has come before.")
    app.wakeups.wake("inbox")
    return number
