"""Measurements beside the budgets they have to keep: of the engine alone, of pages, and of a verdict on a move.

In a checkout the modules of `tests/bench` register more with `@register_bench`; these start servers of their own.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import pkgutil
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from engine import audit as audits
from engine import canonical_json, catalogue, log, record
from engine import menu as menus
from engine import table as tables
from engine.canonical_json import make_decoder
from engine.game import Game
from engine.log import Export
from service import create_app
from service.app import App
from service.commands import playout
from service.memory import Caches, collect_from_now_on
from service.settings import Settings
from service.tables import access, opening, snapshots, submitting
from service.tables.access import Place
from service.tables.history.replays import Archive
from service.tables.opening import Invitee, NewTable
from service.text import lessons
from service.text.lessons import Sample
from service.web import warm_up


class Measure(Struct, frozen=True):
    """A figure, and the `budget` that it is compared with; None if there is none.

    With `at_most`, lower figures are better. The `source` of the budget is “budget” if it has to be kept, or “peer” if
    it is what another program reaches, and is only shown.
    """

    what: str
    value: float
    unit: str
    budget: float | None = None
    at_most: bool = False
    source: str = "budget"

    @property
    def ratio(self) -> float | None:
        """How good the figure is, compared with the budget: 1 is as good, 2 twice as good; None without a budget."""
        if self.budget is None:
            return None
        return self.budget / max(self.value, 1e-12) if self.at_most else self.value / self.budget

    @property
    def meets_budget(self) -> bool:
        """Whether the figure is as good as its budget; true if it has none, or is compared with a peer."""
        if self.ratio is None or self.source != "budget":
            return True
        return self.ratio >= 1


Bench = Callable[[], Iterable[Measure]]
BENCHES: dict[str, Bench] = {}


def register_bench(function: Bench) -> Bench:
    """Register a function that measures something; its name is what `depesche bench NAME` runs alone."""
    BENCHES[function.__name__] = function
    return function


def find_benches() -> dict[str, Bench]:
    """Return all benches by name: those of this module and, in a checkout, those that start servers of their own."""
    with suppress(ModuleNotFoundError):
        for module in pkgutil.iter_modules(importlib.import_module("tests.bench").__path__):
            importlib.import_module(f"tests.bench.{module.name}")
    return BENCHES


ENTRIES, REBUILT_GAMES, AUDITED_GAMES = 1_000, 9, 12
REBUILT_MS = 10.0
AUDIT_ENTRIES_A_S = 20_000.0
PEER_MOVES_A_S = 7_000.0  # that the fastest peer reaches in memory, without a log or events
CARCASSONNE_GAMES_A_S = 300.0  # of two players
GAMES_S = 2.0  # how long games are played for each number of seats


@register_bench
def rebuild() -> Iterator[Measure]:
    """Rebuild the position of a long log from its stored bytes, without a cache."""
    game = catalogue.find("kaiser")
    logs = [[canonical_json.encode(entry) for entry in play_long_game(game, number)] for number in range(REBUILT_GAMES)]
    milliseconds = [1_000 * _measure_seconds(_rebuild, game, stored) for stored in logs]
    yield Measure("rebuild a 1,000-entry game, cold", statistics.median(milliseconds), "ms", REBUILT_MS, at_most=True)


def play_long_game(game: Game, number: int) -> Sequence[Any]:
    """Return the first 1,000 entries of a game of many rounds, played at random; the same for the same number."""
    random = Random(number)  # noqa: S311  # no secret hangs on a measured game
    sample = lessons.start_sample(game, 3, b"bench" + bytes([number]), {"rounds": 12})
    for _ in lessons.play_randomly(sample, random):
        if len(sample.entries) == ENTRIES:
            return sample.entries
    raise AssertionError("a game of twelve rounds is longer than this")


def _rebuild(game: Game, stored: Sequence[bytes]) -> record.Table:
    return record.fold(game, map(log.make_entry_decoder(game).decode, stored))


@register_bench
def audit() -> Iterator[Measure]:
    """Every check of finished logs, from the bytes of their files."""
    game = catalogue.find("kaiser")
    files = [msgspec.json.encode(_play_short_game(game, number)) for number in range(AUDITED_GAMES)]
    rates = []
    for file in files:
        export = make_decoder(Export).decode(file)
        rates.append(len(export.entries) / _measure_seconds(_audit, game, file))
    yield Measure("audit of an archive, Kaiser", statistics.median(rates), "entries/s", AUDIT_ENTRIES_A_S)


def _play_short_game(game: Game, number: int) -> Export:
    """Play a game at random with two to four players, the same for the same number."""
    sample = lessons.start_sample(game, 2 + number % 3, b"archive" + bytes([number]))
    return _play_to_end(sample, Random(number))  # noqa: S311  # no secret hangs on a measured game


def _play_to_end(sample: Sample, random: Random) -> Export:
    """Play the rest of a game at random, and return its log."""
    for _ in lessons.play_randomly(sample, random):
        pass
    return sample.export()


def _audit(game: Game, file: bytes) -> None:
    """Audit the file of a log that was just made; an error means that the audit itself is wrong."""
    report = audits.audit(game, make_decoder(Export).decode(file))
    if report.finding or report.replayed != report.entries:
        raise AssertionError(f"a fresh log was found wrong: {report}")


@register_bench
def games() -> Iterator[Measure]:
    """Random games through menu and play, as many as fit into two seconds for every game and seat count."""
    for name, game in catalogue.find_all().items():
        for seats in game.META.seats:
            if not game.objection(game.META.options(), seats):
                yield from _measure_games(name, game, seats)


def _measure_games(name: str, game: Game, seats: int) -> Iterator[Measure]:
    """Play games for GAMES_S with this number of seats; raise AssertionError if one breaks a promise."""
    table, played = playout.PlayoutTable(game, game.META.options(), seats), list[playout.PlayedGame]()
    for number in count():
        played_game = playout.run(table, f"bench-{number}")
        if played_game.broken:
            raise AssertionError(f"{name}, {seats} seats, seed bench-{number}: {played_game.broken}")
        played.append(played_game)
        if sum(one.seconds for one in played) >= GAMES_S:
            break
    figures = playout.summarize(table, "bench", played)
    budget = CARCASSONNE_GAMES_A_S if (name, seats) == ("carcassonne", 2) else None
    yield Measure(f"random games of {name}, {seats} seats", figures["games_per_second"], "games/s", budget)
    yield Measure(
        f"their moves, {name}, {seats} seats", figures["moves_per_second"], "moves/s", PEER_MOVES_A_S, source="peer"
    )


def _measure_seconds(work: Callable[..., object], *args: object) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    work(*args)
    return time.perf_counter() - start


FIRST_KB, FIRST_MS, TABLE_MS, STEP_MS = 100.0, 100.0, 60.0, 30.0
VISITS, STEPS, REPLAYED_ENTRIES = 60, 200, 1_000
FIRST_MOVE = 8  # of six players: the entries before it open the table, seat the players and start the game
LONGEST_GAME_OPTIONS = "inns_cathedrals traders_builders abbot river fairy".split()


@register_bench
def pages() -> Iterator[Measure]:
    """The first page with everything it loads, and the table of a finished game with all expansions."""
    warm_up()
    collect_from_now_on()  # as a server does when it is warm
    with _temporary_app() as app:
        visitor = Visitor(app)
        start = time.perf_counter()
        size = visitor.visit("/")
        yield Measure("first page with all it loads", size / 1_000, "kB", FIRST_KB, at_most=True)
        yield Measure("first page, server, with all it loads", _count_ms_since(start), "ms", FIRST_MS, at_most=True)
        yield from _summarize("first page, server", [visitor.measure("/") for _ in range(VISITS)], FIRST_MS)
        path = _import_game(app, _play_longest_game(4))
        yield Measure("finished Carcassonne, first look", visitor.measure(path), "ms", TABLE_MS, at_most=True)
        yield from _summarize("finished Carcassonne", [visitor.measure(path) for _ in range(VISITS)], TABLE_MS)
        cold = [_measure_uncached(app, visitor, f"{path}?new") for _ in range(VISITS)]
        yield from _summarize("finished Carcassonne, board not cached", cold, TABLE_MS)


@register_bench
def replay() -> Iterator[Measure]:
    """Steps to random positions of long games, and the first step when nothing is kept in memory."""
    exports = {"Kaiser": _play_game("kaiser", 3, {"rounds": 12}), "Carcassonne": _play_longest_game(6)}
    for name, export in exports.items():
        with _temporary_app() as app:
            visitor = Visitor(app)
            path = _import_game(app, export)
            last = min(len(export.entries), REPLAYED_ENTRIES) - 1
            random = Random(1)  # noqa: S311  # no secret hangs on a measured game
            visitor.measure("/")  # loads what every page needs
            what = f"replay of {last + 1} entries, {name}"
            yield Measure(f"{what}, first", visitor.measure(f"{path}/replay?at={last}"), "ms")
            steps = [
                visitor.measure(f"{path}/replay/frame?at={random.randrange(FIRST_MOVE, last)}") for _ in range(STEPS)
            ]
            yield from _summarize(what, steps, STEP_MS)


class Visitor:
    """A client that accepts compressed answers."""

    def __init__(self, app: App) -> None:
        self._client = create_app(app).test_client()

    def get(self, path: str) -> Any:
        """Request a page as a browser does; raise an error if it does not answer 200."""
        answer = self._client.get(path, headers={"Accept-Encoding": "gzip"}, buffered=True)
        if answer.status_code != 200:
            raise AssertionError(f"{path} answered {answer.status}")
        return answer

    def measure(self, path: str) -> float:
        """Request a page, and return how many milliseconds the server took."""
        start = time.perf_counter()
        self.get(path)
        return _count_ms_since(start)

    def visit(self, path: str) -> int:
        """Request a page with its pictures, styles and scripts, and return how many bytes all of them have."""
        answer = self.get(path)
        page = gzip.decompress(answer.data).decode() if answer.content_encoding else answer.text
        loaded = dict.fromkeys(re.findall(r'(?:src|<link[^>]* href)="(/[^"]+)"', page))
        return len(answer.data) + sum(len(self.get(one.replace("&amp;", "&")).data) for one in loaded)


def _measure_uncached(app: App, visitor: Visitor, path: str) -> float:
    """Return the milliseconds of a page when nothing is cached yet."""
    app.caches = Caches()
    return visitor.measure(path)


def _count_ms_since(start: float) -> float:
    return (time.perf_counter() - start) * 1_000


def _summarize(what: str, took: Sequence[float], budget: float) -> Iterator[Measure]:
    """Yield the median and the 95th percentile of these milliseconds, with one budget for both."""
    yield Measure(f"{what}, p50", statistics.median(took), "ms", budget, at_most=True)
    yield Measure(f"{what}, p95", statistics.quantiles(took, n=20)[-1], "ms", budget, at_most=True)


@contextlib.contextmanager
def _temporary_app() -> Iterator[App]:
    """Open an app with an empty database, which is deleted in the end."""
    with tempfile.TemporaryDirectory() as folder:
        app = App(Settings(folder=Path(folder)))
        app.open()
        yield app
        app.close()


def _play_game(name: str, seats: int, chosen: dict[str, Any]) -> Export:
    """Play a game with these options at random, the same in each run."""
    sample = lessons.start_sample(catalogue.find(name), seats, b"pages", chosen)
    return _play_to_end(sample, Random(3))  # noqa: S311  # no secret hangs on a measured game


def _play_longest_game(seats: int) -> Export:
    """Play a game of Carcassonne with the expansions that make it longest, at random."""
    return _play_game("carcassonne", seats, dict.fromkeys(LONGEST_GAME_OPTIONS, "on"))


def _import_game(app: App, export: Export) -> str:
    """Import the log of a game, and return the path of its first seat."""
    table = Archive(app.store, app.links).import_(export)
    return f"/t/{app.links.make_seat_token(table, seat=0, number=0)}"  # number 0: the seat's first link


WARM_UP_MOVES, SUBMISSIONS = 20, 300
P50_MS, P99_MS = 5.0, 20.0
VERDICT_WAIT_S = 10


def measure_verdicts(app: App, where: str) -> Iterator[Measure]:
    """Yield the median and the 99th percentile of the time to a verdict; `where` says for which server."""
    players = Players(app)
    for _ in range(WARM_UP_MOVES):  # after them everything is loaded, and every connection is open
        players.move()
    took = [players.move() * 1_000 for _ in range(SUBMISSIONS)]
    percentiles = statistics.quantiles(took, n=100)  # from the first to the 99th
    yield Measure(f"submit to verdict, {where}, p50", percentiles[49], "ms", P50_MS, at_most=True)
    yield Measure(f"submit to verdict, {where}, p99", percentiles[98], "ms", P99_MS, at_most=True)


class Players:
    """Three people who move at random, table after table."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._random = Random(1)  # noqa: S311  # no secret hangs on a measured game
        self._places = self._open_table()

    def move(self) -> float:
        """Submit a move of the player whose turn it is, and return how many seconds the verdict took."""
        place, move = self._choose_move()
        start = time.perf_counter()
        submission = submitting.submit(self._app, place, move)
        verdict = submitting.wait_for_verdict(self._app, submission, VERDICT_WAIT_S)
        took = time.perf_counter() - start
        if verdict is None or not verdict.accepted:
            raise AssertionError(f"{move} was not accepted: {verdict}")
        return took

    def _choose_move(self) -> tuple[Place, str]:
        """Return the first player whose turn it is, and a random move; open another table if the game is over."""
        first_place, *_others = self._places  # all at the same table
        with self._app.store.reading() as db:
            table = snapshots.load_table(self._app, db, first_place.table)
        if table.position.phase == "over":
            self._places = self._open_table()
            return self._choose_move()
        for place in self._places:
            assert place.seat is not None  # only spectators have none
            if menu := tables.menu(table.game, table.position, place.seat):
                return place, str(menus.pick(menu, self._random.randrange))
        raise AssertionError("the game is not over, but no seat has a move")

    def _open_table(self) -> list[Place]:
        """Open a table for three people, let them sit down, and return their places."""
        app = self._app
        guests = [Invitee(name, f"{name.lower()}@example.org") for name in ("Anna", "Berta", "Clara")]
        new = NewTable(game="kaiser", chosen={}, guests=guests, clock=opening.make_clock(app, chosen=None))
        places = [access.find(app, link) for link in opening.open_table(app, new).links]
        for place in places:
            submission = submitting.sit(app, place, nonce="word")
            submitting.wait_for_verdict(app, submission, VERDICT_WAIT_S)
        return places
