"""The clock of a quiet server looks into the database seldom, and does everything in its time all the same."""

from collections.abc import Callable
from unittest import mock

import pytest
from sqlalchemy import insert, select, update

from service.app import App
from service.settings import DAY_S
from service.store import queries
from service.store.schema import letters, submissions
from tests import apps
from tests.apps import FakeTime
from workers import clock as clocks
from workers.clock import LOOK_AFTER_S, MAX_QUIET_WAIT_S, Ticker


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seconds at which the clock looked for due work."""
    looks, find_due = list[int](), clocks.find_due

    def note(app: App, db: object) -> object:
        looks.append(app.now())
        return find_due(app, db)  # type: ignore[arg-type]

    monkeypatch.setattr(clocks, "find_due", note)
    return looks


def tick_for(ticker: Ticker, clock: FakeTime, seconds: int) -> None:
    for _ in range(seconds):
        ticker.tick()
        clock.advance(1)


def count_reminders(app: App) -> int:
    with app.store.reading() as db:
        return len(db.execute(select(letters.c.id).where(letters.c.kind.startswith("reminder"))).all())


def test_a_quiet_server_is_looked_at_every_ten_minutes(app: App, clock: FakeTime, looks: list[int]) -> None:
    ticker, began = Ticker(app), app.now()
    tick_for(ticker, clock, 4 * LOOK_AFTER_S)
    assert looks == [began + LOOK_AFTER_S * number for number in range(4)]


def write_fact(app: App) -> None:
    with app.store.writing() as db:
        queries.set_fact(db, "banner", str(app.now()))


def submit_unseen(app: App) -> None:
    """Store a submission whose wake-up is lost."""
    place = apps.open_table(app)[0]
    with app.store.writing() as db:
        row = {"source": "player", "key": "lost", "table": place.table, "seat": 0, "move": "pass", "at": app.now()}
        db.execute(insert(submissions), row)


def write_elsewhere(app: App) -> None:
    """Write as another process does, such as a command of the host."""
    other = App(app.settings, app.now)
    write_fact(other)
    other.close()


@pytest.mark.parametrize("write", [write_fact, write_elsewhere])
def test_a_write_of_any_process_is_looked_at_with_the_next_tick(
    app: App, clock: FakeTime, looks: list[int], write: Callable[[App], None]
) -> None:
    ticker = Ticker(app)
    tick_for(ticker, clock, 3)
    assert len(looks) == 1
    write(app)
    tick_for(ticker, clock, 3)
    assert len(looks) == 2


@pytest.fixture
def waits(app: App, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the clock waited for a write."""
    waits = list[float]()

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return app.store.written.is_set()

    monkeypatch.setattr(app.store, "written", mock.Mock(wraps=app.store.written, wait=wait))
    return waits


def test_a_quiet_clock_waits_for_a_write_and_looks_now_and_then_for_those_of_others(
    app: App, waits: list[float]
) -> None:
    ticker = Ticker(app)
    assert not ticker.wait_while_quiet()  # it has not looked yet
    ticker.tick()
    assert ticker.wait_while_quiet()
    assert waits == [MAX_QUIET_WAIT_S]
    write_fact(app)
    assert not ticker.wait_while_quiet()


def test_a_quiet_clock_waits_no_longer_than_until_the_next_reminder(
    app: App, clock: FakeTime, waits: list[float]
) -> None:
    apps.start_table(app, pace=DAY_S)
    with app.store.writing() as db:
        db.execute(update(letters).values(sent_at=app.now()))
    clock.advance(DAY_S * 3 // 4 - 5)
    ticker = Ticker(app)
    ticker.tick()
    assert ticker.wait_while_quiet()
    assert waits == [5]


def test_a_reminder_is_owed_in_the_second_in_which_it_is_due(app: App, clock: FakeTime, looks: list[int]) -> None:
    apps.start_table(app, pace=DAY_S)
    with app.store.writing() as db:
        db.execute(update(letters).values(sent_at=app.now()))
    clock.advance(DAY_S * 3 // 4 - 20)
    ticker = Ticker(app)
    tick_for(ticker, clock, 20)
    assert count_reminders(app) == 0
    assert len(looks) < 5
    ticker.tick()
    assert count_reminders(app) == 1


def test_work_that_stays_due_is_called_for_every_second(app: App, clock: FakeTime, looks: list[int]) -> None:
    ticker = Ticker(app)
    tick_for(ticker, clock, 2)
    submit_unseen(app)
    tick_for(ticker, clock, 5)
    assert len(looks) == 6


def test_a_database_that_many_processes_share_is_looked_at_every_second(
    any_app: App, clock: FakeTime, looks: list[int]
) -> None:
    ticker = Ticker(any_app)
    tick_for(ticker, clock, 5)
    assert len(looks) == (5 if any_app.store.engine.dialect.name == "postgresql" else 1)
