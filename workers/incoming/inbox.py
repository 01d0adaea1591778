"""The inbox: receives mails from a mail server, and stores each answer of a player as a row for `mail_moves`."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import structlog
from aiosmtpd.controller import Controller
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from engine.refusal import Refused
from service.app import App
from service.people import proof
from service.settings import DAY_S
from service.store import queries
from service.store.batch import OwedLetter
from service.store.schema import mails, people, refused_mails, seats, talk
from service.tables import access
from service.tables.access import Place
from service.text.languages import Sentence
from workers.incoming import bounce_reports, mail_headers, reply_text
from workers.incoming.mail_headers import Ignored, MailHeaders, Stranger
from workers.incoming.mail_results import DIGEST, OTHER_LETTER
from workers.jobs import log_database_error

log = structlog.get_logger()

MAX_MAIL_BYTES = 4 * 1024 * 1024
MAX_SMTP_BYTES = 32 * 1024 * 1024  # the mail server cannot even send more; up to this it gets a clear answer
PARSED_BYTES = 512 * 1024  # pictures come after the text
MAX_LOGGED_CHARS = 40  # of an address that is neither of a seat nor of a letter
LOGGABLE_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w.-]{1,100}", re.ASCII)
ANSWER_ADDRESS = re.compile(
    r"[\w.=-]{1,64}\+(?P<token>(?P<seat>[0-9a-z]{1,40}\.[0-9]{1,3})\.[0-9a-z]{1,60})@", re.IGNORECASE | re.ASCII
)
# The id of a letter about a table; an invitation follows no entry. Only some kinds are about a turn.
TABLE_LETTER_ID = re.compile(
    r"<(?P<table>[0-9a-z]{16})\.(?:(?P<entry>[0-9]{1,9})\.)?(?P<seat>[0-9]{1,3})\."
    r"(?:(?P<turn_kind>turn|reminder|accepted|refused)|[a-z])[\w.]*@"
)
SUBJECT_TURN = re.compile(r"\] ?#([0-9]{1,9})\s*$", re.ASCII)  # of a mail that was written through a mailto link
DIGEST_ID = re.compile(r"<[0-9]{1,18}\.digest\.", re.ASCII)
TABLE_SIGN_CHARS = 6  # of a table's id, in the sign that begins a line of an answer to a digest
TABLE_SIGN = re.compile(
    r"\W*(?P<table>[0-9a-z]{6})\s?-\s?(?P<entry>[0-9]{1,9})\b[\s:]*(?P<line>.*)", re.IGNORECASE | re.ASCII
)
UNSUBSCRIBE = "unsubscribe"  # in the subject of a mail that a mail program's button sends, perhaps without a body
MAX_REFUSED_MAILS, REFUSED_MAIL_DAYS = 50, 30
QUOTED_DAYS = 90  # an answer may quote a letter that is this old
REPLY_OK = "250 Thank you"
REPLY_TOO_LARGE = "552 That is too large for an answer"
REPLY_TRY_LATER = "451 Please try again later"
DATABASE_AWAY = (OperationalError, InterfaceError, PoolTimeout, OSError)


class AnsweredLetter(Struct, frozen=True):
    """The letter that a mail answers: about a turn, to another seat, a digest, or an unknown one.

    A turn has the number of the entry that it began with; the others have none.
    """

    kind: Literal["turn", "digest", "other seat", "unknown"]
    entry: int | None = None

    @property
    def column(self) -> int | None:
        """The value in the column `answers`: an entry, or a number below zero for what is no turn; None if unknown."""
        match self.kind:
            case "digest":
                return DIGEST
            case "other seat":
                return OTHER_LETTER
        return self.entry


class IncomingMail(Struct, frozen=True):
    """An answer of a player: the seat, the player, the letter that it answers, and the lines of its text."""

    place: Place
    person: int
    key: str
    message_id: str
    answers: AnsweredLetter
    lines: tuple[str, ...]


class AddressedPlayer(Struct, frozen=True):
    """The player whose seat a mail is addressed to, and the remarks of others that the mail may quote."""

    place: Place
    person: int
    address: str
    remarks: Sequence[str]


class Receiver:
    """Handles the SMTP conversation: a mail is stored before the mail server gets the reply that it was accepted."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: ARG002, N802 - aiosmtpd calls it so
        """Receive a mail for each of its recipients, and return the reply to the mail server."""
        raw = envelope.content if isinstance(envelope.content, bytes) else str(envelope.content).encode()
        replies = [
            await asyncio.to_thread(receive, self._app, raw, recipient, envelope.mail_from or "")
            for recipient in envelope.rcpt_tos
        ]
        if isinstance(server, LMTP):
            return "\r\n".join(replies)  # RFC 2033: a reply for each recipient
        # SMTP has one reply for all recipients: the worst one, so that the mail is sent again where that helps.
        worst_last = (REPLY_OK, REPLY_TOO_LARGE, REPLY_TRY_LATER)
        return max(replies, key=worst_last.index)


