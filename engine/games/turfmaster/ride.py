"""The course with its fields and hedges, and riding on it, §6 and §9: the fields where a ride can end.

A set of fields is a whole number here, with one bit for each field of the course: a lane has `LANE_BITS` of them, and
the field ahead is the next lower bit. So one shift moves a whole set ahead, and one `&` removes all blocked fields.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache, lru_cache, reduce
from itertools import accumulate
from operator import or_
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Struct

DATA = tomllib.loads((Path(__file__).parent / "board.toml").read_text("utf-8"))

Field = tuple[int, int]
"""A lane, counted from 0 on the inside, and the number of fields since its start box."""

LANES: int = DATA["track"]["lanes"]
LANE_LETTERS = "ABCDEFGH"
SECTIONS: list[dict[str, Any]] = DATA["track"]["sections"]
UNIT = 21_840
"""The length of a field of the inner lane: the lengths of all fields in the bends divide it without a rest."""

HANDICAPS: list[int] = DATA["race"]["handicaps"]
POINTS: list[int] = DATA["race"]["points"]
RACES: int = DATA["race"]["races"]
HAND_CARDS: int = DATA["cards"]["dealt"]
BONUS_CARDS: int = DATA["cards"]["bonus"]
JUMP_POINTS: int = DATA["hedges"]["points"]
FIRST_HEDGE: int = DATA["hedges"]["first"]
START_HEDGE: int = DATA["hedges"]["on_the_start_row"]


def _measure_fronts(lane: int) -> tuple[int, ...]:
    """Return how far along the course the front edge of each field of a lane is."""
    fronts = list[int]()
    start = 0
    for section in SECTIONS:
        length = section["length"] * UNIT
        fields = section["fields"][lane]
        fronts += [start + length * number // fields for number in range(1, fields + 1)]
        start += length
    return tuple(fronts)


def _list_fields_ahead() -> dict[Field, Field]:
    return {(lane, index): (lane, index + 1) for lane in range(LANES) for index in range(len(FRONTS[lane]) - 1)}


def _find_fields_beside(field: Field, ahead: Field) -> tuple[Field, ...]:
    """§6.3: return the fields of a diagonal stride, beside the middle of the field straight ahead.

    Where the middle is just between two fields, the rear one counts.
    """
    lane, index = field
    _, index_ahead = ahead
    # A half is rounded up; that leads to the same field, because all fronts are whole numbers.
    middle = (FRONTS[lane][index] + FRONTS[lane][index_ahead] + 1) // 2
    return tuple((side, bisect_left(FRONTS[side], middle)) for side in (lane - 1, lane + 1) if 0 <= side < LANES)


def _find_row(index: int) -> tuple[Field, ...]:
    """Return the fields of all lanes that are level with this field of the inner lane."""
    return tuple((lane, FRONTS[lane].index(FRONTS[0][index])) for lane in range(LANES))


FRONTS = tuple(map(_measure_fronts, range(LANES)))
LAP_SECTIONS = SECTIONS[:-1]  # the last one is the home straight again
LAP_FIELDS = tuple(sum(section["fields"][lane] for section in LAP_SECTIONS) for lane in range(LANES))
FIELD_AHEAD = _list_fields_ahead()
FIELDS_BESIDE = {field: _find_fields_beside(field, ahead) for field, ahead in FIELD_AHEAD.items()}
HEDGES = {int(number): frozenset(_find_row(index)) for number, index in DATA["hedges"]["rows"].items()}
FINISH: int = FRONTS[0][LAP_FIELDS[0] + DATA["finish"]["after"] - 1]
"""How far along the course the finishing line is."""


@cache
def list_hedge_fields(hedges: tuple[int, ...]) -> frozenset[Field]:
    """Return all fields of the hedges with these numbers."""
    return frozenset[Field]().union(*(HEDGES[number] for number in hedges))


def get_front(field: Field) -> int:
    """Return how far along the course the front edge of a field is."""
    lane, index = field
    return FRONTS[lane][index]


def get_rear(field: Field) -> int:
    """Return how far along the course the rear edge of a field is."""
    lane, index = field
    return FRONTS[lane][index - 1] if index else 0


def make_field_token(field: Field) -> str:
    """Return the name of a field: its lane and its number in the lap, the same in both laps of the home straight."""
    lane, index = field
    return f"{LANE_LETTERS[lane]}{index % LAP_FIELDS[lane] + 1}"


FIELD_TOKENS = tuple(
    tuple(make_field_token((lane, index)) for index in range(LAP_FIELDS[lane])) for lane in range(LANES)
)
"""The names of all fields, lane by lane."""


class Location(NamedTuple):
    """A field as people say it: its lane, the section of the course, and the number in that section."""

    lane: str
    section: str
    number: int


def locate(token: str) -> Location:
    """Return where the field of this name is; raise ValueError if there is none."""
    lane, number = LANE_LETTERS.index(token[0]), int(token[1:])
    for section in SECTIONS:
        if number <= section["fields"][lane]:
            return Location(token[0], section["name"], number)
        number -= section["fields"][lane]
    raise ValueError(token)


MOST_POINTS = 12
LATE_STRIDE = 7  # from this stride on, another one may change the lane (§6.2)
STAY, FALL = "stay", "fall"

Kind = Literal["cards", "dice"]

LANE_BITS = max(map(len, FRONTS)) + 1  # one bit more than fields, so that no ride goes on into the next lane
FIELDS: dict[int, Field] = {
    LANE_BITS * (LANES - lane) - index: (lane, index)
    for lane, fronts in enumerate(FRONTS)
    for index in range(len(fronts))
}
"""The fields by the numbers of their bits; the last field of the outer lane has the lowest."""
BIT = {field: 1 << number for number, field in FIELDS.items()}
COURSE = sum(BIT.values())
CHANGED_SHIFT = LANE_BITS * (LANES + 1)
BLOCKED_BY = {field: bit << 1 | bit | bit >> 1 for field, bit in BIT.items()}
"""§6.4: the fields that a horse blocks, its own and those before and behind it."""
SIDES = {number: sum(BIT[side] for side in FIELDS_BESIDE.get(field, ())) for number, field in FIELDS.items()}
"""The fields of a diagonal stride from each field."""
TOKENS = {number: make_field_token(field) for number, field in FIELDS.items()}


class Reach(Struct, frozen=True, eq=False):
    """The fields that a horse reaches with exactly 0, 1, 2 ... points, and `takeoffs`, those right before a hedge.

    A horse that has changed its lane on the way rides on in a second course, `CHANGED_SHIFT` bits higher.
    """

    stages: tuple[int, ...]
    takeoffs: int = 0


class Rides(Struct, frozen=True):
    """The points that a horse can ride, and the ends of its rides by their tokens."""

    ridden: int
    ends: dict[str, Field]


def find_reach(start: Field, occupied: Iterable[Field | None], hedges: tuple[int, ...], most_points: int) -> Reach:
    """Return the reach of a horse between other horses on these fields and the hedges of these numbers.

    Obstacles that are too far away are left out, so that many calls can share a cached reach.
    """
    nearby = _list_fields_within(start)[most_points]
    blocked = 0
    for other in occupied:
        if other and other != start:
            blocked |= BLOCKED_BY[other]
    blocked, takeoffs = blocked & nearby, _find_takeoffs(hedges) & nearby
    if blocked or takeoffs:
        return _trace_reach(start, blocked, takeoffs, most_points)
    return _trace_freely(start)  # one cached reach serves for any points


@cache
def _list_fields_within(start: Field) -> tuple[int, ...]:
    """Return the fields within 0, 1, 2 ... points; obstacles elsewhere play no part in a ride."""
    return tuple(accumulate(map(_merge_courses, _trace_freely(start).stages), or_))


@cache
def _trace_freely(start: Field) -> Reach:
    """Return the reach of a horse without obstacles, with the most points that there are."""
    return _trace_reach(start, blocked=0, takeoffs=0, most_points=MOST_POINTS)


@cache
def _find_takeoffs(hedges: tuple[int, ...]) -> int:
    """Return the fields right before the hedges of these numbers."""
    hedge_fields = sum(BIT[field] for field in list_hedge_fields(hedges))
    return hedge_fields << 1  # the field behind has the next higher bit


def find_rides(reach: Reach, points: int, kind: Kind) -> Rides:
    """§6.1: return the rides that use as many of these points as possible."""
    ridden = points
    while not reach.stages[ridden]:
        ridden -= 1
    ends = _merge_courses(reach.stages[ridden])
    refused = 0
    if ridden < points and kind == "cards":  # §9.5: with too few points left it cannot jump
        refused = ends & reach.takeoffs
    if not ridden and not refused:
        (number,) = _list_numbers(ends)  # only the start takes no points
        return Rides(0, {STAY: FIELDS[number]})
    return Rides(ridden, _name_ends(ends, refused))


@lru_cache(maxsize=8192)
def _name_ends(ends: int, refused: int) -> dict[str, Field]:
    """Return the ends by their tokens; a ride that a hedge refuses is a fall."""
    named = dict[str, Field]()
    for number in _list_numbers(ends):
        is_refused = bool(refused & (1 << number))
        token = FALL if is_refused else TOKENS[number]
        named.setdefault(token, FIELDS[number])  # of several falls the first one counts
    return named


def _list_numbers(fields: int) -> list[int]:
    """Return the bit numbers of a set of fields, the highest first: lane by lane from the inside, from the rear."""
    numbers = list[int]()
    while fields:
        numbers.append(fields.bit_length() - 1)
        fields ^= 1 << numbers[-1]
    return numbers


@lru_cache(maxsize=8192)
def _trace_reach(start: Field, blocked: int, takeoffs: int, most_points: int) -> Reach:
    """Return the reach of a horse that may not enter the blocked fields, and jumps from the takeoffs."""
    free, jumps = _double_course(COURSE & ~blocked), _double_course(takeoffs)
    begins_with_jump = bool(BIT[start] & takeoffs)
    late_stride = LATE_STRIDE + 1 if begins_with_jump else LATE_STRIDE  # §9.4
    may_change = _find_lane_changes(start, late_stride) & ~takeoffs  # §9.3: a jump goes straight on
    stages = [0] * (JUMP_POINTS - 1) + [BIT[start]]  # empty ones before the start, so that a jump can look back
    for spent in range(1, most_points + 1):
        last = stages[-1]
        ahead = last >> 1  # the field ahead has the next lower bit
        if jumps:  # §9.3: a jump takes the points of several strides, and passes the field of the hedge
            strides, landings = (last & ~jumps) >> 1, (stages[-JUMP_POINTS] & jumps) >> 2
            ahead = strides | landings
        if changing := last & may_change:
            # §6.2: a change by the first stride leaves one for later, and that one leads to the second course.
            is_first_stride = spent == 1
            ahead |= _change_lanes(changing) << (0 if is_first_stride else CHANGED_SHIFT)
        stages.append(ahead & free)
    return Reach(tuple(stages[JUMP_POINTS - 1 :]), takeoffs)


def _double_course(fields: int) -> int:
    """Return a bit set of fields, once for the first course and once, shifted, for the second."""
    return fields | fields << CHANGED_SHIFT


def _merge_courses(stage: int) -> int:
    """Return the fields of a stage, with and without a change of lane on the way."""
    return (stage | stage >> CHANGED_SHIFT) & COURSE


@cache
def _find_lane_changes(start: Field, late_stride: int) -> int:
    """§6.2: return the fields where a stride may change the lane: stride 1, and from stride `late_stride` on."""
    after_first = [BIT[field] for field in (FIELD_AHEAD[start], *FIELDS_BESIDE[start])] if start in FIELD_AHEAD else []
    # At least so many straight strides, each a shift by one bit, are between the first and the late one.
    fewest = late_stride - 2
    late = [bit >> strides for bit in after_first for strides in range(fewest, MOST_POINTS)]
    return reduce(or_, late, BIT[start])  # the first stride begins at the start


@lru_cache(maxsize=8192)
def _change_lanes(fields: int) -> int:
    """Return the fields of a diagonal stride from any of these."""
    sides = 0
    for number in _list_numbers(fields):
        sides |= SIDES[number]
    return sides
