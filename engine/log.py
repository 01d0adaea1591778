"""A table's log: entries, the hash chain that seals them, the file format, and what each reader may know of an entry.

An entry records one accepted command and is never edited or deleted. The hash of an entry proves everything before it.
The exact bytes and the rules of the format are specified in `engine/README.md`.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine import canonical_json, chance
from engine.canonical_json import make_decoder
from engine.chance import Draw
from engine.game import Game
from engine.table_events import TABLE_EVENTS, RoundDrawn, RoundNamed, Started, TableEvent, TimedOut, WentSealed

Event = TypeVar("Event")
GENESIS = bytes(32).hex()
HASH = re.compile("[0-9a-f]{64}")
FORMAT: Literal["depesche-log-1"] = "depesche-log-1"
RECENT_ENTRIES = 20  # the most that are new to a seat that has not moved yet
FIELDS = frozenset(("seq", "at", "seat", "move", "draws", "events", "edition"))


class Entry(Struct, Generic[Event], frozen=True):
    """One accepted command: its seat, time and text, the draws that were made for it, and the events it caused.

    `seat` is None for a command of the server. `move` is None only in a copy for a reader who may not know the move.
    """

    seq: int
    at: int
    seat: int | None
    move: str | None
    draws: tuple[Draw, ...]
    events: tuple[Event, ...]
    edition: int


class ExportedEntry(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An entry of an exported log, complete (`whole`) or redacted, with the digest of the complete entry.

    Before the end of the table `salt` proves a complete entry; afterwards the seed gives all salts.
    """

    digest: str
    whole: bool
    entry: dict[str, Any]
    salt: str | None = None


class Export(Struct, frozen=True, forbid_unknown_fields=True):
    """An exported log: complete and with its seed after the end of the table, redacted for one seat before."""

    table: str
    game: str
    commitment: str
    head: str
    entries: tuple[ExportedEntry, ...]
    format: Literal["depesche-log-1"]
    seed: str | None
    seat: int | None

    @property
    def opening(self) -> dict[str, Any]:
        """The event that opened the table; empty if the log does not begin with one."""
        match self.entries:
            case (ExportedEntry(entry={"events": [{"type": "table.Opened"} as opened]}), *_):
                return dict(opened)
        return {}

    @property
    def edition(self) -> int:
        """The edition of the game's rules that the table was opened with; 1 if the log does not say."""
        number = self.opening.get("edition")
        return number if isinstance(number, int) else 1


def derive_salt(seed: bytes, seq: int) -> bytes:
    """Return the salt of an entry, which keeps its digest from being guessed while the game is played."""
    return hashlib.sha256(b"depesche salt 1" + seed + seq.to_bytes(8, "big")).digest()


def compute_digest(seed: bytes, seq: int, body: bytes) -> str:
    """Return the digest of an entry, with the salt that follows from the seed."""
    return compute_salted_digest(derive_salt(seed, seq), body)


def compute_salted_digest(salt: bytes, body: bytes) -> str:
    """Return the digest of an entry, with a given salt."""
    return hashlib.sha256(salt + body).hexdigest()


def extend_head(head: str, digest: str) -> str:
    """Return the head after one more entry: it depends on the entry's digest and, through `head`, on all before."""
    return hashlib.sha256(bytes.fromhex(head) + bytes.fromhex(digest)).hexdigest()


def compute_head(digests: Iterable[str], head: str = GENESIS) -> str:
    """Return the head after entries with these digests."""
    return functools.reduce(extend_head, digests, head)


def compute_heads(digests: Sequence[str]) -> tuple[str, ...]:
    """Return the head after each entry, in order."""
    _, *heads = itertools.accumulate(digests, extend_head, initial=GENESIS)
    return tuple(heads)


class SealedEntry(Struct, frozen=True):
    """An entry as it is stored: its canonical bytes, its digest, and the hash of the chain up to it."""

    seq: int
    body: str
    digest: str
    hash: str


def seal(seed: bytes, head: str, entry: Entry[Any]) -> SealedEntry:
    """Seal an entry: its bytes, its digest, and the new head of the chain."""
    body = canonical_json.encode(entry)
    digest = compute_digest(seed, entry.seq, body)
    return SealedEntry(entry.seq, body.decode(), digest, hash=extend_head(head, digest))


