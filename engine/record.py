"""A table's record: what happened there, and the table it adds up to.

A table's log is a list of entries. Game events and table events stand side by side in an entry; the table's have tags
that begin with `table.`. `fold` rebuilds the table from entries alone and knows no rule.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine import beacon as beacons
from engine.beacon import Beacon
from engine.canonical_json import make_decoder
from engine.game import Game
from engine.log import Entry
from engine.table_events import (
    TABLE_EVENTS,
    Ended,
    Missed,
    Offered,
    Opened,
    PauseAgreed,
    PauseAsked,
    Paused,
    PauseRefused,
    Resigned,
    Resumed,
    Returned,
    RoundDrawn,
    RoundNamed,
    Sat,
    SealAgreed,
    SealAsked,
    SealRefused,
    Started,
    Substituted,
    TableEvent,
    TimedOut,
    UndoAgreed,
    UndoAsked,
    Undone,
    UndoRefused,
    VacationEnded,
    VacationTaken,
    WentSealed,
)


class Seat(Struct, frozen=True):
    """A chair: who may act for it, the word mixed into the dice for it, and the entry at which it was given up.

    `held` says that a person sat there and may come back, even while a bot stands in.
    """

    status: Literal["empty", "taken", "bot", "resigned"] = "empty"
    nonce: str = ""
    left: int = 0
    held: bool = False
    offered: bool = False
    away: tuple[tuple[str, str], ...] = ()


class Step(Struct, frozen=True):
    """A move that still counts, and the one before it."""

    seq: int
    seat: int
    drew: bool
    before: Step | None


class Asked(Struct, frozen=True):
    """Somebody wishes to take back everything from entry `to` on; these seats still have to agree."""

    seat: int
    to: int
    waiting: tuple[int, ...]


class Wish(Struct, frozen=True):
    """Somebody wishes to pause; these seats still have to agree."""

    seat: int
    waiting: tuple[int, ...]


class Awaited(Struct, frozen=True):
    """A command that is taken in and waits for a round of the beacon; entry `seq` named the round."""

    round: int
    seat: int | None
    move: str | None
    seq: int


class Table(Struct, frozen=True, dict=True):  # `dict` for the menus that it remembers
    """A table after some entries; `state` is the game's own."""

    game: str = ""
    edition: int = 0
    options: dict[str, Any] = {}
    commitment: str = ""
    seats: tuple[Seat, ...] = ()
    phase: Literal["new", "gathering", "playing", "over"] = "new"
    state: Any = None
    last: Step | None = None
    asked: Asked | None = None
    clock: dict[str, str] = {}
    pausing: Wish | None = None
    paused: bool = False
    places: tuple[int, ...] = ()
    length: int = 0
    beacon: Beacon | None = None
    awaited: Awaited | None = None
    sealing: Wish | None = None


Rewind = Callable[[int], Table]


def no_rewind(seq: int) -> Table:
    raise AssertionError(f"nobody expected to go back to entry {seq}")


def apply(game: Game, table: Table, entry: Entry[Any], rewind: Rewind = no_rewind) -> Table:
    """The table after one more entry; knows no rule."""
    after = evolve(game, table, entry.events, rewind)
    if entry.events and isinstance(named := entry.events[0], RoundNamed):
        after = awaiting(after, named, entry.seat, entry.move)
    return closed(after, mover(entry), bool(entry.draws))


def awaiting(table: Table, named: RoundNamed, seat: int | None, move: str | None) -> Table:
    """The table while this command waits for its round; whoever wished to take something back has been overtaken."""
    return replace(table, awaited=Awaited(named.round, seat, move, table.length), asked=None)


def mover(entry: Entry[Any]) -> int | None:
    """The seat whose move in the game this entry holds, if any."""
    first = entry.events[0]
    if type(first) not in TABLE_EVENTS:
        return entry.seat
    return first.seat if isinstance(first, TimedOut) else _drawn_for(entry.events)


def _drawn_for(events: Sequence[Any]) -> int | None:
    """The seat whose move waited for its draws and is made here."""
    for place, event in enumerate(events[:2]):
        if isinstance(event, RoundDrawn | WentSealed):
            then = events[place + 1]
            return then.seat if isinstance(then, TimedOut) else event.seat
    return None


