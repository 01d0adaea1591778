"""What one move costs the referee and its database: statements, round trips, and seconds of either's processor."""

import gc
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
from sqlalchemy import event

from service.app import App
from service.benches import Measure, bench
from service.tables import submitting
from tests import servers
from tests.bench.moves import Game, begun
from tests.bench.stand import unlimited
from workers import referee
from workers.jobs import work_for

TABLES, ROUNDS, WARM = 32, 12, 3


class Counts:
    """What was counted while moves were judged."""

    def __init__(self) -> None:
        self.moves = self.statements = self.trips = 0
        self.ours = self.theirs = self.handing = 0.0


@bench
def one_move() -> Iterator[Measure]:
    """The referee alone, many tables waiting, and one table at a time: what a move costs, apart from handing it in."""
    with servers.postgres_server(durable=True) as database, servers.redis_server() as redis:
        for what, at_once in (("when many wait", TABLES), ("when it comes alone", 1)):
            with servers.fresh_database(database, f"one_{at_once}") as own:
                counts = counted(own, redis, at_once)
            yield Measure(f"statements of a move {what}", counts.statements / counts.moves, "")
            yield Measure(f"round trips of a move {what}", counts.trips / counts.moves, "")
            yield Measure(f"referee's CPU for a move {what}", 1_000 * counts.ours / counts.moves, "ms")
            yield Measure(f"PostgreSQL's CPU for a move {what}", 1_000 * counts.theirs / counts.moves, "ms")
            yield Measure("CPU of both for handing it in", 1_000 * counts.handing / counts.moves, "ms")


def counted(database: str, redis: str, at_once: int) -> Counts:
    """Judge the same moves at the same tables, so many at once."""
    with tempfile.TemporaryDirectory() as folder:
        app = App(unlimited(Path(folder), database, redis))
        app.open()
        work_for(app)
        games = [begun(app, number, ROUNDS, referee.run) for number in range(TABLES)]
        counts = Counts()
        for number in range(ROUNDS):
            for first in range(0, TABLES, at_once):
                judge(app, [game[number] for game in games[first : first + at_once]], counts, number >= WARM)
        app.close()
    return counts


def judge(app: App, moves: Game, counts: Counts, counts_now: bool) -> None:
    before = time.process_time() + backends(app)
    numbers = [submitting.submit(app, *move) for move in moves]
    counts.handing += (time.process_time() + backends(app) - before) if counts_now else 0
    with counting(app, counts) if counts_now else counting(app, Counts()):
        referee.run()
    accepted = [submitting.verdict(app, number) for number in numbers]
    if not all(one and one.accepted for one in accepted):
        raise AssertionError("a move known to be legal was not accepted")
    counts.moves += len(moves) if counts_now else 0


@contextmanager
def counting(app: App, counts: Counts) -> Iterator[None]:
    """Count statements, waits for the database, and the time of both processors."""
    gc.collect()
    wait = psycopg.Connection.wait

    def waited(self: Any, *args: Any, **words: Any) -> Any:
        counts.trips += 1
        return wait(self, *args, **words)

    def stated(*_: Any) -> None:
        counts.statements += 1

    event.listen(app.store.engine, "before_cursor_execute", stated)
    before, theirs = time.process_time(), backends(app)
    with mock.patch.object(psycopg.Connection, "wait", waited):
        yield
    counts.ours += time.process_time() - before
    counts.theirs += backends(app) - theirs
    event.remove(app.store.engine, "before_cursor_execute", stated)


OURS = "select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'"


def backends(app: App) -> float:
    """Seconds of the processor that the database's processes for us have taken; its vacuum comes and goes by itself."""
    with app.store.reading() as connection:
        found = connection.exec_driver_sql(OURS).all()
    return sum(map(taken, (row.pid for row in found)))


def taken(process: int) -> float:
    fields = Path(f"/proc/{process}/schedstat").read_text().split()
    return int(fields[0]) / 1e9
