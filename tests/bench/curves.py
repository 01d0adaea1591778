"""Charts of the service under growing load, with more workers, and in longer games."""

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
from service.commands.benches import Measure, Players, register_bench
from service.settings import Settings
from service.tables.access import Place
from tests import apps
from tests.bench.bench_servers import start_servers
from tests.bench.chart_svg import CHARTS, Chart, Series
from tests.bench.verdict import run_worker

PLAYERS = (1, 2, 4, 8, 16, 32)
REFEREES = (1, 2, 3, 4)
FULL_LOAD = 16  # players at once while numbers of workers are compared
LOAD_S, CROWDS = 4.0, 2
LENGTHS = [int(number) for number in os.environ.get("BENCH_LENGTHS", "10 100 300 1000").split()]
MOVES = 60  # of one median


@contextmanager
def migrated_servers() -> Iterator[Settings]:
    """Start PostgreSQL and Redis with a migrated database; yield settings that name them."""
    with start_servers() as settings:
        apps.migrate(settings.database)
        yield settings


@register_bench
def latency_under_load() -> Iterator[Measure]:
    """The time from submission to verdict while more and more people play at once, up to saturation."""
    points = list[tuple[float, float, float]]()
    with migrated_servers() as settings, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(run_worker(settings, "referee"))
        for number in PLAYERS:
            took = load(settings, number)
            quantiles = statistics.quantiles(took, n=100)
            points.append((len(took) / LOAD_S, 1_000 * quantiles[49], 1_000 * quantiles[98]))
            yield Measure(f"{number} players at once, accepted moves", points[-1][0], "/s")
            yield Measure(f"{number} players at once, verdict p50", points[-1][1], "ms")
            yield Measure(f"{number} players at once, verdict p99", points[-1][2], "ms")
    lines = [Series(name, tuple((one[0], one[at]) for one in points)) for at, name in ((1, "p50"), (2, "p99"))]
    CHARTS["latency"] = Chart("Latency against load, up to saturation", "accepted moves a second", "ms", tuple(lines))


@register_bench
def throughput_by_workers() -> Iterator[Measure]:
    """Accepted moves per second with one worker, two, and more, and the same number of players."""
    points = list[tuple[float, float]]()
    with migrated_servers() as settings, ExitStack() as stack:
        for number in REFEREES:
            stack.enter_context(run_worker(settings, "referee"))
            points.append((number, len(load(settings, FULL_LOAD)) / LOAD_S))
            yield Measure(f"{FULL_LOAD} players at once, {number} referees", points[-1][1], "/s")
    CHARTS["workers"] = Chart("Throughput against workers", "referees", "moves/s", (Series("", tuple(points)),))


def load(settings: Settings, players: int) -> list[float]:
    """Let so many people play for LOAD_S seconds in a few processes; return the seconds of each move."""
    context = multiprocessing.get_context("spawn")
    shares = [players // CROWDS + (number < players % CROWDS) for number in range(CROWDS)]
    shares = [share for share in shares if share]
    ready, results = context.Barrier(len(shares)), context.Queue()
    crowds = [context.Process(target=play_crowd, args=(settings, share, ready, results)) for share in shares]
    for one in crowds:
        one.start()
    took = [seconds for _ in crowds for seconds in results.get(timeout=300)]
    for one in crowds:
        one.join()
    return took


def play_crowd(settings: Settings, players: int, ready: Any, results: Any) -> None:
    """Let some people play, each in a thread, and put the seconds of their moves into `results`."""
    app, took = App(settings), queue.SimpleQueue[float]()
    people = [Players(app) for _ in range(players)]
    ready.wait(120)
    end = time.monotonic() + LOAD_S

    def play(one: Players) -> None:
        while time.monotonic() < end:
            took.put(one.move())

    threads = [threading.Thread(target=play, args=(one,)) for one in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put([took.get() for _ in range(took.qsize())])
    app.close()


@register_bench
def cost_by_length() -> Iterator[Measure]:
    """The time of a move in a short log and in a long one."""
    points = list[tuple[float, float]]()
    with migrated_servers() as settings, apps.run_app(settings, lambda: int(time.time())) as app:
        places = _start_long_game(app)
        length = apps.count_entries(app, places[0])
        for target in LENGTHS:
            while length < target:
                time_move(app, places)
                length += 1
            points.append((target, 1_000 * measure_move(app, places)))
            length = apps.count_entries(app, places[0])
            yield Measure(f"a move at length {target:,}", points[-1][1], "ms")
    yield Measure("at the greatest length, of the least", points[-1][1] / points[0][1], "times", 1.1, at_most=True)
    CHARTS["length"] = Chart("Cost of a move against length", "entries", "ms", (Series("", tuple(points)),), True)


def measure_move(app: App, places: list[Place]) -> float:
    """Return the median seconds of some moves at this table, without the time to find them."""
    return statistics.median(time_move(app, places) for _ in range(MOVES))


def time_move(app: App, places: list[Place]) -> float:
    place, move = apps.find_move(app, places)
    start = time.perf_counter()
    assert apps.submit(app, place, move).accepted
    return time.perf_counter() - start


def _start_long_game(app: App) -> list[Place]:
    from service.tables import access
    from service.tables.opening import Invitee

    guests = [Invitee(name, f"{name.lower()}@example.org") for name in apps.NAMES[:3]]
    opened = apps.open_new(app, "kaiser", {"rounds": 12}, guests)
    places = [access.find(app, link) for link in opened.links]
    for place in places:
        assert apps.submit(app, place, "sit word").accepted
    return places