class SmtpServer(SMTP):
    """An SMTP server that takes lines that are longer than RFC 5321 allows: some mail programs never break a line."""

    line_length_limit = MAX_MAIL_BYTES


class LmtpServer(LMTP):
    """The same for LMTP."""

    line_length_limit = MAX_MAIL_BYTES


class SmtpController(Controller):
    """A controller of aiosmtpd whose server speaks SMTP."""

    def factory(self) -> SMTP:
        return SmtpServer(self.handler, **self.SMTP_kwargs)


class LmtpController(Controller):
    """A controller of aiosmtpd whose server speaks LMTP."""

    def factory(self) -> SMTP:
        return LmtpServer(self.handler, **self.SMTP_kwargs)


def make_smtp_server(app: App, host: str, port: int) -> Controller:
    """Make a server that receives answers by SMTP; the caller starts and stops it."""
    return SmtpController(Receiver(app), hostname=host, port=port, data_size_limit=MAX_SMTP_BYTES)


def make_lmtp_server(app: App, host: str, port: int) -> Controller:
    """Make a server that receives answers by LMTP; the caller starts and stops it."""
    return LmtpController(Receiver(app), hostname=host, port=port, data_size_limit=MAX_SMTP_BYTES)


def receive(app: App, raw: bytes, recipient: str, envelope_sender: str) -> str:
    """Receive a mail for one recipient, and return the reply to the mail server; a repetition changes nothing.

    The mail server is asked to try again only while the database cannot be reached. A mail that fails for another
    reason would fail each time, and hold up the mails behind it: it is set aside for the host.
    """
    if len(raw) > MAX_MAIL_BYTES:
        log.info("mail not taken", recipient=_redact(recipient), why=f"It is too large: {len(raw)} bytes.")
        return REPLY_TOO_LARGE
    try:
        _process_or_set_aside(app, raw, recipient, envelope_sender)
    except OperationalError as error:
        log_database_error(error, "mail not stored", recipient=_redact(recipient))
        return REPLY_TRY_LATER
    except Exception:
        log.exception("mail not stored", recipient=_redact(recipient))
        return REPLY_TRY_LATER
    return REPLY_OK


def _process_or_set_aside(app: App, raw: bytes, recipient: str, envelope_sender: str) -> None:
    """Process a mail, or set it aside if it fails; raise the errors that say that the database cannot be reached."""
    try:
        process_mail(app, raw, recipient, envelope_sender)
    except DATABASE_AWAY:
        raise
    except Exception as error:
        log.exception("mail set aside", recipient=_redact(recipient))
        _set_aside(app, raw, recipient, error)


def _set_aside(app: App, raw: bytes, recipient: str, error: Exception) -> None:
    """Keep a mail that cannot be processed for the host, and count it; the oldest of these are deleted."""
    why = type(error).__name__
    row = {"at": app.now(), "recipient": _redact(recipient), "why": why, "raw": raw[:PARSED_BYTES]}
    newest = select(refused_mails.c.id).order_by(refused_mails.c.id.desc()).limit(MAX_REFUSED_MAILS)
    too_old = refused_mails.c.at < app.now() - REFUSED_MAIL_DAYS * DAY_S
    with app.store.writing() as db:
        db.execute(insert(refused_mails), row)
        db.execute(delete(refused_mails).where(too_old | refused_mails.c.id.not_in(newest)))
    app.metrics.count("mails_refused", why)


def process_mail(app: App, raw: bytes, recipient: str, envelope_sender: str) -> int | None:
    """Store an answer, or act on a bounce report; log why any other mail is ignored.

    Return the number of the answer, that of its last part if it is for several tables; None for any other mail.
    """
    try:
        if bounce_reports.BOUNCE_ADDRESS.match(recipient):
            bounce_reports.process_bounce(app, raw, recipient, envelope_sender)
            return None
        mail = _parse_answer(app, raw, recipient, envelope_sender)
    except (Refused, Ignored) as refused:
        log.info("mail not taken", recipient=_redact(recipient), why=str(refused))
        return None
    number = None
    parts = _split_by_table(app, mail) if mail.answers.kind == "digest" else [mail]
    for part in parts:
        number = _store(app, part)
    return number


