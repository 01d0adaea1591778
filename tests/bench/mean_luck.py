"""Measure the mean of the luck that the story of a game reports, over many games; it has to be zero.

python -m tests.bench.mean_luck GAME GAMES [FIRST] [quick]     games of random players, with the fewest seats

The mean is zero for any evaluation of positions. So `quick` evaluates each position without its moves, and redraws
once instead of eight times, which allows many more games in the same time.
"""

from __future__ import annotations

import sys
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Any

from engine import catalogue, story
from engine.win_shares import Shares, evaluate
from tests.engine.ledger import play_on, start_table

REPORT_GAMES = 100  # games between two reports


def evaluate_without_moves(game: Any, state: Any, _: int) -> Shares:
    """Evaluate a position without its moves."""
    return evaluate(game, state)


def measure_luck(name: str, number: int, quick: bool) -> float:
    """Return the luck of the first seat in one game."""
    game = catalogue.find(name)
    ledger = play_on(start_table(game, game.META.seats[0], seed=number.to_bytes(32, "big")), Random(number))
    evaluation, redraws = (evaluate_without_moves, 1) if quick else (story._evaluate_best_move, story.MAX_REDRAWS)
    transitions = story._iter_transitions(game, ledger.entries)
    return sum(luck[0] for one in transitions if (luck := story._compute_luck(game, one, evaluation, redraws)))


def main(name: str, games: str, *more: str) -> None:
    values, quick = list[float](), "quick" in more
    first = next((int(word) for word in more if word.isdigit()), 0)
    for number in range(first, first + int(games)):
        values.append(measure_luck(name, number, quick))
        if len(values) % REPORT_GAMES == 0 or len(values) == int(games):
            error = stdev(values) / sqrt(len(values))
            print(f"{name}: {len(values)} games, mean {fmean(values):+.5f}, standard error {error:.5f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
