"""Who is likely to win: the race is ridden to its end in thought, and its points are added to those already won.

Every number in capitals was tuned by matches, or fitted to how horses came in.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp
from operator import attrgetter

from engine.games.turfmaster import board
from engine.games.turfmaster.board import UNIT, front, is_joker, worth
from engine.games.turfmaster.ride import MOST
from engine.games.turfmaster.state import State
from engine.win_shares import Shares, from_points

PACE = 5.0
"""The fields that a dice round brings everybody."""
SAVE = 8
"""A joker is kept as long as a plain card of so many points can be ridden."""
LANE = 0.15
"""The fields that a lane further out costs."""
RIDDEN, RIDDEN_FAR = 0.34, 45.0
"""What it says for a horse, in log odds against another, that this ride ends a field further: as much at the line,
a factor of e less for so many fields that are still to be ridden."""
AHEAD, AHEAD_FAR = 0.25, 23.0
"""The same for a field that it is further now: early on little, for whoever leads has to ride slowly."""
JOKER, POOR = 0.15, 7
"""The same for each point that a joker has above a poor card, wherever the horse is: no handicap holds it back."""
SECOND = 0.15
"""A player counts the best horse; the next one may still become it."""
UNIT_NOW, UNIT_FAR, FAR, UNIT_LATER = 3.5, 9.5, 12.0, 16.0
"""So many points are a factor of e at the end of the last race, more far from it, and more for each race to come."""
COURSE = board.FINISH / UNIT
"""The fields of a whole race."""


def outlook(state: State) -> Shares:
    """Each seat's share of the victory."""
    riders = _riders(state)
    far = max(0.0, -sum([rider.at for rider in riders]) / len(riders)) if riders else COURSE
    totals = [list[float]() for _ in range(state.seats)]
    for horse, points in zip(state.horses, _expected(state, riders, far), strict=True):
        totals[horse.seat].append(horse.points + points)
    unit = UNIT_NOW + UNIT_FAR * (1 - exp(-far / FAR)) + UNIT_LATER * (board.RACES - state.race)
    return from_points([_counted(state, own) for own in totals], unit)


def _riders(state: State) -> list[Rider]:
    """The horses on the course: none in the boxes, where their fields are still those of the race before."""
    if state.stage == "boxes":
        return []
    return [Rider(state, place) for place, horse in enumerate(state.horses) if horse.field is not None]


def _counted(state: State, totals: list[float]) -> float:
    if state.options.team_score == "sum":
        return sum(totals)
    best, *others = sorted(totals, reverse=True)
    return best + SECOND * sum(others)


def _expected(state: State, riders: list[Rider], far: float) -> list[float]:
    """The points each horse can expect in this race."""
    expected = [0.0] * len(state.horses)
    if not riders:
        return expected
    chances = _chances(state, riders, far)
    ahead = [float(len(state.arrived))] * len(riders)
    for first in range(len(riders)):
        for second in range(first):
            beaten = 1 / (1 + exp(min(50.0, chances[first] - chances[second])))
            ahead[first] += beaten
            ahead[second] += 1 - beaten
    for rider, before in zip(riders, ahead, strict=True):
        expected[rider.place] = _points(before)
    return expected


def _chances(state: State, riders: list[Rider], far: float) -> list[float]:
    """How good the chances of the horses are, in log odds of one against another."""
    now, later = AHEAD * exp(-far / AHEAD_FAR), RIDDEN * exp(-far / RIDDEN_FAR)
    known = [now * rider.at + JOKER * sum([brings - POOR for brings in rider.jokers]) for rider in riders]
    _ride_out(state, riders)
    return [own + later * rider.result for own, rider in zip(known, riders, strict=True)]


LIMITS = (*(handicap - 1 for handicap in board.HANDICAPS), *([MOST] * board.LANES))
"""What a plain card may bring at most, by how many horses are further."""
AT = attrgetter("at")
LADDER = (*board.POINTS, *([0] * board.LANES))


def _points(ahead: float) -> float:
    """The points for coming in behind so many."""
    whole = int(ahead)
    return LADDER[whole] + (LADDER[whole + 1] - LADDER[whole]) * (ahead - whole)


class Rider:
    """A horse as it is ridden in thought: how far from the line, and on which cards."""

    __slots__ = ("at", "jokers", "place", "plain", "result")

    def __init__(self, state: State, place: int) -> None:
        horse = state.horses[place]
        assert horse.field is not None
        self.place = place
        self.at = (front(horse.field) - board.FINISH) / UNIT - LANE * horse.field[0]
        plain, jokers = _sorted_hand(horse.hand)
        self.plain, self.jokers = list(plain), list(jokers)
        self.result = 0.0

    def card(self, limit: int) -> int:
        """Ride the best card that the handicap allows, a joker if that is poor, and waste one where none is left."""
        for number, card in enumerate(self.plain):
            if card <= limit:
                if card >= SAVE or not self.jokers:
                    return self.plain.pop(number)
                break
        if self.jokers:
            return self.jokers.pop(0)
        if self.plain:
            self.plain.pop()
        return 0


@lru_cache(maxsize=4096)
def _sorted_hand(hand: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What the plain cards and the jokers bring, the best first."""
    plain = sorted((worth(card) for card in hand if not is_joker(card)), reverse=True)
    return tuple(plain), tuple(sorted((worth(card) for card in hand if is_joker(card)), reverse=True))


def _ride_out(state: State, riders: list[Rider]) -> None:
    """Round after round to the finish; the first one begins where the table stands."""
    cards = state.kind == "cards" if state.round else True
    waiting = set(state.order[state.done :])
    this_round = [rider for rider in riders if rider.place in waiting] if waiting else riders
    ahead, rounds = len(state.arrived), 0
    running = riders
    while running:
        running = sorted(running, key=AT, reverse=True)
        for rank, rider in enumerate(running, ahead):
            if rounds or rider in this_round:
                rider.at += rider.card(LIMITS[rank]) if cards else PACE
        rounds += 1
        for rider in running:
            if rider.at > 0:
                rider.result = rider.at - (PACE + SAVE) / 2 * rounds
        ahead += sum(rider.at > 0 for rider in running)
        running = [rider for rider in running if rider.at <= 0]
        cards = not cards
