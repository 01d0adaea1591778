"""The course, field by field, the hedges on it, and the numbers of a race."""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

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
    fronts, start = list[int](), 0
    for section in SECTIONS:
        length, fields = section["length"] * UNIT, section["fields"][lane]
        fronts += [start + length * number // fields for number in range(1, fields + 1)]
        start += length
    return tuple(fronts)


def _list_fields_ahead() -> dict[Field, Field]:
    return {(lane, index): (lane, index + 1) for lane in range(LANES) for index in range(len(FRONTS[lane]) - 1)}


def _find_fields_beside(field: Field, ahead: Field) -> tuple[Field, ...]:
    """§6.3: return the fields of a diagonal stride, beside the middle of the field straight ahead."""
    lane, index = field
    middle = -(-(FRONTS[lane][index] + FRONTS[lane][ahead[1]]) // 2)
    return tuple((side, bisect_left(FRONTS[side], middle)) for side in (lane - 1, lane + 1) if 0 <= side < LANES)


def _find_row(index: int) -> tuple[Field, ...]:
    """Return the fields of all lanes that are level with this field of the inner lane."""
    return tuple((lane, FRONTS[lane].index(FRONTS[0][index])) for lane in range(LANES))


FRONTS = tuple(map(_measure_fronts, range(LANES)))
LAP_FIELDS = tuple(sum(section["fields"][lane] for section in SECTIONS[:-1]) for lane in range(LANES))
FIELD_AHEAD = _list_fields_ahead()
FIELDS_BESIDE = {field: _find_fields_beside(field, ahead) for field, ahead in FIELD_AHEAD.items()}
HEDGES = {int(number): frozenset(_find_row(index)) for number, index in DATA["hedges"]["rows"].items()}
FINISH: int = FRONTS[0][LAP_FIELDS[0] + DATA["finish"]["after"] - 1]
"""How far along the course the finishing line is."""


@cache
def hedge_fields(hedges: tuple[int, ...]) -> frozenset[Field]:
    """Return all fields of the hedges with these numbers."""
    return frozenset[Field]().union(*(HEDGES[number] for number in hedges))


def front(field: Field) -> int:
    """Return how far along the course the front edge of a field is."""
    return FRONTS[field[0]][field[1]]


def field_token(field: Field) -> str:
    """Return the name of a field: its lane and its number in the lap, the same in both laps of the home straight."""
    lane, index = field
    return f"{LANE_LETTERS[lane]}{index % LAP_FIELDS[lane] + 1}"


FIELD_TOKENS = tuple(tuple(field_token((lane, index)) for index in range(LAP_FIELDS[lane])) for lane in range(LANES))
"""The names of all fields, lane by lane."""


class Location(NamedTuple):
    """A field as people say it: the lane, from 1 on, the section of the course, and the number in that section."""

    lane: int
    section: str
    number: int


def locate(token: str) -> Location:
    """Return where the field of this name is."""
    lane, number = LANE_LETTERS.index(token[0]), int(token[1:])
    for section in SECTIONS:
        if number <= section["fields"][lane]:
            return Location(lane + 1, section["name"], number)
        number -= section["fields"][lane]
    raise ValueError(token)