def export_entry(seed: bytes, entry: Entry[Any], redacted: Entry[Any], digest: str) -> ExportedEntry:
    """Export an entry for a reader before the end of its table; with its salt if `redact` returned the entry itself."""
    whole = redacted is entry
    salt = derive_salt(seed, entry.seq).hex() if whole else None
    return ExportedEntry(digest, whole, canonical_json.decode_object(canonical_json.encode(redacted)), salt)


def parse_export(raw: bytes) -> Export:
    """Parse an exported log; raise an error if its JSON is not of this type or can be read in two ways."""
    export = canonical_json.make_decoder(Export).decode(raw)
    canonical_json.check_unambiguous(raw, export)
    return export


class FormatFault(NamedTuple):
    """A rule of the format that a log breaks, in a sentence, and the first entry that breaks it."""

    seq: int
    sentence: str


def find_format_fault(export: Export, *, running: bool = False) -> FormatFault | None:
    """Return the first rule of the format that the log breaks, or None; needs neither digests nor rules of a game.

    `running` allows a seed before the end of the table, as in the logs of the host.
    """
    check_disclosure = _check_redacted if export.seed is None else _check_disclosed
    checks = (_check_entries, _check_opening, _check_seed, check_disclosure)
    faults = itertools.chain.from_iterable(check(export) for check in checks)
    if fault := next(faults, None):
        return fault
    return _find_wrong_end(export) if export.seed is not None and not running else None


def has_wrong_head(export: Export) -> bool:
    """Whether the digests lead to another head than the log names."""
    return compute_head(exported.digest for exported in export.entries) != export.head


def _check_entries(export: Export) -> Iterator[FormatFault]:
    """Check each entry by itself, and their order; a caller that goes on after a fault may meet an error."""
    if not export.entries:
        yield FormatFault(0, "The log has no entries.")
    is_hash = HASH.fullmatch
    previous_at = 0
    for number, exported in enumerate(export.entries):
        entry = exported.entry
        if type(entry.get("seq")) is not int or entry["seq"] != number:
            yield FormatFault(number, f"Entry {number} is missing or out of order.")
        if not is_hash(exported.digest):
            yield FormatFault(number, f"Entry {number} has no digest of 64 small hexadecimal digits.")
        if why := _find_wrong_shape(entry):
            yield FormatFault(number, f"Entry {number} {why}.")
        if exported.whole and not entry["events"]:
            yield FormatFault(number, f"Entry {number} is whole, yet empty.")
        if entry["at"] < previous_at:
            yield FormatFault(number, f"Entry {number} is dated before the entry that it follows.")
        previous_at = entry["at"]


def _find_wrong_shape(entry: dict[str, Any]) -> str:
    """Return what is wrong with the fields of an entry, complete or redacted."""
    if entry.keys() != FIELDS:
        return "has other fields than seq, at, seat, move, draws, events and edition"
    at, edition, seat, events = entry["at"], entry["edition"], entry["seat"], entry["events"]
    if type(at) is not int or type(edition) is not int or at < 0 or edition < 0:  # `isinstance` allows a bool
        return "tells its time or its edition otherwise than in whole numbers"
    if seat is not None and (type(seat) is not int or seat < 0):
        return "is neither a seat's nor the server's"
    if type(entry["draws"]) is not list or type(events) is not list:
        return "has no list of draws or of events"
    for event in events:
        if type(event) is not dict or type(event.get("type")) is not str:
            return "has an event without a type"
    return ""


def _check_opening(export: Export) -> Iterator[FormatFault]:
    """Check that the first entry opens this table, with this commitment and the edition of all entries."""
    first = export.entries[0].entry
    opened = first["events"][0] if len(first["events"]) == 1 else {}
    if first["seat"] is not None or opened.get("type") != "table.Opened":
        yield FormatFault(0, "The log does not begin with the opening of a table by the server.")
    if opened.get("commitment") != export.commitment or not HASH.fullmatch(export.commitment):
        yield FormatFault(0, "The table was not opened with the commitment that this log names.")
    if opened.get("game") != export.game:
        yield FormatFault(0, f"The table was opened for another game than “{export.game}”.")
    if opened.get("table", export.table) != export.table:
        yield FormatFault(0, f"The table was opened under another name than “{export.table}”.")
    for seq, exported in enumerate(export.entries):
        if exported.entry["edition"] != opened.get("edition"):
            yield FormatFault(seq, f"Entry {seq} is of another edition than the opening.")


