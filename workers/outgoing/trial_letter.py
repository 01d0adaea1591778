"""A letter that only tries the way: what the relay says of it, and with which headers it leaves."""

from __future__ import annotations

import smtplib
import ssl
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import localtime, make_msgid

from msgspec import Struct

from service.settings import Settings
from workers.outgoing import post
from workers.outgoing.envelopes import WirePolicy

TEXT = """\
This letter tries the way from {address} to you.

Look at its headers ("show original" in your mail program):
- Authentication-Results should say spf=pass, dkim=pass and dmarc=pass.
- The DKIM-Signature should list list-unsubscribe and list-unsubscribe-post in h=,
  or large providers show no button to unsubscribe.
- Should it lie among the spam, begin with what is not "pass".
"""


class Delivery(Struct, frozen=True):
    """What became of it: whether the relay took it, its last words, how the way there was protected, the headers."""

    taken: bool
    said: str
    tls: str
    sender: str
    headers: tuple[str, ...]


def send(settings: Settings, address: str) -> Delivery:
    """Hand one letter to the relay and listen to what it says."""
    message = written(settings, address)
    sender = settings.sender_address
    with post.connect(settings.smtp) as server:
        tls = f"{server.sock.version()}" if isinstance(server.sock, ssl.SSLSocket) else ""
        server.ehlo_or_helo_if_needed()
        code, said = _handed_over(server, sender, address, message)
    told = f"{code} {said.decode('utf-8', 'replace')}"
    return Delivery(code == 250, " ".join(told.split()), tls, sender, tuple(message.keys()))


def _handed_over(server: smtplib.SMTP, sender: str, address: str, message: EmailMessage) -> tuple[int, bytes]:
    """The relay's answer to sender, recipient and letter: to the first that it refuses, or to the letter."""
    for code, said in (server.mail(sender), server.rcpt(address)):
        if code >= 400:
            return code, said
    try:
        return server.data(message.as_bytes(policy=message.policy.clone(linesep="\r\n")))
    except smtplib.SMTPDataError as error:
        refused = error.smtp_error
        return error.smtp_code, refused if isinstance(refused, bytes) else refused.encode()


def written(settings: Settings, address: str) -> EmailMessage:
    """The letter, with the headers of all that can be stopped."""
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
    message.set_content(TEXT.format(address=settings.address))
    return message
