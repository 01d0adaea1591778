"""kill -9 before every single step that a process takes: each SQL statement, each commit, each letter, each bell."""

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
from service.bells import Bells
from service.house import House
from service.settings import DAY, Settings
from service.store.schema import letters, tables
from service.tables import archive, snapshots, submitting, thinking
from service.tables.access import Place
from service.tables.submitting import Handed
from tests import houses
from tests.houses import Clock
from tests.servers import Sink
from workers import bots, referee
from workers.clock import tick
from workers.jobs import work_for
from workers.outgoing import pictures, post

Work = Callable[[House], object]


class Steps:
    """Counts the steps of this process, and dies before the one it is told."""

    def __init__(self, last: int) -> None:
        self._left = last

    def take(self, *_: Any, **__: Any) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1

    def before(self, owner: Any, name: str) -> None:
        """This is a step, and what follows it is the next."""
        done = getattr(owner, name)

        def stepped(*args: Any, **words: Any) -> Any:
            self.take()
            result = done(*args, **words)
            self.take()
            return result

        setattr(owner, name, stepped)


def doomed(chosen: Settings, now: int, relay: str, redis: str, work: Work, last: int) -> None:
    """Work in a new process until step `last`; exit with 0 if there are not so many."""
    steps = Steps(last)
    here = House(chosen, lambda: now, Redis.from_url(redis))
    here.relay = relay
    work_for(here)
    for moment in ("before_cursor_execute", "commit"):
        event.listen(here.store.engine, moment, steps.take)
    for name in ("ring", "answered", "wake"):
        steps.before(Bells, name)
    steps.before(smtplib.SMTP, "send_message")
    work(here)
    os._exit(0)


def dies_at(chosen: Settings, now: int, relay: str, redis: str, work: Work, last: int) -> bool:
    process = multiprocessing.get_context("fork").Process(
        target=doomed, args=(chosen, now, relay, redis, work, last), daemon=True
    )
    process.start()
    process.join(30)
    assert process.exitcode in (0, -signal.SIGKILL)
    died = process.exitcode != 0
    process.close()
    return died


def first_move(game: str, state: Any, seat: int) -> Move:
    return next(iter(menus.moves(catalogue.find(game).menu(state, seat))))


@pytest.fixture
def here(
    tmp_path: Path,
    laid_url: str,
    redis_url: str,
    smtp_sink: Sink,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[House]:
    """The house as a second process sees it, which nobody kills; quick, without thoughts and without pictures."""
    monkeypatch.setattr(pictures, "png", lambda svg: b"")
    monkeypatch.setattr(thinking, "think", lambda game, edition, state, seat, *_: first_move(game, state, seat))
    chosen = replace(houses.settings(tmp_path, laid_url), pace=DAY)
    with Redis.from_url(redis_url) as redis, houses.standing(chosen, clock, redis) as here:
        here.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
        yield here


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.soak)], ids=["some", "all"])
def steps(request: pytest.FixtureRequest, here: House) -> range:
    """Before which steps to die: every fifth one, each on SQLite or on PostgreSQL; a soak tries all on both."""
    if request.param:
        return range(200)
    return range(5 * int(here.store.engine.name == "postgresql"), 200, 10)


def every_step(
    here: House, redis: str, steps: range, prepare: Callable[[], Any], work: Callable[[Any], Work]
) -> Iterator[Any]:
    """Do this work again and again on something newly prepared, each time killed later than before."""
    for last in steps:
        prepared = prepare()
        here.store.engine.dispose()  # a child must not share our connections
        died = dies_at(here.settings, here.now(), here.relay, redis, work(prepared), last)
        yield prepared
        if not died:
            assert last > 3, "no step was seen"
            return
    raise AssertionError("this work never ends")


def recover(here: House, clock: Clock) -> None:
    """What the other processes do after one has died."""
    clock.move(here.settings.lease)
    here.redis.flushall()
    tick(here)
    referee.hear()
    bots.move()
    referee.hear()
    post.deliver()


def all_is_well(here: House, sink: Sink, place: Place) -> None:
    """The log is sound; every letter of this table is sent, none was made up."""
    look = snapshots.look(here, place.table)
    report = audits.audit(look.game, archive.export_for(here, place))
    assert report.finding is None
    assert report.entries == look.row.length
    with here.store.reading() as connection:
        rows = connection.execute(select(letters).where(letters.c.table == place.table)).all()
    assert {row.outcome for row in rows} <= {"sent", "overtaken"}
    arrived = {str(letter["Message-ID"]) for letter in sink.letters if place.table in str(letter["Message-ID"])}
    assert len(arrived) >= sum(row.outcome == "sent" for row in rows)
    assert len(arrived) <= len(rows)


