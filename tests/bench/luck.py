"""How much luck the ledger of luck sees in many games; in the mean of all it has to be nothing.

python -m tests.bench.luck GAME GAMES [FIRST] [quick]     games of random players, two or as few as can play

The mean is nothing whatever a position is held to be worth. So `quick` asks the outlook of each position alone,
without a look at the moves from there, and draws once otherwise instead of eight times: many more games in a while.
"""

from __future__ import annotations

import sys
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Any

from engine import catalogue, story
from engine.win_shares import Shares, evaluate
from tests.engine.ledger import play_on, started

TOLD = 100  # games, after which the mean so far is told


def as_it_lies(game: Any, state: Any, _: int) -> Shares:
    """What a position promises, without a look at its moves."""
    return evaluate(game, state)


def luck(name: str, number: int, quick: bool) -> float:
    """The luck of the first seat in one game."""
    game = catalogue.find(name)
    ledger = play_on(started(game, game.META.seats[0], seed=number.to_bytes(32, "big")), Random(number))
    promise, otherwise = (as_it_lies, 1) if quick else (story._evaluate_best_move, story.MAX_REDRAWS)
    pages = story._list_steps(game, ledger.entries)
    return sum(found[0] for page in pages if (found := story._compute_luck(game, page, promise, otherwise)))


def main(name: str, games: str, *more: str) -> None:
    found, quick = list[float](), "quick" in more
    first = next((int(word) for word in more if word.isdigit()), 0)
    for number in range(first, first + int(games)):
        found.append(luck(name, number, quick))
        if len(found) % TOLD == 0 or len(found) == int(games):
            error = stdev(found) / sqrt(len(found))
            print(f"{name}: {len(found)} games, mean {fmean(found):+.5f}, standard error {error:.5f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
