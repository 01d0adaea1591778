"""Receipts as players keep them: found again in saved letters, in whatever language these were written."""

from __future__ import annotations

import functools
import html
import mailbox
import re
from collections.abc import Iterator
from contextlib import closing
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

from engine.audit import Receipt
from service.text.languages import LANGUAGES, load_translations

SENTENCE = ("Receipt after %(length)s entry:", "Receipt after %(length)s entries:")  # as at the foot of every letter
MARK = "X-Depesche"  # which table a letter is from
TAG = re.compile(r"<[^<>]{1,2000}>")
GAP = r"[\s>|*]*"  # between two words of a letter: a blank, or a line broken and quoted
MAIL = re.compile(rb"(?:[A-Za-z][A-Za-z-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){2,}\r?\n")


def found(path: Path) -> Iterator[Receipt]:
    """All receipts in a file: one letter as mail programs save it, a mailbox with many, or any text."""
    raw = path.read_bytes()
    if raw.startswith(b"From "):
        with closing(mailbox.mbox(path, create=False)) as letters:
            for number, letter in enumerate(letters, 1):
                yield from _in_letter(message_from_bytes(letter.as_bytes(), policy=default), f"{path}, letter {number}")
    elif MAIL.match(raw.replace(b"\r\n", b"\n")):
        yield from _in_letter(message_from_bytes(raw, policy=default), str(path))
    else:
        yield from _in_text(raw.decode(errors="replace"), str(path), "")


def _in_letter(letter: EmailMessage, source: str) -> Iterator[Receipt]:
    subject = " ".join(str(letter.get("Subject", "")).split())
    named = f"{source}, “{subject}”" if subject else source
    said = (_text(part) for part in letter.walk() if part.get_content_maintype() == "text")
    table = str(letter.get(MARK, "")).strip()
    yield from dict.fromkeys(receipt for text in said for receipt in _in_text(text, named, table))


def _text(part: EmailMessage) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError):  # an unknown character set
        return bytes(part.get_payload(decode=True) or b"").decode(errors="replace")


def _in_text(text: str, source: str, table: str) -> Iterator[Receipt]:
    plain = html.unescape(TAG.sub(" ", text))
    for match in _pattern().finditer(plain):
        length, receipt = (group for group in match.groups() if group)
        yield Receipt(receipt.lower(), int(length), source, table)


@functools.cache
def _pattern() -> re.Pattern[str]:
    """The sentence of the receipt in every language we write letters in, for one entry and for many."""
    spoken = (load_translations(language).ngettext(*SENTENCE, count) for language in LANGUAGES for count in (1, 2))
    return re.compile("|".join(map(_spoken, dict.fromkeys(spoken))), re.IGNORECASE)


def _spoken(sentence: str) -> str:
    words = (re.escape(word) for word in (sentence % {"length": " # "} + " @").split())
    return GAP.join(words).replace(re.escape("#"), "([0-9]{1,9})").replace("@", "([0-9a-f]{64})")
