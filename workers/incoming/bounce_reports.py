"""Bounces: reads from a reply or a later mail of a mail server that a letter could not be delivered."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterator, Sequence
from email.message import Message
from typing import Any

import structlog
from msgspec import Struct
from sqlalchemy import Connection, func, select

from service.accounts import addresses
from service.app import App
from service.store.schema import letters, seats
from workers.incoming import mail_headers, reply_text
from workers.incoming.mail_headers import Ignored, MailHeaders

log = structlog.get_logger()

BOUNCE_ADDRESS = re.compile(r"(?P<name>bounce\+(?P<letter>[0-9]{1,18})\.[0-9a-z]{1,60})@", re.IGNORECASE | re.ASCII)
PARSED_BYTES = 256 * 1024
MAX_DIAGNOSIS_CHARS = 400  # of a mail server's own words
MAX_DEPTH = 6
STATUS_CODE = re.compile(r"(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d.])")  # RFC 3463
REPLY_CODE = re.compile(r"(?<!\d)([245]\d\d)[ -]")
# An unknown mailbox (5.1.x), a mailbox that was closed (5.2.1), a domain that takes no mail (5.4.1, 5.4.4). Not among
# them: a fault of the sender (5.1.7, 5.1.8), a full mailbox (5.2.2), a letter taken for spam (5.6, 5.7).
DEAD_STATUSES = {(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 6), (1, 10), (2, 0), (2, 1), (4, 1), (4, 4)}
VAGUE_STATUSES = {(0, 0), (3, 0), (5, 0)}
VAGUE_FAILURE = "5.0.0"
DEAD_REPLY_CODES = (550, 551, 553)
OTHER_REASON = re.compile(
    r"spam|virus|content|policy|blocked|black ?list|block ?list|reputation|\bspf|dkim|dmarc|authenticat|relay|quota|"
    r"\bfull\b|too (large|big|many)|denied|gr[ae]ylist|\brate\b",
    re.IGNORECASE,
)
PARAGRAPH_BREAK = re.compile(r"\n\s*\n")
POSTMASTER = re.compile(r"mailer-daemon|postmaster|mail delivery", re.IGNORECASE)


class BounceReport(Struct, frozen=True):
    """A report of a mail server about a letter (RFC 3464).

    `action` is `failed` if it has given up, `status` is a code such as 5.1.1, empty if there is none, and `diagnosis`
    has its reason in words.
    """

    action: str
    status: str
    diagnosis: str


def is_dead(code: int, reply: str) -> bool:
    """Return whether a reply of a mail server, which has this code, means that the address will never work again."""
    status = STATUS_CODE.search(reply)
    if status and _get_reason(status) not in VAGUE_STATUSES:
        return status[1] == "5" and _get_reason(status) in DEAD_STATUSES
    return code in DEAD_REPLY_CODES and not OTHER_REASON.search(reply)


def _get_reason(status: re.Match[str]) -> tuple[int, int]:
    """Return the two numbers of a status code that say why, such as 1.1 of 5.1.1."""
    return int(status[2]), int(status[3])


def process_bounce(app: App, raw: bytes, recipient: str, envelope_sender: str) -> None:
    """Record that an address is dead; raise Ignored if the mail to a bounce address does not prove that."""
    letter = _parse_letter_number(app, recipient)
    report = _parse_mail(raw, envelope_sender)
    if report.action != "failed":
        raise Ignored("This letter is not lost; the mail server is still trying or has delivered it.")
    if not _is_permanent(report):
        raise Ignored("This letter is lost, but not because its address takes none.")
    with app.store.writing() as db:
        person = _load_recipient(db, letter)
        if not addresses.record_bounce(db, person, report.diagnosis or report.status, app.now()):
            raise Ignored("It is known already that letters to this person come back.")
    log.warning("letters to somebody come back", letter=letter, why=report.diagnosis[:200])
    app.wakeups.wake("post")  # for the letters to the tables


def _parse_letter_number(app: App, recipient: str) -> int:
    """The number of the letter that came back; raise Ignored unless the proof in its bounce address is right."""
    address = BOUNCE_ADDRESS.match(recipient)
    if address is not None:
        number = int(address["letter"])
        own = app.links.make_bounce_address(number)
        if hmac.compare_digest(own.encode(), address["name"].lower().encode()):
            return number
    raise Ignored("This address was never that of a letter.")


def _is_permanent(report: BounceReport) -> bool:
    """Return whether the address is dead, by the status; if the status is vague, by the diagnosis."""
    status = STATUS_CODE.search(report.status)
    if status is None or status[1] != "5":
        return False
    if _get_reason(status) not in VAGUE_STATUSES:
        return _get_reason(status) in DEAD_STATUSES
    reply = REPLY_CODE.search(report.diagnosis)
    code = int(reply[1]) if reply else 0  # 0 is no code of SMTP
    return is_dead(code, report.diagnosis)


def _parse_mail(raw: bytes, envelope_sender: str) -> BounceReport:
    """Parse a mail to a bounce address; raise Ignored if that fails."""
    try:
        return _parse_report(mail_headers.parse_message(raw[:PARSED_BYTES]), envelope_sender)
    except Ignored:
        raise
    except Exception as error:  # a mail that cannot be parsed now cannot be parsed later either
        log.exception("report not read")
        raise Ignored("This mail could not be read.") from error


def _parse_report(message: Message, envelope_sender: str) -> BounceReport:
    """Parse the machine-readable part of a report, or else the text of a mail from a mail server."""
    parts = list(_iter_leaves(message))
    texts = [reply_text.decode_text(part) for part in parts if part.get_content_maintype() == "text"]
    for fields in _iter_fields(parts, texts):
        if "Action" in fields:
            status = STATUS_CODE.search(fields.get("Status"))
            code = status[0] if status else ""
            return BounceReport(fields.get("Action").casefold(), code, fields.get("Diagnostic-Code"))
    if envelope_sender.strip() in ("", "<>") and POSTMASTER.search(MailHeaders.from_message(message).decode("From")):
        text = "\n".join(texts)
        reply = REPLY_CODE.search(text)
        if reply and reply[1].startswith("5"):
            words = text[reply.start() : reply.start() + MAX_DIAGNOSIS_CHARS].split()
            return BounceReport("failed", VAGUE_FAILURE, " ".join(words))
    raise Ignored("This mail reports nothing about a letter.")


def _iter_fields(parts: Sequence[Message], texts: Sequence[str]) -> Iterator[MailHeaders]:
    """Yield what may be the fields of a report: first those for programs, then each paragraph of the text."""
    for part in parts:
        blocks: Any = part.get_payload()
        if part.get_content_type() == "message/delivery-status" and isinstance(blocks, list):
            yield from map(MailHeaders.from_message, blocks)
    for text in texts:
        for paragraph in PARAGRAPH_BREAK.split(text.replace("\r\n", "\n").strip()):
            yield MailHeaders.parse(paragraph.encode("utf-8", "surrogateescape"))


def _iter_leaves(message: Message, depth: int = 0) -> Iterator[Message]:
    """Yield the parts that contain no other parts."""
    if message.get_content_maintype() != "multipart":
        yield message
    elif message.is_multipart() and depth < MAX_DEPTH:
        for part in message.get_payload():
            yield from _iter_leaves(part, depth + 1)  # type: ignore[arg-type]  # the parts of a multipart are messages


def _load_recipient(db: Connection, letter: int) -> int:
    """Load the person that a letter was sent to; raise Ignored if there is none.

    That is the recorded recipient, who may have left the seat since; of a letter that has no record yet, the person or
    the player of the seat that it is for.
    """
    seat = (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat)
    recipient = func.coalesce(letters.c.recipient, letters.c.person, seats.c.person)
    query = select(recipient).select_from(letters.outerjoin(seats, seat)).where(letters.c.id == letter)
    person = db.execute(query).scalar_one_or_none()
    if person is None:
        raise Ignored("The player that this letter went to does not play there any more.")
    return int(person)
