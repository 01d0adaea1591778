"""A letter that tries the way to a mailbox, for `depesche doctor`."""

from __future__ import annotations

import smtplib
import ssl
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import localtime, make_msgid

from msgspec import Struct

from service.settings import Settings
from workers.outgoing.emails import WirePolicy, connect

TEST_TEXT = """\
This letter tries the way from {address} to you.

Look at its headers ("show original" in your mail program):
- Authentication-Results should say spf=pass, dkim=pass and dmarc=pass.
- The DKIM-Signature should list list-unsubscribe and list-unsubscribe-post in h=,
  or large providers show no button to unsubscribe.
- Should it lie among the spam, begin with what is not "pass".
"""


class Delivery(Struct, frozen=True):
    """The result of a test letter: whether the relay accepted it, its last reply, the TLS version, and the headers."""

    accepted: bool
    reply: str
    tls: str
    sender: str
    headers: tuple[str, ...]


def send_test_letter(settings: Settings, address: str) -> Delivery:
    """Hand one letter to the relay and return its reply; raise OSError if the relay cannot be reached."""
    message = write_test_letter(settings, address)
    sender = settings.sender_address
    with connect(settings.smtp) as server:
        tls = f"{server.sock.version()}" if isinstance(server.sock, ssl.SSLSocket) else ""
        server.ehlo_or_helo_if_needed()
        code, text = _hand_over(server, sender, address, message)
    reply = f"{code} {text.decode('utf-8', 'replace')}"
    return Delivery(code == 250, " ".join(reply.split()), tls, sender, tuple(message.keys()))


def _hand_over(server: smtplib.SMTP, sender: str, address: str, message: EmailMessage) -> tuple[int, bytes]:
    """Return the relay's reply to the first of sender, recipient and letter that it refuses, or to the letter."""
    for code, text in (server.mail(sender), server.rcpt(address)):
        if code >= 400:
            return code, text
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
