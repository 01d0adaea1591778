"""The form of an exported log: everything that must hold before a digest is worked out or a rule is asked.

Each check answers with the first entry that breaks it and a sentence; `engine/README.md` tells the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from engine import chance, log
from engine.log import Export, Link

HASH = re.compile("[0-9a-f]{64}")
FIELDS = frozenset(("seq", "at", "seat", "move", "draws", "events", "edition"))


class Broken(NamedTuple):
    """A rule of the format that this log breaks."""

    seq: int
    sentence: str


def broken(export: Export, *, running: bool = False) -> Broken | None:
    """The first rule that the log breaks; `running` allows a seed without an end, as its host alone may hold it."""
    checks = (_order, _opening, _seed, _open if export.seed is not None else _redacted)
    found = next((broken for check in checks if (broken := next(check(export), None))), None)
    if found is None and export.seed is not None and not running:
        return _end(export)
    return found


def misses_head(export: Export) -> bool:
    """Whether the digests lead anywhere else than to the head that the log names."""
    return log.chain(link.digest for link in export.entries) != export.head


def _order(export: Export) -> Iterator[Broken]:
    if not export.entries:
        yield Broken(0, "The log has no entries.")
    is_hash = HASH.fullmatch
    for number, link in enumerate(export.entries):
        entry = link.entry
        seq = entry.get("seq")
        if seq != number or type(seq) is not int:
            yield Broken(number, f"Entry {number} is missing or out of order.")
        if not is_hash(link.digest):
            yield Broken(number, f"Entry {number} has no digest of 64 small hexadecimal digits.")
        if why := _misshapen(entry) or ("" if entry["events"] or not link.whole else "is whole, yet empty"):
            yield Broken(number, f"Entry {number} {why}.")


def _misshapen(entry: dict[str, Any]) -> str:
    """What is wrong with the shape of an entry, whole or not."""
    if entry.keys() != FIELDS:
        return "has other fields than seq, at, seat, move, draws, events and edition"
    at, edition, seat, events = entry["at"], entry["edition"], entry["seat"], entry["events"]
    if type(at) is not int or type(edition) is not int or at < 0 or edition < 0:
        return "tells its time or its edition otherwise than in whole numbers"
    if seat is not None and (type(seat) is not int or seat < 0):
        return "is neither a seat's nor the house's"
    if type(entry["draws"]) is not list or type(events) is not list:
        return "has no list of draws or of events"
    for event in events:
        if type(event) is not dict or type(event.get("type")) is not str:
            return "has an event without a type"
    return ""


def _opening(export: Export) -> Iterator[Broken]:
    first = export.entries[0].entry
    opened = first["events"][0] if len(first["events"]) == 1 else {}
    if first["seat"] is not None or opened.get("type") != "table.Opened":
        yield Broken(0, "The log does not begin with the opening of a table by the house.")
    if opened.get("commitment") != export.commitment or not HASH.fullmatch(export.commitment):
        yield Broken(0, "The table was not opened with the commitment that this log names.")
    if opened.get("game") != export.game:
        yield Broken(0, f"The table was opened for another game than “{export.game}”.")
    if opened.get("table", export.table) != export.table:
        yield Broken(0, f"The table was opened under another name than “{export.table}”.")
    edition = opened.get("edition")
    for link in export.entries:
        if link.entry["edition"] != edition:
            yield Broken(link.entry["seq"], f"Entry {link.entry['seq']} is of another edition than the opening.")


def _seed(export: Export) -> Iterator[Broken]:
    if export.seed is None:
        return
    if not HASH.fullmatch(export.seed) or chance.commitment(bytes.fromhex(export.seed)) != export.commitment:
        yield Broken(0, "The revealed seed is not the one that was committed to when the table opened.")
    if export.seat is not None:
        yield Broken(0, "A log with its seed is nobody's own copy, yet this one names a seat.")


def _open(export: Export) -> Iterator[Broken]:
    """With the seed everything is disclosed."""
    for seq, link in enumerate(export.entries):
        if link.whole and link.salt is None and type(link.entry["move"]) is str:
            continue
        if link.salt is None:
            yield Broken(seq, f"Entry {seq} is not whole, though the seed is revealed.")
        yield Broken(seq, f"Entry {seq} has a salt of its own, though the seed gives it.")


def _redacted(export: Export) -> Iterator[Broken]:
    """Without the seed each entry is whole and proven by its salt, or cut; logs without a name may have no salts."""
    salted = "table" in log.opening(export) or any(link.salt is not None for link in export.entries)
    for seq, link in enumerate(export.entries):
        if any(event["type"] == "table.Ended" for event in link.entry["events"]):
            yield Broken(seq, f"Entry {seq} ends the table, yet the seed is not revealed.")
        if why := _miscut(link, salted):
            yield Broken(seq, f"Entry {seq} {why}.")


def _miscut(link: Link, salted: bool) -> str:
    if not link.whole:
        shown = bool(link.entry["draws"]) or link.salt is not None
        return "is said not to be whole, yet shows its draws or its salt" if shown else ""
    if not isinstance(link.entry["move"], str):
        return "is said to be whole, yet its move is missing"
    if salted and (link.salt is None or not HASH.fullmatch(link.salt)):
        return "is said to be whole, yet has no salt to prove it"
    if link.salt and log.salted(bytes.fromhex(link.salt), log.canonical(link.entry)) != link.digest:
        return "is not the one that was sealed: its digest differs"
    return ""


def _end(export: Export) -> Broken | None:
    """The seed is revealed when the table is over, so the end is there, once and last."""
    last = len(export.entries) - 1
    for seq, link in enumerate(export.entries):
        events = link.entry["events"]
        ends = 0
        for event in events:
            ends += event["type"] == "table.Ended"
        if not ends:
            continue
        if ends > 1 or events[-1]["type"] != "table.Ended":
            return Broken(seq, f"In entry {seq} something happens after the end of the table.")
        return Broken(seq + 1, f"Entry {seq + 1} comes after the end of the table.") if seq < last else None
    return Broken(last, "The seed is revealed, yet the end of the table is missing: the log was cut off.")
