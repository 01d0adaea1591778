"""How much luck the ledger of luck sees in many games; in the mean of all it has to be nothing.

python -m tests.bench.luck GAME GAMES [FIRST]     games of random players, two or as few as can play
"""

from __future__ import annotations

import sys
from math import sqrt
from random import Random
from statistics import fmean, stdev

from engine import catalogue, story
from tests.engine.ledger import play_on, started

TOLD = 100  # games, after which the mean so far is told


def luck(name: str, number: int) -> float:
    """The luck of the first seat in one game."""
    game = catalogue.find(name)
    ledger = play_on(started(game, game.META.seats[0], seed=number.to_bytes(32, "big")), Random(number))
    return sum(found[0] for page in story._pages(game, ledger.entries) if (found := story._luck(game, page)))


def main(name: str, games: str, first: str = "0") -> None:
    found = list[float]()
    for number in range(int(first), int(first) + int(games)):
        found.append(luck(name, number))
        if len(found) % TOLD == 0 or len(found) == int(games):
            error = stdev(found) / sqrt(len(found))
            print(f"{name}: {len(found)} games, mean {fmean(found):+.5f}, standard error {error:.5f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
