"""The value of a position: each seat's expected share of the victory."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

from engine.game import Game, Standing

Shares = tuple[float, ...]
"""One number for each seat; their sum is 1."""


def evaluate(game: Game, state: Any) -> Shares:
    """Return the shares of all seats: of the winners if the game is over, else the game's `outlook`.

    A game without `outlook` is judged by the scores of `standing`.
    """
    standing = game.standing(state)
    is_over = standing[0].place is not None  # only then the seats have places
    if is_over:
        return _divide_among_winners(standing)
    outlook = getattr(game, "outlook", None)
    shares: Shares = outlook(state) if outlook else _estimate_from_scores(standing)
    return shares


def from_points(points: Sequence[float], unit: float = 1.0, out: Sequence[bool] = ()) -> Shares:
    """Convert points, or another measure of strength, to shares; seats that are out get nothing.

    A seat that has `unit` points more has a share that is larger by the factor e.
    """
    most = max(points)
    weights = [exp((own - most) / unit) for own in points]
    if any(out):
        weights = [0.0 if is_out else weight for weight, is_out in zip(weights, out, strict=True)]
    total = sum(weights) or 1.0  # their sum is 0 if all seats are out
    return tuple([weight / total for weight in weights])


def average(several: Sequence[Shares]) -> Shares:
    """Return the mean of several evaluations."""
    if len(several) == 1:
        return several[0]
    return tuple([sum(column) / len(several) for column in zip(*several, strict=True)])


def _divide_among_winners(standing: Sequence[Standing]) -> Shares:
    """Divide the victory of a finished game among the seats in first place."""
    winners = sum(one.place == 1 for one in standing)
    return tuple(1 / winners if one.place == 1 else 0.0 for one in standing)


def _estimate_from_scores(standing: Sequence[Standing]) -> Shares:
    """Convert scores to shares; the unit is a tenth of all points, and 1 more so that it is never 0."""
    unit = 1 + sum(abs(one.score) for one in standing) / 10
    return from_points([one.score for one in standing], unit, [one.out for one in standing])
