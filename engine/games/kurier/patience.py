"""How many turns a dispatch waits at its guard, when coins are turned as well as can be (§7.3)."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from engine.games.kurier.board import WORTH, Coin, worth

COINS = tuple(WORTH)
LONG, TRIES, NEAR = 40.0, 3, 1e-3
"""Nobody waits longer than this; an estimate that hangs on itself is made better so many times."""


def turns(palace: Sequence[Coin], short: int, turned: int | None = None) -> float:
    """The turns still to come before this much is paid; with coins turned, those after the one that goes on.

    Each coin is taken to be drawn from what lies in the palace now.
    """
    if turned is not None and turned >= short:
        return 0.0
    if worth(palace) + (turned or 0) < short:
        return LONG
    counts = tuple(palace.count(coin) for coin in COINS)
    if turned is None:
        return _waits(counts, short)[short]
    return _going_on(counts, short, _waits(counts, short))[turned]


@functools.lru_cache(maxsize=16384)
def _waits(counts: tuple[int, ...], short: int) -> tuple[float, ...]:
    """The turns to pay 0, 1, 2, ... up to this much."""
    if short <= 0:
        return (0.0,)
    fewer = _waits(counts, short - 1)
    guess = fewer[-1] + 1
    for _ in range(TRIES):
        once = 1 + _going_on(counts, short, (*fewer, guess))[0]
        twice = 1 + _going_on(counts, short, (*fewer, once))[0]
        if abs(once - guess) < NEAR:
            break
        guess = min(once + (twice - once) * (once - guess) / (2 * once - guess - twice), LONG)
    return (*fewer, guess)


def _going_on(counts: tuple[int, ...], short: int, waits: Sequence[float]) -> list[float]:
    """For each sum turned so far, the turns after this one; a first coin has to be turned, then one may stop."""
    false, blank, *good = (counts[COINS.index(coin)] for coin in ("njet", "blank", "1", "2", "3"))
    counting = sum(counts) - blank
    found = [0.0] * (short + len(good))
    for turned in reversed(range(short)):
        drawn = sum(many * found[turned + worth] for worth, many in enumerate(good, 1)) + false * waits[short]
        going_on = drawn / counting if counting else LONG
        found[turned] = min(going_on, waits[short - turned]) if turned else going_on
    return found
