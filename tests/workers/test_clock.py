"""The clock sends one reminder a turn, lets a bot move at the deadline, and wakes workers for all work that waits."""

from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import Row, select

from engine.table_events import (
    TimedOut,
)
from service.app import App
from service.settings import DAY_S
from service.store.schema import letters, seats
from service.tables import submitting
from service.tables.access import Place
from service.wakeups import JOBS_OF_QUEUES, MAX_WAKEUPS
from tests import apps
from tests.apps import FakeTime
from workers import bots, referee, residents
from workers.clock import tick
from workers.outgoing import post


def seat_of(app: App, place: Place) -> Row[Any]:
    with app.store.reading() as connection:
        query = select(seats).where(seats.c.table == place.table, seats.c.seat == place.seat)
        return connection.execute(query).one()


def list_kinds(app: App, place: Place) -> list[str]:
    """Return the kinds of all letters to this seat, except its invitation."""
    own = (letters.c.table == place.table, letters.c.seat == place.seat, letters.c.kind != "invitation")
    with app.store.reading() as connection:
        return list(connection.execute(select(letters.c.kind).where(*own).order_by(letters.c.id)).scalars())


def test_a_deadline_belongs_to_the_seat_whose_menu_is_open(any_app: App) -> None:
    places = apps.start_table(any_app, pace=DAY_S)
    mover, _ = apps.find_move(any_app, places)
    assert seat_of(any_app, mover).due_at == apps.NOON + DAY_S
    assert seat_of(any_app, apps.find_waiting(any_app, places)).due_at is None


