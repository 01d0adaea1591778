"""E-mails: built with their headers and parts, and sent over one SMTP session.

A mail server that announces PIPELINING (RFC 2920) gets the content of a letter and the commands for the next one at
once. So each letter costs one wait instead of four.
"""

from __future__ import annotations

import functools
import re
import smtplib
import ssl
from collections.abc import Generator, Sequence
from datetime import UTC, datetime
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime
from email.utils import unquote as unquote_name
from itertools import zip_longest
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from service.app import App
from service.text import drawing, receipts
from service.text.languages import Translator
from workers.incoming import bounce_reports
from workers.incoming.inbox import UNSUBSCRIBE
from workers.outgoing.letter import LetterPicture, LetterRequest, make_mailto
from workers.outgoing.owed import LetterKind, Topic

if TYPE_CHECKING:
    import css_inline

PART_HEADERS = ("content-", "mime-")
FEEDBACK_SENDER = "depesche"
LIST_ID = "List-Id"
CACHED_HEADERS = 32  # of parts; boundaries differ in each letter, and a parsed header needs 12 kB
NAMED_HEADERS = frozenset(("From", "To", "Reply-To", LIST_ID))  # a name, and one address or id
# Headers that programs read, in which RFC 2047 allows no encoded word: ids, links and addresses of this server.
MACHINE_HEADERS = frozenset(
    "message-id in-reply-to references list-unsubscribe list-unsubscribe-post feedback-id content-id".split()
)
REPLY_TIMEOUT_S = 30.0
LOCALHOST, SMTP_PORT, SMTPS_PORT = "127.0.0.1", 25, 465
Refusal = smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError
MAIL_ACCEPTED = 250
FIRST_PERMANENT_CODE = 500  # a reply from this one on would be the same at another time
RECIPIENT_ACCEPTED = (250, 251)
START_OF_CONTENT = 354
RESET, END_OF_CONTENT = b"rset\r\n", b".\r\n"
FIRST_PERIOD = re.compile(rb"^\.", re.MULTILINE)
Results = Generator[Refusal | None, None, None]


class WirePolicy(EmailPolicy):
    """Writes letters in seven bits, and headers for programs without encoded words.

    Encoded words in a value are not decoded, so that a player's name cannot bring a header of its own.
    """

    def header_max_count(self, name: str) -> int | None:
        return _get_header_limit(name.casefold())

    def header_store_parse(self, name: str, value: Any) -> tuple[str, Any]:
        """Store ASCII headers as text, because parsing takes longer than writing; parse others, and those of parts."""
        text = str(value).replace("=?", "= ?")  # so that it is not read as an encoded word (RFC 2047)
        if name.casefold().startswith(PART_HEADERS) or not text.isascii():
            return _parse_header(name, text)
        if len(text.splitlines()) > 1:
            raise ValueError(f"a header has one line: {name}")
        return name, text

    def fold(self, name: str, value: Any) -> str:
        """Break a header into lines; Python does so for plain ones alone.

        It encodes a word that is longer than a line, so headers for programs are broken only between words. It loses
        blanks between words that it encodes one by one, so names, and text that is not ASCII, are encoded as a whole.
        """
        text = str(value)
        parts: Sequence[str]
        if name in NAMED_HEADERS:
            phrase, _, address = text.rpartition(" ")
            parts = (self._encode(name, phrase), address) if phrase else (address,)
        elif name.casefold() in MACHINE_HEADERS:
            parts = text.split()
        elif not text.isascii():
            parts = (self._encode(name, text),)
        elif name.casefold().startswith(PART_HEADERS):
            return _fold_part_header(name, text, self.linesep)
        else:
            return str(super().fold(name, value))
        return f"{name}: {f'{self.linesep} '.join(parts)}{self.linesep}"

    def _encode(self, name: str, text: str) -> str:
        """Return a header's text, or the name before its address; what is not ASCII as encoded words (RFC 2047)."""
        if text.isascii():
            return text
        unquoted = unquote_name(text) if name in NAMED_HEADERS else text
        return Header(unquoted, "utf-8", header_name=name).encode(linesep=self.linesep)

    def fold_binary(self, name: str, value: Any) -> bytes:
        """Return the folded header as bytes."""
        return self.fold(name, value).encode("ascii", "surrogateescape")


