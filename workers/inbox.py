"""The inbox: answers by mail. The first line that somebody wrote himself is handed in as his move."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parseaddr

import structlog
from aiosmtpd.smtp import SMTP, Envelope, Session

from engine.refusal import Refused
from service.desk import Place
from service.house import House
from service.languages import Said
from service.store import book
from service.store.book import Owed

log = structlog.get_logger()

LARGEST = 256 * 1024
TO = re.compile(r"play\+([0-9a-z]+\.[0-9]+\.[0-9a-z]+)@", re.IGNORECASE)
QUOTED = re.compile(r"^\s*(>|\||-{2,}\s*$|_{5,}|On .*wrote:|Op .*schreef|Le .*écrit|Am .*schrieb)", re.IGNORECASE)


class Receiver:
    """Takes mail from the mail server in front of us; whatever comes, it is answered with a status and never lost."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: ARG002, N802 - aiosmtpd calls it so
        raw = envelope.content if isinstance(envelope.content, bytes) else str(envelope.content).encode()
        for recipient in envelope.rcpt_tos:
            take(self._house, raw, recipient)
        return "250 Thank you"


def take(here: House, raw: bytes, recipient: str) -> int | None:
    """Hand the answer in as a submission; None where it is no answer of a player."""
    message = message_from_bytes(raw, policy=policy.default)
    assert isinstance(message, EmailMessage)
    try:
        place = _place(here, message, recipient)
        return _hand_in(here, place, message)
    except Refused as refused:
        log.info("mail not taken", recipient=recipient[:100], why=str(refused))
        return None


def _hand_in(here: House, place: Place, message: EmailMessage) -> int | None:
    """The same mail twice is the same submission; a line that cannot be a move is answered at once."""
    key = "mail/" + hashlib.sha256(str(message.get("Message-ID", "")).encode()).hexdigest()[:40]
    try:
        return here.desk.submit(place, first_line(message), key, by_mail=True)
    except Refused as refused:
        look = here.desk.look(place.table)
        assert place.seat is not None
        with here.store.writing() as connection:
            letter = Owed(place.seat, f"refused/{key[5:21]}", here.now())
            book.owe(connection, place.table, look.row.length - 1, letter, Said.of(refused))
        here.bells.ring("post")
        return None


def _place(here: House, message: EmailMessage, recipient: str) -> Place:
    """The seat this mail may act for: the address proves it, its owner has to be the sender; machines do not play."""
    addressed = TO.match(recipient)
    if addressed is None:
        raise Refused("This address is not one that takes answers.")
    if str(message.get("Auto-Submitted", "no")).casefold() != "no" or message.get("Precedence", "").casefold() in (
        "bulk",
        "junk",
        "list",
    ):
        raise Refused("This mail was written by a machine.")
    place = here.desk.answered(addressed[1])
    sender = parseaddr(str(message.get("From", "")))[1]
    if sender.casefold() != here.desk.owner(place).casefold():
        raise Refused("The sender is not the one who holds this seat.")
    return place


def first_line(message: EmailMessage) -> str:
    """The first line that is not empty and not quoted from somebody else."""
    part = message.get_body(("plain",))
    text = str(part.get_content()) if part is not None else ""
    for line in _own_lines(text):
        return line
    raise Refused("There is no line of its own in this mail.")


def _own_lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if line.strip() and not QUOTED.match(line))
