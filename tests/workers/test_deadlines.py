"""Deadlines as tables agree on them: moves, banks, grace, nights, and the consequences for late players."""

from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import Row, select, update

from engine import menu as menus
from engine.games import kaiser
from engine.table_events import (
    Ended,
    Missed,
    Resigned,
    Substituted,
    TimedOut,
)
from service import timing
from service.app import App
from service.settings import DAY_S
from service.store.schema import letters, people, seats
from service.tables.access import Place
from service.timing import HOUR_S, Calendar, Clock
from tests import apps
from tests.apps import FakeTime
from workers import bots
from workers import clock as ticking
from workers.clock import tick


def seat_of(app: App, place: Place) -> Row[Any]:
    with app.store.reading() as connection:
        query = select(seats).where(seats.c.table == place.table, seats.c.seat == place.seat)
        return connection.execute(query).one()


def kinds(app: App, place: Place) -> list[str]:
    own = (letters.c.table == place.table, letters.c.seat == place.seat, letters.c.kind != "invitation")
    with app.store.reading() as connection:
        return list(connection.execute(select(letters.c.kind).where(*own).order_by(letters.c.id)).scalars())


def last(app: App, place: Place) -> Any:
    return apps.load_entries(app, apps.load_table(app, place.table))[-1]


def live_by(app: App, place: Place, calendar: Calendar) -> None:
    """This player rests as the calendar says, from his next turn on."""
    person = seat_of(app, place).person
    with app.store.writing() as connection:
        calendar_update = update(people).where(people.c.id == person).values(calendar=timing.dump_calendar(calendar))
        connection.execute(calendar_update)


def move_round(app: App, places: list[Place], mover: Place, clock: FakeTime, takes: int) -> None:
    """Everybody moves, each after so long, until it is this one's turn again."""
    started = False
    while not started or not apps.list_moves(app, mover):
        clock.advance(takes)
        place, move = apps.find_move(app, places)
        assert apps.submit(app, place, move).accepted
        started = started or not apps.list_moves(app, mover)


def late(app: App, clock: FakeTime, how: Clock, seats: int = 3) -> tuple[list[Place], Place]:
    """A table with this clock, where the one to move has just run out of time."""
    places = apps.start_table(app, seats, pace=how)
    mover, _ = apps.find_move(app, places)
    due = seat_of(app, mover).due_at
    clock.at = due - 1
    before = apps.count_entries(app, mover)
    tick(app)
    assert apps.count_entries(app, mover) == before
    clock.at = due
    tick(app)
    return places, mover


def test_a_bot_takes_the_seat_until_its_player_comes_back(any_app: App, clock: FakeTime) -> None:
    _, mover = late(any_app, clock, Clock(late="seat"))
    assert last(any_app, mover).events == (Missed(mover.seat), Substituted(mover.seat, bot=True))
    row = seat_of(any_app, mover)
    assert (row.status, row.due_at, row.late_at, row.misses) == ("bot", None, None, 1)
    tasks = apps.run_query(any_app, bots.list_bot_tasks, any_app.now())
    assert (mover.table, mover.seat) in {(task.table, task.seat) for task in tasks}
    assert kinds(any_app, mover)[-1] == "relieved"
    assert apps.submit(any_app, mover, "back").accepted
    row = seat_of(any_app, mover)
    assert (row.status, row.misses, row.due_at) == ("taken", 0, clock.at + 3 * DAY_S)
    assert kinds(any_app, mover)[-1] == "turn"


def test_the_seat_resigns(any_app: App, clock: FakeTime) -> None:
    _, mover = late(any_app, clock, Clock(late="resign"))
    assert last(any_app, mover).events == (Missed(mover.seat), Resigned(mover.seat))
    assert kinds(any_app, mover)[-1] == "forfeited"
    assert seat_of(any_app, mover).status == "resigned"


def test_of_two_one_who_is_late_loses(any_app: App, clock: FakeTime) -> None:
    _, mover = late(any_app, clock, Clock(late="resign"), seats=2)
    assert isinstance(last(any_app, mover).events[-1], Ended)
    assert apps.load_table(any_app, mover.table).row.phase == "over"


def test_where_a_game_has_nothing_to_skip_with_a_bot_moves(any_app: App, clock: FakeTime) -> None:
    _, mover = late(any_app, clock, Clock(late="skip"))
    assert last(any_app, mover).events[0] == TimedOut(mover.seat)