@functools.lru_cache(CACHED_HEADERS)
def _parse_header(name: str, text: str) -> tuple[str, Any]:
    """Parse a header of a part; most are the same in all letters, and a parsed header never changes."""
    return EmailPolicy().header_store_parse(name, text)


@functools.lru_cache(CACHED_HEADERS)
def _fold_part_header(name: str, text: str, linesep: str) -> str:
    """Write a header of a part, whose text is ASCII only; most are the same in all letters."""
    _name, header = _parse_header(name, text)
    return str(EmailPolicy(linesep=linesep).fold(name, header))


@functools.cache
def _get_header_limit(name: str) -> int | None:
    """Return how many headers of this name a letter may have; None for any number."""
    return EmailPolicy().header_max_count(name)


class LetterContent(Struct, frozen=True):
    """The text of a letter and its place in a thread: its Message-ID, and the ids that it follows, the parent last."""

    subject: str
    id: str
    text: str
    html: str
    kind: LetterKind
    kind_name: str
    translator: Translator
    topic: Topic  # which the sender's name shows
    settings_address: str  # of the page with the reader's letter settings
    title: str = ""
    game: str = ""
    follows: tuple[str, ...] = ()
    reply_to: str = ""
    pictures: tuple[LetterPicture, ...] = ()


def write_sender(translator: Translator, server: str, topic: Topic) -> str:
    """Return the name that a letter comes from: that of the server, and in a word what the letter is about."""
    _ = translator.gettext
    match topic:
        case "turn":
            return _("%(server)s: your turn", server=server)
        case "invitation":
            return _("%(server)s: invitation", server=server)
        case "seat":
            return _("%(server)s: your seat", server=server)
        case "reminder":
            return _("%(server)s: reminder", server=server)
        case "answer":
            return _("%(server)s: answer", server=server)
        case "question":
            return _("%(server)s: question", server=server)
        case "talk":
            return _("%(server)s: table talk", server=server)
        case "end":
            return _("%(server)s: the end", server=server)
        case "account":
            return _("%(server)s: your account", server=server)
    return _("%(server)s: news", server=server)


def build_message(app: App, request: LetterRequest, content: LetterContent) -> EmailMessage:
    """Return the e-mail with all its headers; a plain letter has neither HTML nor pictures."""
    message = EmailMessage(WirePolicy(cte_type="7bit"))
    sender = write_sender(content.translator, app.settings.sender_name, content.topic)
    message["From"] = Address(sender, addr_spec=app.settings.sender_address)
    message["To"] = Address(request.name, addr_spec=request.address)
    if content.reply_to:
        message["Reply-To"] = Address(app.settings.sender_name, addr_spec=content.reply_to)
    message["Subject"] = content.subject
    message["Date"] = format_datetime(datetime.fromtimestamp(app.now(), UTC))
    message["Message-ID"] = content.id
    if content.follows:
        message["In-Reply-To"] = content.follows[-1]
        message["References"] = " ".join(content.follows)
    message[receipts.TABLE_HEADER] = request.table or "person"
    message["Auto-Submitted"] = "auto-generated"
    message["X-Auto-Response-Suppress"] = "OOF, AutoReply"  # as Exchange calls it
    _add_list_headers(app, request, content, message)
    message.set_content(content.text)
    if not request.plain:
        _add_html(message, content)
    message["Content-Language"] = request.language  # last: making a part moves headers of this name into the part
    return message


