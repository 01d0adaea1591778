"""The course, field by field, and the cards."""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache
from math import cos, pi, sin
from pathlib import Path
from typing import Any, NamedTuple

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


NAMES = tuple(tuple(token((lane, index)) for index in range(LAPS[lane])) for lane in range(LANES))
"""The names of all fields, lane by lane."""


class Whereabouts(NamedTuple):
    """A field as people say where it is: its lane, the section of the course, and the number of the field in that."""

    lane: int
    section: str
    number: int


def whereabouts(token: str) -> Whereabouts:
    """The same for a field by its name."""
    lane, left = LETTERS.index(token[0]), int(token[1:])
    for section in SECTIONS:
        if left <= section["fields"][lane]:
            return Whereabouts(lane + 1, section["name"], left)
        left -= section["fields"][lane]
    raise ValueError(token)


def _deck() -> tuple[str, ...]:
    plain = [value for value, copies in DATA["cards"]["values"].items() for _ in range(copies)]
    return (*plain, *(f"J{value}" for value in DATA["cards"]["jokers"]))


DECK = _deck()
RANK = {card: place for place, card in enumerate(dict.fromkeys(DECK))}


WORTH = {card: int(card.removeprefix("J")) for card in RANK}
JOKERS = frozenset(card for card in RANK if card.startswith("J"))


def is_joker(card: str) -> bool:
    return card in JOKERS


def worth(card: str) -> int:
    """The points of a card."""
    return WORTH[card]


def in_order(cards: Iterable[str]) -> tuple[str, ...]:
    """Cards as one sorts them on the hand: by value, the jokers last."""
    return tuple(sorted(cards, key=RANK.__getitem__))


# The course as it is drawn: the home straight below, run from left to right, the bends to the right and to the left.
LENGTH, WIDTH = 34.0, 30.0
STRAIGHT = 28 * LENGTH
RADIUS = 100.0


def point(along: float, out: float) -> tuple[float, float]:
    """Where on the drawing one is, so many fields along the inner lane and so far out from its inner rail."""
    along, radius = along % 80, RADIUS + out
    if along <= 24:
        x, y = (along + 4) * LENGTH, radius
    elif along < 36:
        x, y = STRAIGHT + radius * sin((along - 24) * pi / 12), radius * cos((along - 24) * pi / 12)
    elif along <= 64:
        x, y = STRAIGHT - (along - 36) * LENGTH, -radius
    elif along < 76:
        x, y = -radius * sin((along - 64) * pi / 12), -radius * cos((along - 64) * pi / 12)
    else:
        x, y = (along - 76) * LENGTH, radius
    return round(x, 1), round(y, 1)


@cache
def lines() -> str:
    """The lines between the fields of one lap, as the path of a drawing; there are hundreds, and they never change."""
    strokes = dict[tuple[float, float], tuple[float, float]]()  # where each ends, and where it begins
    for lane, lap in enumerate(LAPS):
        for place in FRONTS[lane][:lap]:
            near, far = (point(place / UNIT, out * WIDTH) for out in (lane, lane + 1))
            strokes[far] = strokes.pop(near, near)  # what goes on in the next lane is one stroke
    return "".join(f"M{x} {y}L{far_x} {far_y}" for (far_x, far_y), (x, y) in strokes.items())


def middle(field: Field) -> tuple[float, float]:
    """How far along and how far out the middle of a field is."""
    lane, index = field
    rear = FRONTS[lane][index - 1] if index else 0
    return (rear + FRONTS[lane][index]) / 2 / UNIT, (lane + 0.5) * WIDTH


def outline(field: Field, inset: float = 1.5) -> list[tuple[float, float]]:
    """The edge of a field on the drawing, as a polygon; in the bends its long sides are curved."""
    lane, index = field
    rear, ahead = (FRONTS[lane][index - 1] if index else 0) / UNIT, FRONTS[lane][index] / UNIT
    trim = inset / LENGTH
    steps = [rear + trim + (ahead - rear - 2 * trim) * step / 3 for step in range(4)]
    inside, outside = lane * WIDTH + inset, (lane + 1) * WIDTH - inset
    return [*(point(along, inside) for along in steps), *(point(along, outside) for along in reversed(steps))]


def heading(along: float) -> float:
    """Which way one looks there, in degrees from looking to the right."""
    along %= 80
    if 24 < along < 36:
        return round((24 - along) * 15, 1)
    if 36 <= along <= 64:
        return 180.0
    return round(180 + (64 - along) * 15, 1) if 64 < along < 76 else 0.0


def trail(start: Field, end: Field) -> list[tuple[float, float]]:
    """The way of a ride on the drawing, in a line as smooth as the bends are."""
    (along, out), (to, outer) = middle(start), middle(end)
    return [point(along + (to - along) * step / 12, out + (outer - out) * step / 12) for step in range(13)]


class Window(NamedTuple):
    """The piece of the drawing that a letter shows large."""

    left: float
    top: float
    width: float
    height: float


OUTER = RADIUS + LANES * WIDTH
BORDER, ABOVE = 36, 48  # of meadow around the course
ROOM = 70  # around a horse
WIDE, HIGH = STRAIGHT + 2 * (OUTER + BORDER), 2 * (OUTER + ABOVE)
ZOOMS = (2, 1.5, 1)
AHEAD_OF_HORSES = 5  # fields, so that one sees where they are running to


def window(standing: Iterable[Field], reached: Iterable[Field]) -> Window:
    """Where the horses are and may ride to; above or below the middle meadow alone where all are on one straight."""
    places = [middle(field) for field in standing]
    spots = [point(along + more, out) for along, out in places for more in (0, AHEAD_OF_HORSES)]
    spots += [point(*middle(field)) for field in reached]
    across = [x for x, _ in spots] or [-OUTER, STRAIGHT + OUTER]
    down = [y for _, y in spots] or [-OUTER, OUTER]
    need = max(across) - min(across) + 2 * ROOM
    zoom = next(zoom for zoom in ZOOMS if need <= WIDE / zoom or zoom == 1)
    middle_of_all, width = (max(across) + min(across)) / 2, WIDE / zoom
    left = min(max(middle_of_all - width / 2, -OUTER - BORDER), STRAIGHT + OUTER + BORDER - width)
    top, foot = (-HIGH / 2 if min(down) < 0 else -RADIUS / 2), (HIGH / 2 if max(down) > 0 else RADIUS / 2)
    return Window(round(left), top, width, foot - top)


class CloseUp(NamedTuple):
    """The piece of the course a ride plays on: its lanes, from where, how long, and the fields within reach."""

    lanes: tuple[int, ...]
    rear: float
    length: float
    reached: dict[str, Field]


def close_up(start: Field, tokens: Iterable[str]) -> CloseUp:
    """What to draw large for a horse here that may ride to the fields of these names."""
    home = front(start)
    ahead = [field for field in AHEAD.values() if home < front(field) < home + 16 * UNIT]
    reached = {token(field): field for field in ahead if token(field) in set(tokens)}
    lanes = [field[0] for field in (start, *reached.values())]
    far = max([home + 3 * UNIT, *map(front, reached.values())])
    rear = home / UNIT - 2
    return CloseUp(tuple(range(min(lanes), max(lanes) + 1)), rear, max(far / UNIT - rear + 1, 8), reached)
