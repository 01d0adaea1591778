"""The clock: one reminder a turn, a stand-in's move at the deadline, and a bell for whatever waits."""

from typing import Any

import pytest
from msgspec.structs import replace
from rq import SimpleWorker
from rq.serializers import JSONSerializer
from rq.timeouts import TimerDeathPenalty
from sqlalchemy import Row, select

from engine.table_events import (
    TimedOut,
)
from service.house import House
from service.settings import DAY
from service.store.schema import letters, seats
from service.tables import snapshots, submitting
from service.tables.access import Place
from tests import houses
from tests.houses import Clock
from workers import bots, referee
from workers.clock import tick
from workers.outgoing import post


def seat_of(here: House, place: Place) -> Row[Any]:
    with here.store.reading() as connection:
        wanted = select(seats).where(seats.c.table == place.table, seats.c.seat == place.seat)
        return connection.execute(wanted).one()


def kinds(here: House, place: Place) -> list[str]:
    """What letters this seat was ever owed, besides its invitation."""
    own = (letters.c.table == place.table, letters.c.seat == place.seat, letters.c.kind != "invitation")
    with here.store.reading() as connection:
        return list(connection.execute(select(letters.c.kind).where(*own).order_by(letters.c.id)).scalars())


def test_a_deadline_belongs_to_the_seat_whose_menu_is_open(any_house: House) -> None:
    places = houses.seated(any_house, pace=DAY)
    mover, _ = houses.on_turn(any_house, places)
    assert seat_of(any_house, mover).due_at == houses.NOON + DAY
    assert seat_of(any_house, houses.waiting(any_house, places)).due_at is None


