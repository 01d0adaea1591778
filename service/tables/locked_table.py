"""A table whose row is locked, and the one function that appends a command to its log with all that follows from it.

With an entry its seats change: turns begin and end, and the time of each player runs on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from engine import catalogue, log
from engine import table as tables
from engine.game import Game
from engine.log import Entry
from engine.menu import Move
from engine.record import Table
from engine.refusal import Refused
from engine.table_events import (
    TABLE_EVENTS,
    Ended,
    Missed,
    Offered,
    Opened,
    PauseAsked,
    Paused,
    Resumed,
    Returned,
    SealAsked,
    Substituted,
    TimedOut,
    UndoAsked,
    Undone,
    VacationEnded,
    VacationTaken,
)
from service import timing
from service.app import App
from service.settings import Settings
from service.store import queries
from service.store.batch import SEAT_COLUMNS, Addition, Batch, OwedLetter, SeatUpdate
from service.store.rows import SeatRow, TableRow
from service.tables import snapshots
from service.tables.access import Unknown, make_transfer_refusal
from service.tables.snapshots import CachedPosition, Snapshot
from service.timing import Calendar, Clock

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
    def snapshot(self) -> Snapshot:
        """The table as it is now, for functions that only look at it; its row is as it was locked."""
        names = tuple(seat.name for seat in self.seats)
        return Snapshot(self.row, self.seats, self.game, self.position, names, self.clock)

    @property
    def settings(self) -> Settings:
        return self.app.settings

    def refuse_closed(self) -> None:
        """Raise Refused before the game and after it; a beginning that waits for its round counts as begun."""
        if self.position.phase == "over":
            raise Refused("The game is over; nothing can be moved any more.")
        if self.position.phase != "playing" and not self.position.waiting_command:
            raise Refused("The game has not begun yet; it begins when every seat is taken.")

    def flush(self) -> Connection:
        """Return the connection of the transaction; what was appended is written first, so that statements see it."""
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
    return make_table_loader(app, batch, [row])(row)


def lock_free_table(app: App, batch: Batch, table: str) -> LockedTable:
    """Lock a table without waiting; raise TableLocked if another transaction has locked it."""
    row = queries.lock_free_table(batch.flush(), table)
    if row is None:
        raise TableLocked
    return make_table_loader(app, batch, [row])(row)


def make_table_loader(app: App, batch: Batch, rows: Sequence[TableRow]) -> Callable[[TableRow], LockedTable]:
    """Load seats, and entries that the cache lacks, for all locked tables at once; return what makes each LockedTable.

    It is a function of a row, so that the error of one table, such as a game that is not installed, concerns it alone.
    """
    db = batch.flush()
    by_table = {row.id: row for row in rows}
    seats = _load_seats(db, list(by_table))
    cached = snapshots.load_cached_positions(app.caches, db, list(by_table.values()))

    def load(row: TableRow) -> LockedTable:
        game = catalogue.find(row.game, row.edition)
        position = snapshots.complete_position(app.caches, db, game, row, cached.get(row.id, CachedPosition()))
        clock = timing.parse_clock(position.clock, row.pace)
        return LockedTable(app, batch, row, row.head, seats[row.id], game, position, clock)

    return load


def _load_seats(db: Connection, names: Sequence[str]) -> dict[str, tuple[SeatRow, ...]]:
    """Load the seats of each of these tables."""
    rows = queries.list_seats(db, *names)  # sorted by table, as `groupby` needs them
    return {table: tuple(seats) for table, seats in itertools.groupby(rows, lambda seat: seat.table)}


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
    sealed = log.seal(locked.row.seed, locked.head, entry)
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
    """Return the row with the columns of its update, if it has one."""
    return replace(row, **{name: getattr(update, name) for name in SEAT_COLUMNS}) if update else row


def _list_owed_letters(
    locked: LockedTable, after: Table, updates: Iterable[SeatUpdate], entry: Entry[Any]
) -> Iterator[OwedLetter]:
    """Yield the letters that this entry makes necessary; those about a turn wait, in case it is over soon."""
    people = [row.seat for row in locked.seats if row.person is not None]
    due_at, turn_due_at = entry.at, entry.at + locked.settings.turn_letter_delay_s
    if locked.row.awaits_confirmation:
        due_at = turn_due_at = queries.NEVER_DUE  # until the organiser has confirmed the table
    for event in entry.events:
        for seat, kind in _list_letter_kinds(event, after, entry, people):
            if seat in people:
                yield OwedLetter(seat, kind, due_at)
    for update in updates:
        if update.open_since == entry.seq and update.status == "taken" and update.seat in people:  # its turn begins
            yield OwedLetter(update.seat, "turn", turn_due_at)


def _list_letter_kinds(event: Any, after: Table, entry: Entry[Any], people: list[int]) -> Iterator[tuple[int, str]]:
    """Yield the seats to write to about this event, and the kind of each letter; `people` are the seats of people."""
    match event:
        case Opened():
            yield from ((seat, "invitation") for seat in people)
        # A request is over with its own entry if there is no other player to ask.
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
        case Offered(seat):  # “offered” is for its own player, “offer” brings the others a link for a substitute
            yield from ((other, "offered" if other == seat else "offer") for other in people)
        case Substituted(seat, bot=False):
            yield seat, "seat"
        case Ended():
            yield from ((seat, "over") for seat in people)


class SeatChange(Struct, frozen=True, dict=True):  # `dict` for the cached property
    """The effect of one entry on one seat: the basis for all changes of its row."""

    seat: SeatRow
    entry: Entry[Any]
    before: Table
    after: Table
    player: int | None  # the seat that moved with this entry
    is_to_move: bool  # after the entry
    status: str  # after the entry
    clock: Clock
    reminder: float  # the part of a turn's time that is left when its player is reminded
    table_events: Sequence[Any]  # those of the entry that are no events of the game; a move has none

    def has(self, *kinds: type) -> bool:
        """Whether the entry has an event of one of these kinds about this seat."""
        return bool(self.table_events) and not self.event_kinds.isdisjoint(kinds)

    @cached_property
    def event_kinds(self) -> frozenset[type]:
        """The kinds of the table's events about this seat."""
        return frozenset(type(event) for event in self.table_events if getattr(event, "seat", None) == self.seat.seat)

    @property
    def continues_turn(self) -> bool:
        """Whether its turn goes on, if it is to move: the draws of its own move were awaited, and have arrived."""
        command = self.before.waiting_command
        return command is not None and command.seat == self.seat.seat

    @property
    def ends_pause(self) -> bool:
        """Whether a pause of the table ends."""
        return self.before.paused and not self.after.paused

    @property
    def returns_from_vacation(self) -> bool:
        """Whether its player ends a vacation that had begun."""
        return self.has(VacationEnded) and timing.is_away(
            self.entry.at, make_calendar(self.before, self.seat, self.clock)
        )

    @property
    def has_moved(self) -> bool:
        """Whether its player made the move."""
        return self.player == self.seat.seat

    @property
    def is_undo(self) -> bool:
        """Whether the table goes back to an earlier position: a turn begins, and answers to older letters are late."""
        return any(isinstance(event, Undone) for event in self.table_events)

    @property
    def begins_turn(self) -> bool:
        """Whether its turn begins: it was not its turn before, or another player had the seat."""
        return self.is_to_move and (
            self.seat.open_since is None or self.status != self.seat.status or self.has(Substituted)
        )


