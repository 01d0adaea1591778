"""A person's verdict while a hundred tables wait for strong bots, and while the bots are held, in turns."""

import os
import signal
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from service.app import App
from service.benches import Measure, bench
from service.benches.verdict import Players
from service.settings import Settings
from service.tables import access, opening, submitting
from service.tables.opening import Invited
from tests.bench.stand import stand
from tests.bench.verdict import worker
from workers import bots, process_pool

WAITING, OPENED = 100, 200
TURNS, MOVES, WARM = 10, 30, 3
GUESTS = [Invited("Bot", level="strong"), Invited("Bot 2", level="strong"), Invited("Anna", who="person")]


@bench
def verdict_beside_bots_production() -> Iterator[Measure]:
    """Submit to verdict with PostgreSQL and Redis, and a process for the referee and one for bots that think."""
    with stand() as settings:
        app = App(settings)
        app.open()
        lay_tables(app)
        with worker(settings, "referee"), worker(settings, "bots") as thinking:
            yield from beside(app, thinking.pid, "PostgreSQL")
        app.close()


@bench
def verdict_beside_bots_embedded() -> Iterator[Measure]:
    """Submit to verdict in the embedded service, whose bots think in a process aside."""
    from service.commands.run import embedded

    with tempfile.TemporaryDirectory() as folder:
        app = App(Settings(folder=Path(folder)))
        app.open()
        with embedded(app):
            lay_tables(app)
            yield from beside(app, process_pool.list_pids()[0], "embedded")
        app.close()


def lay_tables(app: App) -> None:
    """Tables whose bots are on turn, and whose only person gets no letters."""
    for number in range(OPENED):
        opened = opening.open_table(app, "carcassonne", {}, GUESTS, key=f"{number}")
        place = access.find(app, opened.links[2])
        submitting.submit(app, place, "sit word")


def beside(app: App, thinking: int, where: str) -> Iterator[Measure]:
    """Persons' moves with bots that think and with bots that are held, so many by turns."""
    players, took = Players(app), dict[bool, list[float]]({True: [], False: []})
    for turn in range(2 * TURNS):
        held = turn % 2 == 0
        os.kill(thinking, signal.SIGSTOP if held else signal.SIGCONT)
        moves = [players.move() * 1_000 for _ in range(WARM + MOVES)]
        took[held] += moves[WARM:]
    os.kill(thinking, signal.SIGCONT)
    left = len({table for table, _ in bots.waiting(app)})
    if left < WAITING:
        raise AssertionError(f"Only {left} tables waited for a bot at the end.")
    for name, number in (("p50", 49), ("p90", 89)):
        alone, crowded = (statistics.quantiles(took[held], n=100)[number] for held in (True, False))
        what = f"submit to verdict while {WAITING} tables wait for bots, {where}, {name}"
        yield Measure(what, crowded, "ms", alone, at_most=True, source="alone")
