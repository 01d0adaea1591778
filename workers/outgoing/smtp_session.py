"""One SMTP session: letters sent one after another, with as few waits for the server as it allows.

A server that announces PIPELINING (RFC 2920) gets the content of a letter and the commands for the next one at once,
which is one wait for each letter instead of four.
"""

from __future__ import annotations

import re
import smtplib
from collections.abc import Generator, Sequence
from itertools import zip_longest

from msgspec import Struct

from workers.outgoing.emails import Refusal

MAIL_ACCEPTED = 250
RECIPIENT_ACCEPTED = (250, 251)
START_OF_CONTENT = 354
RESET, END_OF_CONTENT = b"rset\r\n", b".\r\n"
FIRST_PERIOD = re.compile(rb"^\.", re.MULTILINE)
Results = Generator[Refusal | None, None, None]


class Envelope(Struct, frozen=True):
    """A letter as it is sent: the address that bounces go to, the recipient, and the content with its line ends."""

    sender: str
    recipient: str
    content: bytes

    def __post_init__(self) -> None:
        """Raise ValueError if an address would add a command to the session, or is not in ASCII."""
        for address in (self.sender, self.recipient):
            if not address.isascii() or not address.isprintable():
                raise ValueError(f"no address for SMTP: {address!r}")


def send_all(server: smtplib.SMTP, envelopes: Sequence[Envelope]) -> Results:
    """Send letters, and yield for each None when the server has accepted it, or how it was refused.

    No letter's content is sent before the result of the letter before was yielded. Raise OSError if the session is
    over: then the next letter was not accepted, and later ones were not sent. Close the generator to stop early.
    """
    server.ehlo_or_helo_if_needed()
    yield from (_send_pipelined if server.has_extn("pipelining") else _send_one_by_one)(server, envelopes)


def _send_one_by_one(server: smtplib.SMTP, envelopes: Sequence[Envelope]) -> Results:
    for envelope in envelopes:
        try:
            server.sendmail(envelope.sender, [envelope.recipient], envelope.content)
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError) as refusal:
            yield refusal
        else:
            yield None


def _send_pipelined(server: smtplib.SMTP, envelopes: Sequence[Envelope]) -> Results:
    is_open, refusal = False, None  # whether the commands for the next letter were sent
    try:
        for envelope, following in zip_longest(envelopes, envelopes[1:]):
            if not is_open:
                is_open = True
                _begin(server, envelope, after=refusal)
            refusal = _read_replies(server, envelope)
            is_open = refusal is None and following is not None
            if refusal is None:
                server.send(_write_content(envelope) + (_write_commands(server, following) if following else b""))
                refusal = _read_verdict(server)
            yield refusal
    finally:
        if is_open:  # what is sent now would be content
            server.close()


def _begin(server: smtplib.SMTP, envelope: Envelope, after: Refusal | None) -> None:
    """Send the commands for a letter; the server first forgets the letter before if it has refused that."""
    server.send((RESET if after else b"") + _write_commands(server, envelope))
    if after:
        server.getreply()


def _write_commands(server: smtplib.SMTP, envelope: Envelope) -> bytes:
    """Return the commands up to the content of a letter."""
    size = f" size={len(envelope.content)}" if server.has_extn("size") else ""
    sender, recipient = smtplib.quoteaddr(envelope.sender), smtplib.quoteaddr(envelope.recipient)
    return f"mail FROM:{sender}{size}\r\nrcpt TO:{recipient}\r\ndata\r\n".encode("ascii")


def _write_content(envelope: Envelope) -> bytes:
    """Return the content with its end; a period at the beginning of a line is doubled (RFC 5321, 4.5.2)."""
    content = FIRST_PERIOD.sub(b"..", envelope.content)
    return content + (b"" if content.endswith(b"\r\n") else b"\r\n") + END_OF_CONTENT


def _read_replies(server: smtplib.SMTP, envelope: Envelope) -> Refusal | None:
    """Read the replies to the commands of a letter; return None if its content is wanted."""
    mail, recipient, data = (server.getreply() for _ in range(3))
    if mail[0] != MAIL_ACCEPTED:
        raise smtplib.SMTPSenderRefused(*mail, envelope.sender)
    if recipient[0] not in RECIPIENT_ACCEPTED:
        if data[0] == START_OF_CONTENT:  # for nobody: RFC 2920, 3.1
            server.send(END_OF_CONTENT)
            server.getreply()
        return smtplib.SMTPRecipientsRefused({envelope.recipient: recipient})
    return None if data[0] == START_OF_CONTENT else smtplib.SMTPDataError(*data)


def _read_verdict(server: smtplib.SMTP) -> Refusal | None:
    code, text = server.getreply()
    return None if code == MAIL_ACCEPTED else smtplib.SMTPDataError(code, text)
