"""Where a ride can end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from engine.games.turfmaster.board import AHEAD, BESIDE, JUMP, Field, hedged, token

MOST = 12
STAY, FALL = "stay", "fall"

Kind = Literal["cards", "dice"]


Stride = tuple[Field, int, bool]
"""How far a ride has come: the field, the strides made, and whether the later change of lane is used up."""


class Course(NamedTuple):
    """What lies in the way of one horse."""

    blocked: frozenset[Field]
    hedges: frozenset[Field]
    turn_from: int


class Ride(NamedTuple):
    """One end of a ride."""

    end: Field
    ridden: int
    falls: bool = False


@lru_cache(maxsize=4096)
def rides(
    start: Field, others: frozenset[Field], standing: tuple[int, ...], points: int, kind: Kind
) -> dict[str, Ride]:
    """Every end that uses as many of these points as possible (§6.1), by the token that names it."""
    stages = _stages(start, others, standing)
    ridden = max(spent for spent in range(points + 1) if stages[spent])
    found = dict[str, Ride]()
    for end in stages[ridden]:
        refused = ridden < points and AHEAD.get(end) in hedged(standing)
        if refused and kind == "cards":  # §9.5
            found.setdefault(FALL, Ride(end, ridden, falls=True))
        else:
            found[token(end) if ridden else STAY] = Ride(end, ridden)
    return found


@lru_cache(maxsize=1024)
def _stages(start: Field, others: frozenset[Field], standing: tuple[int, ...]) -> tuple[tuple[Field, ...], ...]:
    """The fields that can be reached with exactly 0, 1, ... 12 points; how many more there are plays no part."""
    course = _course(start, others, standing)
    stages: list[set[Stride]] = [set() for _ in range(MOST + 1)]
    stages[0].add((start, 0, False))
    for spent, strides in enumerate(stages):
        for stride in strides:
            for cost, reached in _strides(stride, course):
                if spent + cost <= MOST:
                    stages[spent + cost].add(reached)
    return tuple(tuple(sorted({field for field, _, _ in strides})) for strides in stages)


def _course(start: Field, others: frozenset[Field], standing: tuple[int, ...]) -> Course:
    blocked = frozenset((lane, index + step) for lane, index in others for step in (-1, 0, 1))  # §6.4
    hedges = hedged(standing)
    return Course(blocked, hedges, turn_from=8 if AHEAD.get(start) in hedges else 7)  # §9.4


def _strides(stride: Stride, course: Course) -> Iterator[tuple[int, Stride]]:
    """What can come next, and what it costs."""
    field, made, turned = stride
    ahead = AHEAD.get(field)
    if ahead is None:
        return
    if ahead in course.hedges:
        landing = AHEAD[ahead]
        if landing not in course.blocked:
            yield JUMP, (landing, made + 2, turned)  # §9.3
        return
    if ahead not in course.blocked:
        yield 1, (ahead, made + 1, turned)
    if made == 0 or (made + 1 >= course.turn_from and not turned):  # §6.2
        for side in BESIDE[field]:
            if side not in course.blocked:
                yield 1, (side, made + 1, made > 0)
