"""How the house behaves as the load grows, as workers are added, and as a game becomes long."""

import multiprocessing
import os
import queue
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from service.app import App
from service.benches import Measure, bench
from service.benches.verdict import Players
from service.settings import Settings
from service.tables.access import Place
from tests import apps
from tests.bench.drawing import DRAWN, Chart, Series
from tests.bench.stand import stand
from tests.bench.verdict import worker

PLAYERS = (1, 2, 4, 8, 16, 32)
REFEREES = (1, 2, 3, 4)
CROWDED = 16  # players at once, where workers are compared
SECONDS, CROWDS = 4.0, 2
LENGTHS = [int(number) for number in os.environ.get("BENCH_LENGTHS", "10 100 300 1000").split()]
MOVES = 60  # that a median is taken of


@contextmanager
def stage() -> Iterator[Settings]:
    """The same with a database in today's shape."""
    with stand() as settings:
        apps.migrate(settings.database)
        yield settings


@bench
def latency_under_load() -> Iterator[Measure]:
    """Submit to verdict while more and more people play at once, until more of them get no more moves through."""
    found = list[tuple[float, float, float]]()
    with stage() as settings, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(worker(settings, "referee"))
        for number in PLAYERS:
            took = load(settings, number)
            quantiles = statistics.quantiles(took, n=100)
            found.append((len(took) / SECONDS, 1_000 * quantiles[49], 1_000 * quantiles[98]))
            yield Measure(f"{number} players at once, accepted moves", found[-1][0], "/s")
            yield Measure(f"{number} players at once, verdict p50", found[-1][1], "ms")
            yield Measure(f"{number} players at once, verdict p99", found[-1][2], "ms")
    lines = [Series(name, tuple((one[0], one[at]) for one in found)) for at, name in ((1, "p50"), (2, "p99"))]
    DRAWN["latency"] = Chart("Latency against load, up to saturation", "accepted moves a second", "ms", tuple(lines))


@bench
def throughput_by_workers() -> Iterator[Measure]:
    """Accepted moves a second with one worker, two, and more, for the same number of players."""
    found = list[tuple[float, float]]()
    with stage() as settings, ExitStack() as stack:
        for number in REFEREES:
            stack.enter_context(worker(settings, "referee"))
            found.append((number, len(load(settings, CROWDED)) / SECONDS))
            yield Measure(f"{CROWDED} players at once, {number} referees", found[-1][1], "/s")
    DRAWN["workers"] = Chart("Throughput against workers", "referees", "moves/s", (Series("", tuple(found)),))


def load(settings: Settings, players: int) -> list[float]:
    """What each move of so many people took, who all play for some seconds, in a few processes."""
    context = multiprocessing.get_context("spawn")
    shares = [players // CROWDS + (number < players % CROWDS) for number in range(CROWDS)]
    shares = [share for share in shares if share]
    ready, told = context.Barrier(len(shares)), context.Queue()
    crowds = [context.Process(target=crowd, args=(settings, share, ready, told)) for share in shares]
    for one in crowds:
        one.start()
    took = [seconds for _ in crowds for seconds in told.get(timeout=300)]
    for one in crowds:
        one.join()
    return took


def crowd(settings: Settings, players: int, ready: Any, told: Any) -> None:
    """Some people, a thread each."""
    app, took = App(settings), queue.SimpleQueue[float]()
    seated = [Players(app) for _ in range(players)]
    ready.wait(120)
    end = time.monotonic() + SECONDS

    def play(one: Players) -> None:
        while time.monotonic() < end:
            took.put(one.move())

    threads = [threading.Thread(target=play, args=(one,)) for one in seated]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told.put([took.get() for _ in range(took.qsize())])
    app.close()


@bench
def cost_by_length() -> Iterator[Measure]:
    """What a move costs in a young game and in one that is long."""
    found = list[tuple[float, float]]()
    with stage() as settings, apps.run_app(settings, lambda: int(time.time())) as app:
        places = _long_game(app)
        length = apps.count_entries(app, places[0])
        for wanted in LENGTHS:
            while length < wanted:
                one(app, places)
                length += 1
            found.append((wanted, 1_000 * cost(app, places)))
            length = apps.count_entries(app, places[0])
            yield Measure(f"a move at length {wanted:,}", found[-1][1], "ms")
    yield Measure("at the greatest length, of the least", found[-1][1] / found[0][1], "times", 1.1, at_most=True)
    DRAWN["length"] = Chart("Cost of a move against length", "entries", "ms", (Series("", tuple(found)),), True)


def cost(app: App, places: list[Place]) -> float:
    """The median of some moves at this table, judged in this process, in seconds; finding the move is not counted."""
    return statistics.median(one(app, places) for _ in range(MOVES))


def one(app: App, places: list[Place]) -> float:
    place, move = apps.find_move(app, places)
    begun = time.perf_counter()
    assert apps.submit(app, place, move).accepted
    return time.perf_counter() - begun


def _long_game(app: App) -> list[Place]:
    from service.tables import access, opening
    from service.tables.opening import Invited

    guests = [Invited(name, f"{name.lower()}@example.org") for name in apps.NAMES[:3]]
    made = opening.open_table(app, "kaiser", {"rounds": 12}, guests)
    places = [access.find(app, link) for link in made.links]
    for place in places:
        assert apps.submit(app, place, "sit word").accepted
    return places
