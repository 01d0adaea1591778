"""kill -9 before every single step that a process takes: each SQL statement, each commit, each letter, each wake-up."""

import multiprocessing
import os
import signal
import smtplib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from redis import Redis
from sqlalchemy import event, select

from engine import audit as audits
from engine import catalogue
from engine import menu as menus
from engine.menu import Move
from engine.search import levels
from service.app import App
from service.settings import DAY_S, Settings
from service.store.schema import letters, tables
from service.tables import submitting
from service.tables.access import Place
from service.tables.history import replays
from service.tables.submitting import StoredSubmission
from service.wakeups import VerdictMessages, Wakeups
from tests import apps, chance
from tests.apps import FakeTime
from tests.servers import Sink
from workers import bots, referee
from workers.clock import tick
from workers.jobs import set_app
from workers.outgoing import emails, post

Work = Callable[[App], object]


class Steps:
    """Count the steps of this process, and kill it before the given one."""

    def __init__(self, last: int) -> None:
        self._left = last

    def count_step(self, *_: Any, **__: Any) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1

    def wrap(self, owner: Any, name: str) -> None:
        """Count a call of this method as one step, and what follows it as another."""
        done = getattr(owner, name)

        def run_step(*args: Any, **words: Any) -> Any:
            self.count_step()
            result = done(*args, **words)
            self.count_step()
            return result

        setattr(owner, name, run_step)


def run_until_step(chosen: Settings, now: int, relay: str, redis: str, work: Work, last: int) -> None:
    """Work in a new process until step `last`; exit with 0 if there are not so many."""
    steps = Steps(last)
    chance.begin(f"until step {last}")  # otherwise each process would open its table with the same link
    app = App(chosen, lambda: now, Redis.from_url(redis))
    app.relay = relay
    set_app(app)
    for moment in ("before_cursor_execute", "commit"):
        event.listen(app.store.engine, moment, steps.count_step)
    steps.wrap(Wakeups, "wake")
    steps.wrap(VerdictMessages, "publish")
    steps.wrap(smtplib.SMTP, "send")
    work(app)
    os._exit(0)


def dies_at(chosen: Settings, now: int, relay: str, redis: str, work: Work, last: int) -> bool:
    process = multiprocessing.get_context("fork").Process(
        target=run_until_step, args=(chosen, now, relay, redis, work, last), daemon=True
    )
    process.start()
    process.join(30)
    assert process.exitcode in (0, -signal.SIGKILL)
    died = process.exitcode != 0
    process.close()
    return died


def first_move(game: str, state: Any, seat: int) -> Move:
    return next(iter(menus.iter_moves(catalogue.find(game).menu(state, seat))))


