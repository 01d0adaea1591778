"""What a position is worth to every seat: its expected share of the victory."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

from engine.game import Game, Standing

Shares = tuple[float, ...]
"""One number for each seat; together they are 1."""

TENTH = 10


def shares(game: Game, state: Any) -> Shares:
    """The winners' shares once the game is over; before that the game's own outlook, or what `standing` hints at."""
    standing = game.standing(state)
    if standing[0].place is not None:
        return _won(standing)
    outlook = getattr(game, "outlook", None)
    found: Shares = outlook(state) if outlook else _by_standing(standing)
    return found


def from_points(points: Sequence[float], unit: float = 1.0, out: Sequence[bool] = ()) -> Shares:
    """Points, or any measure of strength, as shares: `unit` more are a factor of e; seats that are out get nothing."""
    most = max(points)
    weights = [exp((own - most) / unit) for own in points]
    if True in out:
        weights = [0.0 if gone else weight for weight, gone in zip(weights, out, strict=True)]
    total = sum(weights) or 1.0
    return tuple([weight / total for weight in weights])


def mean(several: Sequence[Shares]) -> Shares:
    """What several looks say together."""
    if len(several) == 1:
        return several[0]
    return tuple([sum(column) / len(several) for column in zip(*several, strict=True)])


def _won(standing: Sequence[Standing]) -> Shares:
    """The victory, divided among those in the first place."""
    winners = sum(one.place == 1 for one in standing)
    return tuple(1 / winners if one.place == 1 else 0.0 for one in standing)


def _by_standing(standing: Sequence[Standing]) -> Shares:
    """More points, more chances: a tenth of all points ahead is a factor of e."""
    unit = 1 + sum(abs(one.score) for one in standing) / TENTH
    return from_points([one.score for one in standing], unit, [one.out for one in standing])