def test_a_web_process(here: House, redis_url: str, steps: range, smtp_sink: Sink, clock: Clock) -> None:
    """Killed while it takes a move: repeated with the same key it is one move, whatever had become of it."""

    def prepare() -> tuple[Place, str]:
        return houses.on_turn(here, houses.seated(here))

    def work(prepared: tuple[Place, str]) -> Work:
        return lambda house: submitting.verdict(house, submitting.submit(house, *prepared, "once"), 0.0)

    for mover, move in every_step(here, redis_url, steps, prepare, work):
        before = snapshots.look(here, mover.table).row.length
        number = submitting.submit(here, mover, move, "once")
        recover(here, clock)
        assert houses.verdict(here, number).seq == before
        assert houses.length(here, mover) == before + 1
        all_is_well(here, smtp_sink, mover)


def test_a_referee(here: House, redis_url: str, steps: range, smtp_sink: Sink, clock: Clock) -> None:
    """Killed while it judges: the move counts once, and the next player gets a letter."""

    def prepare() -> tuple[Place, int, int]:
        places = houses.seated(here, 3, bots=1)
        while not any(houses.moves(here, place) for place in places):
            bots.move()
            referee.hear()
        mover, move = houses.on_turn(here, places)
        length = houses.length(here, mover)
        return mover, length, submitting.submit(here, mover, move, "once")

    for mover, before, number in every_step(here, redis_url, steps, prepare, lambda _: lambda _: referee.hear()):
        recover(here, clock)
        assert houses.verdict(here, number).seq == before
        (entry,) = snapshots.entries(here, snapshots.look(here, mover.table), before, before + 1)
        assert entry.seat == mover.seat
        all_is_well(here, smtp_sink, mover)


def test_a_referee_with_many_tables(here: House, redis_url: str, steps: range, smtp_sink: Sink, clock: Clock) -> None:
    """Killed while it judges moves of several tables, two of them at one: each counts once, and in its order."""

    def prepare() -> list[tuple[Place, int, Handed]]:
        tables = [houses.seated(here) for _ in range(3)]
        handed = [
            (mover, houses.length(here, mover), submitting.submit(here, mover, move, "once"))
            for mover, move in (houses.on_turn(here, places) for places in tables)
        ]
        mover, before, _ = handed[0]
        return [*handed, (mover, before + 1, submitting.submit(here, mover, "resign", "later"))]

    for prepared in every_step(here, redis_url, steps, prepare, lambda _: lambda _: referee.hear()):
        recover(here, clock)
        assert [houses.verdict(here, handed).seq for _, _, handed in prepared] == [seq for _, seq, _ in prepared]
        for mover, _, _ in prepared:
            all_is_well(here, smtp_sink, mover)


def test_the_last_one_sits_down(here: House, redis_url: str, steps: range, smtp_sink: Sink, clock: Clock) -> None:
    """Killed while the game starts: it starts, once."""

    def prepare() -> Place:
        first, second = houses.opened(here)
        assert houses.judged(here, first, "sit word").accepted
        submitting.submit(here, second, "sit word", "sit")
        return first

    for place in every_step(here, redis_url, steps, prepare, lambda _: lambda _: referee.hear()):
        recover(here, clock)
        entries = snapshots.entries(here, snapshots.look(here, place.table))
        assert [entry.move for entry in entries].count("start") == 1
        all_is_well(here, smtp_sink, place)


def test_a_postman(here: House, redis_url: str, steps: range, smtp_sink: Sink, clock: Clock) -> None:
    """Killed while it sends: every letter arrives, at most the one in hand twice."""

    def prepare() -> Place:
        smtp_sink.letters.clear()
        return houses.opened(here)[0]

    for place in every_step(here, redis_url, steps, prepare, lambda _: lambda _: post.deliver()):
        recover(here, clock)
        all_is_well(here, smtp_sink, place)
        assert 2 <= len(smtp_sink.letters) <= 3


def test_a_clock(here: House, redis_url: str, steps: range, smtp_sink: Sink, clock: Clock) -> None:
    """Killed while it keeps a deadline: one stand-in's move is made, by whichever clock."""

    def prepare() -> tuple[Place, int]:
        mover, _ = houses.on_turn(here, houses.seated(here))
        post.deliver()
        clock.move(DAY)
        return mover, houses.length(here, mover)

    for mover, before in every_step(here, redis_url, steps, prepare, lambda _: tick):
        recover(here, clock)
        assert houses.length(here, mover) == before + 1
        assert snapshots.entries(here, snapshots.look(here, mover.table), before)[0].seat is None
        all_is_well(here, smtp_sink, mover)
        assert houses.judged(here, mover, "resign").accepted  # so that this table's clock stands still
        recover(here, clock)


def test_an_opening(here: House, redis_url: str, steps: range, smtp_sink: Sink, clock: Clock) -> None:
    """Killed while a table is opened: it is there with all its invitations, or not at all."""
    looked_at = set[str]()
    for _ in every_step(here, redis_url, steps, lambda: None, lambda _: lambda house: houses.opened(house, 3, bots=1)):
        recover(here, clock)
        with here.store.reading() as connection:
            found = {table.id: table for table in connection.execute(select(tables))}
        for name in found.keys() - looked_at:
            assert found[name].length == 2
            all_is_well(here, smtp_sink, Place(name, None, ""))
            assert sum(name in str(letter["Message-ID"]) for letter in smtp_sink.letters) >= 2
        looked_at |= found.keys()
