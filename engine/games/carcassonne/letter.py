"""The table in a letter: the land in characters, and the layout of the picture with mats, hand, land and scoring track.

In characters a tile has five columns and three rows. The picture is a thousand wide, and all beside the land is
measured in that. The land has a unit of its own: a tile is a hundred wide, and a whole number of pixels.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from engine.games.carcassonne.coordinates import Point
from engine.games.carcassonne.state import Figure, PlacedTile
from engine.games.carcassonne.tiles import PIECES, TRACK, Piece, Segment, parse_cell

TILE_COLUMNS, TILE_ROWS = 5, 3
MAX_COLUMNS, MAX_ROWS = 15, 20
"""The most cells that are shown beside and below each other."""

SHEET_COLUMNS = 80
MAP_COLUMN, MAP_ROW = 4, 1
"""The columns and rows that the coordinates take."""

PLATE_LETTER_PIXELS, PLATE_HEIGHT = 15.5, 1.35
"""The size of the names of marks in pixels, so that a phone shows them large enough; and the height of their plates."""
PLATE_STEPS = (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6)
"""By how many plates one is moved down or up that would cover another."""

MARK_LETTERS = {
    "shield": "s",
    "inn": "i",
    "cathedral": "c",
    "wine": "w",
    "grain": "g",
    "cloth": "t",
    "besieged": "x",
    "travellers": "p",
    "darmstadtium": "d",
    "church": "k",
    "tunnel": "u",
    "princess": "q",
    "bath3": "b",
    "bath4": "b",
    "bath5": "b",
}
SIGN_LETTERS = {
    "rose": "r",
    "watchtower": "T",
    "hill": "h",
    "vineyard": "v",
    "circus": "C",
    "tree": "Y",
    "village": "V",
    "school": "U",
    "revolt": "R",
    "wheel": "W",
    "carcassonne": "Q",
    "leipzig": "L",
    "number": "n",
    "tower": "^",
    "dragon": "D",
    "volcano": "A",
    "portal": "P",
    "bazaar": "z",
    "bridge": "=",
    "source": "X",
}
MARK_WORDS = {"bath3": "bathhouse", "bath4": "bathhouse", "bath5": "bathhouse"}
"""What the legend calls marks that share a letter."""

KEY_MARKS = frozenset({"shield"})
"""The marks of the base game, which the key of the text board explains at every table."""

LAND_LETTERS = {"river": "~", "garden": "*"}

LEGEND = (
    SIGN_LETTERS
    | LAND_LETTERS
    | {MARK_WORDS.get(mark, mark): at for mark, at in MARK_LETTERS.items() if mark not in KEY_MARKS}
)
"""The letters that the legend explains where they are on the table, by their words."""

HALF_SIDES = ((1, 0), (3, 0), (4, 0), (4, 2), (3, 2), (1, 2), (0, 2), (0, 0))
SIDE_MIDDLES = ((2, 0), (4, 1), (2, 2), (0, 1))
"""Column and row of a figure within a tile, by the half side of a field or the side of a road or city."""


class TextMap(NamedTuple):
    """The rows of the drawing, and whether all of the land is on it."""

    rows: list[str]
    is_whole: bool


class Sheet:
    """A sheet of characters that cuts off texts at its edges."""

    def __init__(self, width: int, height: int, fill: str = " ") -> None:
        self.lines = [[fill] * width for _ in range(height)]

    def write(self, x: int, y: int, text: object) -> None:
        """Write a text that begins at this column and row."""
        if 0 <= y < len(self.lines):
            line, first = self.lines[y], max(0, x)
            letters = str(text)[first - x : max(0, len(line) - x)]
            line[first : first + len(letters)] = letters

    def list_rows(self) -> list[str]:
        """Return the rows without the blanks at their ends."""
        return ["".join(line).rstrip() for line in self.lines]


def draw_text_map(tiles: Mapping[str, PlacedTile], figures: Iterable[Figure], free_cells: Sequence[str]) -> TextMap:
    """Draw the tiles, the figures as numbers of their seats, and the cells where the drawn tile can go.

    A land that is too large is shown around the latest tile.
    """
    cells = [*map(parse_cell, tiles), *map(parse_cell, free_cells)]
    focus_x, focus_y = parse_cell(list(tiles)[-1])
    columns = _choose_range([x for x, _ in cells], focus_x, MAX_COLUMNS)
    rows = _choose_range([y for _, y in cells], focus_y, MAX_ROWS)
    sheet = Sheet(SHEET_COLUMNS, TILE_ROWS * len(rows) + 2)
    for x in columns:
        sheet.write(MAP_COLUMN + 2 + TILE_COLUMNS * (x - columns[0]), 0, x)
    for y in rows:
        sheet.write(0, MAP_ROW + 1 + TILE_ROWS * (y - rows[0]), y)

    def draw(cell: str, dx: int, dy: int, text: object) -> None:
        x, y = parse_cell(cell)
        if x in columns and y in rows:
            left, top = MAP_COLUMN + TILE_COLUMNS * (x - columns[0]), MAP_ROW + TILE_ROWS * (y - rows[0])
            sheet.write(left + dx, top + dy, text)

    for cell, placed in tiles.items():
        for number, characters in enumerate(_draw_tile(placed.tile, placed.turn)):
            draw(cell, 0, number, characters)
    for cell in free_cells:
        draw(cell, 1, 1, "[ ]")
    for figure in figures:
        piece = PIECES[tiles[figure.cell].tile][tiles[figure.cell].turn]
        column, row = _locate_in_tile(piece.segments[piece.indexes[figure.segment]])
        draw(figure.cell, column, row, figure.seat + 1)
    is_whole = all(x in columns and y in rows for x, y in cells)
    return TextMap(sheet.list_rows(), is_whole)


def _choose_range(values: Sequence[int], focus: int, size: int) -> range:
    """Return the numbers from the smallest to the largest, or at most `size` of them around the focus."""
    first, last = min(values), max(values)
    if last - first >= size:
        first = min(max(focus - size // 2, first), last - size + 1)
        last = first + size - 1
    return range(first, last + 1)


def _locate_in_tile(segment: Segment) -> tuple[int, int]:
    """Return column and row of a figure within its tile."""
    ends = segment.ends
    if not ends or (segment.kind == "road" and len(ends) > 1):
        return 2, 1
    return HALF_SIDES[ends[len(ends) // 2]] if segment.kind == "field" else SIDE_MIDDLES[ends[0]]


@functools.cache
def _draw_tile(tile: str, turn: int) -> list[str]:
    """Draw a tile: `#` city, `-` and `|` road, `~` river, `.` field, and letters for what is on it."""
    piece = PIECES[tile][turn]
    sheet = Sheet(TILE_COLUMNS, TILE_ROWS, ".")
    _draw_edges(sheet, piece)
    letters = [SIGN_LETTERS[word] for word in list_signs_of_piece(piece) if word in SIGN_LETTERS]
    sheet.write(2, 1, letters[-1] if letters else _choose_middle_letter(piece))
    if _has_wide_city(piece) and piece.edges.count("c") > 2:
        sheet.write(1, 1, "###")
    if "bridge" in piece.indexes:
        sheet.write(3, 2, SIGN_LETTERS["bridge"])
    for segment in piece.segments:
        if segment.marks and segment.marks[0] in MARK_LETTERS:
            column = 3 if segment.kind == "city" and piece.edges.count("c") > 1 else 2
            row = 0 if segment.kind == "city" and piece.edges[0] == "c" else 2
            sheet.write(column, row, MARK_LETTERS[segment.marks[0]])
    return sheet.list_rows()


def list_signs_of_piece(piece: Piece) -> list[str]:
    """Return the words of the signs of a tile, the kinds of its segments, and whether it has a river."""
    kinds = [*(segment.kind for segment in piece.segments), *(["river"] if piece.rivers else [])]
    return [*(sign.split()[0] for sign in piece.signs), *kinds]


def _draw_edges(sheet: Sheet, piece: Piece) -> None:
    """Draw cities along their sides, and roads and rivers from the middle of theirs."""
    for side, row in ((0, 0), (2, 2)):
        match piece.edges[side]:
            case "c":
                sheet.write(0, row, "#####")
            case "r" | "w":
                sheet.write(2, row, "|" if piece.edges[side] == "r" else "~")
    for side, column, beginning in ((3, 0, 0), (1, 4, 3)):
        match piece.edges[side]:
            case "c":
                for row in range(TILE_ROWS):
                    sheet.write(column, row, "#")
            case "r" | "w":
                sheet.write(beginning, 1, "--" if piece.edges[side] == "r" else "~~")


def _choose_middle_letter(piece: Piece) -> str:
    """Return the character in the middle of a tile."""
    kinds = [segment.kind for segment in piece.segments]
    road_ends = "".join(str(end) for segment in piece.segments if segment.kind == "road" for end in segment.ends)
    if "cloister" in kinds:
        return "M"
    if "garden" in kinds:
        return "*"
    if _has_wide_city(piece):
        return "#"
    if road_ends in ("13", "31"):
        return "-"
    if road_ends in ("02", "20"):
        return "|"
    if len(road_ends) > 1:
        return "+"
    return "~" if piece.rivers else "."


def _has_wide_city(piece: Piece) -> bool:
    """Whether a city reaches more than one side of a tile."""
    return any(segment.kind == "city" and len(segment.ends) > 1 for segment in piece.segments)


PICTURE_PIXELS = 760
MIN_COLUMNS, MIN_ROWS = 6, 4
MARGIN = 120
INNER_WIDTH = 956
LINE = 44
HAND, HAND_WITH_TURNS = 136, 166
NAMED_ABREAST = 4

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
    """The places and sizes of the parts of the picture.

    * `pixel` is a pixel in units of the land, `unit` a thousandth of the picture in units of the land.
    * `things` are the figures, goods and pieces of each seat, with their numbers; a mat has `things_abreast` in a row.
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
    things = tuple(_list_things(view, seat) for seat in range(len(view.supply)))
    abreast = _count_mats_abreast(things)
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


