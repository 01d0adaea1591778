"""From handing a move in to hearing its verdict, one after the other."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from random import Random

from engine import menu as menus
from engine import table as tables
from service.app import App
from service.benches import Measure
from service.tables import access, opening, snapshots, submitting
from service.tables.access import Place
from service.tables.opening import Invited, NewTable

SUBMISSIONS = 300
P50_MS, P99_MS = 5.0, 20.0


def verdicts(app: App, where: str) -> Iterator[Measure]:
    """The median and the slowest but one in a hundred of many submissions."""
    players = Players(app)
    for _ in range(20):
        players.move()  # everything is loaded, every connection is open
    took = [players.move() * 1_000 for _ in range(SUBMISSIONS)]
    quantiles = statistics.quantiles(took, n=100)
    yield Measure(f"submit to verdict, {where}, p50", quantiles[49], "ms", P50_MS, at_most=True)
    yield Measure(f"submit to verdict, {where}, p99", quantiles[98], "ms", P99_MS, at_most=True)


class Players:
    """Three people who move at random, table after table."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._random = Random(1)  # noqa: S311  # no secret hangs on a measured game
        self._places = self._seated()

    def move(self) -> float:
        """How many seconds one of them waited for the verdict on a move."""
        place, move = self._next()
        begun = time.perf_counter()
        verdict = submitting.wait_for_verdict(self._app, submitting.submit(self._app, place, move), 10)
        took = time.perf_counter() - begun
        if verdict is None or not verdict.accepted:
            raise AssertionError(f"{move} was not accepted: {verdict}")
        return took

    def _next(self) -> tuple[Place, str]:
        with self._app.store.reading() as db:
            table = snapshots.load_table(self._app, db, self._places[0].table)
        if table.table.phase == "over":
            self._places = self._seated()
            return self._next()
        place = next(place for place in self._places if table.seats[place.seat or 0].open_since is not None)
        menu = tables.menu(table.game, table.table, place.seat or 0)
        return place, str(menus.pick(menu, self._random.randrange))

    def _seated(self) -> list[Place]:
        app = self._app
        guests = [Invited(name, f"{name.lower()}@example.org") for name in ("Anna", "Berta", "Clara")]
        new = NewTable(game="kaiser", chosen={}, guests=guests, clock=opening.make_clock(app, None))
        places = [access.find(app, link) for link in opening.open_table(app, new).links]
        for place in places:
            submitting.wait_for_verdict(app, submitting.submit(app, place, "sit word"), 10)
        return places