def list_seat_updates(
    game: Game, seats: Sequence[SeatRow], before: Table, after: Table, entry: Entry[Any], clock: Clock, reminder: float
) -> list[SeatUpdate]:
    """Return the new columns of each seat whose row changes with this entry."""
    updates = list[SeatUpdate]()
    player, on_turn = log.find_player(entry), tables.find_seats_to_move(game, after)
    events = [event for event in entry.events if type(event) in TABLE_EVENTS]
    for seat in seats:
        current = after.seats[seat.seat]
        status = seat.status if current.status == "empty" else current.status  # empty: “invited” or “open”
        is_to_move = seat.seat in on_turn
        change = SeatChange(seat, entry, before, after, player, is_to_move, status, clock, reminder, events)
        if _has_changed(change):
            updates.append(_make_seat_update(change))
    return updates


def _has_changed(change: SeatChange) -> bool:
    """Return whether the entry changes anything in the row of the seat."""
    was_to_move = change.seat.open_since is not None
    if change.is_to_move != was_to_move or change.status != change.seat.status:
        return True
    resets_misses = change.has_moved and change.seat.misses > 0
    if change.has(TimedOut, Missed, Returned, Substituted) or resets_misses:
        return True
    changes_time = change.before.paused != change.after.paused or change.has(VacationTaken, VacationEnded)
    return change.is_to_move and (change.has_moved or change.is_undo or changes_time)


