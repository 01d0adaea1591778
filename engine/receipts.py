"""Receipts from letters, compared with a log: each is the head of the log after so many entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from engine import log
from engine.log import Export


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


def compare_receipts(export: Export, receipts: Iterable[Receipt]) -> tuple[Comparison, ...]:
    """Compare each receipt of this table with the log's head after that many entries; skip those of other tables.

    The heads are computed from the digests, so the result is valid as far as `engine.audit` finds the chain complete.
    """
    heads = log.compute_heads([link.digest for link in export.entries])
    return tuple(_compare_receipt(receipt, heads) for receipt in receipts if receipt.table in ("", export.table))


def _compare_receipt(receipt: Receipt, heads: Sequence[str]) -> Comparison:
    name = f"The receipt after {receipt.length} entries{f' ({receipt.source})' if receipt.source else ''}"
    if not 0 < receipt.length <= len(heads):
        return Comparison(receipt, False, f"{name} contradicts the log, which has {len(heads)} entries.")
    head = heads[receipt.length - 1]
    if not head.startswith(receipt.hash):
        why = f"it says {receipt.hash}, the log {head}. Something up to entry {receipt.length - 1} is not as it was"
        return Comparison(receipt, False, f"{name} contradicts the log: {why}.")
    return Comparison(receipt, True, f"{name} agrees with the log.")