def _parse_answer(app: App, raw: bytes, recipient: str, envelope_sender: str) -> IncomingMail:
    """Parse an answer; raise Ignored unless its address is that of a seat and the seat's player wrote it."""
    player = _load_player(app, recipient)
    try:  # nothing in here asks the database: its outage must not look like a mail that cannot be parsed
        return _parse_mail(app, raw, envelope_sender, player)
    except Stranger as stranger:
        _warn_player(app, player, stranger.address)
        raise
    except Ignored:
        raise
    except RecursionError as error:
        raise Ignored("This mail has parts inside parts without end.") from error
    except Exception as error:  # a mail that cannot be parsed now cannot be parsed later either
        log.exception("mail not read", recipient=_redact(recipient))
        raise Ignored("This mail could not be read.") from error


def _parse_mail(app: App, raw: bytes, envelope_sender: str, player: AddressedPlayer) -> IncomingMail:
    """Parse an answer; raise Ignored if this player did not write it."""
    message = mail_headers.parse_message(raw[:PARSED_BYTES])
    headers = MailHeaders.from_message(message)
    mail_headers.check_sender(headers, envelope_sender, player.address, app.settings)
    lines = reply_text.list_own_lines(message, player.remarks)
    if not lines and headers.decode("Subject").casefold().startswith(UNSUBSCRIBE):
        lines = (UNSUBSCRIBE,)
    message_ids = headers.list_ids("Message-ID")
    message_id = message_ids[0] if message_ids else ""
    mail_hash = hashlib.sha256(message_id.encode() or raw).hexdigest()[:40]
    return IncomingMail(
        place=player.place,
        person=player.person,
        key=f"{player.place.table}/{player.place.seat}/mail/{mail_hash}",
        message_id=message_id,
        answers=_find_answered_letter(headers, player.place),
        lines=lines,
    )


def _warn_player(app: App, player: AddressedPlayer, sender: str) -> None:
    """Owe the player a letter about a mail from another address, at most one a day; its sender gets no answer.

    There is no letter if the player has no address, or if that of the sender has unusual characters.
    """
    place = player.place
    if not player.address or not LOGGABLE_ADDRESS.fullmatch(sender):
        return
    why = Sentence(
        "It came from {address}. At this table only answers from {own} play.",
        {"address": sender, "own": player.address},
    )
    seat = place.seat or 0  # never None, which is for spectators: they have no address for answers
    with app.store.writing() as db:
        letter = OwedLetter(seat, f"stranger/{app.now() // DAY_S}", app.now())
        queries.owe_letter(db, place.table, seq=0, letter=letter, why=why)  # it is about no entry
    app.wakeups.wake("post")


def _find_answered_letter(headers: MailHeaders, place: Place) -> AnsweredLetter:
    """Find the letter that a mail answers: by the nearest id of a letter about a table, or else by the subject.

    Without either, it is a digest if an id is that of a digest, and otherwise unknown.
    """
    answered = tuple(headers.iter_answered_ids())
    for message_id in answered:
        letter_id = TABLE_LETTER_ID.match(message_id)
        if letter_id is not None:
            return _parse_letter_id(letter_id, place)
    # A mail that was written through a mailto link of a letter has no In-Reply-To; its subject has the turn.
    named = SUBJECT_TURN.search(headers.decode("Subject"))
    if named is not None:
        return AnsweredLetter("turn", int(named[1]))
    if any(DIGEST_ID.match(message_id) for message_id in answered):
        return AnsweredLetter("digest")
    return AnsweredLetter("unknown")


def _parse_letter_id(letter_id: re.Match[str], place: Place) -> AnsweredLetter:
    """Return the letter about a table that has this id, as seen from the seat that the mail is addressed to."""
    if (letter_id["table"], letter_id["seat"]) != (place.table, str(place.seat)):
        return AnsweredLetter("other seat")
    if letter_id["entry"] and letter_id["turn_kind"]:
        return AnsweredLetter("turn", int(letter_id["entry"]))
    return AnsweredLetter("unknown")


