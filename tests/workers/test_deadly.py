"""A submission that ends every process that judges it is given up, and those behind it are judged."""

import multiprocessing
import os
import signal
from email.message import EmailMessage

import pytest
from sqlalchemy import select

from engine.menu import Move
from service.app import App
from service.settings import DAY_S
from service.store.schema import letters
from service.tables import judging, submitting
from service.tables.locked_table import LockedTable
from tests import apps
from tests.apps import FakeTime
from tests.servers import Sink
from workers import referee
from workers.outgoing import post
from workers.outgoing.letter import LetterRequest


def dies(app: App) -> bool:
    """Whether a new process that judges what waits is killed over it."""
    app.store.engine.dispose()  # a child must not share our connections
    process = multiprocessing.get_context("fork").Process(target=referee.run, daemon=True)
    process.start()
    process.join(30)
    died = process.exitcode == -signal.SIGKILL
    assert died or process.exitcode == 0
    process.close()
    return died


def test_what_ends_every_referee_is_refused_after_some_tries(
    any_app: App, clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = apps.start_table(any_app)
    place, move = apps.find_move(any_app, places)
    deadly, append_command = move, judging.append_command

    def die_of_it(locked: LockedTable, seat: int | None, move: Move) -> LockedTable:
        if str(move) == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return append_command(locked, seat, move)

    monkeypatch.setattr(judging, "append_command", die_of_it)
    submission = submitting.submit(any_app, place, deadly)
    other = submitting.submit(any_app, apps.find_waiting(any_app, places), "resign")
    assert dies(any_app), "while it is young it costs nothing to count"
    clock.advance(referee.SUSPECT_AFTER_S)
    deaths = 0
    while dies(any_app):
        deaths += 1
    assert deaths == referee.MAX_TRIES
    verdict = apps.get_verdict(any_app, submission)
    assert not verdict.accepted
    assert "please make another one" in verdict.text
    assert apps.get_verdict(any_app, other).accepted


def test_a_move_that_waited_long_is_judged_like_any_other(app: App, clock: FakeTime) -> None:
    place, move = apps.find_move(app, apps.start_table(app))
    submission = submitting.submit(app, place, move)
    clock.advance(3600)
    referee.run()
    assert apps.get_verdict(app, submission).accepted


def sends(app: App) -> bool:
    """Send all letters in a new process, and return whether that process is killed."""
    app.store.engine.dispose()
    process = multiprocessing.get_context("fork").Process(target=post.run, daemon=True)
    process.start()
    process.join(30)
    died = process.exitcode == -signal.SIGKILL
    process.close()
    return died


def test_a_letter_that_ends_its_writer_holds_no_other_up_and_is_given_up(
    any_app: App, clock: FakeTime, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    places = [place for _ in range(3) for place in apps.open_table(any_app)]
    write, deadly = post.write, places[2].table

    def write_or_die(app: App, order: LetterRequest) -> EmailMessage | None:
        if order.table == deadly and order.seat == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return write(app, order)

    monkeypatch.setattr(post, "write", write_or_die)
    deaths = 0
    for _ in range(2 * post.MAX_STARTS):
        deaths += sends(any_app)
        clock.advance(any_app.settings.lease)
    with any_app.store.reading() as connection:
        rows = connection.execute(select(letters)).all()
    assert deaths == post.MAX_STARTS
    assert len(smtp_sink.letters) == len(places) - 1
    assert [row.outcome for row in rows if row.outcome != "sent"] == [
        "given up: the process that wrote it ended several times"
    ]


def test_a_letter_that_the_relay_refuses_for_now_is_no_deadly_one(
    any_app: App, clock: FakeTime, smtp_sink: Sink
) -> None:
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    apps.open_table(any_app)
    smtp_sink.refuse()
    for _ in range(post.MAX_STARTS + 2):
        post.run()
        clock.advance(DAY_S)
    smtp_sink.accept()
    post.run()
    assert len(smtp_sink.letters) == 2
