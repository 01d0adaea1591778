"""Where a ride can end.

A set of fields is a whole number here, with one bit for each field of the course: a lane has `LONG` of them, and the
field ahead is the next lower one. So a whole set rides ahead in one step, and is kept off what blocks it in another.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache, reduce
from itertools import accumulate
from operator import or_
from typing import Literal

from msgspec import Struct

from engine.games.turfmaster.board import AHEAD, BESIDE, FRONTS, JUMP, LANES, Field, hedged, token

MOST = 12
STAY, FALL = "stay", "fall"

Kind = Literal["cards", "dice"]

LONG = max(map(len, FRONTS)) + 1  # a bit more than there are fields, so that nothing rides on into the next lane
FIELDS: dict[int, Field] = {
    LONG * (LANES - lane) - index: (lane, index) for lane, fronts in enumerate(FRONTS) for index in range(len(fronts))
}
"""The number of a field is that of its bit: the last field of the outer lane has the lowest."""
BIT = {field: 1 << number for number, field in FIELDS.items()}
COURSE = sum(BIT.values())
CHANGED = LONG * (LANES + 1)
BLOCKS = {field: bit << 1 | bit | bit >> 1 for field, bit in BIT.items()}
"""§6.4: what a horse blocks, its field and those before and behind it."""
SIDES = {number: sum(BIT[side] for side in BESIDE.get(field, ())) for number, field in FIELDS.items()}
NAMES = {number: token(field) for number, field in FIELDS.items()}


class Way(Struct, frozen=True, eq=False):
    """What is before a horse: the fields reached with exactly 0, 1, 2 ... points, and those right before a hedge.

    A horse that has changed its lane on the way rides on in a second course, `CHANGED` bits higher.
    """

    stages: tuple[int, ...]
    takeoffs: int = 0


class Rides(Struct, frozen=True):
    """How many points can be ridden, and where that ends, by the token that names it."""

    ridden: int
    ends: dict[str, Field]


def way(start: Field, taken: Iterable[Field | None], standing: tuple[int, ...], most: int) -> Way:
    """The way of a horse with at most so many points, where these fields are taken and these hedges stand."""
    reach, blocked = _reach(start)[most], 0
    for other in taken:
        if other and other != start:
            blocked |= BLOCKS[other]
    blocked, takeoffs = blocked & reach, _takeoffs(standing) & reach
    return _way(start, blocked, takeoffs, most) if blocked or takeoffs else _way(start, 0, 0, MOST)


@cache
def _reach(start: Field) -> tuple[int, ...]:
    """All fields to which a horse could come with 0, 1 ... points; what lies elsewhere plays no part in its ride."""
    return tuple(accumulate(map(_fields, _way(start, 0, 0, MOST).stages), or_))


@cache
def _takeoffs(standing: tuple[int, ...]) -> int:
    """The fields right before one of these hedges."""
    return sum(BIT[hedge] for hedge in hedged(standing)) << 1


def rides(way: Way, points: int, kind: Kind) -> Rides:
    """Every end that uses as many of these points as possible (§6.1)."""
    ridden = points
    while not way.stages[ridden]:
        ridden -= 1
    ends = _fields(way.stages[ridden])
    refused = ends & way.takeoffs if ridden < points and kind == "cards" else 0  # §9.5
    return Rides(ridden, _named(ends, refused) if ridden or refused else {STAY: FIELDS[ends.bit_length() - 1]})


@lru_cache(maxsize=8192)
def _named(ends: int, refused: int) -> dict[str, Field]:
    """These ends by their names; on those before a hedge that refuses the horse it falls."""
    found = dict[str, Field]()
    for number in _each(ends):
        found.setdefault(FALL if refused >> number & 1 else NAMES[number], FIELDS[number])
    return found


def _each(fields: int) -> list[int]:
    """The numbers of the fields of a set, lane after lane from the inside, from the rear."""
    numbers = list[int]()
    while fields:
        numbers.append(fields.bit_length() - 1)
        fields ^= 1 << numbers[-1]
    return numbers


@lru_cache(maxsize=8192)
def _way(start: Field, blocked: int, takeoffs: int, most: int) -> Way:
    """The same by the fields that are blocked, and those right before a hedge."""
    free, hedges = _doubled(COURSE & ~blocked), _doubled(takeoffs)
    turns = _turns(start, 8 if BIT[start] & takeoffs else 7) & ~takeoffs  # §9.4
    runs = [0] * (JUMP - 1) + [BIT[start]]  # as if long before, so that a jump can look back
    for spent in range(1, most + 1):
        last = runs[-1]
        onward = last >> 1
        if hedges:  # §9.3: a jump takes the points of several fields
            onward = (last & ~hedges) >> 1 | (runs[-JUMP] & hedges) >> 2
        if aside := last & turns:
            onward |= _beside(aside) << (CHANGED if spent > 1 else 0)
        runs.append(onward & free)
    return Way(tuple(runs[JUMP - 1 :]), takeoffs)


def _doubled(fields: int) -> int:
    """These fields of the course and of the second one."""
    return fields | fields << CHANGED


def _fields(stage: int) -> int:
    """The fields of a stage, whether the lane was changed on the way or not."""
    return (stage | stage >> CHANGED) & COURSE


@cache
def _turns(start: Field, turn_from: int) -> int:
    """§6.2: the fields on which a lane can be changed with the next stride: the start, and those some strides ahead."""
    first = [BIT[field] for field in (AHEAD[start], *BESIDE[start])] if start in AHEAD else []
    later = [bit >> strides for bit in first for strides in range(turn_from - 2, MOST)]
    return reduce(or_, later, BIT[start])


@lru_cache(maxsize=8192)
def _beside(fields: int) -> int:
    """Where these fields lead to with a change of lane."""
    sides = 0
    for number in _each(fields):
        sides |= SIDES[number]
    return sides
