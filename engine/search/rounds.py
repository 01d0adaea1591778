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

ROUNDS, DEAR = 2, 0.25
"""So often the turn comes round to the thinker; once, where a round of every move takes this part of the budget."""
AGAIN = 4
"""So many of the moves that looked best at a step are looked at again; and all that could not be made before."""


class Looked(NamedTuple):
    """What a mover looked at when the game first came to this step of a world."""

    best: frozenset[Move]
    moves: frozenset[Move]


class Rounds:
    """The tries of a thinker, who has so many moves to try, by the worlds in which they are made."""

    def __init__(self, mind: Mind, seat: int, moves: int) -> None:
        self._mind = mind
        self._seat = seat
        self._moves = moves
        self._rounds: int | None = None
        self._looked: dict[tuple[int, int, int], Looked] = {}

    def follow(self, move: Move, world: int) -> Shares | None:
        """What comes of a move in the world of this number; nothing where the budget is spent on the way.

        That is the mean of what each round promises: the first one is the surest, the last one sees furthest. Where a
        round is dear there is only one, for a move that is tried in few worlds is chosen by their luck.
        """
        mind, seat, luck = self._mind, self._seat, self._mind.world(world)
        state, answered, promised = mind.imagined(next(luck)), False, list[Shares]()
        begun, step = mind.looked, 0
        while True:
            state = mind.played(state, seat, move, next(luck))
            mover = mind.mover(state)
            if mover is None:
                return self._whole(promised, mind.shares(state))
            if mind.spent >= 1:
                return None
            seat, menu = mover
            move, shares = self._best(state, seat, menu, (world, step, seat))
            if not shares[self._seat]:
                return self._whole(promised, shares)  # out of the game: its turn comes no more
            if answered and seat == self._seat:
                promised.append(shares)
                self._settle(mind.looked - begun)
            if len(promised) == self._rounds:
                return mean(promised)
            answered = seat != self._seat
            step += 1

    def _settle(self, cost: float) -> None:
        """How far to look: the first round of the first try tells what a round costs."""
        if self._rounds is None:
            self._rounds = 1 if cost * self._moves > DEAR else ROUNDS

    def _whole(self, promised: list[Shares], last: Shares) -> Shares:
        """The mean where a game ends early: its end stands for the rounds that are missing."""
        return mean(promised + [last] * ((self._rounds or ROUNDS) - len(promised)))

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


def _again(menu: Menu, known: Looked) -> Collection[Move]:
    moves = list(menus.moves(menu))
    return [move for move in moves if move in known.best or move not in known.moves] or moves
