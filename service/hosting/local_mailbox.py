"""The local mailbox: an SMTP server in this process that stores all letters, to be read on this machine.

It takes the place of a mail relay on a server that has none.
"""

from __future__ import annotations

import smtplib
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid, parseaddr
from typing import Any
from urllib.parse import urlsplit

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from msgspec import Struct
from sqlalchemy import insert, select

from service.app import App
from service.store.schema import mailbox

LETTERS_ON_PAGE = 60
TIMEOUT_S = 10


class StoredLetter(Struct, frozen=True):
    """A letter in the local mailbox; `pictures` are the PNG files by their Content-ID."""

    id: int
    at: int
    recipient: str
    subject: str
    reply_to: str
    message_id: str
    text: str
    html: str
    pictures: dict[str, bytes]


class SmtpHandler:
    """Stores each letter that the SMTP server receives."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: ARG002, N802 - aiosmtpd calls it so
        """Store a letter once for each recipient, and return the reply."""
        raw = envelope.content if isinstance(envelope.content, bytes) else str(envelope.content).encode()
        with self._app.store.writing() as connection:
            for recipient in envelope.rcpt_tos:
                row = {"at": self._app.now(), "recipient": recipient, "raw": raw}
                connection.execute(insert(mailbox), row)
        return "250 In the mailbox"


def start(app: App) -> Controller:
    """Start the SMTP server on a free port of this machine."""
    controller = Controller(SmtpHandler(app), hostname="127.0.0.1", port=find_free_port())
    controller.start()
    return controller


def find_free_port() -> int:
    """Return a TCP port of this machine that no server listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def send_reply(app: App, letter: StoredLetter, text: str) -> None:
    """Send an answer to a letter by SMTP as a mail program does, with the letter quoted below the text."""
    message = EmailMessage()
    message["From"], message["To"] = letter.recipient, letter.reply_to
    message["Subject"] = f"Re: {letter.subject}"
    message["Date"] = format_datetime(datetime.now(UTC))
    message["Message-ID"] = make_msgid(domain="mailbox.local")
    if letter.message_id:
        message["In-Reply-To"] = message["References"] = letter.message_id
    quotation = "".join(f"> {line}\n" for line in letter.text.splitlines())
    sent_at = format_datetime(datetime.fromtimestamp(letter.at, UTC))
    message.set_content(f"{text}\n\nOn {sent_at}, Depesche <{app.settings.sender_address}> wrote:\n{quotation}")
    inbound = urlsplit(app.inbound)
    with smtplib.SMTP(inbound.hostname or "", inbound.port or 25, timeout=TIMEOUT_S) as server:
        server.send_message(message, letter.recipient, [letter.reply_to])


def list_newest(app: App, limit: int = LETTERS_ON_PAGE) -> Sequence[StoredLetter]:
    """Return the newest letters, the last one first."""
    with app.store.reading() as connection:
        rows = connection.execute(select(mailbox).order_by(mailbox.c.id.desc()).limit(limit)).all()
    return [_parse(row) for row in rows]


def find_letter(app: App, number: int) -> StoredLetter | None:
    """Return a letter by its number; None if there is none."""
    with app.store.reading() as connection:
        row = connection.execute(select(mailbox).where(mailbox.c.id == number)).one_or_none()
    return _parse(row) if row else None


def _parse(row: Any) -> StoredLetter:
    """Parse the message in a row of the mailbox."""
    message = message_from_bytes(row.raw, policy=policy.default)
    assert isinstance(message, EmailMessage)
    bodies = dict[str, str]()
    for kind in ("plain", "html"):
        body = message.get_body((kind,))
        if body is not None:
            bodies[kind] = body.get_content()
    pictures = {
        str(part["Content-ID"]).strip("<>"): part.get_payload(decode=True)
        for part in message.walk()
        if part.get_content_maintype() == "image"
    }
    _, reply_to = parseaddr(str(message.get("Reply-To", "")))
    return StoredLetter(
        id=row.id,
        at=row.at,
        recipient=row.recipient,
        subject=str(message["Subject"]),
        reply_to=reply_to,
        message_id=str(message.get("Message-ID", "")),
        text=bodies.get("plain", ""),
        html=bodies.get("html", ""),
        pictures=pictures,  # type: ignore[arg-type]  # a decoded picture is bytes
    )
