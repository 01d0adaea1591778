"""Information-set tree search: each try deals anew what the seat cannot know, and every mover plays for itself.

The tree is for two. With three and more seats a try goes on without one, until the turn has come round.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from typing import Any

from engine.menu import Menu, Move
from engine.search.candidates import candidates
from engine.search.mind import Mind
from engine.search.rounds import Rounds
from engine.shares import Shares, mean

TRUST = 1.0
"""How many tries the first look at a move weighs."""
CURIOSITY = 0.12
"""How much more a move has to promise than one that was tried less often."""
WIDTH = 2.0
"""At a node two moves are tried, and this times the root of its visits more."""
FIELD = 16
"""So many of the moves at hand are tried at first."""


class Edge:
    """A move out of a node: what the first look promised, and what has come of it since."""

    __slots__ = ("ends", "move", "prior", "totals", "visits")

    def __init__(self, move: Move, prior: Shares) -> None:
        self.move = move
        self.prior = prior
        self.visits = 0
        self.totals = [TRUST * share for share in prior]
        self.ends: dict[object, Node] = {}

    def mean(self, seat: int) -> float:
        """What the move promises to a seat, the first look included."""
        return self.totals[seat] / (TRUST + self.visits)

    def learn(self, shares: Shares) -> None:
        self.visits += 1
        for seat, share in enumerate(shares):
            self.totals[seat] += share


class Node:
    """What a mover may do: the moves, the most promising first."""

    __slots__ = ("edges", "seat", "visits")

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.visits = 0
        self.edges: list[Edge] = []

    def look(self, mind: Mind, menu: Menu, *states: Any) -> Shares:
        """Try every move in each state, all with the same luck; what the best one promises is what the node does."""
        seen = [candidates(mind, state, self.seat, menu, mind.random.getrandbits(64)) for state in states]
        self.edges = [Edge(move, mean([one[move] for one in seen if move in one])) for move in seen[0]]
        self.edges.sort(key=lambda edge: -edge.prior[self.seat])
        return self.edges[0].prior

    def pick(self) -> Edge:
        """The move to try next: one that promises much, or was tried little."""
        self.visits += 1
        width = 2 + int(WIDTH * sqrt(self.visits))
        seat, doubt = self.seat, CURIOSITY * sqrt(log(1 + self.visits))
        return max(self.edges[:width], key=lambda edge: edge.mean(seat) + doubt / sqrt(1 + edge.visits))


Attempt = Callable[[Edge], Shares | None]
"""What came of one try of a move; nothing where the budget was spent on the way."""


def grow(mind: Mind, root: Node) -> None:
    """Try the most promising moves in turn, then the better half of them, and so on, until the budget is spent.

    All are tried in the same imagined worlds, so that what tells them apart is not luck.
    """
    if mind.spent >= 1:
        return
    mind.random.shuffle(root.edges)  # of moves that promise the same any may come first
    root.edges.sort(key=lambda edge: -edge.mean(root.seat))
    field = root.edges[:FIELD]
    rounds = max((len(field) - 1).bit_length(), 1)
    attempt = _attempt(mind, root.seat, len(field))
    for number in range(1, rounds + 1):
        while mind.spent < number / rounds:
            _try_all(mind, attempt, field)
        field.sort(key=lambda edge: -edge.mean(root.seat))
        root.edges[: len(field)] = field
        field = field[: (len(field) + 1) // 2]


def _attempt(mind: Mind, seat: int, moves: int) -> Attempt:
    """How one of so many moves is tried."""
    if mind.seats == 2:
        return lambda edge: _try(mind, seat, edge)
    rounds = Rounds(mind, seat, moves)
    return lambda edge: rounds.follow(edge.move, edge.visits)


def _try_all(mind: Mind, attempt: Attempt, field: list[Edge]) -> None:
    """Try each move in one world; nothing is learnt where the budget does not reach for all of them."""
    found = list[Shares]()
    for edge in field:
        shares = None if mind.spent >= 1 else attempt(edge)
        if shares is None:
            return
        found.append(shares)
    for edge, shares in zip(field, found, strict=True):
        edge.learn(shares)


def _try(mind: Mind, seat: int, edge: Edge) -> Shares:
    """One way down the tree behind a move, as far as a node that nobody has looked at yet, and what it came to."""
    luck, way = mind.world(edge.visits), list[Edge]()
    state = mind.imagined(next(luck))
    while True:
        state = mind.played(state, seat, edge.move, next(luck))
        # A node is what its mover may do: another hand, or another draw, leads to another node.
        mover = mind.mover(state)
        if mover is None:
            shares = mind.shares(state)
            break
        seat, menu = mover
        if mover not in edge.ends:
            node = edge.ends[mover] = Node(seat)
            shares = node.look(mind, menu, state)
            break
        edge = edge.ends[mover].pick()
        way.append(edge)
    for edge in way:
        edge.learn(shares)
    return shares