def test_one_reminder_a_turn_and_none_before_its_time(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=DAY_S)
    mover, _ = apps.find_move(any_app, places)
    clock.advance(DAY_S * 3 // 4 - 1)
    tick(any_app)
    assert list_kinds(any_app, mover) == ["turn"]
    clock.advance(1)
    for _ in range(3):
        tick(any_app)
        clock.advance(60)
    assert list_kinds(any_app, mover) == ["turn", "reminder"]
    assert list_kinds(any_app, apps.find_waiting(any_app, places)) == []


def test_a_further_move_of_the_same_turn_restarts_the_time_without_a_second_reminder(
    any_app: App, clock: FakeTime
) -> None:
    places = apps.start_table(any_app, 3, pace=DAY_S)
    mover, move = apps.find_move(any_app, places)
    clock.advance(DAY_S - 60)
    tick(any_app)
    assert apps.submit(any_app, mover, move).accepted
    while not apps.list_moves(any_app, mover):  # on to the next turn of this seat
        other, move = apps.find_move(any_app, places)
        assert apps.submit(any_app, other, move).accepted
    assert seat_of(any_app, mover).due_at == clock.at + DAY_S
    clock.advance(DAY_S - 60)
    tick(any_app)
    turns = list_kinds(any_app, mover)
    assert turns.count("reminder") <= turns.count("turn")


def test_no_reminder_and_no_deadline_at_a_table_without_hurry(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=0)
    mover, _ = apps.find_move(any_app, places)
    clock.advance(1_000 * DAY_S)
    tick(any_app)
    assert list_kinds(any_app, mover) == ["turn"]
    assert apps.list_moves(any_app, mover)


def test_at_the_deadline_a_bot_moves_and_both_players_get_letters(any_app: App, clock: FakeTime) -> None:
    places = apps.start_table(any_app, pace=DAY_S)
    mover, _ = apps.find_move(any_app, places)
    before = apps.count_entries(any_app, mover)
    clock.advance(DAY_S - 1)
    tick(any_app)
    assert apps.count_entries(any_app, mover) == before
    clock.advance(1)
    tick(any_app)
    (entry,) = apps.load_entries(any_app, apps.load_table(any_app, mover.table), before)
    assert entry.seat is None
    assert entry.move
    assert entry.move.startswith(f"expire {mover.seat} ")
    assert isinstance(entry.events[0], TimedOut)
    assert list_kinds(any_app, mover)[:3] == ["turn", "reminder", "timeout"]
    following, _ = apps.find_move(any_app, places)
    assert list_kinds(any_app, following)[-1] in ("turn", "timeout")
    assert seat_of(any_app, following).due_at == clock.at + DAY_S


def test_two_clocks_are_as_good_as_one(any_app: App, clock: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second clock ticks while the first thinks about the bot's move."""
    places = apps.start_table(any_app, pace=DAY_S)
    before = apps.count_entries(any_app, places[0])
    clock.advance(DAY_S)
    choose = bots.choose

    def tick_meanwhile(app: App, *position: Any) -> Any:
        monkeypatch.setattr(bots, "choose", choose)
        tick(app)
        return choose(app, *position)

    monkeypatch.setattr(bots, "choose", tick_meanwhile)
    tick(any_app)
    assert apps.count_entries(any_app, places[0]) == before + 1


def test_a_move_in_the_last_second_counts(any_app: App, clock: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    places = apps.start_table(any_app, pace=DAY_S)
    mover, move = apps.find_move(any_app, places)
    clock.advance(DAY_S)
    choose = bots.choose

    def move_meanwhile(app: App, *position: Any) -> Any:
        assert apps.submit(app, mover, move).accepted
        return choose(app, *position)

    monkeypatch.setattr(bots, "choose", move_meanwhile)
    before = apps.count_entries(any_app, mover)
    tick(any_app)
    (entry,) = apps.load_entries(any_app, apps.load_table(any_app, mover.table), before)
    assert entry.seat == mover.seat


def test_trouble_at_one_table_does_not_stop_the_clock_of_another(
    any_app: App, clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = apps.start_table(any_app, pace=DAY_S)[0], apps.start_table(any_app, pace=DAY_S)[0]
    choose, broken = bots.choose, apps.load_table(any_app, bad.table).position.state
    before = apps.count_entries(any_app, good)

    def choose_or_fail(app: App, snapshot: Any, seat: int) -> Any:
        if snapshot.position.state is broken:
            raise ZeroDivisionError("the board is on fire")
        return choose(app, snapshot, seat)

    monkeypatch.setattr(bots, "choose", choose_or_fail)
    clock.advance(DAY_S)
    tick(any_app)
    assert apps.count_entries(any_app, good) == before + 1


def work(app: App) -> None:
    """Do the work of all jobs that are woken now."""
    while woken := apps.list_woken(app):
        for job in {JOBS_OF_QUEUES[queue] for queue in woken}:
            residents.work_once(app, job)


def test_the_clock_wakes_a_worker_for_each_forgotten_row(any_app: App) -> None:
    (place,) = apps.start_table(any_app, bots=1)
    submitting.submit(any_app, place, "resign")
    any_app.redis.flushall()
    assert not apps.list_woken(any_app)
    tick(any_app)
    thinking = {"bots"} if apps.run_query(any_app, bots.list_bot_tasks, any_app.now()) else set()
    assert apps.list_woken(any_app) == {"referee", "post", *thinking}


def test_the_clock_wakes_no_worker_without_work(any_app: App) -> None:
    apps.start_table(any_app)
    with any_app.store.writing() as connection:
        connection.execute(letters.delete())
    any_app.redis.flushall()
    tick(any_app)
    assert not apps.list_woken(any_app)


def test_the_clock_starts_the_job_of_a_wakeup_that_is_not_answered(any_app: App) -> None:
    apps.open_table(any_app)
    any_app.redis.flushall()
    tick(any_app)
    assert any_app.wakeups.get_queue("post").count == 0
    for _ in range(5):
        tick(any_app)
    assert any_app.wakeups.get_queue("post").count == 1


def test_wakeups_that_no_worker_answers_stay_few(any_app: App) -> None:
    for _ in range(3 * MAX_WAKEUPS):
        any_app.wakeups.wake("post")
    assert any_app.redis.llen("wakeup:post") <= MAX_WAKEUPS


def test_only_letters_that_leave_at_once_wake_the_post(any_app: App) -> None:
    places = apps.start_table(any_app)
    any_app.redis.flushall()
    any_app.settings = replace(any_app.settings, gather=60, smtp="smtp://127.0.0.1:1")
    assert apps.submit(any_app, *apps.find_move(any_app, places)).accepted
    assert "post" not in apps.list_woken(any_app)
    assert apps.submit(any_app, places[0], "pause").accepted
    assert "post" in apps.list_woken(any_app)


def test_wakeups_lost_in_an_emptied_redis_change_nothing(any_app: App, smtp_sink: Any) -> None:
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    places = apps.open_table(any_app)
    submissions = [submitting.submit(any_app, place, "sit word") for place in places]
    any_app.redis.flushall()
    work(any_app)
    assert submitting.wait_for_verdict(any_app, submissions[0]) is None
    tick(any_app)
    work(any_app)
    assert all(apps.get_verdict(any_app, submission).accepted for submission in submissions)
    tick(any_app)
    work(any_app)
    assert len(smtp_sink.letters) == 3


def test_too_many_wakeups_change_nothing(any_app: App, smtp_sink: Any) -> None:
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    places = apps.open_table(any_app)
    submissions = [submitting.submit(any_app, place, "sit word") for place in places]
    for _ in range(3):
        referee.run()
        post.run()
        bots.run()
    assert all(apps.get_verdict(any_app, submission).accepted for submission in submissions)
    assert len(smtp_sink.letters) == 3


def test_without_redis_submissions_are_taken_and_judged_later(any_app: App) -> None:
    places = apps.open_table(any_app)
    server = any_app.redis.connection_pool.connection_kwargs["server"]
    server.connected = False
    submissions = [submitting.submit(any_app, place, "sit word") for place in places]
    tick(any_app)
    assert submitting.wait_for_verdict(any_app, submissions[0], 0.1) is None
    server.connected = True
    tick(any_app)
    work(any_app)
    assert all(apps.get_verdict(any_app, submission).accepted for submission in submissions)