def _add_list_headers(app: App, request: LetterRequest, content: LetterContent, message: EmailMessage) -> None:
    """Add the headers for a mail program's button to unsubscribe (RFC 2919, RFC 8058) and for reports of complaints."""
    if not content.kind.can_unsubscribe:
        return
    host = app.settings.mail_host
    message[LIST_ID] = f"{_make_phrase(content.title or 'Depesche')} <{request.table or 'person'}.{host}>"
    message["Feedback-ID"] = f"{content.kind_name}:{content.game or 'all'}:{host}:{FEEDBACK_SENDER}"
    if request.person:
        table = f"?table={request.table}" if request.table else ""
        message["List-Unsubscribe"] = f"<{content.settings_address}/stop{table}>{_format_mailto(request, content)}"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"


def _format_mailto(request: LetterRequest, content: LetterContent) -> str:
    """Return a comma and the second way to unsubscribe, an answer that says so; empty for a letter without this way."""
    if not (request.table and content.reply_to):  # a digest belongs to no single table, and cannot be answered so
        return ""
    # The subject ends with [mark]; where all answers go to one address, the mark names the seat.
    mark = content.subject.rpartition("[")[2].rstrip("]")
    return f", <{make_mailto(content.reply_to, f'{UNSUBSCRIBE} [{mark}]', UNSUBSCRIBE)}>"


def _make_phrase(title: str) -> str:
    """Replace the characters that would end a phrase before a list's id (RFC 2919) by blanks."""
    phrase = "".join(letter if letter.isalnum() else " " for letter in title)
    return " ".join(phrase.split())


def make_personal_id(app: App, request: LetterRequest) -> str:
    """Return the Message-ID of a letter to a person."""
    return f"<{request.person}.{request.kind.replace('/', '.')}@{app.settings.mail_host}>"


def _add_html(message: EmailMessage, content: LetterContent) -> None:
    """Add the HTML with its styles inlined, and the pictures it shows."""
    message.add_alternative(_make_inliner().inline(content.html), subtype="html")
    part: Any = message.get_payload()[1]  # type: ignore[index]  # the HTML, just added
    for picture in content.pictures:
        png = render_png(picture.svg)
        file = f"{picture.name}.png"
        part.add_related(png, "image", "png", cid=f"<{picture.cid}>", filename=file, disposition="inline")


@functools.cache
def _make_inliner() -> css_inline.CSSInliner:
    import css_inline  # here, because letters are mostly written by another process

    return css_inline.CSSInliner(load_remote_stylesheets=False, keep_style_tags=True, keep_at_rules=True)


