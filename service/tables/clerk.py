"""The clerk: locks a table, and enters a command into the book with everything that follows from it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from engine import canonical_json, catalogue, log
from engine import table as tables
from engine.game import Game
from engine.log import Entry
from engine.menu import Move
from engine.record import Table
from engine.table_events import (
    Ended,
    Missed,
    Offered,
    Opened,
    PauseAsked,
    Paused,
    Resumed,
    SealAsked,
    Substituted,
    TimedOut,
    UndoAsked,
)
from service import timing
from service.app import App
from service.settings import Settings
from service.store import queries
from service.store.appending import CHANGING, Addition, Owed, Sealed, SeatUpdate, append
from service.store.queries import Found
from service.tables import positions
from service.tables.access import Unknown, moved
from service.tables.seat_changes import SeatRow, changed
from service.timing import Clock

BOT_STATUSES = ("bot", "resigned")
OWN = SeatRow.__struct_fields__


class Held(Exception):
    """Another transaction holds the table."""


class LockedTable(Struct, frozen=True, eq=False):
    """A table whose row is locked in this transaction: its row, its seats, and its position.

    It is urgent once it owes a letter that leaves at once; the clock rings for those that are gathered first.
    """

    app: App
    connection: Connection
    row: Found
    head: str
    seats: tuple[SeatRow, ...]
    game: Game
    table: Table
    urgent: bool = False

    @property
    def now(self) -> int:
        return self.app.now()

    @property
    def settings(self) -> Settings:
        return self.app.settings

    @property
    def clock(self) -> Clock:
        return timing.read(self.table.clock, self.row.pace)

    def before(self, seq: int) -> Table:
        """The position before entry `seq`."""
        return positions.before(self.app.caches, self.connection, self.row, seq)


def lock(app: App, connection: Connection, table: str) -> LockedTable:
    """Lock a table until this transaction ends."""
    row = queries.lock(connection, table)
    if row is None:
        raise Unknown("There is no such table.")
    return reader(app, connection, [row])(row)


def lock_free(app: App, connection: Connection, table: str) -> LockedTable:
    """Lock a table that is free; raises Held if another transaction has it, so that the caller need not wait."""
    row = queries.lock_free(connection, table)
    if row is None:
        raise Held
    return reader(app, connection, [row])(row)


def reader(app: App, connection: Connection, rows: Sequence[Found]) -> Callable[[Found], LockedTable]:
    """How to read each of these locked tables; what that takes from the database is fetched for all at once."""
    sitting = _seats(connection, sorted({row.id for row in rows}))
    stored = queries.entries_at(connection, positions.missing(app.caches, {row.id: row for row in rows}.values()))

    def read(row: Found) -> LockedTable:
        game, added = catalogue.find(row.game, row.edition), [one for one in stored if one.table == row.id]
        position = positions.current(app.caches, connection, game, row, added)
        return LockedTable(app, connection, row, row.head, sitting[row.id], game, position)

    return read


def _seats(connection: Connection, names: Sequence[str]) -> dict[str, tuple[SeatRow, ...]]:
    """The seats of each of these tables."""
    rows = itertools.groupby(queries.held(connection, names), lambda seat: seat.table)
    return {table: tuple(SeatRow(*(getattr(seat, name) for name in OWN)) for seat in seats) for table, seats in rows}


def change_seat(locked: LockedTable, seat: int, **columns: Any) -> LockedTable:
    """Change a seat's row, such as who holds it."""
    queries.change_seat(locked.connection, locked.row.id, seat, **columns)
    return replace(locked, seats=_seats(locked.connection, [locked.row.id])[locked.row.id])


def enter(locked: LockedTable, seat: int | None, move: Move) -> LockedTable:
    """Append a command of a seat, or of the house (None), to the log; raises Refused and changes nothing."""
    if locked.row.moved_to:
        raise moved(locked.row.moved_to)
    table, game, at = locked.table, locked.game, locked.now
    chance = tables.make_chance(table, locked.row.seed, move, at)
    after, events = tables.play(game, table, seat, move, chance, locked.before)
    entry = Entry(table.length, at, seat, str(move), tuple(chance.draws), events, game.META.edition)
    sealed = seal(locked.row.seed, locked.head, entry)
    clock = timing.read(after.clock, locked.row.pace)
    changing = changed(game, locked.seats, table, after, entry, clock, locked.settings.reminder)
    updates = {update.seat: update for update in changing}
    owed = tuple(_owed(locked, after, updates.values(), entry))
    places = after.places if after.phase == "over" else ()
    drawn = _draws_at(after)
    append(
        locked.connection,
        Addition(locked.row.id, sealed, after.phase, at, tuple(updates.values()), owed, drawn, places),
    )
    seats = tuple(_updated(seat, updates) for seat in locked.seats)
    urgent = locked.urgent or any(letter.due_at <= at for letter in owed)
    return replace(locked, head=sealed.hash, table=after, seats=seats, urgent=urgent)


def _draws_at(after: Table) -> int | None:
    """When the round comes that this table waits for."""
    return after.beacon.time_of(after.waiting_command.round) if after.beacon and after.waiting_command else None


def _updated(seat: SeatRow, updates: Mapping[int, SeatUpdate]) -> SeatRow:
    new = updates.get(seat.seat)
    return replace(seat, **{name: getattr(new, name) for name in CHANGING}) if new else seat


def seal(seed: bytes, head: str, entry: Entry[Any]) -> Sealed:
    """The entry's bytes, its digest, and the new head of the chain."""
    body = canonical_json.encode(entry)
    digest = log.digest(seed, entry.seq, body)
    return Sealed(entry.seq, body.decode(), digest, log.extend_head(head, digest))


def _owed(locked: LockedTable, after: Table, updates: Iterable[SeatUpdate], entry: Entry[Any]) -> Iterator[Owed]:
    """The letters this entry makes necessary: turns after a pause, in case they are over by then; none while held."""
    people = [seat.seat for seat in locked.seats if seat.person is not None]
    at, soon = (queries.HELD, queries.HELD) if locked.row.held else (entry.at, entry.at + locked.settings.gathers)
    told = (word for event in entry.events for word in _told(event, after, entry, people))
    yield from (Owed(seat, kind, at) for seat, kind in told if seat in people)
    for update in updates:
        if update.open_since == entry.seq and update.status == "taken" and update.seat in people:
            yield Owed(update.seat, "turn", soon)


def _told(event: Any, after: Table, entry: Entry[Any], people: list[int]) -> Iterator[tuple[int, str]]:
    """The seats that get a letter about this event, and the kind of letter."""
    match event:
        case Opened():
            yield from ((seat, "invitation") for seat in people)
        case UndoAsked() if after.undo_request:
            yield from ((seat, "asked") for seat in after.undo_request.waiting)
        case PauseAsked() if after.pause_request:
            yield from ((seat, "pausing") for seat in after.pause_request.waiting)
        case SealAsked() if after.seal_request:
            yield from ((seat, "sealing") for seat in after.seal_request.waiting)
        case Paused():
            yield from ((seat, "paused") for seat in people if seat != entry.seat)
        case Resumed():
            yield from ((seat, "resumed") for seat in people if seat != entry.seat)
        case TimedOut(seat):
            yield seat, "timeout"
        case Missed(seat):
            yield seat, "forfeited" if after.seats[seat].status == "resigned" else "relieved"
        case Offered(seat):
            yield from ((other, "offered" if other == seat else "offer") for other in people)
        case Substituted(seat, False):
            yield seat, "seat"
        case Ended():
            yield from ((seat, "over") for seat in people)
