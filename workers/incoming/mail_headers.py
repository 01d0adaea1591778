"""The headers of a mail, read in one way by everything here that looks at a mail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import getaddresses

from msgspec import Struct

LONGEST = 4_000  # characters of a header that are read
ID = re.compile(r"<[!-;=?-~]{1,240}>")


class MailHeaders(Struct, frozen=True):
    """The headers of a mail in their order, each on one line; a missing one is empty."""

    fields: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, message: Message) -> MailHeaders:
        return cls(tuple((name.casefold(), _on_one_line(str(value))) for name, value in message.raw_items()))

    @classmethod
    def read(cls, raw: bytes) -> MailHeaders:
        """Those of a mail whose body is not looked at."""
        return cls.of(BytesHeaderParser().parsebytes(raw))

    def __contains__(self, name: str) -> bool:
        return any(name.casefold() == known for known, _ in self.fields)

    def every(self, *names: str) -> tuple[str, ...]:
        """All headers of these names, in the order of the names."""
        return tuple(value for name in names for known, value in self.fields if known == name.casefold())

    def first(self, name: str) -> str:
        return next(iter(self.every(name)), "")

    def decoded(self, name: str) -> str:
        """A header as people read it (RFC 2047); as it stands where it cannot be read."""
        header = self.first(name)
        try:
            return str(make_header(decode_header(header)))
        except (LookupError, ValueError, HeaderParseError):
            return header

    def ids(self, name: str) -> tuple[str, ...]:
        """The ids of mails in a header; some programs encode those that are long."""
        return tuple(ID.findall(self.decoded(name)))

    def answered(self) -> Iterator[str]:
        """The ids of the mails that this one answers, the nearest one first."""
        yield from self.ids("In-Reply-To")
        yield from reversed(self.ids("References"))

    def senders(self) -> tuple[str, ...]:
        """Every address that the mail says it is from."""
        return _addresses(*self.every("From"))

    def envelope_sender(self) -> str:
        """Whom the mail would be returned to, as the last mail server noted it; nobody for a mail of a mail server."""
        return next(iter(_addresses(self.first("Return-Path") or self.first("From"))), "")

    def is_report(self) -> bool:
        """Whether a mail server wrote this mail, by its form or because it is to be returned to nobody."""
        kind = self.first("Content-Type").partition(";")[0].strip().casefold()
        return kind == "multipart/report" or self.first("Return-Path").replace(" ", "") == "<>"


def _addresses(*headers: str) -> tuple[str, ...]:
    """The addresses in headers; none where one has comments in comments without end."""
    try:
        return tuple(address for _, address in getaddresses(list(headers)) if address)
    except RecursionError:
        return ()


def _on_one_line(value: str) -> str:
    """A header without its folds; what was sent without encoding is UTF-8, or in an older program Latin-1."""
    raw = value.encode("utf-8", "surrogateescape")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return " ".join(text.split())[:LONGEST]
