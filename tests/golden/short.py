"""Searches a short game, which tests play again in a browser, move by move.

    python -m tests.golden.short GAME SECONDS [OPTION=VALUE ...]

writes `tests/golden/GAME/short.json`, unless that game is shorter: random games at first, then other ends of the
shortest of them.
"""

from __future__ import annotations

import sys
import time
from itertools import count
from random import Random
from typing import Any

from engine import catalogue
from tests.engine.ledger import Ledger, play_on, start_table
from tests.golden.make import FOLDER, format_file


def search(game: Any, options: dict[str, str], seconds: float) -> Ledger:
    """Return the shortest game for two that is search in this time."""
    begin = time.monotonic()
    shortest = play_random_game(game, options, 0)
    for number in count(1):
        used = (time.monotonic() - begin) / seconds
        if used > 1:
            break
        other = play_random_game(game, options, number) if used < 0.2 else vary(shortest, Random(number))
        if len(other.entries) <= len(shortest.entries):
            shortest = other
    return shortest


def play_random_game(game: Any, options: dict[str, str], number: int) -> Ledger:
    """Play a random game."""
    seed = f"{game.META.name} short {number}".encode().ljust(32, b".")
    return play_on(start_table(game, 2, options.items(), seed), Random(number))


def vary(ledger: Ledger, random: Random) -> Ledger:
    """Play the same game up to some move, and random moves from there."""
    length = random.randrange(4, len(ledger.entries))
    other = Ledger(ledger.game, ledger.seed)
    other.entries, other.tables = ledger.entries[:length], ledger.tables[: length + 1]
    return play_on(other, random)


def main(name: str, seconds: str, *options: str) -> None:
    game, path = catalogue.find(name), FOLDER / name / "short.json"
    content = format_file(search(game, dict(option.split("=") for option in options), float(seconds)))
    if not path.exists() or content.count(b"\n") < path.read_bytes().count(b"\n"):
        path.write_bytes(content)
    print(f"{path.relative_to(FOLDER)}: {path.read_bytes().count(b'digest') - 4} moves")


if __name__ == "__main__":
    main(*sys.argv[1:])