def player(entry: Entry[Any]) -> int | None:
    """The seat whose player made a move with this entry, also where its draws are still waited for."""
    waits = bool(entry.events) and isinstance(entry.events[0], RoundNamed)
    return entry.seat if waits or mover(entry) == entry.seat else None


def closed(table: Table, mover: int | None, drew: bool) -> Table:
    step = table.last if mover is None else Step(table.length, mover, drew, table.last)
    return replace(table, length=table.length + 1, last=step)


def fold(game: Game, entries: Iterable[Entry[Any]], upto: int | None = None) -> Table:
    """The table after these entries (only those before `upto`, if given)."""
    table = Table()
    for after in folds(game, entries, upto):
        table = after
    return table


def folds(game: Game, entries: Iterable[Entry[Any]], upto: int | None = None) -> Iterator[Table]:
    """The empty table and the table after each entry."""
    entries = tuple(entries)[:upto]
    wanted = {event.to for entry in entries for event in entry.events if type(event) is Undone}
    kept, table = dict[int, Table](), Table()
    yield table
    for entry in entries:
        if entry.seq in wanted:
            kept[entry.seq] = table
        table = apply(game, table, entry, kept.__getitem__)
        yield table


def evolve(game: Game, table: Table, events: Sequence[Any], rewind: Rewind) -> Table:
    """The table after these events, the game's and its own, in the order in which they stand in an entry."""
    if not events:
        return table
    state, playing = table.state, False
    for event in events:
        if type(event) in TABLE_EVENTS:
            table = _evolve_table(game, replace(table, state=state), event, rewind)
            state = table.state
        else:
            state, playing = game.evolve(state, event), True
    return replace(table, state=state, asked=None if playing else table.asked)


def _evolve_table(game: Game, table: Table, event: TableEvent, rewind: Rewind) -> Table:
    match event:
        case Opened(name, edition, seats, commitment, options, clock, _, beacon):
            new = Table(name, edition, options, commitment, (Seat(),) * seats, "gathering", length=table.length)
            return replace(new, clock=clock, beacon=beacons.parse(beacon))
        case Started():
            return replace(table, phase="playing", state=game.State())
        case TimedOut() | Missed():
            return table
        case UndoAsked() | UndoAgreed() | UndoRefused() | Undone():
            return _evolve_undo(table, event, rewind)
        case PauseAsked() | PauseAgreed() | PauseRefused() | Paused() | Resumed():
            return _evolve_pause(table, event)
        case RoundNamed() | RoundDrawn() | SealAsked() | SealAgreed() | SealRefused() | WentSealed():
            return _evolve_round(table, event)
        case Ended(places):
            over = replace(table, phase="over", places=places, asked=None, pausing=None)
            return replace(over, awaited=None, sealing=None)
    return _evolve_seat(table, event)


def _evolve_seat(
    table: Table, event: Sat | Resigned | Substituted | Returned | Offered | VacationTaken | VacationEnded
) -> Table:
    chair = table.seats[event.seat]
    match event:
        case Sat(seat, nonce, bot):
            return _seated(table, seat, Seat("bot" if bot else "taken", nonce, held=not bot))
        case Resigned(seat):
            return _seated(table, seat, replace(chair, status="resigned", left=table.length))
        case Substituted(seat, True):
            return _seated(table, seat, replace(chair, status="bot"))
        case Substituted(seat):
            return _seated(table, seat, replace(chair, status="taken", held=True, offered=False, away=()))
        case Returned(seat):
            return _seated(table, seat, replace(chair, status="taken", offered=False))
        case Offered(seat):
            return _changed(table, seat, replace(chair, offered=True))
        case VacationTaken(seat, first, last):
            return _changed(table, seat, replace(chair, away=_spans(chair, first, last)))
        case VacationEnded(seat, first, last):
            return _changed(table, seat, replace(chair, away=_spans(chair, first, last)))


def _spans(chair: Seat, first: str, last: str) -> tuple[tuple[str, str], ...]:
    """The vacations of a chair, the one that begins on that day as it is now."""
    others = [span for span in chair.away if span[0] != first]
    return tuple(sorted([*others, (first, last)] if first <= last else others))


