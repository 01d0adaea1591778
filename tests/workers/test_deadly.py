"""A submission that ends every process that judges it is given up, and those behind it are judged."""

import multiprocessing
import os
import signal
from email.message import EmailMessage

import pytest
from sqlalchemy import select

from engine.menu import Move
from service.house import House
from service.settings import DAY
from service.store.schema import letters
from service.tables import clerk, submitting
from tests import houses
from tests.houses import Clock
from tests.servers import Sink
from workers import referee
from workers.outgoing import post
from workers.outgoing.envelopes import LetterOrder


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


def sends(here: House) -> bool:
    """Whether a new process that sends what is owed is killed over it."""
    here.store.engine.dispose()
    process = multiprocessing.get_context("fork").Process(target=post.deliver, daemon=True)
    process.start()
    process.join(30)
    died = process.exitcode == -signal.SIGKILL
    process.close()
    return died


def test_a_letter_that_ends_its_writer_holds_no_other_up_and_is_given_up(
    any_house: House, clock: Clock, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    any_house.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    places = [place for _ in range(3) for place in houses.opened(any_house)]
    write, deadly = post.write, places[2].table

    def written(here: House, order: LetterOrder) -> EmailMessage | None:
        if order.table == deadly and order.seat == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return write(here, order)

    monkeypatch.setattr(post, "write", written)
    deaths = 0
    for _ in range(2 * post.DEADLY):
        deaths += sends(any_house)
        clock.move(any_house.settings.lease)
    with any_house.store.reading() as connection:
        rows = connection.execute(select(letters)).all()
    assert deaths == post.DEADLY
    assert len(smtp_sink.letters) == len(places) - 1
    assert [row.outcome for row in rows if row.outcome != "sent"] == ["given up: its writer ended several times"]


def test_a_letter_that_the_relay_refuses_for_now_is_no_deadly_one(
    any_house: House, clock: Clock, smtp_sink: Sink
) -> None:
    any_house.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    houses.opened(any_house)
    smtp_sink.refuse()
    for _ in range(post.DEADLY + 2):
        post.deliver()
        clock.move(DAY)
    smtp_sink.accept()
    post.deliver()
    assert len(smtp_sink.letters) == 2
