"""A submission that ends every process that judges it is given up, and those behind it are judged."""

import multiprocessing
import os
import signal

import pytest

from engine.menu import Move
from service.house import House
from service.tables import clerk, submitting
from tests import houses
from tests.houses import Clock
from workers import referee


def dies(here: House) -> bool:
    """Whether a new process that judges what waits is killed over it."""
    here.store.engine.dispose()  # a child must not share our connections
    process = multiprocessing.get_context("fork").Process(target=referee.hear, daemon=True)
    process.start()
    process.join(30)
    died = process.exitcode == -signal.SIGKILL
    assert died or process.exitcode == 0
    process.close()
    return died


def test_what_ends_every_referee_is_refused_after_some_tries(
    any_house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = houses.seated(any_house)
    place, move = houses.on_turn(any_house, places)
    deadly, enter = move, clerk.enter

    def entered(locked: clerk.LockedTable, seat: int | None, move: Move) -> clerk.LockedTable:
        if str(move) == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return enter(locked, seat, move)

    monkeypatch.setattr(clerk, "enter", entered)
    submission = submitting.submit(any_house, place, deadly)
    other = submitting.submit(any_house, houses.waiting(any_house, places), "resign")
    assert dies(any_house), "while it is young it costs nothing to count"
    clock.move(referee.SUSPECT)
    deaths = 0
    while dies(any_house):
        deaths += 1
    assert deaths == referee.TRIES
    verdict = houses.verdict(any_house, submission)
    assert not verdict.accepted
    assert "please make another one" in verdict.said
    assert houses.verdict(any_house, other).accepted


def test_a_move_that_waited_long_is_judged_like_any_other(house: House, clock: Clock) -> None:
    place, move = houses.on_turn(house, houses.seated(house))
    submission = submitting.submit(house, place, move)
    clock.move(3600)
    referee.hear()
    assert houses.verdict(house, submission).accepted
