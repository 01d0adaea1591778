"""Between two rounds: arrivals, hedges, the next round, the score (§1.4, §7, §8)."""

from __future__ import annotations

from engine.game import Standing
from engine.games.turfmaster import board
from engine.games.turfmaster.board import Field, front
from engine.games.turfmaster.ride import MOST
from engine.games.turfmaster.state import (
    Arrived,
    Event,
    HedgePlaced,
    HedgeRemoved,
    Horse,
    RaceEnded,
    RoundBegan,
    State,
    running,
)


def between_rounds(state: State) -> Event:
    """The next thing that happens when every horse has had its turn."""
    fields = running(state)
    return _arrival(state, fields) or _race_end(state, fields) or _hedge(state, fields) or _next_round(state, fields)


def _arrival(state: State, fields: dict[int, Field]) -> Event | None:
    """§8: when the round is played out the farthest horse arrives first, on equal terms the inner one."""
    past = [place for place, field in fields.items() if front(field) > board.FINISH]
    if not past:
        return None
    horse = state.horses[min(past, key=lambda place: _rank(fields[place]))]
    place = len(state.arrived) + 1
    points = board.POINTS[place - 1] if place <= len(board.POINTS) else 0
    return Arrived(horse.seat, place, horse.number, points)


def _rank(field: Field) -> tuple[int, int]:
    """§1.4: ahead first; level, the inner lane first."""
    return -front(field), field[0]


def _race_end(state: State, fields: dict[int, Field]) -> Event | None:
    """§2.4: the order of arrival; whoever fell later stands before whoever fell earlier."""
    return None if fields else RaceEnded((*state.arrived, *reversed(state.fallen)))


def _hedge(state: State, fields: dict[int, Field]) -> Event | None:
    """§9.2: hedges change between rounds."""
    if not state.hedges:
        return None
    if board.START_HEDGE not in state.hedges and all(index > 0 for _, index in fields.values()):
        return HedgePlaced(board.START_HEDGE)
    passed = max(front(field) for field in board.HEDGES[board.FIRST_HEDGE])
    if board.FIRST_HEDGE in state.hedges and all(front(field) > passed for field in fields.values()):
        return HedgeRemoved(board.FIRST_HEDGE)
    return None


def _next_round(state: State, fields: dict[int, Field]) -> RoundBegan:
    """§4.1, §7.1: order and handicaps hold for the whole round."""
    order = sorted(fields, key=lambda horse: _rank(fields[horse]))
    fronts = [front(fields[horse]) for horse in order]
    limits = [_limit(len(state.arrived) + fronts.index(own)) for own in fronts]  # whoever is level is not ahead
    return RoundBegan(state.round + 1, "dice" if state.round % 2 else "cards", tuple(order), tuple(limits))


def _limit(ahead: int) -> int:
    """§7.1 to §7.3: the most points for a horse with so many others ahead of it, arrived ones included."""
    return board.HANDICAPS[ahead] - 1 if ahead < len(board.HANDICAPS) else MOST


Score = tuple[int, ...]


def _score(state: State, seat: int) -> Score:
    """§8.5, §8.6: points, then better places."""
    return _of_team(state, [_worth(horse) for horse in state.horses if horse.seat == seat])


def _of_team(state: State, scores: list[Score]) -> Score:
    """§8.5: what the horses of one player count together."""
    if state.options.team_score == "best_horse":
        return max(scores)
    return tuple(map(sum, zip(*scores, strict=True)))


def _worth(horse: Horse) -> Score:
    return (horse.points, *map(horse.arrivals.count, range(1, len(board.POINTS) + 1)))


def places(state: State) -> tuple[int, ...]:
    """The final places, shared where nothing tells two players apart."""
    scores = [_score(state, seat) for seat in range(state.seats)]
    return tuple(1 + sum(other > own for other in scores) for own in scores)


def standing(state: State) -> tuple[Standing, ...]:
    final = state.places or (None,) * state.seats
    return tuple(Standing(_points(state, seat), place=final[seat]) for seat in range(state.seats))


def _points(state: State, seat: int) -> int:
    """What leads in the score; places are counted at the end alone."""
    (points,) = _of_team(state, [(horse.points,) for horse in state.horses if horse.seat == seat])
    return points


def sources(event: Event, seat: int) -> tuple[tuple[str, int], ...]:
    """Where the points come from that this event brings a seat: the place of a horse in its race."""
    return ((f"place{event.place}", event.points),) if isinstance(event, Arrived) and event.seat == seat else ()
