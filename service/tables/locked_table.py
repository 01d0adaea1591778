"""A table whose row is locked, and the one function that appends a command to its log with all that follows from it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from engine.refusal import Refused
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
from service.store.batch import SEAT_COLUMNS, Addition, Batch, OwedLetter, SealedEntry, SeatUpdate
from service.store.rows import SeatRow, TableRow
from service.tables import snapshots
from service.tables.access import Unknown, make_transfer_refusal
from service.tables.seat_changes import list_seat_updates
from service.timing import Clock

BOT_STATUSES = ("bot", "resigned")


class TableLocked(Exception):
    """Another transaction has locked the table."""


class LockedTable(Struct, frozen=True, eq=False):
    """A table whose row is locked in this transaction: its row, its seats, and its position.

    The batch of the transaction gathers the entries that are appended. `wakes` are the queues to wake after the commit,
    such as the post for a letter that is due at once; the clock wakes it for letters that are due later.
    """

    app: App
    batch: Batch
    row: TableRow
    head: str
    seats: tuple[SeatRow, ...]
    game: Game
    position: Table
    clock: Clock
    wakes: frozenset[str] = frozenset()

    @property
    def now(self) -> int:
        return self.app.now()

    @property
    def settings(self) -> Settings:
        return self.app.settings

    def refuse_closed(self) -> None:
        """Raise Refused before the game and after it."""
        if self.position.phase == "over":
            raise Refused("The game is over; nothing can be moved any more.")
        if self.position.phase != "playing" and not self.position.waiting_command:
            raise Refused("The game has not begun yet; it begins when every seat is taken.")

    def flush(self) -> Connection:
        """Write what was appended, and return the connection for further statements."""
        return self.batch.flush()

    def wake(self, queue: str) -> LockedTable:
        """Return the table with one more queue to wake after the commit."""
        return replace(self, wakes=self.wakes | {queue})

    def load_position_before(self, seq: int) -> Table:
        """Load the position before entry `seq`."""
        return snapshots.load_position_before(self.app.caches, self.flush(), self.row, seq)


def lock_table(app: App, batch: Batch, table: str) -> LockedTable:
    """Lock a table until this transaction ends; raise Unknown if there is none."""
    row = queries.lock_table(batch.flush(), table)
    if row is None:
        raise Unknown("There is no such table.")
    return load_locked(app, batch, [row])(row)


def lock_free_table(app: App, batch: Batch, table: str) -> LockedTable:
    """Lock a table without waiting; raise LockedElsewhere if another transaction has locked it."""
    row = queries.lock_free_table(batch.flush(), table)
    if row is None:
        raise TableLocked
    return load_locked(app, batch, [row])(row)


def load_locked(app: App, batch: Batch, rows: Sequence[TableRow]) -> Callable[[TableRow], LockedTable]:
    """Load the seats and the missing entries of locked tables at once; the result makes each LockedTable."""
    db = batch.flush()
    by_table = {row.id: row for row in rows}
    seats = _load_seats(db, list(by_table))
    stored = queries.list_entries_at(db, snapshots.list_missing_entries(app.caches, by_table.values()))

    def make(row: TableRow) -> LockedTable:
        game, added = catalogue.find(row.game, row.edition), [one for one in stored if one.table == row.id]
        position = snapshots.load_position(app.caches, db, game, row, added)
        clock = timing.parse_clock(position.clock, row.pace)
        return LockedTable(app, batch, row, row.head, seats[row.id], game, position, clock)

    return make


def _load_seats(db: Connection, names: Sequence[str]) -> dict[str, tuple[SeatRow, ...]]:
    """The seats of each of these tables."""
    rows = itertools.groupby(queries.list_seats(db, *sorted(names)), lambda seat: seat.table)
    return {table: tuple(seats) for table, seats in rows}


def change_seat(locked: LockedTable, seat: int, **columns: Any) -> LockedTable:
    """Change columns of a seat that no entry changes, such as its player."""
    db = locked.flush()
    queries.change_seat(db, locked.row.id, seat, **columns)
    return replace(locked, seats=_load_seats(db, [locked.row.id])[locked.row.id])


def append_command(locked: LockedTable, seat: int | None, move: Move) -> LockedTable:
    """Append a command of a seat, or of the server (None), to the log; raise Refused and change nothing if illegal."""
    if locked.row.moved_to:
        raise make_transfer_refusal(locked.row.moved_to)
    before, game = locked.position, locked.game
    at = max(locked.now, locked.row.moved_at)  # a clock that was set back dates no entry before the last one
    chance = tables.make_chance(before, locked.row.seed, move, at)
    after, events = tables.play(game, before, seat, move, chance, locked.load_position_before)
    entry = Entry(before.length, at, seat, str(move), tuple(chance.draws), events, game.META.edition)
    sealed = seal(locked.row.seed, locked.head, entry)
    is_new_clock = after.clock is not before.clock
    clock = timing.parse_clock(after.clock, locked.row.pace) if is_new_clock else locked.clock
    updates = list_seat_updates(game, locked.seats, before, after, entry, clock, locked.settings.reminder)
    letters = tuple(_list_owed_letters(locked, after, updates, entry))
    places = after.places if after.phase == "over" else ()
    locked.batch.append(
        Addition(locked.row.id, sealed, after.phase, at, tuple(updates), letters, _find_draw_time(after), places)
    )
    by_seat = {update.seat: update for update in updates}
    seats = tuple(_update_seat(row, by_seat.get(row.seat)) for row in locked.seats)
    locked = replace(locked, head=sealed.hash, position=after, clock=clock, seats=seats)
    return locked.wake("post") if any(letter.due_at <= at for letter in letters) else locked


def _find_draw_time(after: Table) -> int | None:
    """Return the time at which the beacon publishes the round that this table awaits; None if it awaits none."""
    return after.beacon.time_of(after.waiting_command.round) if after.beacon and after.waiting_command else None


def _update_seat(row: SeatRow, update: SeatUpdate | None) -> SeatRow:
    return replace(row, **{name: getattr(update, name) for name in SEAT_COLUMNS}) if update else row


def seal(seed: bytes, head: str, entry: Entry[Any]) -> SealedEntry:
    """Seal an entry: its bytes, its digest, and the new head of the chain."""
    body = canonical_json.encode(entry)
    digest = log.compute_digest(seed, entry.seq, body)
    return SealedEntry(entry.seq, body.decode(), digest, log.extend_head(head, digest))


def _list_owed_letters(
    locked: LockedTable, after: Table, updates: Iterable[SeatUpdate], entry: Entry[Any]
) -> Iterator[OwedLetter]:
    """Yield the letters that this entry makes necessary; those about a turn wait, in case it is over soon."""
    people = [row.seat for row in locked.seats if row.person is not None]
    waits = locked.row.awaits_confirmation
    delay_s = locked.settings.turn_letter_delay_s
    at, soon = (queries.NEVER_DUE, queries.NEVER_DUE) if waits else (entry.at, entry.at + delay_s)
    kinds = (one for event in entry.events for one in _list_letter_kinds(event, after, entry, people))
    yield from (OwedLetter(seat, kind, at) for seat, kind in kinds if seat in people)
    for update in updates:
        if update.open_since == entry.seq and update.status == "taken" and update.seat in people:
            yield OwedLetter(update.seat, "turn", soon)


def _list_letter_kinds(event: Any, after: Table, entry: Entry[Any], people: list[int]) -> Iterator[tuple[int, str]]:
    """Yield the seats that get a letter about this event, and the kind of letter."""
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
