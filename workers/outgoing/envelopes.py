"""Envelopes: what every letter has, whatever is written in it: from whom, to whom, why, how to stop it, its parts."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime
from typing import Any

import css_inline
from msgspec import Struct

from service import receipts
from service.app import App
from workers.outgoing import letter_kinds

FEEDBACK = "depesche"
LIST_ID = "List-Id"
# Headers that programs read, in which RFC 2047 allows no encoded word: ids, links and addresses of ours.
FOR_PROGRAMS = frozenset(
    "message-id in-reply-to references list-unsubscribe list-unsubscribe-post reply-to feedback-id content-id".split()
)


class WirePolicy(EmailPolicy):
    """Letters as relays and mail programs need them: seven bits, and headers for programs never encoded.

    Encoded words in a given text are not decoded, so that no name brings a header of its own with it.
    """

    def header_store_parse(self, name: str, value: Any) -> tuple[str, Any]:
        return super().header_store_parse(name, str(value).replace("=?", "= ?"))

    def fold(self, name: str, value: Any) -> str:
        """Headers for programs break only between their words: Python encodes a word that is longer than a line."""
        words = str(value).split()
        if name == LIST_ID and len(words) > 1:
            words = [Header(" ".join(words[:-1]), header_name=name).encode(linesep=self.linesep), words[-1]]
        elif name.casefold() not in FOR_PROGRAMS:
            return str(super().fold(name, value))
        return f"{name}: {f'{self.linesep} '.join(words)}{self.linesep}"

    def fold_binary(self, name: str, value: Any) -> bytes:
        """The same as bytes."""
        return self.fold(name, value).encode("ascii", "surrogateescape")


class LetterOrder(Struct, frozen=True):
    """A letter that is owed: to whom, about what. One to a person, about no seat, has an empty table."""

    table: str
    seq: int
    seat: int
    kind: str
    address: str
    name: str
    language: str = "en"
    said: str = ""
    person: int = 0
    plain: bool = False
    calendar: str = ""
    chose: bool = True  # his language


class Picture(Struct, frozen=True):
    """A picture in a letter, what its file is called, and the id by which the letter calls it."""

    name: str
    cid: str
    png: bytes


class LetterContent(Struct, frozen=True):
    """What is written in a letter, and where it belongs.

    `id` is what this letter is known by, and `follows` the letters and mails before it, the one it answers last.
    """

    subject: str
    id: str
    text: str
    html: str
    title: str = ""
    game: str = ""
    follows: tuple[str, ...] = ()
    reply_to: str = ""
    pictures: tuple[Picture, ...] = ()


def message(app: App, order: LetterOrder, paper: LetterContent) -> EmailMessage:
    """The letter, ready to be sent; a plain one has neither HTML nor pictures."""
    made = EmailMessage(WirePolicy(cte_type="7bit"))
    made["From"] = Address(app.settings.sender_name, addr_spec=app.settings.sender_address)
    made["To"] = Address(order.name, addr_spec=order.address)
    if paper.reply_to:
        made["Reply-To"] = paper.reply_to
    made["Subject"] = paper.subject
    made["Date"] = format_datetime(datetime.fromtimestamp(app.now(), UTC))
    made["Message-ID"] = paper.id
    if paper.follows:
        made["In-Reply-To"] = paper.follows[-1]
        made["References"] = " ".join(paper.follows)
    made[receipts.MARK] = order.table or "person"
    made["Auto-Submitted"] = "auto-generated"
    _stoppable(app, order, paper, made)
    made.set_content(paper.text)
    if not order.plain:
        _dress(made, paper)
    made["Content-Language"] = order.language  # last, for whatever makes parts moves such headers into them
    return made


def _stoppable(app: App, order: LetterOrder, paper: LetterContent, made: EmailMessage) -> None:
    """What mail programs need for a button that stops such letters (RFC 2919, RFC 8058), and to tell complaints."""
    if not letter_kinds.of(order.kind).stops:
        return
    host = app.settings.mail_host
    made[LIST_ID] = f"{_phrase(paper.title or 'Depesche')} <{order.table or 'person'}.{host}>"
    made["Feedback-ID"] = f"{order.kind.partition('/')[0]}:{paper.game or 'all'}:{host}:{FEEDBACK}"
    if order.person:
        at = f"?table={order.table}" if order.table else ""
        made["List-Unsubscribe"] = f"<{preferences_page(app, order.person)}/stop{at}>"
        made["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"


def _phrase(title: str) -> str:
    """A title as RFC 2919 wants it before a list's id: without the signs that would end a phrase."""
    return " ".join("".join(letter if letter.isalnum() else " " for letter in title).split())


def preferences_page(app: App, person: int) -> str:
    """The page where this person says which letters he wants."""
    return f"{app.settings.address}/wishes/{app.links.preferences(person)}"


def _dress(made: EmailMessage, paper: LetterContent) -> None:
    made.add_alternative(_inliner().inline(paper.html), subtype="html")
    part: Any = made.get_payload()[1]  # type: ignore[index]  # the HTML, just added
    for one in paper.pictures:
        file = f"{one.name}.png"
        part.add_related(one.png, "image", "png", cid=f"<{one.cid}>", filename=file, disposition="inline")


@functools.cache
def _inliner() -> css_inline.CSSInliner:
    return css_inline.CSSInliner(load_remote_stylesheets=False, keep_style_tags=True, keep_at_rules=True)
