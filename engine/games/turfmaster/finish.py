"""The end of a round, of a race and of the game, §7 to §9: arrivals, hedges, the next round, and the score."""

from __future__ import annotations

from engine.game import Standing
from engine.games.turfmaster.course import FINISH, FIRST_HEDGE, HANDICAPS, HEDGES, POINTS, START_HEDGE, Field, front
from engine.games.turfmaster.ride import MOST_POINTS
from engine.games.turfmaster.state import (
    Arrived,
    Event,
    HedgePlaced,
    HedgeRemoved,
    Horse,
    RaceEnded,
    RoundBegan,
    State,
    find_running_horses,
)


def end_round(state: State) -> Event:
    """Return the next event after every horse has had its turn."""
    fields = find_running_horses(state)
    event = _arrive(state, fields) or _end_race(state, fields) or _change_hedges(state, fields)
    return event or _begin_round(state, fields)


def _arrive(state: State, fields: dict[int, Field]) -> Event | None:
    """§8.1: of the horses past the line the farthest arrives first."""
    past = [index for index, field in fields.items() if front(field) > FINISH]
    if not past:
        return None
    horse = state.horses[min(past, key=lambda index: _position(fields[index]))]
    place = len(state.arrived) + 1
    points = POINTS[place - 1] if place <= len(POINTS) else 0
    return Arrived(horse.seat, place, horse.number, points)


def _position(field: Field) -> tuple[int, int]:
    """§1.4: a key that sorts horses: the farthest first, and level ones from the inner lane."""
    return -front(field), field[0]


def _end_race(state: State, fields: dict[int, Field]) -> Event | None:
    """§2.4: the next start boxes follow the order of arrival; then come the fallen, the last one to fall first."""
    return None if fields else RaceEnded((*state.arrived, *reversed(state.fallen)))


def _change_hedges(state: State, fields: dict[int, Field]) -> Event | None:
    """§9.2: put up the hedge on the start row, and take away the first one, as soon as all horses are past them."""
    if not state.hedges:
        return None
    if START_HEDGE not in state.hedges and all(index > 0 for _, index in fields.values()):
        return HedgePlaced(START_HEDGE)
    hedge_front = max(front(field) for field in HEDGES[FIRST_HEDGE])
    if FIRST_HEDGE in state.hedges and all(front(field) > hedge_front for field in fields.values()):
        return HedgeRemoved(FIRST_HEDGE)
    return None


def _begin_round(state: State, fields: dict[int, Field]) -> RoundBegan:
    """§4.1, §7.1: the order of play and the limits hold for the whole round."""
    order = sorted(fields, key=lambda index: _position(fields[index]))
    fronts = [front(fields[index]) for index in order]
    limits = [_limit_points(len(state.arrived) + fronts.index(own)) for own in fronts]  # level horses are not ahead
    return RoundBegan(state.round + 1, "dice" if state.round % 2 else "cards", tuple(order), tuple(limits))


def _limit_points(ahead: int) -> int:
    """§7.1 to §7.3: the most points of a horse with so many others ahead of it, arrived ones included."""
    return HANDICAPS[ahead] - 1 if ahead < len(HANDICAPS) else MOST_POINTS


Score = tuple[int, ...]
"""Points, then how often first, second, third and fourth."""


def rank_seats(state: State) -> tuple[int, ...]:
    """§8.5: return the final places, shared where the scores are equal."""
    scores = [_score_seat(state, seat) for seat in range(state.seats)]
    return tuple(1 + sum(other > own for other in scores) for own in scores)


def _score_seat(state: State, seat: int) -> Score:
    return _combine_scores(state, [_score_horse(horse) for horse in state.horses if horse.seat == seat])


def _score_horse(horse: Horse) -> Score:
    return (horse.points, *map(horse.arrivals.count, range(1, len(POINTS) + 1)))


def _combine_scores(state: State, scores: list[Score]) -> Score:
    """§8.5, §8.6: a player counts the best horse, or all horses together."""
    if state.options.team_score == "best_horse":
        return max(scores)
    return tuple(map(sum, zip(*scores, strict=True)))


def standing(state: State) -> tuple[Standing, ...]:
    places = state.places or (None,) * state.seats
    return tuple(Standing(_count_points(state, seat), place=places[seat]) for seat in range(state.seats))


def _count_points(state: State, seat: int) -> int:
    """§8.5: return the points alone; arrivals decide only at the end."""
    (points,) = _combine_scores(state, [(horse.points,) for horse in state.horses if horse.seat == seat])
    return points


def sources(event: Event, seat: int) -> tuple[tuple[str, int], ...]:
    return ((f"place{event.place}", event.points),) if isinstance(event, Arrived) and event.seat == seat else ()
