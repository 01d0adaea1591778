"""A try with three and more seats: the game goes on until the turn has come round; one answer of several says little.

Everybody makes the move that looks best at once. Not all need to be looked at each time: in one imagined world, what
promised little after one move of the thinker promises little after another.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from engine import menu as menus
from engine.menu import Menu, Move
from engine.search.candidates import MANY, candidates
from engine.search.mind import Mind, dice
from engine.shares import Shares, mean

ROUNDS = 2
"""So often the turn comes round to the thinker."""
AGAIN = 4
"""So many of the moves that looked best at a step are looked at again; and all that could not be made before."""


class Looked(NamedTuple):
    """What a mover looked at when the game first came to this step of a world."""

    best: frozenset[Move]
    moves: frozenset[Move]


class Rounds:
    """The tries of a thinker, by the worlds in which they are made."""

    def __init__(self, mind: Mind, seat: int) -> None:
        self._mind = mind
        self._seat = seat
        self._looked: dict[tuple[int, int, int], Looked] = {}

    def follow(self, move: Move, world: int) -> Shares | None:
        """What comes of a move in the world of this number; nothing where the budget is spent on the way.

        That is the mean of what each round promises: the first one is the surest, the last one sees furthest.
        """
        mind, seat, luck = self._mind, self._seat, self._mind.world(world)
        state, answered, promised = mind.imagined(next(luck)), False, list[Shares]()
        step = 0
        while True:
            state = mind.played(state, seat, move, next(luck))
            mover = mind.mover(state)
            if mover is None:
                return _whole(promised, mind.shares(state))
            if mind.spent >= 1:
                return None
            seat, menu = mover
            move, shares = self._best(state, seat, menu, (world, step, seat))
            if not shares[self._seat]:
                return _whole(promised, shares)  # out of the game: its turn comes no more
            if answered and seat == self._seat:
                promised.append(shares)
            if len(promised) == ROUNDS:
                return mean(promised)
            answered = seat != self._seat
            step += 1

    def _best(self, state: Any, seat: int, menu: Menu, step: tuple[int, int, int]) -> tuple[Move, Shares]:
        """The move that promises its mover most, and what it promises to all."""
        mind, luck = self._mind, self._mind.random.getrandbits(64)
        if step in self._looked and menus.count(menu) <= MANY:
            moves = _again(menu, self._looked[step])
            seen = {move: mind.shares(mind.played(state, seat, move, dice(luck))) for move in moves}
        else:
            seen = candidates(mind, state, seat, menu, luck)
            best = sorted(seen, key=lambda move: -seen[move][seat])[:AGAIN]
            self._looked[step] = Looked(frozenset(best), frozenset(seen))
        return max(seen.items(), key=lambda looked: looked[1][seat])


def _whole(promised: list[Shares], last: Shares) -> Shares:
    """The mean where a game ends early: its end stands for the rounds that are missing."""
    return mean(promised + [last] * (ROUNDS - len(promised)))


def _again(menu: Menu, known: Looked) -> Collection[Move]:
    moves = list(menus.moves(menu))
    return [move for move in moves if move in known.best or move not in known.moves] or moves
