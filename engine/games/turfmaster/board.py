"""The drawing of the course, and what templates read off a menu: all that they see as `board`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from math import cos, pi, sin
from typing import NamedTuple

from engine.games.turfmaster.ride import (
    FIELD_AHEAD,
    FIELD_TOKENS,
    FINISH,
    FRONTS,
    HEDGES,
    LANE_LETTERS,
    LANES,
    LAP_FIELDS,
    MOST_POINTS,
    POINTS,
    SECTIONS,
    UNIT,
    Field,
    get_front,
    get_rear,
    locate,
    make_field_token,
)
from engine.games.turfmaster.rounds import BOTH_DICE
from engine.games.turfmaster.state import CARD_ORDER, PACK
from engine.menu import Choice, Menu, Subset

__all__ = [
    "FIELD_TOKENS",
    "FINISH",
    "FRONTS",
    "HEDGES",
    "LANES",
    "LANE_LETTERS",
    "LAP_FIELDS",
    "MOST_POINTS",
    "POINTS",
    "SECTIONS",
    "UNIT",
    "locate",
    "make_field_token",
]

Point = tuple[float, float]
Bounds = tuple[float, float, float, float]
"""Left, top, right and bottom."""

SECTION_LENGTHS: list[int] = [section["length"] for section in SECTIONS]
# Where each section of a lap ends, in fields of the inner lane. The home straight begins with the last furlong.
HOME_END, FIRST_BEND_END, BACK_END, SECOND_BEND_END, LAP, _ = accumulate(SECTION_LENGTHS)
LAST_FURLONG, BEND = LAP - SECOND_BEND_END, FIRST_BEND_END - HOME_END
BEND_DEGREES = 180 / BEND  # by which a bend turns in each field

# The home straight is below and run from left to right; the bends are on the right and on the left.
FIELD_LENGTH, LANE_WIDTH = 34.0, 30.0
STRAIGHT = (LAST_FURLONG + HOME_END) * FIELD_LENGTH
INNER_RADIUS = 100.0
OUTER_RADIUS = INNER_RADIUS + LANES * LANE_WIDTH
SIDE_STEPS, TRAIL_STEPS = 3, 12  # the straight lines of which the long side of a field, and a trail, are made


def locate_place(along: float, out: float) -> Point:
    """Return a point of the drawing, by its way along the inner lane, in fields, and its distance from the rail."""
    along, radius = along % LAP, INNER_RADIUS + out
    if along <= HOME_END:
        x = (along + LAST_FURLONG) * FIELD_LENGTH
        y = radius
    elif along < FIRST_BEND_END:
        angle = (along - HOME_END) * pi / BEND
        x, y = STRAIGHT + radius * sin(angle), radius * cos(angle)
    elif along <= BACK_END:
        x = STRAIGHT - (along - FIRST_BEND_END) * FIELD_LENGTH
        y = -radius
    elif along < SECOND_BEND_END:
        angle = (along - BACK_END) * pi / BEND
        x, y = -radius * sin(angle), -radius * cos(angle)
    else:
        x = (along - SECOND_BEND_END) * FIELD_LENGTH
        y = radius
    return round(x, 1), round(y, 1)


@cache
def find_field(token: str) -> Field | None:
    """Return the field of this name; None if there is none."""
    for lane, names in enumerate(FIELD_TOKENS):
        if token in names:
            return lane, names.index(token)
    return None


def draw_field_lines() -> str:
    """Return the lines between the fields of one lap as an SVG path."""
    starts = dict[Point, Point]()  # where each stroke starts, by the point where it ends
    for lane, fields in enumerate(LAP_FIELDS):
        for edge in FRONTS[lane][:fields]:
            near, far = (locate_place(edge / UNIT, out * LANE_WIDTH) for out in (lane, lane + 1))
            starts[far] = starts.pop(near, near)  # continue the stroke of the lane before, if it ends here
    return "".join(f"M{x} {y}L{far_x} {far_y}" for (far_x, far_y), (x, y) in starts.items())


def locate_field(field: Field) -> tuple[float, float]:
    """Return where the middle of a field is: how far along and how far out, as for `locate_place`."""
    lane, _ = field
    return (get_rear(field) + get_front(field)) / 2 / UNIT, (lane + 0.5) * LANE_WIDTH


def outline_field(field: Field, inset: float = 1.5) -> list[Point]:
    """Return the edge of a field as a polygon, `inset` inside of its lines; in the bends its long sides are curved."""
    lane, _ = field
    rear, front = get_rear(field) / UNIT, get_front(field) / UNIT
    trim = inset / FIELD_LENGTH
    steps = [rear + trim + (front - rear - 2 * trim) * step / SIDE_STEPS for step in range(SIDE_STEPS + 1)]
    inside, outside = lane * LANE_WIDTH + inset, (lane + 1) * LANE_WIDTH - inset
    return [
        *(locate_place(along, inside) for along in steps),
        *(locate_place(along, outside) for along in reversed(steps)),
    ]


def find_heading(along: float) -> float:
    """Return the direction of a horse so far along the course, in degrees clockwise from the right.

    It is 0 on the home straight. Horses ride counterclockwise, so the degrees fall in a bend.
    """
    along %= LAP
    if HOME_END < along < FIRST_BEND_END:
        return round((HOME_END - along) * BEND_DEGREES, 1)
    if FIRST_BEND_END <= along <= BACK_END:
        return 180.0
    if BACK_END < along < SECOND_BEND_END:
        return round(180 + (BACK_END - along) * BEND_DEGREES, 1)
    return 0.0


def draw_trail(start: Field, end: Field) -> list[Point]:
    """Return the points of a ride, enough of them to make a smooth line in the bends."""
    (along, out), (end_along, end_out) = locate_field(start), locate_field(end)
    return [
        locate_place(along + (end_along - along) * step / TRAIL_STEPS, out + (end_out - out) * step / TRAIL_STEPS)
        for step in range(TRAIL_STEPS + 1)
    ]


def shift_points(points: Iterable[Point], origin: Point) -> list[Point]:
    """Return the points as seen from another origin."""
    return [(round(x - origin[0], 1), round(y - origin[1], 1)) for x, y in points]


def find_box_around(points: Sequence[Point], margin: float) -> Bounds:
    """Return the smallest box around the points, with a margin."""
    across, down = [x for x, _ in points], [y for _, y in points]
    return (min(across) - margin, min(down) - margin, max(across) + margin, max(down) + margin)


FOCUS_FIELDS, FOCUS_MARGIN = 7, 60


def choose_focus(horses: Iterable[Field]) -> tuple[float, float, float, float] | None:
    """Return left, top, width and height of the part to look at first: all horses, with some fields before them."""
    middles = [locate_field(field) for field in horses]
    spots = [locate_place(along + more, out) for along, out in middles for more in (0, FOCUS_FIELDS)]
    if not spots:
        return None
    across, down = [x for x, _ in spots], [y for _, y in spots]
    left, top = min(across) - FOCUS_MARGIN, min(down) - FOCUS_MARGIN
    return (left, top, max(across) - left + FOCUS_MARGIN, max(down) - top + FOCUS_MARGIN)


class Window(NamedTuple):
    """The part of the drawing that a letter shows enlarged."""

    left: float
    top: float
    width: float
    height: float


BORDER, MARGIN_ABOVE = 36, 48  # of meadow around the course
HORSE_MARGIN = 70
DRAWING_WIDTH, DRAWING_HEIGHT = STRAIGHT + 2 * (OUTER_RADIUS + BORDER), 2 * (OUTER_RADIUS + MARGIN_ABOVE)
ZOOMS = (2, 1.5, 1)
FIELDS_AHEAD = 5  # fields before each horse that the window shows too


def choose_window(horses: Iterable[Field], ends: Iterable[Field]) -> Window:
    """Return the part with all horses and the ends of their rides; only one straight where all are on it."""
    middles = [locate_field(field) for field in horses]
    spots = [locate_place(along + more, out) for along, out in middles for more in (0, FIELDS_AHEAD)]
    spots += [locate_place(*locate_field(field)) for field in ends]
    # Without a horse on the course, all of it is shown.
    across = [x for x, _ in spots] or [-OUTER_RADIUS, STRAIGHT + OUTER_RADIUS]
    down = [y for _, y in spots] or [-OUTER_RADIUS, OUTER_RADIUS]
    needed_width = max(across) - min(across) + 2 * HORSE_MARGIN
    fitting_widths = [DRAWING_WIDTH / zoom for zoom in ZOOMS if DRAWING_WIDTH / zoom >= needed_width]
    width = min(fitting_widths, default=DRAWING_WIDTH)
    middle = (max(across) + min(across)) / 2
    leftmost, rightmost = -OUTER_RADIUS - BORDER, STRAIGHT + OUTER_RADIUS + BORDER - width
    left = min(max(middle - width / 2, leftmost), rightmost)
    # As y goes down, the upper straight is at negative heights, the lower one at positive ones. Towards a straight
    # without a horse, the picture ends halfway to the inner rail.
    top = -DRAWING_HEIGHT / 2 if min(down) < 0 else -INNER_RADIUS / 2
    bottom = DRAWING_HEIGHT / 2 if max(down) > 0 else INNER_RADIUS / 2
    return Window(round(left), top, width, bottom - top)


FARTHEST_RIDE_FIELDS = 16  # no ride goes further
CLOSE_UP_BEHIND, MIN_CLOSE_UP_AHEAD, MIN_CLOSE_UP_LENGTH = 2, 3, 8  # fields of the inner lane


class CloseUp(NamedTuple):
    """The part of the course that a ride plays on: its lanes, and its rear end and length in fields of the inner lane.

    `reached` are the fields where the ride can end, by their names.
    """

    lanes: tuple[int, ...]
    rear: float
    length: float
    reached: dict[str, Field]


def choose_close_up(start: Field, tokens: Iterable[str]) -> CloseUp:
    """Return the part to draw large for a horse on this field that may ride to the fields of these names."""
    start_front, names = get_front(start), set(tokens)
    # Not beyond a ride: in the home straight, a field of the first lap and one of the next have the same name.
    farthest = start_front + FARTHEST_RIDE_FIELDS * UNIT
    fields = FIELD_AHEAD.values()  # all but the start boxes
    ahead = [field for field in fields if start_front < get_front(field) < farthest]
    reached = {make_field_token(field): field for field in ahead if make_field_token(field) in names}
    lanes = [lane for lane, _ in (start, *reached.values())]
    front = max([start_front + MIN_CLOSE_UP_AHEAD * UNIT, *map(get_front, reached.values())])
    rear = start_front / UNIT - CLOSE_UP_BEHIND
    length = max(front / UNIT - rear + 1, MIN_CLOSE_UP_LENGTH)
    return CloseUp(tuple(range(min(lanes), max(lanes) + 1)), rear, length, reached)


TOLERANCE_FIELDS = 0.01  # a field is inside although its ends are a little off


class CloseUpField(NamedTuple):
    """A field in a close-up: its row, where it begins in the row, and its length, both in fields of the inner lane."""

    field: Field
    token: str
    row: int
    begin: float
    length: float


def list_close_up_fields(close_up: CloseUp) -> Iterator[CloseUpField]:
    """Yield the fields that are wholly inside a close-up, lane by lane."""
    for row, lane in enumerate(close_up.lanes):
        rear = 0
        for index, edge in enumerate(FRONTS[lane]):
            begin, end = rear / UNIT - close_up.rear, edge / UNIT - close_up.rear
            if begin >= -TOLERANCE_FIELDS and end <= close_up.length + TOLERANCE_FIELDS:
                yield CloseUpField((lane, index), make_field_token((lane, index)), row, begin, end - begin)
            rear = edge


PIPS = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    6: ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
}
"""Where the pips of a die are, around its middle."""


def counts_for_pace(dice: Sequence[int], pace: str, number: int) -> bool:
    """Whether die `number`, 0 or 1, is part of the pace; of two equal dice only the first one is.

    Both are as long as the pace is not set, which is "".
    """
    if pace in ("", BOTH_DICE):
        return True
    equals_first_die = number == 1 and dice[0] == dice[1]
    return pace == str(dice[number]) and not equals_first_die


def list_hedge_tokens(hedges: Iterable[int]) -> set[str]:
    """Return the names of all fields of the hedges with these numbers."""
    return {make_field_token(field) for number in hedges for field in HEDGES[number]}


def count_unplayed(spent: Sequence[str]) -> dict[str, int]:
    """Count the cards of a horse that it has not played, in the order of hands."""
    unplayed = Counter(PACK) - Counter(spent)
    return {card: unplayed[card] for card in CARD_ORDER if unplayed[card]}


def count_cards(hand: Iterable[str]) -> dict[str, int]:
    """Return how many copies of each card are in a hand."""
    return Counter(hand)


def list_ways(menu: Menu) -> dict[str, list[str]]:
    """Return the ends of rides on a menu, each with the cards or dice that lead there; "" where none is chosen."""
    ways = dict[str, list[str]]()
    for entry in menu:
        if isinstance(entry, Choice) and entry.verb in ("play", "ride"):
            for option in entry.options:  # a card or a die, if one is chosen, and the end
                card_or_die = option[0] if len(option) == 2 else ""
                ways.setdefault(option[-1], []).append(card_or_die)
    return ways


def list_paces(menu: Menu) -> list[str]:
    """Return the paces on a menu, also those of rides for which one die has to be chosen."""
    paces = list[str]()
    for entry in menu:
        if isinstance(entry, Choice) and entry.verb == "pace":
            paces += [pace for (pace,) in entry.options]
        elif isinstance(entry, Choice) and entry.verb == "ride":
            paces += [option[0] for option in entry.options if len(option) == 2]  # a die and the end of the ride
    return list(dict.fromkeys(paces))  # each once


def list_cards_to_pick(menu: Menu) -> set[str]:
    """Return the cards, and other first words, of the moves on a menu."""
    words = set[str]()
    for entry in menu:
        if isinstance(entry, Choice):
            words.update(option[0] for option in entry.options if option)
        elif isinstance(entry, Subset):
            words.update(entry.items)
    return words
