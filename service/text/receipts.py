"""Finding receipts in saved letters, in any language that letters are written in."""

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

RECEIPT_SENTENCE = (
    "Receipt after %(length)s entry:",
    "Receipt after %(length)s entries:",
)  # as at the foot of every letter
TABLE_HEADER = "X-Depesche"  # which table a letter is from
TAG = re.compile(r"<[^<>]{1,2000}>")
GAP = r"[\s>|*]*"  # between two words of a letter: a space, or a line break and quotation marks
MAIL = re.compile(rb"(?:[A-Za-z][A-Za-z-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){2,}\r?\n")


def find_receipts(path: Path) -> Iterator[Receipt]:
    """Yield all receipts in a file: one saved letter, a mailbox of letters, or any text."""
    raw = path.read_bytes()
    if raw.startswith(b"From "):
        with closing(mailbox.mbox(path, create=False)) as letters:
            for number, letter in enumerate(letters, 1):
                yield from _find_in_letter(
                    message_from_bytes(letter.as_bytes(), policy=default), f"{path}, letter {number}"
                )
    elif MAIL.match(raw.replace(b"\r\n", b"\n")):
        yield from _find_in_letter(message_from_bytes(raw, policy=default), str(path))
    else:
        yield from _find_in_text(raw.decode(errors="replace"), str(path), "")


def _find_in_letter(letter: EmailMessage, source: str) -> Iterator[Receipt]:
    subject = " ".join(str(letter.get("Subject", "")).split())
    name = f"{source}, “{subject}”" if subject else source
    texts = (_get_text(part) for part in letter.walk() if part.get_content_maintype() == "text")
    table = str(letter.get(TABLE_HEADER, "")).strip()
    yield from dict.fromkeys(receipt for text in texts for receipt in _find_in_text(text, name, table))


def _get_text(part: EmailMessage) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError):  # an unknown character set
        return bytes(part.get_payload(decode=True) or b"").decode(errors="replace")


def _find_in_text(text: str, source: str, table: str) -> Iterator[Receipt]:
    plain = html.unescape(TAG.sub(" ", text))
    for match in _compile_pattern().finditer(plain):
        length, receipt = (group for group in match.groups() if group)
        yield Receipt(receipt.lower(), int(length), source, table)


@functools.cache
def _compile_pattern() -> re.Pattern[str]:
    """Compile a pattern for the sentence of the receipt in every language, for one entry and for many."""
    sentences = (
        load_translations(language).ngettext(*RECEIPT_SENTENCE, count) for language in LANGUAGES for count in (1, 2)
    )
    return re.compile("|".join(map(_make_pattern, dict.fromkeys(sentences))), re.IGNORECASE)


def _make_pattern(sentence: str) -> str:
    words = (re.escape(word) for word in (sentence % {"length": " # "} + " @").split())
    return GAP.join(words).replace(re.escape("#"), "([0-9]{1,9})").replace("@", "([0-9a-f]{64})")
