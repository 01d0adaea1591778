"""Moves tried out in one's head: imagined luck, and a budget that is counted in positions, not in seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random
from typing import Any

from engine import game as games
from engine.chance import Chance
from engine.game import Game
from engine.menu import Menu, Move
from engine.shares import Shares, shares

WORD = (1 << 64) - 1


class Mind:
    """How a seat thinks about a position: what it imagines hangs on the seed alone, unless time runs out first.

    Time is that of the processor, so that a bot is no weaker where much else is going on.
    """

    def __init__(self, game: Game, state: Any, seat: int, evaluations: int, seconds: float, seed: int) -> None:
        self.game = game
        self.seat = seat
        self.seats = len(game.standing(state))
        self.random = Random(seed)  # noqa: S311 - a bot's imagination needs no cryptography
        self._state = state
        self._seed = seed
        self._played, self._evaluations = 0, evaluations
        self._begun, self._seconds = time.thread_time(), seconds

    @property
    def looked(self) -> float:
        """The part of the budget that is spent: the same on every machine."""
        return _part(self._played, self._evaluations)

    @property
    def spent(self) -> float:
        """The part of the budget that is spent, or of the time, whichever is more."""
        return max(self.looked, _part(time.thread_time() - self._begun, self._seconds))

    def imagined(self, luck: Chance) -> Any:
        """The position with everything dealt anew that this seat cannot know."""
        return self.game.redeal(self._state, self.seat, luck)

    def luck(self) -> Chance:
        """Imagined dice."""
        return dice(self.random.getrandbits(64))

    def world(self, number: int) -> Iterator[Chance]:
        """Imagined dice one after the other, the same for each move that is tried in the world of this number."""
        random = Random(f"{self._seed}/{number}")  # noqa: S311 - as above
        while True:
            yield dice(random.getrandbits(64))

    def played(self, state: Any, seat: int, move: Move, luck: Chance) -> Any:
        """The position after a move; each one is paid for."""
        self._played += 1
        return games.perform(self.game, state, seat, move, luck).state

    def shares(self, state: Any) -> Shares:
        """What the position promises to every seat."""
        return shares(self.game, state)

    def mover(self, state: Any) -> tuple[int, Menu] | None:
        """Who decides next, and what may be done; where several may, the lowest seat."""
        for seat in range(self.seats):
            menu = self.game.menu(state, seat)
            if menu:
                return seat, menu
        return None


def _part(spent: float, whole: float) -> float:
    return spent / whole if whole else 1.0


def dice(seed: int) -> Chance:
    """Imagined luck: the same from the same seed, and quicker to begin with than a generator (SplitMix64)."""

    def source(_: str, faces: Any, index: int) -> int:
        mixed = (seed + (index + 1) * 0x9E3779B97F4A7C15) & WORD
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & WORD
        return (mixed ^ (mixed >> 31)) % len(faces)

    return Chance(source)
