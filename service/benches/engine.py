"""The engine alone: rebuilding, auditing and playing, on one core."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from random import Random
from typing import Any

import msgspec

from engine import audit as audits
from engine import canonical_json, catalogue, record
from engine.canonical_json import make_decoder
from engine.game import Game
from engine.log import Export
from service.benches import Measure, bench
from service.commands import playout
from service.text import samples

ENTRIES = 1_000
REBUILT_MS = 10.0
AUDITED = 20_000.0
# What the fastest peer reaches in memory, without a log or events.
PEER_MOVES = 7_000.0
CARCASSONNE_GAMES = 300.0


@bench
def rebuild() -> Iterator[Measure]:
    """From the stored bytes of a long log to its position, with nothing kept from before."""
    game = catalogue.find("kaiser")
    logs = [[canonical_json.encode(entry) for entry in _long(game, number)] for number in range(9)]
    milliseconds = [1_000 * _timed(_rebuild, game, stored) for stored in logs]
    yield Measure("rebuild a 1,000-entry game, cold", statistics.median(milliseconds), "ms", REBUILT_MS, at_most=True)


def _long(game: Game, number: int) -> Sequence[Any]:
    """The first 1,000 entries of a game of many rounds."""
    random = Random(number)  # noqa: S311  # no secret hangs on a measured game
    sample = samples.start_sample(game, 3, b"bench" + bytes([number]), {"rounds": 12})
    for _ in samples.play_randomly(sample, random):
        if len(sample.entries) == ENTRIES:
            return sample.entries
    raise AssertionError("a game of twelve rounds is longer than this")


def _rebuild(game: Game, stored: Sequence[bytes]) -> record.Table:
    return record.fold(game, map(record.make_entry_decoder(game).decode, stored))


@bench
def audit() -> Iterator[Measure]:
    """Every check of finished logs, from the bytes of their files."""
    game = catalogue.find("kaiser")
    files = [msgspec.json.encode(_finished(game, number)) for number in range(12)]
    rates = []
    for file in files:
        export = make_decoder(Export).decode(file)
        rates.append(len(export.entries) / _timed(_audit, game, file))
    yield Measure("audit of an archive, Kaiser", statistics.median(rates), "entries/s", AUDITED)


def _finished(game: Game, number: int) -> Export:
    sample = samples.start_sample(game, 2 + number % 3, b"archive" + bytes([number]))
    random = Random(number)  # noqa: S311  # no secret hangs on a measured game
    deque(samples.play_randomly(sample, random), maxlen=0)
    return sample.export()


def _audit(game: Game, file: bytes) -> None:
    report = audits.audit(game, make_decoder(Export).decode(file))
    if report.finding or report.replayed != report.entries:
        raise AssertionError(f"a fresh log was found wrong: {report}")


@bench
def games() -> Iterator[Measure]:
    """Random games through menu and play, as many as fit into two seconds for every game and seat count."""
    for name, game in catalogue.find_all().items():
        for seats in game.META.seats:
            if not game.objection(game.META.options(), seats):
                yield from _games(name, game, seats)


def _games(name: str, game: Game, seats: int) -> Iterator[Measure]:
    table, courses = playout.PlayoutTable(game, game.META.options(), seats), list[playout.PlayedGame]()
    for number in count():
        courses.append(playout.run(table, f"bench-{number}"))
        if courses[-1].broken:
            raise AssertionError(f"{name}, {seats} seats, seed bench-{number}: {courses[-1].broken}")
        if sum(course.seconds for course in courses) >= 2:
            break
    figures = playout.summed(table, "bench", courses)
    budget = CARCASSONNE_GAMES if (name, seats) == ("carcassonne", 2) else None
    yield Measure(f"random games of {name}, {seats} seats", figures["games_per_second"], "games/s", budget)
    yield Measure(
        f"their moves, {name}, {seats} seats", figures["moves_per_second"], "moves/s", PEER_MOVES, source="peer"
    )


def _timed(work: Callable[..., object], *args: object) -> float:
    begun = time.perf_counter()
    work(*args)
    return time.perf_counter() - begun
