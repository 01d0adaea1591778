"""Pauses, vacations and calendars stop clocks, and clocks go on after them."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Row, select

from engine.refusal import Refused
from engine.table_events import (
    Paused,
    PauseRefused,
    VacationEnded,
    VacationTaken,
)
from service.accounts import preferences
from service.app import App
from service.people.proof import ProvenPerson
from service.settings import DAY_S
from service.store.schema import letters, seats
from service.tables.access import Place
from service.tables.opening import Invitee
from service.timing import HOUR_S, Calendar, Clock
from tests import apps
from tests.apps import FakeTime
from workers import referee, residents
from workers.clock import tick

TODAY = datetime.fromtimestamp(apps.NOON, UTC).date()  # the 15th of January 2027, 08:00


def seat_of(app: App, place: Place) -> Row[Any]:
    with app.store.reading() as connection:
        query = select(seats).where(seats.c.table == place.table, seats.c.seat == place.seat)
        return connection.execute(query).one()


def list_coming(app: App, place: Place) -> list[tuple[str, str]]:
    """The vacations of the player in this seat."""
    token = app.links.make_preferences_token(int(seat_of(app, place).person))
    with app.store.reading() as db:
        return preferences.list_vacations(app, db, preferences.load_recipient(app, db, token))


def kinds(app: App, place: Place) -> list[str]:
    own = (letters.c.table == place.table, letters.c.seat == place.seat, letters.c.kind != "invitation")
    with app.store.reading() as connection:
        return list(connection.execute(select(letters.c.kind).where(*own).order_by(letters.c.id)).scalars())


def last(app: App, place: Place) -> Any:
    return apps.load_entries(app, apps.load_table(app, place.table))[-1]


def says(app: App, place: Place, text: str) -> None:
    """Submit a command, which is accepted, and let the referee work as long as it is woken."""
    verdict = apps.submit(app, place, text)
    assert verdict.accepted, verdict.text
    residents.work_once(app, "referee")


@pytest.fixture
def table(any_app: App) -> list[Place]:
    """Two at a table with three days for a move; first the one to move."""
    places = apps.start_table(any_app, pace=3 * DAY_S)
    mover, _ = apps.find_move(any_app, places)
    return [mover, next(place for place in places if place != mover)]


# Pauses


def test_no_clock_runs_in_a_pause_and_afterwards_it_goes_on(any_app: App, clock: FakeTime, table: list[Place]) -> None:
    mover, other = table
    clock.advance(DAY_S)
    says(any_app, other, "pause")
    assert kinds(any_app, mover)[-1] == "pausing"
    assert seat_of(any_app, mover).due_at == apps.NOON + 3 * DAY_S
    says(any_app, mover, "agree")
    assert last(any_app, mover).events[-1] == Paused()
    assert kinds(any_app, other)[-1] == "paused"
    row = seat_of(any_app, mover)
    assert (row.due_at, row.late_at, row.remind_at, row.clock_left) == (None, None, None, 2 * DAY_S)
    clock.advance(100 * DAY_S)
    tick(any_app)
    says(any_app, other, "resume")
    assert seat_of(any_app, mover).due_at == clock.at + 2 * DAY_S
    assert kinds(any_app, mover)[-1] == "resumed"
    clock.advance(2 * DAY_S)
    tick(any_app)
    assert "timeout" in kinds(any_app, mover)


def test_who_had_little_time_left_has_a_day_after_a_pause(any_app: App, clock: FakeTime, table: list[Place]) -> None:
    mover, other = table
    clock.advance(3 * DAY_S - 60)
    says(any_app, other, "pause")
    says(any_app, mover, "agree")
    says(any_app, other, "resume")
    assert seat_of(any_app, mover).due_at == clock.at + DAY_S


def test_moves_may_be_made_in_a_pause_and_their_clocks_wait(any_app: App, clock: FakeTime, table: list[Place]) -> None:
    mover, other = table
    says(any_app, mover, "pause")
    says(any_app, other, "agree")
    while not apps.list_moves(any_app, other):
        says(any_app, mover, apps.list_moves(any_app, mover)[0])
    assert seat_of(any_app, other).due_at is None
    clock.advance(10 * DAY_S)
    says(any_app, other, "resume")
    assert seat_of(any_app, other).due_at == clock.at + 3 * DAY_S


def test_a_pause_that_a_player_refuses_does_not_begin(any_app: App, table: list[Place]) -> None:
    mover, other = table
    says(any_app, other, "pause")
    says(any_app, mover, "refuse")
    assert last(any_app, mover).events == (PauseRefused(mover.seat),)
    assert seat_of(any_app, mover).due_at == apps.NOON + 3 * DAY_S


def test_an_answer_is_for_what_its_page_showed(any_app: App, table: list[Place]) -> None:
    mover, other = table
    while not apps.list_moves(any_app, other):
        says(any_app, mover, apps.list_moves(any_app, mover)[0])
    says(any_app, mover, "pause")
    seen = apps.count_entries(any_app, mover) - 1
    says(any_app, mover, "undo")
    verdict = apps.submit(any_app, other, "agree", seen=seen)
    assert "The question has changed" in verdict.text
    assert apps.submit(any_app, other, "agree", seen=seen + 1).accepted


# Vacations


def test_a_vacation_stops_the_clock_and_the_table_gets_a_letter(
    any_app: App, clock: FakeTime, table: list[Place]
) -> None:
    mover, _ = table
    clock.advance(DAY_S)
    says(any_app, mover, "vacation 2027-01-17 2027-01-20")
    assert last(any_app, mover).events == (VacationTaken(mover.seat, "2027-01-17", "2027-01-20"),)
    assert seat_of(any_app, mover).due_at == apps.NOON + 7 * DAY_S
    clock.advance(5 * DAY_S)
    tick(any_app)
    assert "timeout" not in kinds(any_app, mover)


def test_who_comes_home_early_plays_on_at_once(any_app: App, clock: FakeTime, table: list[Place]) -> None:
    mover, _ = table
    says(any_app, mover, "vacation 2027-01-15 2027-01-30")
    clock.advance(3 * DAY_S)
    says(any_app, mover, "home")
    assert last(any_app, mover).events == (VacationEnded(mover.seat, "2027-01-15", "2027-01-17"),)
    assert seat_of(any_app, mover).due_at == clock.at + 3 * DAY_S
    assert list_coming(any_app, mover) == []


def test_a_vacation_that_did_not_happen_gains_no_time(any_app: App, clock: FakeTime, table: list[Place]) -> None:
    mover, _ = table
    clock.advance(3 * DAY_S - 60)
    due = seat_of(any_app, mover).due_at
    for _ in range(3):
        says(any_app, mover, "vacation 2027-02-01 2027-02-05")
        says(any_app, mover, "home")
        assert seat_of(any_app, mover).due_at == due


def test_a_day_of_vacation_that_has_begun_is_used_up(any_app: App, table: list[Place]) -> None:
    mover, _ = table
    says(any_app, mover, "vacation 2027-01-15 2027-01-16")
    says(any_app, mover, "home")
    assert list_coming(any_app, mover) == [("2027-01-15", "2027-01-15")]
    assert "no vacation" in apps.submit(any_app, mover, "home").text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("vacation", "first and last day"),
        ("vacation 2027-02-01", "first and last day"),
        ("vacation soon later", "first and last day"),
        ("vacation 2027-02-03 2027-02-01", "ends after"),
        ("vacation 2027-01-14 2027-01-20", "today or later"),
        ("vacation 2028-01-20 2028-01-22", "within a year"),
        ("vacation 2027-02-01 2027-03-03", "left in 2027: 30"),
        ("home", "no vacation"),
    ],
)
def test_a_vacation_that_cannot_be_is_refused(any_app: App, table: list[Place], text: str, sentence: str) -> None:
    verdict = apps.submit(any_app, table[0], text)
    assert not verdict.accepted
    assert sentence in verdict.text


def test_days_of_vacation_are_counted_in_each_year(any_app: App, table: list[Place]) -> None:
    mover, other = table
    says(any_app, mover, "vacation 2027-12-20 2028-01-10")
    says(any_app, mover, "vacation 2027-02-01 2027-02-18")
    assert "left in 2027: 0" in apps.submit(any_app, mover, "vacation 2027-03-01 2027-03-01").text
    assert "from 2027-02-01 to" in apps.submit(any_app, mover, "vacation 2027-02-18 2027-02-19").text
    says(any_app, other, "vacation 2027-03-01 2027-03-01")


def test_a_vacation_applies_to_all_tables_of_a_player(any_app: App, clock: FakeTime) -> None:
    """Two tables run, one begins later, and other people play at the last."""
    running = [apps.start_table(any_app, 3, pace=DAY_S) for _ in range(2)]
    later = apps.open_table(any_app, 2, pace=DAY_S)
    strangers = [Invitee("Otto", "otto@example.org"), Invitee("Olga", "olga@example.org")]
    made = apps.open_new(any_app, "kaiser", {}, strangers, DAY_S)
    says(any_app, running[0][0], "vacation 2027-01-20 2027-01-22")
    away = VacationTaken(0, "2027-01-20", "2027-01-22")
    for places in running:
        assert [last(any_app, place).events for place in places[:1]] == [(away,)]
    clock.advance(DAY_S)
    for place in later:
        says(any_app, place, "sit word")
    assert last(any_app, later[0]).events == (away,)
    assert apps.load_table(any_app, made.table).row.length == 1
    says(any_app, later[0], "home")
    for places in (*running, later):
        assert last(any_app, places[0]).events == (VacationEnded(0, "2027-01-20", "2027-01-19"),)
    assert list_coming(any_app, later[0]) == []


def test_a_player_ends_only_the_own_vacation_and_at_each_table(any_app: App, table: list[Place]) -> None:
    mover, other = table
    says(any_app, mover, "vacation 2027-02-01 2027-02-05")
    for place in (mover, other):
        before = apps.count_entries(any_app, place)
        apps.submit(any_app, place, "home 2027-02-01 2027-01-31")
        assert apps.count_entries(any_app, place) == before


# Calendars


def make_calendar_changer(app: App, place: Place) -> Callable[[Calendar], int]:
    def due(calendar: Calendar) -> int:
        apps.change_calendar(app, ProvenPerson(int(seat_of(app, place).person)), calendar)
        return int(seat_of(app, place).due_at)

    return due


def test_a_changed_calendar_moves_a_deadline_that_runs_already(any_app: App, table: list[Place]) -> None:
    due = make_calendar_changer(any_app, table[0])  # due on Monday the 18th, 08:00
    assert due(Calendar(quiet=(22, 7))) == apps.NOON + 3 * DAY_S
    assert due(Calendar(quiet=(22, 9))) == apps.NOON + 3 * DAY_S + HOUR_S
    assert due(Calendar()) == apps.NOON + 3 * DAY_S
    with pytest.raises(Refused, match="no time zone"):
        due(Calendar("Nowhere"))


def test_a_calendar_turned_again_and_again_does_not_hold_the_clock(
    any_app: App, clock: FakeTime, table: list[Place]
) -> None:
    due = make_calendar_changer(any_app, table[0])
    for hour in range(24):
        clock.advance(4 * HOUR_S)
        assert due(Calendar(quiet=(hour, (hour + 14) % 24), weekends=True)) <= apps.NOON + 7 * DAY_S


def test_time_that_is_over_does_not_begin_again(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=Clock(DAY_S, grace=DAY_S))
    mover, _ = apps.find_move(any_app, places)
    clock.advance(DAY_S + HOUR_S)
    late = seat_of(any_app, mover).late_at
    says(any_app, mover, "pause")
    says(any_app, next(place for place in places if place != mover), "refuse")
    assert seat_of(any_app, mover).late_at == late
    referee.run()