def test_where_passing_is_possible_the_move_is_skipped(any_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    menu = kaiser.menu
    monkeypatch.setattr(kaiser, "menu", lambda *position: menu(*position) + menus.make_menu("pass"))
    monkeypatch.setattr(kaiser, "META", replace(kaiser.META, skips=("pass",)))
    places = apps.start_table(any_app, pace=Clock(late="skip"))
    mover, _ = apps.find_move(any_app, places)
    assert mover.seat is not None
    move = ticking.choose_consequence(any_app, apps.load_table(any_app, mover.table), mover.seat)
    assert str(move) == f"expire {mover.seat} pass"


def test_grace_is_given_in_silence(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=Clock(DAY_S, grace=2 * HOUR_S))
    mover, move = apps.find_move(any_app, places)
    assert seat_of(any_app, mover).due_at == clock.at + DAY_S
    clock.advance(DAY_S + 2 * HOUR_S - 1)
    tick(any_app)
    assert apps.submit(any_app, mover, move).accepted
    other, _ = apps.find_move(any_app, places)
    clock.advance(DAY_S + 2 * HOUR_S)
    tick(any_app)
    assert last(any_app, other).events[0] == TimedOut(other.seat)


def test_a_bank_runs_down_and_every_turn_adds_to_it(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=Clock(0, 5 * DAY_S, HOUR_S))
    mover, _ = apps.find_move(any_app, places)
    assert seat_of(any_app, mover).due_at == clock.at + 5 * DAY_S
    move_round(any_app, places, mover, clock, DAY_S)
    row = seat_of(any_app, mover)
    assert row.due_at == clock.at + row.clock_left
    assert row.clock_left <= 4 * DAY_S + HOUR_S
    assert (row.clock_left - HOUR_S) % DAY_S == 0


def test_an_empty_bank_leaves_the_increment(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=Clock(0, 2 * DAY_S, HOUR_S))
    mover, _ = apps.find_move(any_app, places)
    clock.advance(2 * DAY_S)
    tick(any_app)
    assert seat_of(any_app, mover).clock_left == 0
    while not apps.list_moves(any_app, mover) or seat_of(any_app, mover).late_at == clock.at:
        place, move = apps.find_move(any_app, places)
        assert apps.submit(any_app, place, move).accepted
    assert seat_of(any_app, mover).due_at == clock.at + HOUR_S


def test_asking_to_take_a_move_back_gains_no_time(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=DAY_S)
    mover, _ = apps.find_move(any_app, places)
    move_round(any_app, places, mover, clock, 60)
    due = seat_of(any_app, mover).due_at
    clock.advance(HOUR_S)
    assert apps.submit(any_app, mover, "undo").accepted
    other = next(place for place in places if place != mover)
    assert apps.submit(any_app, other, "refuse").accepted
    assert seat_of(any_app, mover).due_at == due


def test_a_deadline_does_not_fall_into_somebodys_night(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=DAY_S)  # it is 08:00 in the morning, UTC
    mover, _ = apps.find_move(any_app, places)
    for place in places:
        live_by(any_app, place, Calendar("Asia/Kathmandu", (12, 15)))  # which is 06:15 to 09:15
    move_round(any_app, places, mover, clock, 60)
    due = timing.compute_deadline(clock.at, DAY_S, Calendar("Asia/Kathmandu", (12, 15)))
    assert clock.at + DAY_S < due == seat_of(any_app, mover).due_at


def test_a_table_spares_weekends(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=Clock(2 * DAY_S, spare_weekends=True))  # Friday the 15th of January 2027
    mover, _ = apps.find_move(any_app, places)
    assert seat_of(any_app, mover).due_at == 1_800_230_400  # Monday the 18th, 00:00


def test_reminders_come_at_the_times_that_a_player_chose(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=4 * DAY_S)
    mover, _ = apps.find_move(any_app, places)
    for place in places:
        live_by(any_app, place, Calendar(remind=(4 * HOUR_S, 2 * DAY_S, DAY_S)))
    move_round(any_app, places, mover, clock, 60)
    before = len(kinds(any_app, mover))
    due = seat_of(any_app, mover).due_at
    for moment in (2 * DAY_S + 1, 2 * DAY_S, DAY_S, 4 * HOUR_S, 1):
        clock.at = due - moment
        tick(any_app)
        tick(any_app)
    assert kinds(any_app, mover)[before:] == ["reminder", "reminder/1", "reminder/2"]


def test_several_reminders_that_a_clock_slept_through_are_one(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=4 * DAY_S)
    mover, _ = apps.find_move(any_app, places)
    for place in places:
        live_by(any_app, place, Calendar(remind=(2 * DAY_S, DAY_S)))
    move_round(any_app, places, mover, clock, 60)
    before = len(kinds(any_app, mover))
    clock.advance(4 * DAY_S - 1)
    tick(any_app)
    tick(any_app)
    assert len(kinds(any_app, mover)) == before + 1


def test_no_clock_runs_for_a_bot_or_without_a_limit(any_app: App, clock: FakeTime) -> None:
    for how in (Clock(0), Clock(DAY_S)):
        (place,) = apps.start_table(any_app, 2, bots=1, pace=how)
        with any_app.store.reading() as connection:
            query = select(seats.c.due_at).where(seats.c.table == place.table, seats.c.status == "bot")
            assert set(connection.execute(query).scalars()) == {None}


def test_tables_from_before_clocks_keep_their_pace() -> None:
    assert timing.parse_clock({}, 5 * DAY_S) == Clock(5 * DAY_S)
