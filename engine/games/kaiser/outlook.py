"""Who is likely to win: how far the emperors have to go, what threatens them, and what is left to fight with.

The numbers in capitals are strengths: one more is a factor of e in the chances. They were tuned by matches.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.games.kaiser.board import DISTANCE, WAYS, WORTH
from engine.games.kaiser.state import State
from engine.shares import Shares, from_points

FIGURE = {"emperor": 0.0, "king": 0.75, "nobleman": 0.9}
STEP, TURN = 0.28, 0.2
"""A step of the emperor towards the centre, and being on turn."""
HUNTED = 0.35
"""Each figure that could capture the emperor, if it were its player's turn."""
HOME, NEAR_HOME, TAKEN = 6.0, 4.0, -6.0
"""The emperor steps into the fortress now, or will unless he is stopped at once; he can be captured now."""
FORTRESS, POINT = 5, 0.25
"""What winning a round scores, and what a point weighs where several rounds are played."""


def outlook(state: State) -> Shares:
    """Each seat's share of the victory."""
    chances = from_points(_strengths(state), out=state.out)
    if state.options.rounds == 1:
        return chances
    points = [float(score) for score in state.points]
    for stone in state.stones.values():
        points[stone.seat] += WORTH[stone.rank]
    weight = POINT / (1 + state.options.rounds - state.round) ** 0.5
    return from_points([weight * (own + FORTRESS * chance) for own, chance in zip(points, chances, strict=True)])


def _strengths(state: State) -> list[float]:
    strengths, emperors = [0.0] * len(state.out), dict[int, str]()
    for place, stone in state.stones.items():
        strengths[stone.seat] += FIGURE[stone.rank]
        if stone.rank == "emperor":
            emperors[stone.seat] = place
            strengths[stone.seat] -= STEP * DISTANCE[place]
    strengths[state.turn] += TURN
    for seat, place in emperors.items():
        strengths[seat] += _fate(state, seat, place)
    return strengths


def _fate(state: State, seat: int, place: str) -> float:
    """What may become of an emperor before his player's next turn is over."""
    on_turn = seat == state.turn
    if DISTANCE[place] == 1 and on_turn:
        return HOME
    hunters = list(_hunters(state, seat, place))
    if state.turn in hunters and state.opened[state.turn]:
        return TAKEN
    if DISTANCE[place] == 1:
        return NEAR_HOME
    return -HUNTED * len(set(hunters)) * (1 if on_turn else 0.5)


def _hunters(state: State, seat: int, place: str) -> Iterator[int]:
    """Whose figures could capture what stands here; a way there is a way back."""
    stones = state.stones
    free = stones.keys().isdisjoint
    for rank, ways in WAYS.items():
        for (_, start), between in ways[place]:
            stone = stones.get(start)
            if stone is not None and stone.rank == rank and stone.seat != seat and free(between):
                yield stone.seat
