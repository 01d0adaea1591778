"""Pages as a visitor gets them: how long the server takes, and how much travels."""

from __future__ import annotations

import contextlib
import re
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from engine import catalogue
from engine.log import Export
from service import create_app
from service.app import App
from service.benches import Measure, bench
from service.lru import Caches
from service.settings import Settings
from service.tables.history.archive import Archive
from service.text import samples
from service.web import warm_up

FIRST_KB, FIRST_MS, TABLE_MS, STEP_MS = 100.0, 100.0, 60.0, 30.0
LOOKS, STEPS, ENTRIES = 60, 200, 1_000
EVERYTHING = "inns_cathedrals traders_builders abbot river fairy".split()


@bench
def pages() -> Iterator[Measure]:
    """The first page with everything it loads, and the table of a finished game with all expansions."""
    warm_up()
    with _app() as app:
        visitor = Visitor(app)
        begun = time.perf_counter()
        size = visitor.visit("/")
        yield Measure("first page with all it loads", size / 1_000, "kB", FIRST_KB, at_most=True)
        yield Measure("first page, server, with all it loads", _since(begun), "ms", FIRST_MS, at_most=True)
        yield from _spread("first page, server", [visitor.measure("/") for _ in range(LOOKS)], FIRST_MS)
        path = _brought(app, _everything(4))
        yield Measure("finished Carcassonne, first look", visitor.measure(path), "ms", TABLE_MS, at_most=True)
        yield from _spread("finished Carcassonne", [visitor.measure(path) for _ in range(LOOKS)], TABLE_MS)
        cold = [_measure_uncached(app, visitor, path) for _ in range(LOOKS)]
        yield from _spread("finished Carcassonne, board drawn anew", cold, TABLE_MS)


@bench
def replay() -> Iterator[Measure]:
    """Steps to random positions of long games, and the first step when nothing is kept in memory."""
    for name, export in (("Kaiser", _finished("kaiser", 3, {"rounds": 12})), ("Carcassonne", _everything(6))):
        with _app() as app:
            visitor = Visitor(app)
            path, last, random = _brought(app, export), min(len(export.entries), ENTRIES) - 1, Random(1)  # noqa: S311
            visitor.measure("/")
            what = f"replay of {last + 1} entries, {name}"
            yield Measure(f"{what}, first", visitor.measure(f"{path}/replay?at={last}"), "ms", source="budget")
            steps = [visitor.measure(f"{path}/replay/frame?at={random.randrange(8, last)}") for _ in range(STEPS)]
            yield from _spread(what, steps, STEP_MS)


class Visitor:
    """A client that accepts compressed answers."""

    def __init__(self, app: App) -> None:
        self._client = create_app(app).test_client()

    def get(self, path: str) -> Any:
        answer = self._client.get(path, headers={"Accept-Encoding": "gzip"}, buffered=True)
        if answer.status_code != 200:
            raise AssertionError(f"{path} answered {answer.status}")
        return answer

    def measure(self, path: str) -> float:
        """How many milliseconds the server took."""
        begun = time.perf_counter()
        self.get(path)
        return _since(begun)

    def visit(self, path: str) -> int:
        """How many bytes a page is, with its pictures, styles and scripts."""
        answer = self.get(path)
        loaded = dict.fromkeys(re.findall(r'(?:src|<link[^>]* href)="(/[^"]+)"', answer.text))
        return len(answer.data) + sum(len(self.get(one.replace("&amp;", "&")).data) for one in loaded)


def _measure_uncached(app: App, visitor: Visitor, path: str) -> float:
    app.caches = Caches()
    return visitor.measure(path)


def _since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1_000


def _spread(what: str, took: Sequence[float], budget: float) -> Iterator[Measure]:
    yield Measure(f"{what}, p50", statistics.median(took), "ms", budget, at_most=True)
    yield Measure(f"{what}, p95", statistics.quantiles(took, n=20)[-1], "ms", budget, at_most=True)


@contextlib.contextmanager
def _app() -> Iterator[App]:
    with tempfile.TemporaryDirectory() as folder:
        app = App(Settings(folder=Path(folder)))
        app.open()
        yield app
        app.close()


def _finished(name: str, seats: int, chosen: dict[str, Any]) -> Export:
    sample = samples.start_sample(catalogue.find(name), seats, b"pages", chosen)
    deque(samples.play_randomly(sample, Random(3)), maxlen=0)  # noqa: S311  # no secret hangs on a measured game
    return sample.export()


def _everything(seats: int) -> Export:
    """The longest game of Carcassonne there is."""
    return _finished("carcassonne", seats, dict.fromkeys(EVERYTHING, "on"))


def _brought(app: App, export: Export) -> str:
    """The path of the first seat at a table that was imported."""
    return f"/t/{app.links.seat(Archive(app.store, app.links).import_(export), 0, 0)}"
