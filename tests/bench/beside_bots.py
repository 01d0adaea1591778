"""A person's verdict while a hundred tables wait for strong bots, and while the bots are held, in turns."""

import os
import signal
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from service.benches import Measure, bench
from service.benches.verdict import Players
from service.house import House
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
        house = House(settings)
        house.open()
        lay_tables(house)
        with worker(settings, "referee"), worker(settings, "bots") as thinking:
            yield from beside(house, thinking.pid, "PostgreSQL")
        house.close()


@bench
def verdict_beside_bots_embedded() -> Iterator[Measure]:
    """Submit to verdict in the embedded service, whose bots think in a process aside."""
    from service.commands.run import embedded

    with tempfile.TemporaryDirectory() as folder:
        house = House(Settings(folder=Path(folder)))
        house.open()
        with embedded(house):
            lay_tables(house)
            yield from beside(house, process_pool.pids()[0], "embedded")
        house.close()


def lay_tables(house: House) -> None:
    """Tables whose bots are on turn, and whose only person gets no letters."""
    for number in range(OPENED):
        opened = opening.open_table(house, "carcassonne", {}, GUESTS, key=f"{number}")
        place = access.find(house, opened.links[2])
        submitting.submit(house, place, "sit word")


def beside(house: House, thinking: int, where: str) -> Iterator[Measure]:
    """Persons' moves with bots that think and with bots that are held, so many by turns."""
    players, took = Players(house), dict[bool, list[float]]({True: [], False: []})
    for turn in range(2 * TURNS):
        held = turn % 2 == 0
        os.kill(thinking, signal.SIGSTOP if held else signal.SIGCONT)
        moves = [players.move() * 1_000 for _ in range(WARM + MOVES)]
        took[held] += moves[WARM:]
    os.kill(thinking, signal.SIGCONT)
    left = len({table for table, _ in bots.waiting(house)})
    if left < WAITING:
        raise AssertionError(f"Only {left} tables waited for a bot at the end.")
    for name, number in (("p50", 49), ("p90", 89)):
        alone, crowded = (statistics.quantiles(took[held], n=100)[number] for held in (True, False))
        what = f"submit to verdict while {WAITING} tables wait for bots, {where}, {name}"
        yield Measure(what, crowded, "ms", alone, at_most=True, source="alone")