def _evolve_undo(table: Table, event: UndoAsked | UndoAgreed | UndoRefused | Undone, rewind: Rewind) -> Table:
    match event:
        case UndoAsked(seat, to):
            return replace(table, asked=Asked(seat, to, to_ask(table, seat)))
        case UndoAgreed(seat):
            assert table.asked
            left = tuple(other for other in table.asked.waiting if other != seat)
            return replace(table, asked=replace(table.asked, waiting=left))
        case UndoRefused():
            return replace(table, asked=None)
        case Undone(_, to):
            past = rewind(to)
            return replace(table, state=past.state, last=past.last, asked=None)


def _evolve_pause(table: Table, event: PauseAsked | PauseAgreed | PauseRefused | Paused | Resumed) -> Table:
    match event:
        case PauseAsked(seat):
            return replace(table, pausing=Wish(seat, to_ask(table, seat)))
        case PauseAgreed(seat):
            assert table.pausing
            left = tuple(other for other in table.pausing.waiting if other != seat)
            return replace(table, pausing=replace(table.pausing, waiting=left))
        case PauseRefused():
            return replace(table, pausing=None)
        case Paused():
            return replace(table, pausing=None, paused=True)
        case Resumed():
            return replace(table, paused=False)


def _evolve_round(
    table: Table, event: RoundNamed | RoundDrawn | SealAsked | SealAgreed | SealRefused | WentSealed
) -> Table:
    match event:
        case RoundNamed():
            return table  # what waits is not in the event, which all may hear: `awaiting` notes it
        case RoundDrawn():
            return replace(table, awaited=None, sealing=None)
        case SealAsked(seat):
            return replace(table, sealing=Wish(seat, to_ask(table, seat)))
        case SealAgreed(seat):
            assert table.sealing
            left = tuple(other for other in table.sealing.waiting if other != seat)
            return replace(table, sealing=replace(table.sealing, waiting=left))
        case SealRefused():
            return replace(table, sealing=None)
        case WentSealed():
            return replace(table, awaited=None, sealing=None, beacon=None)


def _seated(table: Table, number: int, seat: Seat) -> Table:
    """Somebody else acts for that chair; a wish that waited for those who sat there before is dropped."""
    return replace(_changed(table, number, seat), asked=None, pausing=None, sealing=None)


def _changed(table: Table, number: int, seat: Seat) -> Table:
    return replace(table, seats=(*table.seats[:number], seat, *table.seats[number + 1 :]))


def to_ask(table: Table, seat: int) -> tuple[int, ...]:
    return tuple(number for number, other in enumerate(table.seats) if other.status == "taken" and number != seat)


def hear(game: Game, event: Any, seat: int | None) -> Any:
    """An event as that seat, or a spectator, may learn it; what the table does is known to all."""
    return event if type(event) in TABLE_EVENTS else game.hear(event, seat)


def redact(game: Game, entry: Entry[Any], seat: int | None) -> Entry[Any]:
    """The entry as that seat may know it: where an event is hidden from it, so are the draws and the move.

    Draws out of what is hidden are shown to nobody: the place at which a known card lay tells of the cards around it.
    What a move is that still waits for its draws is its player's secret: what will be hidden of it nobody knows yet.
    """
    if isinstance(entry.events[0], RoundNamed):
        return entry if seat == entry.seat or entry.seat is None else replace(entry, move=None)
    heard = tuple(hear(game, event, seat) for event in entry.events)
    if heard == entry.events:
        hidden = any(draw.label in game.META.hidden_draws for draw in entry.draws)
        return replace(entry, draws=()) if hidden else entry
    move = entry.move if seat is not None and entry.seat == seat else None
    return replace(entry, move=move, draws=(), events=tuple(event for event in heard if event is not None))


@functools.cache
def entry_type(game: Game) -> Any:
    """The type of an entry of this game's log, for decoding."""
    return Entry[TableEvent | game.Event]  # type: ignore[name-defined]  # a game's events are known when it runs


@functools.cache
def decoder(game: Game) -> msgspec.json.Decoder[Entry[Any]]:
    """Reads one stored entry."""
    return make_decoder(entry_type(game))
