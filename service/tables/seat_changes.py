"""How the seats of a table change with an entry: whose turn begins or ends, and how the time of each runs on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine import record
from engine import table as tables
from engine.game import Game
from engine.log import Entry
from engine.record import Table
from engine.table_events import (
    TABLE_EVENTS,
    Missed,
    Returned,
    Substituted,
    TimedOut,
    Undone,
    VacationEnded,
    VacationTaken,
)
from service import timing
from service.store.batch import SeatUpdate
from service.store.rows import SeatRow
from service.timing import Calendar, Clock


class SeatTurn(Struct, frozen=True, dict=True):  # `dict` for the cached property
    """One entry, seen from one seat: the basis for all changes of its row."""

    seat: SeatRow
    entry: Entry[Any]
    before: Table
    after: Table
    player: int | None  # the seat that moved with this entry
    is_to_move: bool
    status: str
    clock: Clock
    share: float
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
        """Whether the draws of its own move have arrived, so that its turn goes on."""
        waited = self.before.waiting_command
        return waited is not None and waited.seat == self.seat.seat

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
    def rolled_back(self) -> bool:
        """Whether the table goes back to an earlier position: a turn begins, and answers to older letters are late."""
        return any(isinstance(event, Undone) for event in self.table_events)

    @property
    def begins_turn(self) -> bool:
        """Whether its turn begins: it was not its turn before, or another player had the seat."""
        return self.is_to_move and (
            self.seat.open_since is None or self.status != self.seat.status or self.has(Substituted)
        )


def list_seat_updates(
    game: Game, seats: tuple[SeatRow, ...], before: Table, after: Table, entry: Entry[Any], clock: Clock, share: float
) -> list[SeatUpdate]:
    """Return the new columns of each seat whose row changes with this entry."""
    updates = list[SeatUpdate]()
    player, on_turn = record.find_player(entry), tables.find_seats_to_move(game, after)
    events = [event for event in entry.events if type(event) in TABLE_EVENTS]
    for seat in seats:
        chair = after.seats[seat.seat]
        status = seat.status if chair.status == "empty" else chair.status
        turn = SeatTurn(seat, entry, before, after, player, seat.seat in on_turn, status, clock, share, events)
        if _is_changed(turn):
            updates.append(_update(turn))
    return updates


def _is_changed(turn: SeatTurn) -> bool:
    if turn.is_to_move != (turn.seat.open_since is not None) or turn.status != turn.seat.status:
        return True
    if turn.is_to_move and turn.rolled_back:
        return True
    if turn.is_to_move and (turn.before.paused != turn.after.paused or turn.has(VacationTaken, VacationEnded)):
        return True
    return turn.has(TimedOut, Missed, Returned, Substituted) or (
        turn.has_moved and (turn.is_to_move or turn.seat.misses > 0)
    )


def _update(turn: SeatTurn) -> SeatUpdate:
    seat, at = turn.seat, turn.entry.at
    since = turn.entry.seq if turn.begins_turn or turn.rolled_back else seat.open_since
    update = SeatUpdate(seat.seat, turn.status, since if turn.is_to_move else None, misses=_count_misses(turn))
    left = _compute_time_left(turn)
    if not (turn.is_to_move and turn.clock.runs and turn.status == "taken") or turn.after.paused or left is None:
        return replace(update, clock_left=left)
    if turn.has(TimedOut):  # the rest of a turn that was missed is not waited for
        return replace(update, clock_left=0, clock_from=at, due_at=at, late_at=at)
    update = replace(update, clock_from=at, clock_left=left)
    return set_deadline(update, make_calendar(turn.after, seat, turn.clock), turn.clock, turn.share, at)


def set_deadline(update: SeatUpdate, calendar: Calendar, clock: Clock, share: float, now: int) -> SeatUpdate:
    """Return the update of a seat whose time runs, with its deadline and the next reminder."""
    assert update.clock_from is not None
    assert update.clock_left is not None
    due = timing.compute_due(update.clock_from, update.clock_left, calendar, share, now)
    return replace(update, due_at=due.at, late_at=due.at + clock.grace, remind_at=due.remind_at)


def restart_deadline(row: SeatRow, table: Table, clock: Clock, share: float, now: int) -> SeatUpdate | None:
    """Return the update of a seat whose player changed the calendar; None if no clock runs for it."""
    if row.clock_from is None or not row.clock_left:
        return None
    columns = {name: getattr(row, name) for name in SeatUpdate.__struct_fields__}
    return set_deadline(SeatUpdate(**columns), make_calendar(table, row, clock), clock, share, now)


def make_calendar(table: Table, seat: SeatRow, clock: Clock) -> Calendar:
    """Make the calendar of this seat’s player from the player’s settings and vacations and the table’s weekends."""
    return timing.parse_calendar(seat.calendar or "", table.seats[seat.seat].vacations, clock.spare_weekends)


def _compute_time_left(turn: SeatTurn) -> int | None:
    """Return the seconds on this seat's clock after the entry; None before its first turn, or without a limit.

    A missed deadline leaves none, a new player gets the bank, and after a pause or an absence there are at least
    the seconds of courtesy. A new turn, or a further move in the same turn, adds its own time.
    """
    left, clock = _compute_time_left_at_entry(turn), turn.clock
    if not clock.runs:
        return None
    if turn.has(TimedOut, Missed):
        return 0
    if turn.has(Substituted):
        left = clock.bank
    if left is not None and (turn.ends_pause or turn.has(Returned) or turn.returns_from_vacation):
        left = max(left, clock.courtesy)
    if turn.begins_turn and not turn.continues_turn:
        return timing.time_for_turn(clock, left)
    return clock.pace if clock.pace and (turn.has_moved or turn.continues_turn) and turn.is_to_move else left


def _compute_time_left_at_entry(turn: SeatTurn) -> int | None:
    """Return the seconds that were left at the time of the entry."""
    seat = turn.seat
    if seat.clock_from is None or seat.clock_left is None:
        return seat.clock_left
    calendar = make_calendar(turn.before, seat, turn.clock)
    return max(0, seat.clock_left - timing.compute_time_spent(seat.clock_from, turn.entry.at, calendar))


def _count_misses(turn: SeatTurn) -> int:
    """Count the deadlines missed in a row, each turn once."""
    if turn.has(TimedOut, Missed):
        return turn.seat.misses + (turn.seat.clock_left != 0)
    fresh = turn.has_moved or turn.has(Returned, Substituted) or turn.status == "taken" != turn.seat.status
    return 0 if fresh else turn.seat.misses