def _list_things(view: Any, seat: int) -> Things:
    """Return the figures, goods and pieces of boxes that a seat has, with their numbers."""
    goods: Mapping[str, int] = view.goods[seat] if view.goods else {}
    pieces = {piece: getattr(view, field)[seat] for piece, field in PIECES_LEFT.items() if getattr(view, field)}
    return tuple((kind, number) for kind, number in {**view.supply[seat], **goods, **pieces}.items() if number)


def _count_mats_abreast(things: Sequence[Things]) -> int:
    """Return how many mats are beside each other: two if they are full, or if that leaves no gap."""
    return 2 if max(map(len, things)) > 4 or len(things) in (2, 4) else 3


def _count_rows(number: int, abreast: int) -> int:
    return (number + abreast - 1) // abreast


def locate_space(space: int) -> Point:
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
            x, y = locate_space(space)
            dx = 10 + 16 * (number % 2) if shared else 18
            dy = 18 if rows == 1 else 11 + 17 / (rows - 1) * (number // 2)
            figures.append(TrackFigure(seat, token, Point(x + dx, top + y + dy), rows > 1))
    return figures


class NamePlate(NamedTuple):
    """The name of a mark on the land of a letter: its text, its middle, the size of its letters and half its width."""

    text: str
    middle: Point
    size: float
    half: float

    def hides(self, other: NamePlate) -> bool:
        """Whether two plates would hide each other."""
        return (
            abs(self.middle.x - other.middle.x) < self.half + other.half
            and abs(self.middle.y - other.middle.y) < PLATE_HEIGHT * self.size
        )


def lay_out_plates(names: Sequence[tuple[str, Point]], pixel: float) -> list[NamePlate]:
    """Return a plate for each name and its point, moved up or down where it would cover another one."""
    size = round(PLATE_LETTER_PIXELS * pixel, 1)
    plates = list[NamePlate]()
    for text, point in sorted((name for name in names if name[0]), key=lambda name: name[1].y):
        half = round(0.37 * size * len(text) + 0.3 * size, 1)
        moved = [
            NamePlate(text, Point(point.x, point.y + step * PLATE_HEIGHT * size), size, half) for step in PLATE_STEPS
        ]
        plates.append(next((one for one in moved if not any(map(one.hides, plates))), moved[0]))
    return plates