def _check_seed(export: Export) -> Iterator[FormatFault]:
    """Check that a revealed seed is the committed one, and that the log is then no copy for a seat."""
    if export.seed is None:
        return
    if not HASH.fullmatch(export.seed) or chance.commit(bytes.fromhex(export.seed)) != export.commitment:
        yield FormatFault(0, "The revealed seed is not the one that was committed to when the table opened.")
    if export.seat is not None:
        yield FormatFault(0, "A log with its seed is a copy for no seat, yet this one names a seat.")


def _check_disclosed(export: Export) -> Iterator[FormatFault]:
    """Check that each entry is complete and has no salt, because the seed is revealed."""
    for seq, exported in enumerate(export.entries):
        if exported.salt is not None:
            yield FormatFault(seq, f"Entry {seq} has a salt of its own, though the seed gives it.")
        elif not exported.whole or type(exported.entry["move"]) is not str:
            yield FormatFault(seq, f"Entry {seq} is not whole, though the seed is revealed.")


def _check_redacted(export: Export) -> Iterator[FormatFault]:
    """Check that each entry is either complete and proven by its salt, or redacted, because there is no seed.

    Logs that do not seal the name of their table may be older than salts.
    """
    salted = "table" in export.opening or any(exported.salt is not None for exported in export.entries)
    for seq, exported in enumerate(export.entries):
        if any(event["type"] == "table.Ended" for event in exported.entry["events"]):
            yield FormatFault(seq, f"Entry {seq} ends the table, yet the seed is not revealed.")
        if why := _find_wrong_redaction(exported, salted):
            yield FormatFault(seq, f"Entry {seq} {why}.")


def _find_wrong_redaction(exported: ExportedEntry, salted: bool) -> str:
    """Return what is wrong with an entry of a log without its seed; in a `salted` log, a complete one has a salt."""
    entry, salt = exported.entry, exported.salt
    if not exported.whole:
        shown = bool(entry["draws"]) or salt is not None
        return "is said not to be whole, yet shows its draws or its salt" if shown else ""
    if not isinstance(entry["move"], str):
        return "is said to be whole, yet its move is missing"
    if salted and (salt is None or not HASH.fullmatch(salt)):
        return "is said to be whole, yet has no salt to prove it"
    if salt and compute_salted_digest(bytes.fromhex(salt), canonical_json.encode(entry)) != exported.digest:
        return "is not the one that was sealed: its digest differs"
    return ""


def _find_wrong_end(export: Export) -> FormatFault | None:
    """Return what is wrong with the end of a log with its seed: its last event, and no other, ends the table."""
    last = len(export.entries) - 1
    for seq, exported in enumerate(export.entries):
        types = [event["type"] for event in exported.entry["events"]]
        if "table.Ended" not in types:
            continue
        if types.index("table.Ended") < len(types) - 1:
            return FormatFault(seq, f"In entry {seq} something happens after the end of the table.")
        if seq < last:
            return FormatFault(seq + 1, f"Entry {seq + 1} comes after the end of the table.")
        return None
    return FormatFault(last, "The seed is revealed, yet the end of the table is missing: the log was cut off.")


def find_mover(entry: Entry[Any]) -> int | None:
    """Return the seat whose move of the game is made in this entry, by itself or for it; None if there is none."""
    first = entry.events[0]
    if type(first) not in TABLE_EVENTS:  # a move of the entry's seat begins with an event of the game
        return entry.seat
    if isinstance(first, TimedOut):  # a move that is made for a late seat
        return first.seat
    return _find_waiting_mover(entry.events)  # a move that waited for its draws is made when they come


def _find_waiting_mover(events: Sequence[Any]) -> int | None:
    """Return the seat whose move waited for its draws and is made in this entry, or None."""
    for place, event in enumerate(events[:2]):  # a seat's consent to go on without the beacon may come before
        if isinstance(event, RoundDrawn | WentSealed):
            following = events[place + 1]  # it is `TimedOut` if the move that waited was made for a late seat
            return following.seat if isinstance(following, TimedOut) else event.seat
    return None


