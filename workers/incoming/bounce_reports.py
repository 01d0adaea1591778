"""Bounces: what a mail server says of a letter that it could not deliver, in its answer or in a later mail."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterator, Sequence
from email.message import Message
from typing import Any

import structlog
from msgspec import Struct
from sqlalchemy import Connection, func, select

from engine.table_events import (
    Substituted,
)
from service.accounts import bounces
from service.app import App
from service.store.schema import letters, people, seats
from service.tables import snapshots
from workers.incoming import reply_text, sender_checks
from workers.incoming.mail_headers import MailHeaders
from workers.incoming.sender_checks import Ignored

log = structlog.get_logger()

ADDRESS = re.compile(r"(bounce\+([0-9]{1,18})\.[0-9a-z]{1,60})@", re.IGNORECASE | re.ASCII)
READ = 256 * 1024
DEEPEST = 6
ENHANCED = re.compile(r"(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d.])")
REPLY = re.compile(r"(?<!\d)([245]\d\d)[ -]")
# Nobody by that name (5.1.x), a mailbox that was closed (5.2.1), a domain that takes no mail (5.4.1, 5.4.4). Not among
# them: what is wrong with the sender (5.1.7, 5.1.8), a full mailbox (5.2.2), a letter that is not liked (5.6, 5.7).
GONE = {(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 6), (1, 10), (2, 0), (2, 1), (4, 1), (4, 4)}
VAGUE = {(0, 0), (3, 0), (5, 0)}
GONE_BY_ITS_CODE = (550, 551, 553)
DISLIKED = re.compile(
    r"spam|virus|content|policy|blocked|black ?list|block ?list|reputation|\bspf|dkim|dmarc|authenticat|relay|quota|"
    r"\bfull\b|too (large|big|many)|denied|gr[ae]ylist|\brate\b",
    re.IGNORECASE,
)
PARAGRAPHS = re.compile(r"\n\s*\n")
POSTMASTERS = re.compile(r"mailer-daemon|postmaster|mail delivery", re.IGNORECASE)


class BounceReport(Struct, frozen=True):
    """A bounce report: whether the server has given up, and why the letter was not delivered."""

    action: str
    status: str
    diagnosis: str


def gone(code: int, said: str) -> bool:
    """Whether this answer of a mail server means that the address is dead for good."""
    found = ENHANCED.search(said)
    status = (int(found[2]), int(found[3])) if found else (0, 0)
    if found and status not in VAGUE:
        return found[1] == "5" and status in GONE
    return code in GONE_BY_ITS_CODE and not DISLIKED.search(said)


def taken(app: App, raw: bytes, recipient: str, envelope_sender: str) -> None:
    """Read a mail to a bounce address; one that changes nothing is refused, and the log says why."""
    number = _letter(app, recipient)
    report = _read(raw, envelope_sender)
    if report.action != "failed":
        raise Ignored("This letter is not lost; the mail server is still trying or has delivered it.")
    if not _for_good(report):
        raise Ignored("This letter is lost, but not because its address takes none.")
    with app.store.writing() as connection:
        person = _reader(app, connection, number)
        if not bounces.note(connection, person, report.diagnosis or report.status, app.now()):
            raise Ignored("It is known already that letters to this person come back.")
    log.warning("letters to somebody come back", letter=number, why=report.diagnosis[:200])
    app.wakeups.wake("post")


def _letter(app: App, recipient: str) -> int:
    """The number of the letter that came back; its bounce address, a capability, proves it."""
    found = ADDRESS.match(recipient)
    number = int(found[2]) if found else 0
    if found is None or not hmac.compare_digest(app.links.bounce(number).encode(), found[1].lower().encode()):
        raise Ignored("This address was never that of a letter.")
    return number


def _for_good(report: BounceReport) -> bool:
    """Whether the address is dead for good, by the status; if that says little, by the words of the refusing server."""
    if not report.status.startswith("5"):
        return False
    if gone(0, report.status):
        return True
    said, status = REPLY.search(report.diagnosis), ENHANCED.search(report.status)
    vague = status is not None and (int(status[2]), int(status[3])) in VAGUE
    return vague and gone(int(said[1]) if said else 0, report.diagnosis)


def _read(raw: bytes, envelope_sender: str) -> BounceReport:
    try:
        return _report(sender_checks.parsed(raw[:READ]), envelope_sender)
    except Ignored:
        raise
    except Exception as error:  # a mail that cannot be read now cannot be read later either
        log.exception("report not read")
        raise Ignored("This mail could not be read.") from error


def _report(message: Message, envelope_sender: str) -> BounceReport:
    """The report in the machine-readable part of the mail, or else in the words of its text."""
    found = list(_leaves(message, 0))
    texts = [reply_text.text_of(part) for part in found if part.get_content_maintype() == "text"]
    told = next((fields for fields in _fields(found, texts) if "Action" in fields), None)
    if told:
        status = ENHANCED.search(told.first("Status"))
        return BounceReport(told.first("Action").casefold(), status[0] if status else "", told.first("Diagnostic-Code"))
    if envelope_sender.strip() in ("", "<>") and POSTMASTERS.search(MailHeaders.of(message).decoded("From")):
        text = "\n".join(texts)
        said = REPLY.search(text)
        if said and said[1].startswith("5"):
            return BounceReport("failed", "5.0.0", " ".join(text[said.start() :][:400].split()))
    raise Ignored("This mail reports nothing about a letter.")


def _fields(parts: Sequence[Message], texts: Sequence[str]) -> Iterator[MailHeaders]:
    """What may be the fields of a report: first those for programs, then every paragraph that is written like them."""
    for part in parts:
        blocks: Any = part.get_payload()
        if part.get_content_type() == "message/delivery-status" and isinstance(blocks, list):
            yield from map(MailHeaders.of, blocks)
    for text in texts:
        for paragraph in PARAGRAPHS.split(text.replace("\r\n", "\n").strip()):
            yield MailHeaders.read(paragraph.encode("utf-8", "surrogateescape"))


def _leaves(message: Message, depth: int) -> Iterator[Message]:
    if message.get_content_maintype() != "multipart":
        yield message
    elif message.is_multipart() and depth < DEEPEST:
        for part in message.get_payload():
            yield from _leaves(part, depth + 1)  # type: ignore[arg-type]  # the parts of a multipart are messages


def _reader(app: App, connection: Connection, number: int) -> int:
    """The reader of the letter; None where another player has taken the seat since."""
    seat = (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat)
    joined = letters.outerjoin(seats, seat).join(people, people.c.id == func.coalesce(letters.c.person, seats.c.person))
    wanted = select(*letters.c, people.c.id.label("reader")).select_from(joined).where(letters.c.id == number)
    row: Any = connection.execute(wanted).one_or_none()
    if row is None or (row.table and _changed_hands(app, row)):
        raise Ignored("Whoever this letter went to does not play there any more.")
    return int(row.reader)


def _changed_hands(app: App, row: Any) -> bool:
    entries = snapshots.entries(app, snapshots.look(app, row.table), row.seq + 1)
    taken = Substituted(row.seat)
    return any(event == taken for entry in entries for event in entry.events)
