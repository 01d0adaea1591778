"""How likely each seat wins: ride the race to its end in a simulation, and add its points to those already won.

The numbers in capitals were tuned by matches, or fitted to the order in which horses arrived.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp
from operator import attrgetter

from engine.games.turfmaster.ride import FINISH, HANDICAPS, LANES, MOST_POINTS, POINTS, RACES, UNIT, get_front
from engine.games.turfmaster.state import CARD_POINTS, JOKERS, State
from engine.win_shares import Shares, from_points

PACE_FIELDS = 5.0
"""The fields that every horse rides in a dice round."""
POOR_CARD = 8
"""A joker is kept as long as a plain card of at least these points can be ridden."""
LANE_FIELDS = 0.15
"""The fields that a horse is behind for each lane further out."""
RIDE_STRENGTH, RIDE_RANGE = 0.34, 45.0
"""For each field that a horse ends further in the simulation, in log odds against another horse.

So much at the line; a factor of e less for `RIDE_RANGE` fields that are still to be ridden.
"""
LEAD_STRENGTH, LEAD_RANGE = 0.25, 23.0
"""The same for each field that a horse is further now. Early this tells little, for leaders have to ride slowly."""
JOKER_STRENGTH, JOKER_BASE = 0.15, 7
"""In log odds, for each point above `JOKER_BASE` of each joker in hand: jokers know no handicap."""
OTHER_HORSES = 0.15
"""The part of their points that a player's other horses count, for any of them may become the best."""
UNIT_AT_LINE, UNIT_FAR, UNIT_RANGE, UNIT_LATER_RACE = 3.5, 9.5, 12.0, 16.0
"""The points that are a factor of e in the chances: at the line of the last race, more far from it, and more
for each race to come."""
MAX_LOG_ODDS = 50.0  # of much larger ones `exp` is no longer a number
AVERAGE_RIDE_FIELDS = (PACE_FIELDS + POOR_CARD) / 2  # rounds of dice and of cards take turns
COURSE_FIELDS = FINISH / UNIT
POINT_LIMITS = (*(handicap - 1 for handicap in HANDICAPS), *([MOST_POINTS] * LANES))
"""The most points of a plain card, which has to stay below the handicap, by how many horses are ahead."""
POINTS_BY_PLACE = (*POINTS, *([0] * LANES))


def outlook(state: State) -> Shares:
    """Return each seat's share of the victory, by its points and those that its horses can expect."""
    horses = _list_running(state)
    to_ride = COURSE_FIELDS
    if horses:
        average_position = sum([horse.position for horse in horses]) / len(horses)  # negative before the line
        to_ride = max(0.0, -average_position)
    totals = [list[float]() for _ in range(state.seats)]
    for horse, points in zip(state.horses, _expect_points(state, horses, to_ride), strict=True):
        totals[horse.seat].append(horse.points + points)
    # The lead, in points, that multiplies the chances by e: the larger, the more there is still to ride.
    lead_unit = UNIT_AT_LINE + UNIT_FAR * (1 - exp(-to_ride / UNIT_RANGE)) + UNIT_LATER_RACE * (RACES - state.race)
    return from_points([_combine_points(state, own) for own in totals], lead_unit)


def _list_running(state: State) -> list[SimulatedHorse]:
    """Return the horses on the course; none before a race, when their fields are still those of the race before."""
    if state.stage == "boxes":
        return []
    return [SimulatedHorse(state, index) for index, horse in enumerate(state.horses) if horse.field is not None]


def _combine_points(state: State, totals: list[float]) -> float:
    """Return what a player counts for horses with these points."""
    if state.options.team_score == "sum":
        return sum(totals)
    best, *others = sorted(totals, reverse=True)
    return best + OTHER_HORSES * sum(others)


def _expect_points(state: State, horses: list[SimulatedHorse], to_ride: float) -> list[float]:
    """Return the points that each horse of the game can expect in this race.

    `to_ride` are the fields that the horses still have to ride, on average.
    """
    expected = [0.0] * len(state.horses)
    if not horses:
        return expected
    strengths = _rate_horses(state, horses, to_ride)
    ahead = [float(len(state.arrived))] * len(horses)  # how many others arrive before each horse, on average
    for first in range(len(horses)):
        for second in range(first):
            log_odds_first_is_ahead = min(MAX_LOG_ODDS, strengths[first] - strengths[second])
            chance_first_is_behind = 1 / (1 + exp(log_odds_first_is_ahead))
            ahead[first] += chance_first_is_behind
            ahead[second] += 1 - chance_first_is_behind
    for horse, others_ahead in zip(horses, ahead, strict=True):
        expected[horse.index] = _interpolate_points(others_ahead)
    return expected


