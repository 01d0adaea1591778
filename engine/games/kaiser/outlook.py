"""How likely each seat wins: how far its emperor has to go, what attacks him, and which stones are left.

The numbers in capitals are strengths: one more is a factor of e in the chances. They were tuned by matches.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.games.kaiser.board import STEPS_TO_CENTRE, WAYS, WORTH
from engine.games.kaiser.rules import FORTRESS_BONUS
from engine.games.kaiser.state import State
from engine.win_shares import Shares, from_points

STONE = {"emperor": 0.0, "king": 0.75, "nobleman": 0.9}
STEP_AWAY = -0.28
"""Each step that the emperor is away from the centre."""
ON_TURN = 0.2
ATTACKER = -0.35
"""Each player whose stones could capture the emperor, if it were that player's turn."""
OFF_TURN_PART = 0.5
"""The part of it that counts as long as it is not the turn of the emperor's own player."""
WINS_NOW, WINS_NEXT, IS_LOST = 6.0, 4.0, -6.0
"""The emperor can step into the fortress now; he will, unless he is captured at once; he can be captured now."""
POINT = 0.25
"""The strength of a point where several rounds are played."""


def outlook(state: State) -> Shares:
    """Return each seat's share of the victory: in a single round its chances, in several also its points."""
    chances = from_points(_rate_seats(state), out=state.out)
    if state.options.rounds == 1:
        return chances
    points = [float(score) for score in state.points]
    for stone in state.stones.values():
        points[stone.seat] += WORTH[stone.rank]
    rounds_left = 1 + state.options.rounds - state.round
    weight = POINT / rounds_left**0.5  # early points say less, for more rounds follow
    return from_points([weight * (own + FORTRESS_BONUS * chance) for own, chance in zip(points, chances, strict=True)])


def _rate_seats(state: State) -> list[float]:
    """Return the strength of each seat in this round."""
    strengths = [0.0] * len(state.out)
    emperors = dict[int, str]()
    for crossing, stone in state.stones.items():
        strengths[stone.seat] += STONE[stone.rank]
        if stone.rank == "emperor":
            emperors[stone.seat] = crossing
            strengths[stone.seat] += STEP_AWAY * STEPS_TO_CENTRE[crossing]
    strengths[state.turn] += ON_TURN
    for seat, crossing in emperors.items():
        strengths[seat] += _rate_emperor(state, seat, crossing)
    return strengths


def _rate_emperor(state: State, seat: int, crossing: str) -> float:
    """Rate what may happen to an emperor until the end of that player's next turn."""
    on_turn = seat == state.turn
    at_gate = STEPS_TO_CENTRE[crossing] == 1
    if at_gate and on_turn:
        return WINS_NOW
    attackers = set(_find_attackers(state, seat, crossing))
    may_capture = state.opened[state.turn]  # not before the second turn (§4.1)
    if may_capture and state.turn in attackers:
        return IS_LOST
    if at_gate:
        return WINS_NEXT
    return ATTACKER * len(attackers) * (1 if on_turn else OFF_TURN_PART)


def _find_attackers(state: State, seat: int, crossing: str) -> Iterator[int]:
    """Yield the seat of each stone of another player that could capture a stone at this crossing.

    Every way can be moved in both directions, so the ways from the crossing lead to all attackers.
    """
    for rank, ways in WAYS.items():
        for (_, start), between in ways[crossing]:
            stone = state.stones.get(start)
            if stone and stone.rank == rank and stone.seat != seat and state.stones.keys().isdisjoint(between):
                yield stone.seat
