"""Receipts from letters: found in saved letters, in any language of letters, and compared with a log.

A receipt is the head of the log after so many entries. Players write into letters too, so a receipt is read only where
a letter has it: at the beginning of a line, which is indented in everything that players say, or in an element `code`,
which they cannot write.
"""

from __future__ import annotations

import functools
import html
import mailbox
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

from msgspec import Struct

from engine import log
from engine.log import Export
from service.text.languages import LANGUAGES, load_translations

RECEIPT_SENTENCE = (
    "Receipt after %(length)s entry:",
    "Receipt after %(length)s entries:",
)  # as at the foot of every letter
TABLE_HEADER = "X-Depesche"  # which table a letter is from
TAG = re.compile(r"<[^<>]{1,2000}>")
LETTER_TAGS = re.compile(r"<(p|div|html|body)\b", re.IGNORECASE)
CODE_MARK, TAG_MARK = "\x01", "\x02"  # instead of the tag `code`, and of any other
GAP = rf"[\s>|*{TAG_MARK}]*"  # between two words of a letter: a space, or a line break and quotation marks
LINE_START = r"^(?:[>|*] ?)*"
LENGTH, HASH = "([0-9]{1,9})", "([0-9a-f]{64})"
# A mail begins with two or more headers and an empty line.
MAIL = re.compile(rb"(?:[A-Za-z][A-Za-z-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){2,}\r?\n")


class Receipt(Struct, frozen=True):
    """A receipt from a letter: the head after `length` entries, or only its first digits; the table and the source."""

    hash: str
    length: int
    source: str = ""
    table: str = ""


class Comparison(Struct, frozen=True):
    """Whether a receipt agrees with a log, with a sentence that says so."""

    receipt: Receipt
    agrees: bool
    sentence: str


def find_receipts(path: Path) -> Iterator[Receipt]:
    """Yield all receipts in a file: one saved letter, a mailbox of letters, or any text."""
    raw = path.read_bytes()
    if raw.startswith(b"From "):  # each letter of a mailbox begins with this line
        with closing(mailbox.mbox(path, create=False)) as letters:
            for number, letter in enumerate(letters, 1):
                yield from _find_in_letter(
                    message_from_bytes(letter.as_bytes(), policy=default), f"{path}, letter {number}"
                )
    elif MAIL.match(raw.replace(b"\r\n", b"\n")):
        yield from _find_in_letter(message_from_bytes(raw, policy=default), str(path))
    else:
        yield from _find_in_text(raw.decode(errors="replace"), str(path), table="")


def _find_in_letter(letter: EmailMessage, source: str) -> Iterator[Receipt]:
    """Yield the receipts in the texts of a letter, each once; its subject is added to their source."""
    subject = " ".join(str(letter.get("Subject", "")).split())
    name = f"{source}, “{subject}”" if subject else source
    parts = [part for part in letter.walk() if part.get_content_maintype() == "text"]
    table = str(letter.get(TABLE_HEADER, "")).strip()
    receipts_by_part = [list(_find_in_text(_get_text(part), name, table, part.get_content_type())) for part in parts]
    if table:  # one of our letters has its receipt below everything that others wrote
        receipts_by_part = [receipts[-1:] for receipts in receipts_by_part]
    yield from dict.fromkeys(receipt for receipts in receipts_by_part for receipt in receipts)


def _get_text(part: EmailMessage) -> str:
    """Return the text of a part; an unknown character set is taken for UTF-8."""
    try:
        return str(part.get_content())
    except (LookupError, ValueError):  # an unknown character set
        return bytes(part.get_payload(decode=True) or b"").decode(errors="replace")


def _find_in_text(text: str, source: str, table: str, kind: str = "") -> Iterator[Receipt]:
    """Yield the receipts of a text, each with its `source` and the name of its `table`, which may be empty.

    `kind` is the type of the text in a letter; a text of no letter may be HTML that was pasted.
    """
    if kind == "text/html":  # the sentence is anywhere, and the hash in an element `code`
        start = ""
        mark = CODE_MARK
    elif not kind and LETTER_TAGS.search(text):  # pasted HTML: the sentence follows a tag that begins a line
        start = f"{LINE_START}{TAG_MARK}+"
        mark = CODE_MARK
    else:  # plain text: the sentence begins a line
        start = LINE_START
        mark = ""
    if mark:  # the text is HTML
        text = html.unescape(TAG.sub(_mark_tag, text))
    for match in _compile_pattern(start, mark).finditer(text):
        length, head = filter(None, match.groups())  # each language has two groups: only those of one matched
        yield Receipt(head.lower(), int(length), source, table)


def _mark_tag(tag: re.Match[str]) -> str:
    """Return the mark that replaces a tag."""
    return CODE_MARK if re.match(r"<code\b", tag[0], re.IGNORECASE) else TAG_MARK


@functools.cache
def _compile_pattern(start: str, mark: str) -> re.Pattern[str]:
    """Compile a pattern for the sentence of the receipt in every language, for one entry and for many.

    `start` is a pattern for what is before the sentence, and `mark` is right before the hash.
    """
    sentences = (
        load_translations(language).ngettext(*RECEIPT_SENTENCE, count) for language in LANGUAGES for count in (1, 2)
    )
    alternatives = "|".join(_make_pattern(sentence, mark) for sentence in dict.fromkeys(sentences))
    return re.compile(f"{start}(?:{alternatives})", re.IGNORECASE | re.MULTILINE)


def _make_pattern(sentence: str, mark: str) -> str:
    """Return a pattern for the sentence of the receipt in one language, a mark, and the hash that follows it."""
    before, _, after = sentence.partition("%(length)s")
    words_before, words_after = map(re.escape, before.split()), map(re.escape, after.split())
    return GAP.join((*words_before, LENGTH, *words_after, rf"{mark}\s*{HASH}"))


def compare_receipts(export: Export, receipts: Iterable[Receipt]) -> tuple[Comparison, ...]:
    """Compare each receipt of this table with the log's head after that many entries; skip those of other tables.

    The heads are computed from the digests of the entries; whether these are right is checked by `engine.audit`.
    """
    heads = log.compute_heads([exported.digest for exported in export.entries])
    return tuple(_compare_receipt(receipt, heads) for receipt in receipts if receipt.table in ("", export.table))


def _compare_receipt(receipt: Receipt, heads: Sequence[str]) -> Comparison:
    """Compare a receipt with the log's heads: after its first entry, after its second, and so on."""
    source = f" ({receipt.source})" if receipt.source else ""
    name = f"The receipt after {receipt.length} entries{source}"
    if not 0 < receipt.length <= len(heads):
        sentence = f"{name} contradicts the log, which has {len(heads)} entries."
        return Comparison(receipt, agrees=False, sentence=sentence)
    head = heads[receipt.length - 1]
    if not head.startswith(receipt.hash):
        why = f"it says {receipt.hash}, the log {head}. Something up to entry {receipt.length - 1} is not as it was"
        return Comparison(receipt, agrees=False, sentence=f"{name} contradicts the log: {why}.")
    return Comparison(receipt, agrees=True, sentence=f"{name} agrees with the log.")
