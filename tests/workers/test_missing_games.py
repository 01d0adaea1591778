"""A table whose game is not installed any more: it is passed over, said once, and nothing else waits for it."""

from __future__ import annotations

from pathlib import Path

import pytest
import structlog
from sqlalchemy import update

from service.app import App
from service.settings import DAY_S
from service.store.schema import tables
from service.tables import submitting
from service.tables.access import Place
from service.timing import HOUR_S
from tests import apps
from tests.apps import FakeTime
from tests.servers import Sink
from tests.workers.incoming.test_inbox import address, answer
from workers import bots, jobs, referee
from workers import clock as clocks
from workers.incoming import inbox, mail_moves
from workers.outgoing import post


@pytest.fixture(autouse=True)
def _forget_reports() -> None:
    jobs.log_missing_game.cache_clear()


def remove_game(app: App, place: Place) -> None:
    """Remove the game of this table, as a host could."""
    with app.store.writing() as connection:
        connection.execute(update(tables).where(tables.c.id == place.table).values(game="gone"))


def test_the_clock_says_it_once_and_keeps_the_other_deadlines(tmp_path: Path, clock: FakeTime) -> None:
    with apps.run_app(apps.make_settings(tmp_path), clock) as app:
        lost, other = (apps.find_move(app, apps.start_table(app, pace=DAY_S))[0] for _ in range(2))
        before = apps.count_entries(app, other)
        remove_game(app, lost)
        clock.advance(2 * DAY_S)
        with structlog.testing.capture_logs() as lines:
            for _ in range(3):
                clocks.tick(app)
        assert apps.count_entries(app, other) > before
    assert [line["table"] for line in lines if line["event"] == "table skipped"] == [lost.table]
    assert not [line for line in lines if line["log_level"] == "error"]


def test_a_move_there_is_refused_and_holds_no_other_up(app: App) -> None:
    lost, other = apps.start_table(app), apps.start_table(app)
    first = submitting.submit(app, *apps.find_move(app, lost))
    second = submitting.submit(app, *apps.find_move(app, other))
    remove_game(app, lost[0])
    referee.run()
    assert "not installed here" in apps.get_verdict(app, first).text
    assert apps.get_verdict(app, second).accepted


def test_a_mail_there_waits_and_holds_no_other_up(app: App) -> None:
    lost, other = apps.start_table(app), apps.start_table(app)
    for places in (lost, other):
        place, move = apps.find_move(app, places)
        inbox.process_mail(app, answer(app, place, move).as_bytes(), address(app, place), "somebody@example.org")
    before = apps.count_entries(app, other[0])
    remove_game(app, lost[0])
    mail_moves.run()
    assert apps.count_entries(app, other[0]) == before + 1
    assert mail_moves.is_waiting(app)


def test_letters_of_a_missing_game_are_logged_once_and_leave_when_it_is_back(app: App, smtp_sink: Sink) -> None:
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    place, _ = apps.find_move(app, apps.start_table(app))
    remove_game(app, place)
    with structlog.testing.capture_logs() as lines:
        for _ in range(30):
            post.run()
            app.now.advance(HOUR_S + 1)  # type: ignore[attr-defined]  # a clock of the tests
    assert [line["table"] for line in lines if line["event"] == "table skipped"] == [place.table]
    assert not [line for line in lines if line["log_level"] == "error"]
    assert smtp_sink.envelopes == []
    with app.store.writing() as connection:
        connection.execute(update(tables).where(tables.c.id == place.table).values(game="kaiser"))
    post.run()
    assert smtp_sink.envelopes


def test_its_bots_rest(app: App) -> None:
    places = apps.start_table(app, bots=1)
    remove_game(app, places[0])
    with structlog.testing.capture_logs() as lines:
        bots.run()
    assert not [line for line in lines if line["log_level"] == "error"]
