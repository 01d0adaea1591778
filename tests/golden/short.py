"""Looks for a short whole game, which browsers play again move by move.

    python -m tests.golden.short GAME SECONDS [OPTION=VALUE ...]

writes `tests/golden/GAME/short.json`, or writes it anew where what it finds is shorter: random games at first, then
other ends of the shortest of them.
"""

from __future__ import annotations

import sys
import time
from itertools import count
from random import Random
from typing import Any

from engine import catalogue
from tests.engine.ledger import Ledger, play_on, started
from tests.golden.make import FOLDER, body


def found(game: Any, options: dict[str, str], seconds: float) -> Ledger:
    """The shortest game for two that this time was enough to find."""
    begin = time.monotonic()
    shortest = whole(game, options, 0)
    for number in count(1):
        spent = (time.monotonic() - begin) / seconds
        if spent > 1:
            break
        other = whole(game, options, number) if spent < 0.2 else varied(shortest, Random(number))
        if len(other.entries) <= len(shortest.entries):
            shortest = other
    return shortest


def whole(game: Any, options: dict[str, str], luck: int) -> Ledger:
    """A random game."""
    seed = f"{game.META.name} short {luck}".encode().ljust(32, b".")
    return play_on(started(game, 2, options.items(), seed), Random(luck))


def varied(ledger: Ledger, random: Random) -> Ledger:
    """The same game up to some move, and from there a random one."""
    kept = random.randrange(4, len(ledger.entries))
    other = Ledger(ledger.game, ledger.seed)
    other.entries, other.tables = ledger.entries[:kept], ledger.tables[: kept + 1]
    return play_on(other, random)


def main(name: str, seconds: str, *options: str) -> None:
    game, path = catalogue.find(name), FOLDER / name / "short.json"
    written = body(found(game, dict(option.split("=") for option in options), float(seconds)))
    if not path.exists() or written.count(b"\n") < path.read_bytes().count(b"\n"):
        path.write_bytes(written)
    print(f"{path.relative_to(FOLDER)}: {path.read_bytes().count(b'digest') - 4} moves")


if __name__ == "__main__":
    main(*sys.argv[1:])