@pytest.fixture
def app(
    tmp_path: Path,
    migrated_url: str,
    redis_url: str,
    smtp_sink: Sink,
    clock: FakeTime,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[App]:
    """The app of a second process, which survives; it is quick, without thoughts and without pictures."""
    monkeypatch.setattr(emails, "render_png", lambda svg: b"")
    monkeypatch.setattr(levels, "think", lambda game, edition, state, seat, *_: first_move(game, state, seat))
    chosen = replace(apps.make_settings(tmp_path, migrated_url), pace=DAY_S)
    with Redis.from_url(redis_url) as redis, apps.run_app(chosen, clock, redis) as app:
        app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
        yield app


@pytest.fixture(
    params=[
        pytest.param(8, id="few"),
        pytest.param(5, id="some", marks=pytest.mark.release),
        pytest.param(0, id="all", marks=pytest.mark.soak),
    ]
)
def steps(request: pytest.FixtureRequest, app: App) -> range:
    """Before which steps to die: every eighth or fifth, each on SQLite or on PostgreSQL; a soak tries all on both."""
    distance = request.param
    if not distance:
        return range(200)
    first = distance - 1 if app.store.engine.name == "sqlite" else 2 * distance - 1
    return range(first, 200, 2 * distance)


def every_step(
    app: App, redis: str, steps: range, prepare: Callable[[], Any], work: Callable[[Any], Work]
) -> Iterator[Any]:
    """Do this work again and again on something newly prepared, each time killed later than before."""
    for last in steps:
        prepared = prepare()
        app.store.engine.dispose()  # a child must not share our connections
        died = dies_at(app.settings, app.now(), app.relay, redis, work(prepared), last)
        yield prepared
        if not died:
            assert last > 3, "no step was seen"
            return
    raise AssertionError("this work never ends")


def recover(app: App, clock: FakeTime) -> None:
    """Do the work of the other processes after one has died."""
    clock.advance(app.settings.lease)
    app.redis.flushall()
    tick(app)
    referee.run()
    bots.run()
    referee.run()
    post.run()


def assert_sound(app: App, sink: Sink, place: Place) -> None:
    """Require a sound log, and that exactly the letters of this table were sent."""
    snapshot = apps.load_table(app, place.table)
    report = audits.audit(snapshot.game, apps.run_query(app, replays.export_for_place, place))
    assert report.finding is None
    assert report.entries == snapshot.row.length
    with app.store.reading() as connection:
        rows = connection.execute(select(letters).where(letters.c.table == place.table)).all()
    assert {row.outcome for row in rows} <= {"sent", "overtaken"}
    arrived = {str(letter["Message-ID"]) for letter in sink.letters if place.table in str(letter["Message-ID"])}
    assert len(arrived) >= sum(row.outcome == "sent" for row in rows)
    assert len(arrived) <= len(rows)


def test_a_web_process(app: App, redis_url: str, steps: range, smtp_sink: Sink, clock: FakeTime) -> None:
    """Killed while it takes a move: repeated with the same key it is one move, however far it had come."""

    def prepare() -> tuple[Place, str]:
        return apps.find_move(app, apps.start_table(app))

    def work(prepared: tuple[Place, str]) -> Work:
        return lambda app: submitting.wait_for_verdict(app, submitting.submit(app, *prepared, "once"), 0.0)

    for mover, move in every_step(app, redis_url, steps, prepare, work):
        before = apps.load_table(app, mover.table).row.length
        number = submitting.submit(app, mover, move, "once")
        recover(app, clock)
        assert apps.get_verdict(app, number).seq == before
        assert apps.count_entries(app, mover) == before + 1
        assert_sound(app, smtp_sink, mover)


def test_a_referee(app: App, redis_url: str, steps: range, smtp_sink: Sink, clock: FakeTime) -> None:
    """Killed while it judges: the move counts once, and the next player gets a letter."""

    def prepare() -> tuple[Place, int, int]:
        places = apps.start_table(app, 3, bots=1)
        while not any(apps.list_moves(app, place) for place in places):
            bots.run()
            referee.run()
        mover, move = apps.find_move(app, places)
        length = apps.count_entries(app, mover)
        return mover, length, submitting.submit(app, mover, move, "once")

    for mover, before, number in every_step(app, redis_url, steps, prepare, lambda _: lambda _: referee.run()):
        recover(app, clock)
        assert apps.get_verdict(app, number).seq == before
        (entry,) = apps.load_entries(app, apps.load_table(app, mover.table), before, before + 1)
        assert entry.seat == mover.seat
        assert_sound(app, smtp_sink, mover)


def test_a_referee_with_many_tables(app: App, redis_url: str, steps: range, smtp_sink: Sink, clock: FakeTime) -> None:
    """Killed while it judges moves of several tables, two of them at one: each counts once, and in its order."""

    def prepare() -> list[tuple[Place, int, StoredSubmission]]:
        tables = [apps.start_table(app) for _ in range(3)]
        submitted = [
            (mover, apps.count_entries(app, mover), submitting.submit(app, mover, move, "once"))
            for mover, move in (apps.find_move(app, places) for places in tables)
        ]
        mover, before, _ = submitted[0]
        return [*submitted, (mover, before + 1, submitting.submit(app, mover, "resign", "later"))]

    for prepared in every_step(app, redis_url, steps, prepare, lambda _: lambda _: referee.run()):
        recover(app, clock)
        assert [apps.get_verdict(app, submitted).seq for _, _, submitted in prepared] == [seq for _, seq, _ in prepared]
        for mover, _, _ in prepared:
            assert_sound(app, smtp_sink, mover)


def test_the_last_one_sits_down(app: App, redis_url: str, steps: range, smtp_sink: Sink, clock: FakeTime) -> None:
    """Killed while the game starts: it starts, once."""

    def prepare() -> Place:
        first, second = apps.open_table(app)
        assert apps.submit(app, first, "sit word").accepted
        submitting.submit(app, second, "sit word", "sit")
        return first

    for place in every_step(app, redis_url, steps, prepare, lambda _: lambda _: referee.run()):
        recover(app, clock)
        entries = apps.load_entries(app, apps.load_table(app, place.table))
        assert [entry.move for entry in entries].count("start") == 1
        assert_sound(app, smtp_sink, place)


def test_a_postman(app: App, redis_url: str, steps: range, smtp_sink: Sink, clock: FakeTime) -> None:
    """Killed while it sends: every letter arrives, at most the one in hand twice."""

    def prepare() -> Place:
        smtp_sink.letters.clear()
        return apps.open_table(app)[0]

    for place in every_step(app, redis_url, steps, prepare, lambda _: lambda _: post.run()):
        recover(app, clock)
        assert_sound(app, smtp_sink, place)
        assert 2 <= len(smtp_sink.letters) <= 3


def test_a_clock(app: App, redis_url: str, steps: range, smtp_sink: Sink, clock: FakeTime) -> None:
    """Killed while it keeps a deadline: one clock makes one move for the late seat."""

    def prepare() -> tuple[Place, int]:
        mover, _ = apps.find_move(app, apps.start_table(app))
        post.run()
        clock.advance(DAY_S)
        return mover, apps.count_entries(app, mover)

    for mover, before in every_step(app, redis_url, steps, prepare, lambda _: tick):
        recover(app, clock)
        assert apps.count_entries(app, mover) == before + 1
        assert apps.load_entries(app, apps.load_table(app, mover.table), before)[0].seat is None
        assert_sound(app, smtp_sink, mover)
        assert apps.submit(app, mover, "resign").accepted  # so that this table's clock stops
        recover(app, clock)


def test_an_opening(app: App, redis_url: str, steps: range, smtp_sink: Sink, clock: FakeTime) -> None:
    """Killed while a table is opened: it is there with all its invitations, or there is no table."""
    checked = set[str]()
    for _ in every_step(app, redis_url, steps, lambda: None, lambda _: lambda app: apps.open_table(app, 3, bots=1)):
        recover(app, clock)
        with app.store.reading() as connection:
            opened = {table.id: table for table in connection.execute(select(tables))}
        for name in opened.keys() - checked:
            assert opened[name].length == 2
            assert_sound(app, smtp_sink, Place(name, None, ""))
            assert sum(name in str(letter["Message-ID"]) for letter in smtp_sink.letters) >= 2
        checked |= opened.keys()