def find_player(entry: Entry[Any]) -> int | None:
    """Return the seat whose player made a move by this entry, even if it still waits for its draws, or None."""
    waits = isinstance(entry.events[0], RoundNamed)
    return entry.seat if waits or find_mover(entry) == entry.seat else None


def is_start(entry: Entry[Any]) -> bool:
    """Return whether the game began with this entry."""
    return any(isinstance(event, Started) for event in entry.events)


def find_entries_since_own_move(entries: list[Entry[Any]], seat: int | None) -> list[Entry[Any]]:
    """Return the entries after this seat's last move; without one, or a seat, the most recent ones since the start."""
    for place in reversed(range(len(entries))):
        if seat is not None and find_player(entries[place]) == seat:
            return entries[place + 1 :]
    start = min((place for place, entry in enumerate(entries) if is_start(entry)), default=0)
    return entries[start:][-RECENT_ENTRIES:]


class LastTurn(NamedTuple):
    """The numbers of the entries of a seat's last turn, and the number of the first entry after its last own move."""

    entries: frozenset[int]  # also moves that the server made for the seat, which are no moves of its own
    since: int


def find_last_turn(entries: list[Entry[Any]], seat: int) -> LastTurn:
    """Return the last turn of a seat; without a move of its own, `since` is the first of the most recent entries."""
    turn = set[int]()
    for entry in reversed(entries):
        mover = find_mover(entry)
        if mover == seat:  # also by a move that the server made for it
            turn.add(entry.seq)
        elif mover is not None and turn:
            break
    last_entries = find_entries_since_own_move(entries, seat)
    return LastTurn(frozenset(turn), since=len(entries) - len(last_entries))


def hear(game: Game, event: Any, seat: int | None) -> Any:
    """Return an event as the seat, or a spectator, may learn it, or None; events of the table are public."""
    return event if type(event) in TABLE_EVENTS else game.hear(event, seat)


class VisibleEntry(Struct, frozen=True):
    """An entry as a reader may know it: its events, the seat whose move it is, and whether the game began with it."""

    seq: int
    at: int
    events: tuple[Any, ...]
    mover: int | None
    is_start: bool


def hear_entries(game: Game, entries: Iterable[Entry[Any]], seat: int | None) -> list[VisibleEntry]:
    """Return what the seat, or a spectator, may learn of each entry."""
    visible = list[VisibleEntry]()
    for entry in entries:
        events = tuple(event for event in (hear(game, one, seat) for one in entry.events) if event is not None)
        mover = find_mover(entry) if entry.events else None  # a redacted entry may have none
        visible.append(VisibleEntry(entry.seq, entry.at, events, mover, is_start(entry)))
    return visible


def redact(game: Game, entry: Entry[Any], seat: int | None) -> Entry[Any]:
    """Return the entry itself if the seat may know all of it; else a copy without hidden events, draws and move.

    Draws from hidden things are hidden from all: the place of a known card among hidden ones tells of the others. A
    move that waits for its draws is hidden from all other seats: it is not known yet which of its events will be.
    """
    if isinstance(entry.events[0], RoundNamed):
        return entry if seat == entry.seat or entry.seat is None else replace(entry, move=None)
    visible = tuple(hear(game, event, seat) for event in entry.events)
    if visible == entry.events:
        hidden = any(draw.label in game.META.hidden_draws for draw in entry.draws)
        return replace(entry, draws=()) if hidden else entry
    move = entry.move if seat is not None and entry.seat == seat else None
    return replace(entry, move=move, draws=(), events=tuple(event for event in visible if event is not None))


@functools.cache
def get_entry_type(game: Game) -> Any:
    """Return the type of the entries of this game's logs."""
    return Entry[TableEvent | game.Event]  # type: ignore[name-defined]  # a game's events are known when it runs


@functools.cache
def make_entry_decoder(game: Game) -> msgspec.json.Decoder[Entry[Any]]:
    """Return the decoder for stored entries of this game's logs."""
    return make_decoder(get_entry_type(game))
