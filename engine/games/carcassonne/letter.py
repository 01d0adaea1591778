"""The picture of the table in a letter: where its mats, hand, land and scoring track are.

The picture is a thousand wide, and all beside the land is measured in that. The land has a unit of its own: a tile is a
hundred wide, and a whole number of pixels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from engine.games.carcassonne.coordinates import TILE_SIZE, Point
from engine.games.carcassonne.scoring import SCORERS
from engine.games.carcassonne.tiles import TRACK

PLATE_LETTER_PIXELS, PLATE_HEIGHT = 15.5, 1.35
"""The size of the letters of names in pixels, large enough on a phone; and the height of their plates in this size."""

HALF_LETTER, PLATE_MARGIN = 0.37, 0.3
"""Half the width of a letter, and the margin beside a name, also in the size of the letters."""

PLATE_STEPS = (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6)
"""By how many plates one is moved down or up that would cover another."""

PICTURE_PIXELS = 760
MIN_COLUMNS, MIN_ROWS = 6, 4
"""The columns and rows of the land for which there is room even if it has fewer."""

MARGIN_BESIDE, MARGIN_ABOVE = 120, 90
"""The room around the land, beside it and above and below it, in units of the land."""

INNER_WIDTH, LINE_HEIGHT = 956, 44
"""The width of all mats beside each other, and the height of a line of things or names."""

MAT_X, MAT_Y, MAT_GAP = 22, 18, 6
MAT_HEAD, THINGS_MARGIN, THING_WIDTH = 56, 30, 70
"""Where the mats begin and how far they are from those below; the height of the head of a mat, the room that is free
beside its things, and the width of each."""

FEW_THINGS = 4
"""The most things of a seat for which a third of the width is enough."""

HAND_Y, HAND_HEIGHT, HAND_HEIGHT_WITH_TURNS, HAND_GAP = 20, 136, 166, 8
TRACK_HEIGHT, NAMED_ABREAST = 122, 4
"""How far down the hand begins if the mats have no height, its height and the gap below it; the height of the track,
and how many kinds of figures are named in a line below that."""

SPACE_WIDTH, SPACE_X, SPACE_ROWS = 38.1, 24, (10, 60)
"""The spaces of the track: the width of each, where the first begins, and where each of the two rows is."""

SPACE_MIDDLE, SPACE_COLUMNS, FIRST_IN_SPACE, LAST_BELOW_FIRST = 18, (10, 26), 11, 17
"""The middle of a space, its two columns if figures share it, the first figure in a column, and the last below it."""

PIECES_LEFT = {"abbey": "abbeys", "bridge": "bridges", "castle": "castles_left", "floor": "floors"}
"""The pieces that a seat has besides its figures, each with the field of the view that counts them."""

Things = tuple[tuple[str, int], ...]


class TrackFigure(NamedTuple):
    """A scoring figure on the track; `is_small` if it shares its space with more than one other."""

    seat: int
    token: str
    point: Point
    is_small: bool


class LetterLayout(Struct, frozen=True):
    """The places and sizes of the parts of the picture, in thousandths of its width; the first three and the lens not.

    * In units of the land, `width` is that of the picture, `pixel` one of its pixels, and `unit` a thousandth of it;
      `lens` is the offset of the land in the picture to the right and down, and once more the size of a pixel.
    * `things` are the figures, goods and pieces of each seat, with their numbers; a mat has `things_abreast` in a row.
    * `mats` is the upper left corner of each mat, `mat_width` and `mat_height` their size.
    * `hand_y` is where the hand begins; `head` and `bottom` are where the land begins and ends.
    * `named` are the kinds of figures that are named below the track, on which the `track_figures` are.
    """

    width: float
    pixel: float
    unit: float
    height: float
    things: tuple[Things, ...]
    things_abreast: int
    mats: tuple[Point, ...]
    mat_width: float
    mat_height: float
    hand_y: float
    hand_height: float
    head: float
    bottom: float
    lens: tuple[float, float, float]
    named: tuple[str, ...]
    track_figures: tuple[TrackFigure, ...]


def lay_out_letter(view: Any, extent: Sequence[int], has_hand: bool, has_turns: bool) -> LetterLayout:
    """Lay the picture out for the land of this extent (west, east, north, south), which has a unit of its own."""
    west, east, north, south = extent
    columns, rows = max(east - west + 1, MIN_COLUMNS), max(south - north + 1, MIN_ROWS)
    # A whole number, so that a tile looks the same on every cell, and is drawn only once.
    pixels_per_tile = PICTURE_PIXELS * TILE_SIZE // (columns * TILE_SIZE + MARGIN_BESIDE)
    pixel = TILE_SIZE / pixels_per_tile  # in units of the land, like the width
    width = PICTURE_PIXELS * pixel
    unit = width / 1000
    # All below is in thousandths of the width, apart from `x` and `y`.
    things = tuple(_list_things(view, seat) for seat in range(len(view.supply)))
    mats = _lay_out_mats(things)
    hand_y = HAND_Y + mats.height_of_all
    hand_height = HAND_HEIGHT_WITH_TURNS if has_turns else HAND_HEIGHT
    head = hand_y + (hand_height + HAND_GAP if has_hand else 0)
    named = tuple(dict.fromkeys(kind for supply in view.supply for kind in supply if kind != "meeple"))
    bottom = head + round((rows * TILE_SIZE + MARGIN_ABOVE) / unit)
    # Where the middle of cell 0,0 is, in units of the land, if that of the land is in the middle of its part.
    x = width / 2 - (west + east) * (TILE_SIZE / 2)
    y = (head + bottom) * unit / 2 - (north + south) * (TILE_SIZE / 2)
    return LetterLayout(
        width=width,
        pixel=pixel,
        unit=unit,
        height=bottom + TRACK_HEIGHT + LINE_HEIGHT * (1 + _count_rows(len(named), NAMED_ABREAST)),
        things=things,
        things_abreast=mats.things_abreast,
        mats=mats.corners,
        mat_width=mats.width,
        mat_height=mats.height,
        hand_y=hand_y,
        hand_height=hand_height,
        head=head,
        bottom=bottom,
        lens=(x, y, pixel),
        named=named,
        track_figures=tuple(_place_on_track(view.track, bottom)),
    )


class Mats(NamedTuple):
    """The upper left corner of each mat, the size of one, how high all are together, and its things in a row."""

    corners: tuple[Point, ...]
    width: float
    height: float
    height_of_all: float
    things_abreast: int


def _lay_out_mats(things: Sequence[Things]) -> Mats:
    """Lay out a mat for the things of each seat, all of the same size."""
    abreast = _count_mats_abreast(things)
    width = INNER_WIDTH / abreast
    things_abreast = int((width - THINGS_MARGIN) / THING_WIDTH)
    most_things = max(map(len, things))
    height = MAT_HEAD + LINE_HEIGHT * max(_count_rows(most_things, things_abreast), 1)
    corners = tuple(
        Point(MAT_X + width * (seat % abreast), MAT_Y + (height + MAT_GAP) * (seat // abreast))
        for seat in range(len(things))
    )
    return Mats(corners, width, height, (height + MAT_GAP) * _count_rows(len(things), abreast), things_abreast)


def _list_things(view: Any, seat: int) -> Things:
    """Return the figures, goods and pieces of boxes that a seat has, with their numbers."""
    things: dict[str, int] = dict(view.supply[seat])
    if view.goods:
        things |= view.goods[seat]
    for piece, field in PIECES_LEFT.items():
        numbers = getattr(view, field)  # by seat; empty without its box
        if numbers:
            things[piece] = numbers[seat]
    return tuple((kind, number) for kind, number in things.items() if number)


def _count_mats_abreast(things: Sequence[Things]) -> int:
    """Return how many mats are beside each other: three, but two if one is full, or if there are two or four mats."""
    return 2 if max(map(len, things)) > FEW_THINGS or len(things) in (2, 4) else 3


def _count_rows(number: int, abreast: int) -> int:
    """Return how many rows so many things need, the last of which may be shorter."""
    return (number + abreast - 1) // abreast


def locate_space(space: int) -> Point:
    """Return the upper left corner of a space of the track, which goes along one row and back on another."""
    row, row_back = SPACE_ROWS
    goes_back = space >= TRACK // 2
    column = TRACK - 1 - space if goes_back else space
    return Point(SPACE_X + SPACE_WIDTH * column, row_back if goes_back else row)


def _place_on_track(track: Sequence[Sequence[int]], top: float) -> list[TrackFigure]:
    """Place the scoring figures on their spaces, from this height down."""
    sharing = Counter(steps % TRACK for own in track for steps in own)  # how many figures are on each space
    placed = Counter[int]()  # how many of them have a point so far
    figures = []
    for seat, own in enumerate(track):
        for token, steps in zip(SCORERS, own, strict=False):  # without The Messages a seat has only the first
            space = steps % TRACK
            x, y = locate_space(space)
            dx, dy = _locate_in_space(placed[space], sharing[space])
            placed[space] += 1
            figures.append(TrackFigure(seat, token, Point(x + dx, top + y + dy), is_small=sharing[space] > 2))
    return figures


def _locate_in_space(number: int, sharing: int) -> tuple[float, float]:
    """Return where a figure is in its space, by its number among those that share it: they are in two columns."""
    rows = _count_rows(sharing, 2)
    dx = SPACE_MIDDLE if sharing == 1 else SPACE_COLUMNS[number % 2]
    dy = SPACE_MIDDLE if rows == 1 else FIRST_IN_SPACE + LAST_BELOW_FIRST / (rows - 1) * (number // 2)
    return dx, dy


class NamePlate(NamedTuple):
    """The name of a mark on the land of a letter: its text, its middle, the size of its letters and half its width."""

    text: str
    middle: Point
    size: float
    half: float

    def hides(self, other: NamePlate) -> bool:
        """Whether two plates would hide each other; the letters, and so the heights, of both have the same size."""
        return (
            abs(self.middle.x - other.middle.x) < self.half + other.half
            and abs(self.middle.y - other.middle.y) < PLATE_HEIGHT * self.size
        )


def _choose_plate(options: Sequence[NamePlate], others: Sequence[NamePlate]) -> NamePlate:
    """Return the first of the options that hides no other plate, or the first of all if each hides one."""
    for plate in options:
        if not any(map(plate.hides, others)):
            return plate
    return options[0]


def lay_out_plates(names: Sequence[tuple[str, Point]], pixel: float) -> list[NamePlate]:
    """Return a plate for each name that is not empty, from the top down.

    A plate that would cover an earlier one is moved down or up; if it would do so everywhere, it is not moved.
    """
    size = round(PLATE_LETTER_PIXELS * pixel, 1)
    unmoved_plates = list[NamePlate]()
    for text, middle in names:
        if text:
            half = round(HALF_LETTER * size * len(text) + PLATE_MARGIN * size, 1)
            unmoved_plates.append(NamePlate(text, middle, size, half))
    plates = list[NamePlate]()
    for plate in sorted(unmoved_plates, key=lambda one: one.middle.y):
        x, y = plate.middle
        moved = [plate._replace(middle=Point(x, y + step * PLATE_HEIGHT * size)) for step in PLATE_STEPS]
        plates.append(_choose_plate(moved, plates))
    return plates
