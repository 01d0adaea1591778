"""The course, field by field, and the cards."""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from functools import cache
from pathlib import Path
from typing import Any

DATA = tomllib.loads((Path(__file__).parent / "board.toml").read_text("utf-8"))

Field = tuple[int, int]
"""A lane counted from 0 inside, and how many fields after its start box."""

LANES: int = DATA["track"]["lanes"]
LETTERS = "ABCDEFGH"
SECTIONS: list[dict[str, Any]] = DATA["track"]["sections"]
UNIT = 21_840
"""One field of the inner lane: divisible by every number of fields a bend has, so that all fronts are whole."""

HANDICAPS: list[int] = DATA["race"]["handicaps"]
POINTS: list[int] = DATA["race"]["points"]
RACES: int = DATA["race"]["races"]
DEALT: int = DATA["cards"]["dealt"]
BONUS: int = DATA["cards"]["bonus"]
JUMP: int = DATA["hedges"]["points"]
FIRST_HEDGE: int = DATA["hedges"]["first"]
START_HEDGE: int = DATA["hedges"]["on_the_start_row"]


def _fronts(lane: int) -> tuple[int, ...]:
    """How far along the course the front edge of each field of a lane is."""
    fronts, start = list[int](), 0
    for section in SECTIONS:
        length, fields = section["length"] * UNIT, section["fields"][lane]
        fronts += [start + length * number // fields for number in range(1, fields + 1)]
        start += length
    return tuple(fronts)


def _ahead() -> dict[Field, Field]:
    return {(lane, index): (lane, index + 1) for lane in range(LANES) for index in range(len(FRONTS[lane]) - 1)}


def _beside(field: Field, ahead: Field) -> tuple[Field, ...]:
    """Where a diagonal stride leads: the fields next to the middle of the field straight ahead."""
    lane, index = field
    middle = -(-(FRONTS[lane][index] + FRONTS[lane][ahead[1]]) // 2)
    return tuple((side, bisect_left(FRONTS[side], middle)) for side in (lane - 1, lane + 1) if 0 <= side < LANES)


def _row(index: int) -> tuple[Field, ...]:
    """The fields of all lanes that are level with this field of the inner lane."""
    return tuple((lane, FRONTS[lane].index(FRONTS[0][index])) for lane in range(LANES))


FRONTS = tuple(map(_fronts, range(LANES)))
LAPS = tuple(sum(section["fields"][lane] for section in SECTIONS[:-1]) for lane in range(LANES))
AHEAD = _ahead()
BESIDE = {field: _beside(field, ahead) for field, ahead in AHEAD.items()}
HEDGES = {int(number): frozenset(_row(index)) for number, index in DATA["hedges"]["rows"].items()}
FINISH: int = FRONTS[0][LAPS[0] + DATA["finish"]["after"] - 1]


@cache
def hedged(standing: tuple[int, ...]) -> frozenset[Field]:
    """The fields on which one of these hedges stands."""
    return frozenset[Field]().union(*(HEDGES[number] for number in standing))


def front(field: Field) -> int:
    return FRONTS[field[0]][field[1]]


def token(field: Field) -> str:
    """The name of a field: its lane and its number in the lap, the same on both passes of the home straight."""
    lane, index = field
    return f"{LETTERS[lane]}{index % LAPS[lane] + 1}"


def _deck() -> tuple[str, ...]:
    plain = [value for value, copies in DATA["cards"]["values"].items() for _ in range(copies)]
    return (*plain, *(f"J{value}" for value in DATA["cards"]["jokers"]))


DECK = _deck()
RANK = {card: place for place, card in enumerate(dict.fromkeys(DECK))}


def is_joker(card: str) -> bool:
    return card.startswith("J")


def worth(card: str) -> int:
    """The points of a card."""
    return int(card.removeprefix("J"))


def in_order(cards: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Cards as one sorts them on the hand: by value, the jokers last."""
    return tuple(sorted(cards, key=RANK.__getitem__))