def _split_by_table(app: App, mail: IncomingMail) -> Sequence[IncomingMail]:
    """Return a mail for each sign of a table in an answer to a digest; the whole mail if no line begins with a sign.

    A line without a sign belongs to the table of the sign before it; lines before the first sign are a greeting, and
    are left out. A sign of none of the sender's tables makes a mail that is not played, but explained. Seats that
    are not proven do not count: another player may have typed the sender's address there.
    """
    query = select(seats.c.table, seats.c.seat, seats.c.link_number).where(seats.c.person == mail.person)
    with app.store.reading() as db:
        own = db.execute(query.where(seats.c.status == "taken", seats.c.proven)).all()
    mail_hash = mail.key.partition("/mail/")[2]
    parts: list[IncomingMail] = []
    for line in mail.lines:
        if sign := TABLE_SIGN.match(line):
            if seat := _find_signed_seat(own, sign):
                place = Place(seat.table, seat.seat, access.make_seat_link(app, seat))
                turn = AnsweredLetter("turn", int(sign["entry"]))
                part = replace(mail, place=place, answers=turn, lines=(sign["line"],))
            else:
                part = replace(mail, lines=(line,))  # still an answer to a digest, which is explained, not played
            key = f"{part.place.table}/{part.place.seat}/{mail_hash}/{len(parts)}"
            parts.append(replace(part, key=key))
        elif parts:
            parts[-1] = replace(parts[-1], lines=(*parts[-1].lines, line))
    return parts or (mail,)


def _find_signed_seat(own: Sequence[Any], sign: re.Match[str]) -> Any:
    """Return the seat at the table that the sign of a line names; None if it names none of these, or several."""
    named = [seat for seat in own if seat.table.startswith(sign["table"].lower())]
    return named[0] if len(named) == 1 else None


def _load_player(app: App, recipient: str) -> AddressedPlayer:
    """Load the player whose seat has this address; raise Ignored if there is none."""
    address = ANSWER_ADDRESS.match(recipient)
    if address is None:
        raise Ignored("This address is not one that takes answers.")
    joined = seats.join(people, people.c.id == seats.c.person)
    with app.store.reading() as db:
        place = access.find_by_reply_address(app, db, address["token"])
        query = select(people.c.id, people.c.address).select_from(joined)
        row = db.execute(query.where(seats.c.table == place.table, seats.c.seat == place.seat)).one_or_none()
        if row is None:
            raise Ignored("No person has this seat.")
        remarks = _load_quotable_remarks(db, row.id, app.now() - QUOTED_DAYS * DAY_S)
    return AddressedPlayer(place, row.id, row.address or "", remarks)


def _load_quotable_remarks(db: Connection, person: int, since: int) -> list[str]:
    """Load the remarks that letters to a person may have quoted: those of others, at each table of that person."""
    others = (seats.c.table == talk.c.table) & (seats.c.seat != talk.c.seat)
    texts = select(talk.c.text).join(seats, others).where(seats.c.person == person, talk.c.at >= since)
    return list(db.execute(texts).scalars())


def _redact(recipient: str) -> str:
    """Return the seat or the letter that an address names, without its proof, for the log; of others, the beginning."""
    if answer := ANSWER_ADDRESS.match(recipient):
        return answer["seat"]
    if bounce := bounce_reports.BOUNCE_ADDRESS.match(recipient):
        return bounce["letter"]
    return recipient[:MAX_LOGGED_CHARS]


def _store(app: App, mail: IncomingMail) -> int:
    """Store a mail, which proves that its sender has the seat, and return its number; a repetition changes nothing."""
    seat = mail.place.seat or 0  # never None, which is for spectators: they have no address for answers
    row: dict[str, Any] = {
        "key": mail.key,
        "table": mail.place.table,
        "seat": seat,
        "person": mail.person,
        "at": app.now(),
        "message_id": mail.message_id,
        "answers": mail.answers.column,
        "lines": msgspec.json.encode(mail.lines).decode(),
    }
    try:
        with app.store.writing() as db:
            number = int(db.execute(insert(mails).returning(mails.c.id), row).scalar_one())
            sender = proof.check_mail(db, mail.place.table, seat, mail.person)  # None if another person has the seat
            if sender is not None:
                proof.prove_seat(db, sender, mail.place.table, seat, app.now())
    except IntegrityError:
        with app.store.reading() as db:
            number = int(db.execute(select(mails.c.id).where(mails.c.key == mail.key)).scalar_one())
        log.info("mail not taken", mail=number, why="It has come before.")
    app.wakeups.wake("inbox")
    return number
