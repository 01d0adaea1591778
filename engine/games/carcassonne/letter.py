"""The layout of the picture in a letter: the mats of the players, the hand, the land, and the scoring track.

The picture is a thousand wide, and all beside the land is measured in that. The land has a unit of its own: a tile is a
hundred wide, and a whole number of pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from engine.games.carcassonne.points import Point
from engine.games.carcassonne.tiles import TRACK

PICTURE_PIXELS = 760
MIN_COLUMNS, MIN_ROWS = 6, 4
MARGIN = 120
INNER_WIDTH = 956
LINE = 44
HAND, HAND_WITH_TURNS = 136, 166
NAMED_ABREAST = 4

Things = tuple[tuple[str, int], ...]


class TrackFigure(NamedTuple):
    """A scoring figure on the track; `is_small` if it shares its space with more than one other."""

    seat: int
    token: str
    point: Point
    is_small: bool


class LetterLayout(Struct, frozen=True):
    """The places and sizes of the parts of the picture.

    * `pixel` is a pixel in units of the land, `unit` a thousandth of the picture in units of the land.
    * `things` are the figures and goods of each seat, with their numbers; a mat has `things_abreast` in a row.
    * `mats` is the upper left corner of each mat, `mat_width` and `mat_height` their size.
    * `hand_y` is where the hand begins; `head` and `bottom` are where the land begins and ends.
    * `lens` is the offset of the land in the picture and the size of a pixel.
    * `named` are the kinds of figures that are named below the track.
    """

    width: float
    height: float
    pixel: float
    unit: float
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
    """Lay the picture out for the land of this extent (west, east, north, south)."""
    west, east, north, south = extent
    columns, rows = max(east - west + 1, MIN_COLUMNS), max(south - north + 1, MIN_ROWS)
    pixel = 100 / (PICTURE_PIXELS * 100 // (columns * 100 + MARGIN))
    width = PICTURE_PIXELS * pixel
    unit = width / 1000
    things = tuple(_things_of(view, seat) for seat in range(len(view.supply)))
    abreast = _mats_abreast(things)
    mat_width = INNER_WIDTH / abreast
    things_abreast = int((mat_width - 30) / 70)
    mat_height = 56 + LINE * max(_count_rows(max(map(len, things)), things_abreast), 1)
    hand_y = 20 + (mat_height + 6) * _count_rows(len(things), abreast)
    hand_height = HAND_WITH_TURNS if has_turns else HAND
    head = hand_y + (hand_height + 8 if has_hand else 0)
    named = tuple(dict.fromkeys(kind for supply in view.supply for kind in supply if kind != "meeple"))
    bottom = head + round((rows * 100 + 90) / unit)
    x = (width - (east - west + 1) * 100) / 2 - west * 100 + 50
    y = (head + bottom) * unit / 2 - (north + south) * 50
    return LetterLayout(
        width=width,
        height=bottom + 122 + LINE * (1 + _count_rows(len(named), NAMED_ABREAST)),
        pixel=pixel,
        unit=unit,
        things=things,
        things_abreast=things_abreast,
        mats=tuple(
            Point(22 + mat_width * (seat % abreast), 18 + (mat_height + 6) * (seat // abreast))
            for seat in range(len(things))
        ),
        mat_width=mat_width,
        mat_height=mat_height,
        hand_y=hand_y,
        hand_height=hand_height,
        head=head,
        bottom=bottom,
        lens=(x, y, pixel),
        named=named,
        track_figures=tuple(_place_on_track(view.track, bottom)),
    )


def _things_of(view: Any, seat: int) -> Things:
    """Return the figures and goods that a seat has, with their numbers."""
    goods: Mapping[str, int] = view.goods[seat] if view.goods else {}
    return tuple((kind, number) for kind, number in {**view.supply[seat], **goods}.items() if number)


def _mats_abreast(things: Sequence[Things]) -> int:
    """Return how many mats are beside each other: two if they are full, or if that leaves no gap."""
    return 2 if max(map(len, things)) > 4 or len(things) in (2, 4) else 3


def _count_rows(number: int, abreast: int) -> int:
    return (number + abreast - 1) // abreast


def space_point(space: int) -> Point:
    """Return the upper left corner of a space of the track, which goes along one row and back on another."""
    is_low = space >= TRACK // 2
    return Point(24 + 38.1 * (TRACK - 1 - space if is_low else space), 60 if is_low else 10)


def _place_on_track(track: Sequence[Sequence[int]], top: float) -> list[TrackFigure]:
    """Place the scoring figures on their spaces, those that share one in two columns."""
    spaces = [steps % TRACK for own in track for steps in own]
    figures, counts = [], dict[int, int]()
    for seat, own in enumerate(track):
        for token, steps in zip(("meeple", "woman"), own, strict=False):
            space = steps % TRACK
            number = counts.get(space, 0)
            counts[space] = number + 1
            shared, rows = spaces.count(space) > 1, _count_rows(spaces.count(space), 2)
            x, y = space_point(space)
            dx = 10 + 16 * (number % 2) if shared else 18
            dy = 18 if rows == 1 else 11 + 17 / (rows - 1) * (number // 2)
            figures.append(TrackFigure(seat, token, Point(x + dx, top + y + dy), rows > 1))
    return figures
