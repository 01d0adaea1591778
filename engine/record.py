"""A table's state, rebuilt from its log without any rule.

A log is a list of entries. An entry contains events of the game and events of the table, whose tags begin with
`table.`. `fold` applies them one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from engine import beacon as beacons
from engine.beacon import Beacon
from engine.game import Game
from engine.log import Entry, find_mover
from engine.refusal import Refused
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
    """A seat: whether a person or a bot acts for it, and its nonce for the draws.

    `resigned_at` is the entry at which it resigned, 0 if it did not. `has_player` says that a person took the seat and
    may return, even while a bot acts for it. An `offered` seat may be taken by a substitute. `vacations` are their
    first and last days.
    """

    status: Literal["empty", "taken", "bot", "resigned"] = "empty"
    nonce: str = ""
    resigned_at: int = 0
    has_player: bool = False
    offered: bool = False
    vacations: tuple[tuple[str, str], ...] = ()


class Step(Struct, frozen=True):
    """A move that was not undone, and the one before it; `drew` says that something was drawn for it."""

    seq: int
    seat: int
    drew: bool
    before: Step | None


class UndoRequest(Struct, frozen=True):
    """A seat asks to undo all entries from `to` on; the seats in `waiting` have not agreed yet."""

    seat: int
    to: int
    waiting: tuple[int, ...]


class Request(Struct, frozen=True):
    """A seat asks for a pause, or to go on without the beacon; the seats in `waiting` have not agreed yet."""

    seat: int
    waiting: tuple[int, ...]


AnyRequest = TypeVar("AnyRequest", UndoRequest, Request)


class WaitingCommand(Struct, frozen=True):
    """A command that is accepted and waits for a round of the beacon; entry `seq` names the round."""

    round: int
    seat: int | None
    move: str | None
    seq: int


def explain_waiting(command: WaitingCommand) -> Refused:
    """Return the refusal of a command that is not possible while a round is awaited."""
    return Refused(
        "The dice of the last move are not drawn yet; they come with round {round} of the public beacon.",
        round=command.round,
    )


class Table(Struct, frozen=True, dict=True):  # `dict` for the cached menus
    """The state of a table after `length` entries; `state` is that of its game, and `last` its last move.

    `places` has the place of each seat once the game is over. Without a `beacon` the draws are sealed. Each request is
    None unless seats still have to agree to it.
    """

    game: str = ""
    edition: int = 0
    options: dict[str, Any] = {}
    commitment: str = ""
    seats: tuple[Seat, ...] = ()
    phase: Literal["new", "gathering", "playing", "over"] = "new"
    state: Any = None
    last: Step | None = None
    undo_request: UndoRequest | None = None
    clock: dict[str, str] = {}
    pause_request: Request | None = None
    paused: bool = False
    places: tuple[int, ...] = ()
    length: int = 0
    beacon: Beacon | None = None
    waiting_command: WaitingCommand | None = None
    seal_request: Request | None = None


Rewind = Callable[[int], Table]
"""Returns the table before the entry of this number."""


def refuse_rewind(seq: int) -> Table:
    """Raise an error; for commands that cannot undo anything."""
    raise AssertionError(f"nobody expected to go back to entry {seq}")


def apply(game: Game, table: Table, entry: Entry[Any], rewind: Rewind = refuse_rewind) -> Table:
    """Return the table after one more entry; no rule is applied."""
    after = evolve(game, table, entry.events, rewind)
    if entry.events and isinstance(named := entry.events[0], RoundNamed):
        after = await_round(after, named, entry.seat, entry.move)
    return close_entry(after, find_mover(entry), drew=bool(entry.draws))


def await_round(table: Table, named: RoundNamed, seat: int | None, move: str | None) -> Table:
    """Return the table while this command waits for its round; a request for an undo ends."""
    command = WaitingCommand(named.round, seat, move, seq=table.length)
    return replace(table, waiting_command=command, undo_request=None)


def iter_moves(table: Table) -> Iterator[Step]:
    """Yield the moves of a table that were not undone, the last one first."""
    step = table.last
    while step:
        yield step
        step = step.before


def close_entry(table: Table, mover: int | None = None, *, drew: bool = False) -> Table:
    """Count the entry, and the move of seat `mover` if it has one; `drew` says that something was drawn for it."""
    step = table.last if mover is None else Step(table.length, mover, drew, before=table.last)
    return replace(table, length=table.length + 1, last=step)


def fold(game: Game, entries: Iterable[Entry[Any]], upto: int | None = None) -> Table:
    """Return the table after these entries; only those before `upto`, if given."""
    table = Table()
    for after in fold_each(game, entries, upto):
        table = after
    return table


def fold_each(game: Game, entries: Iterable[Entry[Any]], upto: int | None = None) -> Iterator[Table]:
    """Yield the empty table, and the table after each entry; of earlier tables only those are kept that undos need."""
    entries = tuple(entries)[:upto]
    undone_to = {event.to for entry in entries for event in entry.events if type(event) is Undone}
    earlier, table = dict[int, Table](), Table()
    yield table
    for entry in entries:
        if entry.seq in undone_to:
            earlier[entry.seq] = table  # before this entry: an undo to it goes back there
        table = apply(game, table, entry, earlier.__getitem__)
        yield table


def evolve(game: Game, table: Table, events: Sequence[Any], rewind: Rewind) -> Table:
    """Return the table after these events of one entry; an event of the game ends a request for an undo."""
    state = table.state  # apart from the table, so that not every event of the game makes a new table
    has_moved = False
    for event in events:
        if type(event) in TABLE_EVENTS:
            table = _evolve_table(game, replace(table, state=state), event, rewind)
            state = table.state
        else:
            state = game.evolve(state, event)
            has_moved = True
    return replace(table, state=state, undo_request=None if has_moved else table.undo_request)


def _evolve_table(game: Game, table: Table, event: TableEvent, rewind: Rewind) -> Table:
    """Return the table after an event of its own, which is none of the game."""
    match event:
        case Opened():
            return _open(table, event)
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
            over = replace(table, phase="over", places=places, undo_request=None, pause_request=None)
            return replace(over, waiting_command=None, seal_request=None)
    return _evolve_seat(table, event)


def _open(table: Table, opened: Opened) -> Table:
    """Return a table with empty seats."""
    return Table(
        game=opened.game,
        edition=opened.edition,
        options=opened.options,
        commitment=opened.commitment,
        seats=(Seat(),) * opened.seats,
        phase="gathering",
        clock=opened.clock,
        length=table.length,  # `close_entry` counts the entry
        beacon=beacons.parse(opened.beacon),
    )


def _evolve_seat(
    table: Table, event: Sat | Resigned | Substituted | Returned | Offered | VacationTaken | VacationEnded
) -> Table:
    """Return the table after an event about one of its seats; if another player acts for it then, requests end."""
    before = table.seats[event.seat]
    match event:
        case Sat(seat, nonce, bot):
            return _replace_player(table, seat, Seat("bot" if bot else "taken", nonce, has_player=not bot))
        case Resigned(seat):
            return _replace_player(table, seat, replace(before, status="resigned", resigned_at=table.length))
        case Substituted(seat, True):
            return _replace_player(table, seat, replace(before, status="bot"))
        case Substituted(seat):
            return _replace_player(
                table, seat, replace(before, status="taken", has_player=True, offered=False, vacations=())
            )
        case Returned(seat):
            return _replace_player(table, seat, replace(before, status="taken", offered=False))
        case Offered(seat):
            return _replace_seat(table, seat, replace(before, offered=True))
        case VacationTaken(seat, first, last) | VacationEnded(seat, first, last):
            return _replace_seat(table, seat, replace(before, vacations=_set_vacation(before, first, last)))


def _set_vacation(seat: Seat, first: str, last: str) -> tuple[tuple[str, str], ...]:
    """Add or change the vacation that begins on `first`, in the order of time; remove it if `last` is earlier."""
    others = [(other_first, other_last) for other_first, other_last in seat.vacations if other_first != first]
    return tuple(sorted([*others, (first, last)] if first <= last else others))


def _evolve_undo(table: Table, event: UndoAsked | UndoAgreed | UndoRefused | Undone, rewind: Rewind) -> Table:
    """Return the table after an event about undoing; `rewind` gives the position to which an undo leads back."""
    match event:
        case UndoAsked(seat, to):
            return replace(table, undo_request=UndoRequest(seat, to, find_seats_to_ask(table, seat)))
        case UndoAgreed(seat):
            assert table.undo_request
            return replace(table, undo_request=_remove_waiting(table.undo_request, seat))
        case UndoRefused():
            return replace(table, undo_request=None)
        case Undone(_, to):
            past = rewind(to)
            return replace(table, state=past.state, last=past.last, undo_request=None)


def _evolve_pause(table: Table, event: PauseAsked | PauseAgreed | PauseRefused | Paused | Resumed) -> Table:
    """Return the table after an event about pausing."""
    match event:
        case PauseAsked(seat):
            return replace(table, pause_request=Request(seat, find_seats_to_ask(table, seat)))
        case PauseAgreed(seat):
            assert table.pause_request
            return replace(table, pause_request=_remove_waiting(table.pause_request, seat))
        case PauseRefused():
            return replace(table, pause_request=None)
        case Paused():
            return replace(table, pause_request=None, paused=True)
        case Resumed():
            return replace(table, paused=False)


def _evolve_round(
    table: Table, event: RoundNamed | RoundDrawn | SealAsked | SealAgreed | SealRefused | WentSealed
) -> Table:
    """Return the table after an event about a round of the beacon."""
    match event:
        case RoundNamed():
            return table  # the event, which is public, does not contain the command: `await_round` stores it
        case RoundDrawn():
            return replace(table, waiting_command=None, seal_request=None)
        case SealAsked(seat):
            return replace(table, seal_request=Request(seat, find_seats_to_ask(table, seat)))
        case SealAgreed(seat):
            assert table.seal_request
            return replace(table, seal_request=_remove_waiting(table.seal_request, seat))
        case SealRefused():
            return replace(table, seal_request=None)
        case WentSealed():
            return replace(table, waiting_command=None, seal_request=None, beacon=None)


def _remove_waiting(request: AnyRequest, seat: int) -> AnyRequest:
    return replace(request, waiting=tuple(other for other in request.waiting if other != seat))


def _replace_player(table: Table, number: int, seat: Seat) -> Table:
    """Replace a seat for which another player acts now; requests to the earlier player end."""
    return replace(_replace_seat(table, number, seat), undo_request=None, pause_request=None, seal_request=None)


def _replace_seat(table: Table, number: int, seat: Seat) -> Table:
    return replace(table, seats=(*table.seats[:number], seat, *table.seats[number + 1 :]))


def find_seats_to_ask(table: Table, seat: int) -> tuple[int, ...]:
    """Return the other seats that a person plays."""
    return tuple(number for number, other in enumerate(table.seats) if other.status == "taken" and number != seat)