def connect(url: str) -> smtplib.SMTP:
    """Connect to `smtp://`, `smtps://` or `smtp+tls://` [user:password@]host[:port], and sign in.

    With TLS the relay's certificate is verified before the password is sent.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or LOCALHOST, parts.port
    context = None if parts.scheme == "smtp" else ssl.create_default_context()  # which reads many certificates
    match parts.scheme:
        case "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, port or SMTPS_PORT, timeout=REPLY_TIMEOUT_S, context=context)
        case "smtp" | "smtp+tls":
            server = smtplib.SMTP(host, port or SMTP_PORT, timeout=REPLY_TIMEOUT_S)
        case unknown:
            raise smtplib.SMTPNotSupportedError(f"DEPESCHE_SMTP begins with smtp, smtps or smtp+tls, not {unknown}")
    try:
        if parts.scheme == "smtp+tls":
            server.starttls(context=context)
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
    except BaseException:
        server.close()
        raise
    return server


def is_permanent(refusal: Refusal) -> bool:
    """Return whether the relay will never accept this letter."""
    if isinstance(refusal, smtplib.SMTPDataError):
        return refusal.smtp_code >= FIRST_PERMANENT_CODE
    return all(code >= FIRST_PERMANENT_CODE for code, _text in refusal.recipients.values())


def find_dead_address_reply(refusal: Refusal) -> str:
    """Return the reply that says that the address does not exist; empty for a refusal with another reason."""
    if isinstance(refusal, smtplib.SMTPDataError):
        return ""  # the relay took the address, and refused the content
    replies = [(code, text.decode("utf-8", "replace")) for code, text in refusal.recipients.values()]
    return " ".join(f"{code} {text}" for code, text in replies if bounce_reports.is_dead(code, text))


class Envelope(Struct, frozen=True):
    """A letter as it is sent: the address that bounces go to, the recipient, and the content with its line ends."""

    sender: str
    recipient: str
    content: bytes


def make_envelope(message: EmailMessage, sender: str, recipient: str) -> Envelope:
    """Return a letter as it is sent; raise ValueError for an address with a character that SMTP does not take.

    A line break in an address, for instance, would begin another command.
    """
    for address in (sender, recipient):
        if not address.isascii() or not address.isprintable():
            raise ValueError(f"no address for SMTP: {address!r}")
    return Envelope(sender, recipient, message.as_bytes(policy=message.policy.clone(linesep="\r\n")))


def send_all(server: smtplib.SMTP, envelopes: Sequence[Envelope]) -> Results:
    """Send letters, and yield for each None when the server has accepted it, or how it was refused.

    No letter's content is sent before the result of the letter before was yielded. Raise OSError if the session is
    over: then the next letter was not accepted, and later ones were not sent. Close the generator to stop early.
    """
    server.ehlo_or_helo_if_needed()
    send = _send_pipelined if server.has_extn("pipelining") else _send_one_by_one
    yield from send(server, envelopes)


def _send_one_by_one(server: smtplib.SMTP, envelopes: Sequence[Envelope]) -> Results:
    """Send each letter to a server that wants one command at a time."""
    for envelope in envelopes:
        try:
            server.sendmail(envelope.sender, [envelope.recipient], envelope.content)
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError) as refusal:
            yield refusal
        else:
            yield None


def _send_pipelined(server: smtplib.SMTP, envelopes: Sequence[Envelope]) -> Results:
    """Send the content of each letter together with the commands for the next one."""
    awaits_content = False  # whether the server has the commands for a letter, but not yet its content
    refusal: Refusal | None = None
    try:
        for envelope, following in zip_longest(envelopes, envelopes[1:]):  # None follows the last
            if not awaits_content:  # it is the first letter, or the one before was refused
                awaits_content = True  # even if only a part of its commands arrives
                _begin(server, envelope, is_after_refusal=refusal is not None)
            refusal = _read_replies(server, envelope)
            awaits_content = refusal is None and following is not None
            if refusal is None:
                next_commands = _write_commands(server, following) if following else b""
                server.send(_write_content(envelope) + next_commands)
                refusal = _read_verdict(server)
            yield refusal
    finally:
        if awaits_content:  # what is sent now would be content
            server.close()


def _begin(server: smtplib.SMTP, envelope: Envelope, is_after_refusal: bool) -> None:
    """Send the commands for a letter; after a refused letter, let the server forget that one first."""
    server.send((RESET if is_after_refusal else b"") + _write_commands(server, envelope))
    if is_after_refusal:
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
    """Read the replies to the commands of a letter; return None if its content is wanted.

    A refusal of the sender, which concerns all letters, is raised; other refusals are returned.
    """
    sender_code, sender_text = server.getreply()
    recipient_code, recipient_text = server.getreply()
    data_code, data_text = server.getreply()
    wants_content = data_code == START_OF_CONTENT
    if sender_code != MAIL_ACCEPTED:
        raise smtplib.SMTPSenderRefused(sender_code, sender_text, envelope.sender)
    if recipient_code not in RECIPIENT_ACCEPTED:
        if wants_content:  # though the letter has no recipient: RFC 2920, 3.1
            server.send(END_OF_CONTENT)
            server.getreply()
        return smtplib.SMTPRecipientsRefused({envelope.recipient: (recipient_code, recipient_text)})
    return None if wants_content else smtplib.SMTPDataError(data_code, data_text)


def _read_verdict(server: smtplib.SMTP) -> Refusal | None:
    """Read the reply of a mail server to a letter; None if it accepted it."""
    code, text = server.getreply()
    return None if code == MAIL_ACCEPTED else smtplib.SMTPDataError(code, text)


@functools.lru_cache(maxsize=256)
def render_png(svg: str) -> bytes:
    """Return a drawing as a PNG file, with the fonts of the service."""
    return drawing.paint_png(svg)
