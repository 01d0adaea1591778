"""The time to a person's verdict while a hundred tables wait for bots, and while the bots are stopped, in turns."""

import os
import signal
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from service.app import App
from service.commands.benches import Measure, Players, register_bench
from service.settings import Settings
from service.tables import access, submitting
from service.tables.opening import Invitee
from tests import apps
from tests.bench.bench_servers import start_servers
from tests.bench.verdict import run_worker
from workers import bots, process_pool

MIN_WAITING_TABLES, OPENED_TABLES = 100, 200
TURNS, MOVES, WARM = 10, 30, 3
GUESTS = [Invitee("Bot", level="strong"), Invitee("Bot 2", level="strong"), Invitee("Anna", who="person")]


@register_bench
def verdict_beside_bots_production() -> Iterator[Measure]:
    """The time from submission to verdict with PostgreSQL and Redis, a process for the referee and one for the bots."""
    with start_servers() as settings:
        app = App(settings)
        app.open()
        open_tables(app)
        with run_worker(settings, "referee"), run_worker(settings, "bots") as thinking:
            yield from compare(app, thinking.pid, "PostgreSQL")
        app.close()


@register_bench
def verdict_beside_bots_embedded() -> Iterator[Measure]:
    """The time from submission to verdict in the embedded service, whose bots think in a separate process."""
    from workers.processes import run_embedded

    with tempfile.TemporaryDirectory() as folder:
        app = App(Settings(folder=Path(folder)))
        app.open()
        with run_embedded(app):
            open_tables(app)
            yield from compare(app, process_pool.list_pids()[0], "embedded")
        app.close()


def open_tables(app: App) -> None:
    """Open tables whose bots are on turn."""
    for number in range(OPENED_TABLES):
        opened = apps.open_new(app, "carcassonne", {}, GUESTS, key=f"{number}")
        place = access.find(app, opened.links[2])
        submitting.submit(app, place, "sit word")


def compare(app: App, thinking: int, where: str) -> Iterator[Measure]:
    """Measure a person's moves with bots that think and with bots that are stopped, in turns."""
    players, took = Players(app), dict[bool, list[float]]({True: [], False: []})
    for turn in range(2 * TURNS):
        stopped = turn % 2 == 0
        os.kill(thinking, signal.SIGSTOP if stopped else signal.SIGCONT)
        moves = [players.move() * 1_000 for _ in range(WARM + MOVES)]
        took[stopped] += moves[WARM:]
    os.kill(thinking, signal.SIGCONT)
    left = len({task.table for task in apps.run_query(app, bots.list_bot_tasks, app.now())})
    if left < MIN_WAITING_TABLES:
        raise AssertionError(f"Only {left} tables waited for a bot at the end.")
    for name, number in (("p50", 49), ("p90", 89)):
        alone, crowded = (statistics.quantiles(took[stopped], n=100)[number] for stopped in (True, False))
        what = f"submit to verdict while {MIN_WAITING_TABLES} tables wait for bots, {where}, {name}"
        yield Measure(what, crowded, "ms", alone, at_most=True, source="alone")
