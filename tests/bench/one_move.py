"""The costs of one move for the referee and the database: statements, round trips, and processor time of both."""

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
from service.commands.benches import Measure, register_bench
from service.tables import submitting
from tests import servers
from tests.bench.bench_servers import make_settings
from tests.bench.moves import Game, start_game
from workers import referee
from workers.jobs import set_app

TABLES, ROUNDS, WARM_UP_ROUNDS = 32, 12, 3


class Counts:
    """The counts of judged moves, with seconds of processor time."""

    def __init__(self) -> None:
        self.moves = self.statements = self.trips = 0
        self.referee_s = self.database_s = self.submit_s = 0.0


@register_bench
def one_move() -> Iterator[Measure]:
    """The costs of judging a move, with many tables waiting and with one table at a time."""
    with servers.postgres_server(durable=True) as database, servers.redis_server() as redis:
        for what, at_once in (("when many wait", TABLES), ("when it comes alone", 1)):
            with servers.fresh_database(database, f"one_{at_once}") as own:
                counts = count_costs(own, redis, at_once)
            yield Measure(f"statements of a move {what}", counts.statements / counts.moves, "")
            yield Measure(f"round trips of a move {what}", counts.trips / counts.moves, "")
            yield Measure(f"referee's CPU for a move {what}", 1_000 * counts.referee_s / counts.moves, "ms")
            yield Measure(f"PostgreSQL's CPU for a move {what}", 1_000 * counts.database_s / counts.moves, "ms")
            yield Measure("CPU of both for handing it in", 1_000 * counts.submit_s / counts.moves, "ms")


def count_costs(database: str, redis: str, at_once: int) -> Counts:
    """Judge the same moves at the same tables, so many at once, and count their costs."""
    with tempfile.TemporaryDirectory() as folder:
        app = App(make_settings(Path(folder), database, redis))
        app.open()
        set_app(app)
        games = [start_game(app, number, ROUNDS, referee.run) for number in range(TABLES)]
        counts = Counts()
        for number in range(ROUNDS):
            for first in range(0, TABLES, at_once):
                judge(app, [game[number] for game in games[first : first + at_once]], counts, number >= WARM_UP_ROUNDS)
        app.close()
    return counts


def judge(app: App, moves: Game, counts: Counts, is_counted: bool) -> None:
    before = time.process_time() + database_seconds(app)
    numbers = [submitting.submit(app, *move) for move in moves]
    counts.submit_s += (time.process_time() + database_seconds(app) - before) if is_counted else 0
    with counting(app, counts) if is_counted else counting(app, Counts()):
        referee.run()
    accepted = [submitting.wait_for_verdict(app, number) for number in numbers]
    if not all(one and one.accepted for one in accepted):
        raise AssertionError("a legal move was not accepted")
    counts.moves += len(moves) if is_counted else 0


@contextmanager
def counting(app: App, counts: Counts) -> Iterator[None]:
    """Count statements, waits for the database, and the time of both processors."""
    gc.collect()
    wait = psycopg.Connection.wait

    def count_trip(self: Any, *args: Any, **words: Any) -> Any:
        counts.trips += 1
        return wait(self, *args, **words)

    def count_statement(*_: Any) -> None:
        counts.statements += 1

    event.listen(app.store.engine, "before_cursor_execute", count_statement)
    referee_start, database_start = time.process_time(), database_seconds(app)
    with mock.patch.object(psycopg.Connection, "wait", count_trip):
        yield
    counts.referee_s += time.process_time() - referee_start
    counts.database_s += database_seconds(app) - database_start
    event.remove(app.store.engine, "before_cursor_execute", count_statement)


BACKENDS_SQL = "select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'"


def database_seconds(app: App) -> float:
    """Return the processor time of the database's client processes; its vacuum is not among them."""
    with app.store.reading() as connection:
        rows = connection.exec_driver_sql(BACKENDS_SQL).all()
    return sum(read_cpu_seconds(row.pid) for row in rows)


def read_cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/schedstat").read_text().split()
    return int(fields[0]) / 1e9
