"""A table whose game is not installed any more: it is passed over, said once, and nothing else waits for it."""

from __future__ import annotations

from pathlib import Path

import pytest
import structlog
from sqlalchemy import update

from service.house import House
from service.settings import DAY
from service.store.schema import tables
from service.tables import submitting
from service.tables.access import Place
from service.timing import HOUR
from tests import houses
from tests.houses import Clock
from tests.servers import Sink
from tests.workers.incoming.test_inbox import address, answer
from workers import bots, jobs, referee
from workers import clock as clocks
from workers.incoming import inbox, mail_moves
from workers.outgoing import post


@pytest.fixture(autouse=True)
def _nothing_told() -> None:
    jobs.tell_missing.cache_clear()


def gone(here: House, place: Place) -> None:
    """The host takes the game of this table away."""
    with here.store.writing() as connection:
        connection.execute(update(tables).where(tables.c.id == place.table).values(game="gone"))


def test_the_clock_says_it_once_and_keeps_the_other_deadlines(tmp_path: Path, clock: Clock) -> None:
    with houses.standing(houses.settings(tmp_path), clock) as here:
        lost, other = (houses.on_turn(here, houses.seated(here, pace=DAY))[0] for _ in range(2))
        before = houses.length(here, other)
        gone(here, lost)
        clock.move(2 * DAY)
        with structlog.testing.capture_logs() as lines:
            for _ in range(3):
                clocks.tick(here)
        assert houses.length(here, other) > before
    assert [line["table"] for line in lines if line["event"] == "table passed over"] == [lost.table]
    assert not [line for line in lines if line["log_level"] == "error"]


def test_a_move_there_is_refused_and_holds_no_other_up(house: House) -> None:
    lost, other = houses.seated(house), houses.seated(house)
    first = submitting.submit(house, *houses.on_turn(house, lost))
    second = submitting.submit(house, *houses.on_turn(house, other))
    gone(house, lost[0])
    referee.hear()
    assert "not installed here" in houses.verdict(house, first).said
    assert houses.verdict(house, second).accepted


def test_a_mail_there_waits_and_holds_no_other_up(house: House) -> None:
    lost, other = houses.seated(house), houses.seated(house)
    for places in (lost, other):
        place, move = houses.on_turn(house, places)
        inbox.take(house, answer(house, place, move).as_bytes(), address(house, place), "somebody@example.org")
    before = houses.length(house, other[0])
    gone(house, lost[0])
    mail_moves.hear()
    assert houses.length(house, other[0]) == before + 1
    assert mail_moves._waits(house)


def test_its_letters_wait_are_told_once_and_leave_when_the_game_is_back(house: House, smtp_sink: Sink) -> None:
    house.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    place, _ = houses.on_turn(house, houses.seated(house))
    gone(house, place)
    with structlog.testing.capture_logs() as lines:
        for _ in range(30):
            post.deliver()
            house.now.move(HOUR + 1)  # type: ignore[attr-defined]  # a clock of the tests
    assert [line["table"] for line in lines if line["event"] == "table passed over"] == [place.table]
    assert not [line for line in lines if line["log_level"] == "error"]
    assert smtp_sink.envelopes == []
    with house.store.writing() as connection:
        connection.execute(update(tables).where(tables.c.id == place.table).values(game="kaiser"))
    post.deliver()
    assert smtp_sink.envelopes


def test_its_bots_rest(house: House) -> None:
    places = houses.seated(house, bots=1)
    gone(house, places[0])
    with structlog.testing.capture_logs() as lines:
        bots.move()
    assert not [line for line in lines if line["log_level"] == "error"]