def test_one_reminder_a_turn_and_none_before_its_time(any_house: House, clock: Clock) -> None:
    places = houses.seated(any_house, pace=DAY)
    mover, _ = houses.on_turn(any_house, places)
    clock.move(DAY * 3 // 4 - 1)
    tick(any_house)
    assert kinds(any_house, mover) == ["turn"]
    clock.move(1)
    for _ in range(3):
        tick(any_house)
        clock.move(60)
    assert kinds(any_house, mover) == ["turn", "reminder"]
    assert kinds(any_house, houses.waiting(any_house, places)) == []


def test_a_further_move_of_the_same_turn_begins_the_time_anew_without_a_second_reminder(
    any_house: House, clock: Clock
) -> None:
    places = houses.seated(any_house, 3, pace=DAY)
    mover, move = houses.on_turn(any_house, places)
    clock.move(DAY - 60)
    tick(any_house)
    assert houses.judged(any_house, mover, move).accepted
    while not houses.moves(any_house, mover):  # on to the next turn of this seat
        other, move = houses.on_turn(any_house, places)
        assert houses.judged(any_house, other, move).accepted
    assert seat_of(any_house, mover).due_at == clock.at + DAY
    clock.move(DAY - 60)
    tick(any_house)
    turns = kinds(any_house, mover)
    assert turns.count("reminder") <= turns.count("turn")


def test_no_reminder_and_no_deadline_at_a_table_without_hurry(any_house: House, clock: Clock) -> None:
    places = houses.seated(any_house, pace=0)
    mover, _ = houses.on_turn(any_house, places)
    clock.move(1_000 * DAY)
    tick(any_house)
    assert kinds(any_house, mover) == ["turn"]
    assert houses.moves(any_house, mover)


def test_at_the_deadline_a_stand_in_moves_and_both_are_told(any_house: House, clock: Clock) -> None:
    places = houses.seated(any_house, pace=DAY)
    mover, _ = houses.on_turn(any_house, places)
    before = houses.length(any_house, mover)
    clock.move(DAY - 1)
    tick(any_house)
    assert houses.length(any_house, mover) == before
    clock.move(1)
    tick(any_house)
    (entry,) = snapshots.entries(any_house, snapshots.look(any_house, mover.table), before)
    assert entry.seat is None
    assert entry.move
    assert entry.move.startswith(f"expire {mover.seat} ")
    assert isinstance(entry.events[0], TimedOut)
    assert kinds(any_house, mover)[:3] == ["turn", "reminder", "timeout"]
    following, _ = houses.on_turn(any_house, places)
    assert kinds(any_house, following)[-1] in ("turn", "timeout")
    assert seat_of(any_house, following).due_at == clock.at + DAY


def test_two_clocks_are_as_good_as_one(any_house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second clock looks while the first thinks about the stand-in's move."""
    places = houses.seated(any_house, pace=DAY)
    before = houses.length(any_house, places[0])
    clock.move(DAY)
    choose = bots.choose

    def interrupted(here: House, *position: Any) -> Any:
        monkeypatch.setattr(bots, "choose", choose)
        tick(here)
        return choose(here, *position)

    monkeypatch.setattr(bots, "choose", interrupted)
    tick(any_house)
    assert houses.length(any_house, places[0]) == before + 1


def test_a_move_in_the_last_second_counts(any_house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    places = houses.seated(any_house, pace=DAY)
    mover, move = houses.on_turn(any_house, places)
    clock.move(DAY)
    choose = bots.choose

    def interrupted(here: House, *position: Any) -> Any:
        assert houses.judged(here, mover, move).accepted
        return choose(here, *position)

    monkeypatch.setattr(bots, "choose", interrupted)
    before = houses.length(any_house, mover)
    tick(any_house)
    (entry,) = snapshots.entries(any_house, snapshots.look(any_house, mover.table), before)
    assert entry.seat == mover.seat


def test_trouble_at_one_table_does_not_stop_the_clock_of_another(
    any_house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = houses.seated(any_house, pace=DAY)[0], houses.seated(any_house, pace=DAY)[0]
    choose, broken = bots.choose, snapshots.look(any_house, bad.table).table.state
    before = houses.length(any_house, good)

    def choosy(here: House, look: Any, seat: int) -> Any:
        if look.table.state is broken:
            raise ZeroDivisionError("the board is on fire")
        return choose(here, look, seat)

    monkeypatch.setattr(bots, "choose", choosy)
    clock.move(DAY)
    tick(any_house)
    assert houses.length(any_house, good) == before + 1


class Worker(SimpleWorker):
    death_penalty_class = TimerDeathPenalty


def rung(here: House) -> list[str]:
    return [name for name in ("referee", "post", "bots") if here.bells.queue(name).count]


def answer_all(here: House) -> None:
    """Let an RQ worker answer every bell that rings now."""
    queues = ["referee", "post", "bots"]
    Worker(queues, connection=here.redis, serializer=JSONSerializer).work(burst=True, logging_level="ERROR")


def test_a_bell_is_rung_for_every_forgotten_row(any_house: House) -> None:
    (place,) = houses.seated(any_house, bots=1)
    submitting.submit(any_house, place, "resign")
    any_house.redis.flushall()
    assert rung(any_house) == []
    tick(any_house)
    waits = ["referee", "post", "bots"] if bots.waiting(any_house) else ["referee", "post"]
    assert rung(any_house) == waits


def test_nothing_is_rung_where_nothing_waits(any_house: House) -> None:
    houses.seated(any_house)
    with any_house.store.writing() as connection:
        connection.execute(letters.delete())
    any_house.redis.flushall()
    tick(any_house)
    assert rung(any_house) == []


def test_a_bell_that_rings_is_not_rung_again(any_house: House) -> None:
    houses.opened(any_house)
    any_house.redis.flushall()
    for _ in range(5):
        tick(any_house)
    assert any_house.bells.queue("post").count == 1


def test_only_letters_that_leave_at_once_ring_for_the_post(any_house: House) -> None:
    places = houses.seated(any_house)
    any_house.redis.flushall()
    any_house.settings = replace(any_house.settings, gather=60, smtp="smtp://127.0.0.1:1")
    assert houses.judged(any_house, *houses.on_turn(any_house, places)).accepted
    assert "post" not in rung(any_house)
    assert houses.judged(any_house, places[0], "pause").accepted
    assert "post" in rung(any_house)


def test_bells_lost_in_an_emptied_redis_change_nothing(any_house: House, smtp_sink: Any) -> None:
    any_house.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    places = houses.opened(any_house)
    submissions = [submitting.submit(any_house, place, "sit word") for place in places]
    any_house.redis.flushall()
    answer_all(any_house)
    assert submitting.verdict(any_house, submissions[0]) is None
    tick(any_house)
    answer_all(any_house)
    assert all(houses.verdict(any_house, submission).accepted for submission in submissions)
    tick(any_house)
    answer_all(any_house)
    assert len(smtp_sink.letters) == 3


def test_bells_rung_too_often_change_nothing(any_house: House, smtp_sink: Any) -> None:
    any_house.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    places = houses.opened(any_house)
    submissions = [submitting.submit(any_house, place, "sit word") for place in places]
    for _ in range(3):
        referee.hear()
        post.deliver()
        bots.move()
    assert all(houses.verdict(any_house, submission).accepted for submission in submissions)
    assert len(smtp_sink.letters) == 3


def test_without_redis_submissions_are_taken_and_judged_later(any_house: House) -> None:
    places = houses.opened(any_house)
    server = any_house.redis.connection_pool.connection_kwargs["server"]
    server.connected = False
    submissions = [submitting.submit(any_house, place, "sit word") for place in places]
    tick(any_house)
    assert submitting.verdict(any_house, submissions[0], 0.1) is None
    server.connected = True
    tick(any_house)
    answer_all(any_house)
    assert all(houses.verdict(any_house, submission).accepted for submission in submissions)