def _interpolate_points(ahead: float) -> float:
    """Return the average points of a horse that arrives behind `ahead` others."""
    whole = int(ahead)
    return POINTS_BY_PLACE[whole] + (POINTS_BY_PLACE[whole + 1] - POINTS_BY_PLACE[whole]) * (ahead - whole)


def _rate_horses(state: State, horses: list[SimulatedHorse], to_ride: float) -> list[float]:
    """Return the strength of each horse, in log odds of one against another."""
    lead_strength = LEAD_STRENGTH * exp(-to_ride / LEAD_RANGE)
    ride_strength = RIDE_STRENGTH * exp(-to_ride / RIDE_RANGE)
    now = [
        lead_strength * horse.position + JOKER_STRENGTH * sum([points - JOKER_BASE for points in horse.jokers])
        for horse in horses
    ]
    _ride_to_finish(state, horses)  # this changes the positions of the horses, and sets their results
    return [own + ride_strength * horse.result for own, horse in zip(now, horses, strict=True)]


class SimulatedHorse:
    """A horse in the simulation: its position, in fields beyond the line, negative before it, and its cards in hand."""

    __slots__ = ("index", "jokers", "plain", "position", "result")

    def __init__(self, state: State, index: int) -> None:
        horse = state.horses[index]
        assert horse.field is not None
        self.index = index
        lane, _ = horse.field
        # Of level horses the one further inside is ahead (§1.4), so the others count as a little behind it.
        self.position = (get_front(horse.field) - FINISH) / UNIT - LANE_FIELDS * lane
        plain, jokers = _sort_hand(horse.hand)
        self.plain, self.jokers = list(plain), list(jokers)
        self.result = 0.0  # `_ride_to_finish` sets it

    def play_card(self, limit: int) -> int:
        """Play the best card within the limit, a joker if that is poor, and return its points.

        If none can be ridden, waste a card and return 0.
        """
        for number, points in enumerate(self.plain):
            if points <= limit:
                if points >= POOR_CARD or not self.jokers:
                    return self.plain.pop(number)
                break
        if self.jokers:
            return self.jokers.pop(0)
        if self.plain:
            self.plain.pop()
        return 0


@lru_cache(maxsize=4096)
def _sort_hand(hand: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the points of the plain cards and of the jokers, the best first."""
    plain = sorted((CARD_POINTS[card] for card in hand if card not in JOKERS), reverse=True)
    return tuple(plain), tuple(sorted((CARD_POINTS[card] for card in hand if card in JOKERS), reverse=True))


GET_POSITION = attrgetter("position")


def _ride_to_finish(state: State, horses: list[SimulatedHorse]) -> None:
    """Simulate round after round until all horses have arrived, beginning with the rest of the present one.

    The result of a horse is how far beyond the line it arrives, less an average ride for each round that it took.
    """
    is_card_round = state.kind == "cards"
    waiting = set(state.order[state.done :])
    # Before the first round of a race the order is not known yet, and all horses ride in it.
    still_rides = [horse for horse in horses if horse.index in waiting] if waiting else horses
    ahead = len(state.arrived)
    rounds = 0
    running = horses
    while running:
        running = sorted(running, key=GET_POSITION, reverse=True)
        for horses_ahead, horse in enumerate(running, ahead):
            if rounds > 0 or horse in still_rides:  # in the present round the others have ridden already
                horse.position += horse.play_card(POINT_LIMITS[horses_ahead]) if is_card_round else PACE_FIELDS
        rounds += 1
        for horse in running:
            if horse.position > 0:
                horse.result = horse.position - AVERAGE_RIDE_FIELDS * rounds
        ahead += sum(horse.position > 0 for horse in running)
        running = [horse for horse in running if horse.position <= 0]
        is_card_round = not is_card_round