def _make_seat_update(change: SeatChange) -> SeatUpdate:
    """Return the row of the seat after the entry: since when its turn is open, and how its time runs on."""
    seat, at, clock = change.seat, change.entry.at, change.clock
    turn_start = change.entry.seq if change.begins_turn or change.is_undo else seat.open_since
    open_since = turn_start if change.is_to_move else None
    update = SeatUpdate(seat.seat, change.status, open_since, misses=_count_misses(change))
    left = _compute_time_left(change)
    may_run = change.is_to_move and change.status == "taken" and clock.runs and not change.after.paused
    if not may_run or left is None:
        return replace(update, clock_left=left)
    if change.has(TimedOut):  # if the turn goes on after the bot's move, its deadline has passed at once
        return replace(update, clock_left=0, clock_from=at, due_at=at, late_at=at)
    update = replace(update, clock_from=at, clock_left=left)
    return _add_deadline(update, make_calendar(change.after, seat, clock), clock, change.reminder, at)


def _add_deadline(update: SeatUpdate, calendar: Calendar, clock: Clock, share: float, now: int) -> SeatUpdate:
    """Return the update of a seat whose time runs, with its deadline and next reminder, as `compute_due` does."""
    assert update.clock_from is not None
    assert update.clock_left is not None
    due = timing.compute_due(update.clock_from, update.clock_left, calendar, share, now)
    return replace(update, due_at=due.at, late_at=due.at + clock.grace, remind_at=due.remind_at)


def compute_new_deadline(row: SeatRow, table: Table, clock: Clock, reminder: float, now: int) -> SeatUpdate | None:
    """Return the update of a seat whose player changed the calendar; None if its clock is stopped or has run out."""
    if row.clock_from is None or not row.clock_left:
        return None
    columns = {name: getattr(row, name) for name in SeatUpdate.__struct_fields__}
    return _add_deadline(SeatUpdate(**columns), make_calendar(table, row, clock), clock, reminder, now)


def make_calendar(table: Table, seat: SeatRow, clock: Clock) -> Calendar:
    """Make the calendar of this seat’s player from the player’s settings and vacations and the table’s weekends."""
    return timing.parse_calendar(seat.calendar or "", table.seats[seat.seat].vacations, clock.spare_weekends)


def _compute_time_left(change: SeatChange) -> int | None:
    """Return the seconds on this seat's clock after the entry; None before its first turn, or without a limit.

    A missed deadline leaves none, a new player gets the bank, and after a pause or an absence there are at least
    the seconds of courtesy. A new turn adds its time; a further move in it starts the pace again, but a bank runs on.
    """
    left, clock = _compute_time_left_at_entry(change), change.clock
    if not clock.runs:
        return None
    if change.has(TimedOut, Missed):
        return 0
    if change.has(Substituted):
        left = clock.bank
    if left is not None and (change.ends_pause or change.has(Returned) or change.returns_from_vacation):
        left = max(left, clock.courtesy)
    if change.begins_turn and not change.continues_turn:
        return timing.compute_turn_time(clock, left)
    moves_again = change.is_to_move and (change.has_moved or change.continues_turn)
    return clock.pace if clock.pace and moves_again else left


def _compute_time_left_at_entry(change: SeatChange) -> int | None:
    """Return the seconds that were left at the time of the entry; None before the first turn, or without a limit."""
    seat = change.seat
    if seat.clock_from is None or seat.clock_left is None:
        return seat.clock_left  # a stopped clock keeps its seconds
    calendar = make_calendar(change.before, seat, change.clock)
    return max(0, seat.clock_left - timing.compute_time_spent(seat.clock_from, change.entry.at, calendar))


def _count_misses(change: SeatChange) -> int:
    """Count the deadlines missed in a row, each turn once."""
    misses = change.seat.misses
    if change.has(TimedOut, Missed):
        was_counted = change.seat.clock_left == 0  # an earlier entry about this turn left no time
        return misses if was_counted else misses + 1
    sits_down = change.status == "taken" and change.seat.status != "taken"
    return 0 if sits_down or change.has_moved or change.has(Returned, Substituted) else misses
