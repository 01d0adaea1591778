"""The land in characters, for letters and terminals: a tile has five columns and three rows."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from engine.games.carcassonne.state import Figure, PlacedTile
from engine.games.carcassonne.tiles import PIECES, Piece, Segment, parse_cell

TILE_COLUMNS, TILE_ROWS = 5, 3
TOP_ROW, MIDDLE_ROW, BOTTOM_ROW = 0, 1, 2
LEFT_COLUMN, MIDDLE_COLUMN, BRIDGE_COLUMN, RIGHT_COLUMN = 0, 2, 3, 4
"""Rows and columns within a tile; the sign for a bridge is in the bottom row."""

MAX_COLUMNS, MAX_ROWS = 15, 20
"""The most cells that are shown beside and below each other."""

SHEET_COLUMNS = 80
MAP_COLUMN, MAP_ROW = 4, 1
"""The column and row where the land begins, after the coordinates."""

ROWS_BESIDE_LAND = 2
"""The row of the coordinates above the land, and an empty one below it."""

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
"""The characters that the legend explains if they are on the text board, by their words."""

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
        """Write the part of a text that is on the sheet; the text begins at this column and row."""
        if 0 <= y < len(self.lines):
            line = self.lines[y]
            for column, letter in enumerate(str(text), x):
                if 0 <= column < len(line):
                    line[column] = letter

    def list_rows(self) -> list[str]:
        """Return the rows without the blanks at their ends."""
        return ["".join(line).rstrip() for line in self.lines]


def draw_text_map(tiles: Mapping[str, PlacedTile], figures: Iterable[Figure], free_cells: Sequence[str]) -> TextMap:
    """Draw the tiles, the figures as numbers of their seats, and the cells where the drawn tile can go.

    A land that is too large is shown around the latest tile.
    """
    cells = [*map(parse_cell, tiles), *map(parse_cell, free_cells)]
    latest_x, latest_y = parse_cell(list(tiles)[-1])
    columns = _choose_range([x for x, _ in cells], latest_x, MAX_COLUMNS)
    rows = _choose_range([y for _, y in cells], latest_y, MAX_ROWS)
    sheet = Sheet(SHEET_COLUMNS, TILE_ROWS * len(rows) + ROWS_BESIDE_LAND)
    for x in columns:
        sheet.write(MAP_COLUMN + MIDDLE_COLUMN + TILE_COLUMNS * (x - columns[0]), 0, x)
    for y in rows:
        sheet.write(0, MAP_ROW + MIDDLE_ROW + TILE_ROWS * (y - rows[0]), y)

    def draw(cell: str, dx: int, dy: int, text: object) -> None:
        """Write a text from this column and row of the tile on a cell, if the cell is shown."""
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
        return MIDDLE_COLUMN, MIDDLE_ROW
    if segment.kind == "field":
        middle_end = ends[len(ends) // 2]
        return HALF_SIDES[middle_end]
    return SIDE_MIDDLES[ends[0]]


@functools.cache
def _draw_tile(tile: str, turn: int) -> list[str]:
    """Draw a tile: `#` city, `-` and `|` road, `~` river, `.` field, and letters for what is on it."""
    piece = PIECES[tile][turn]
    sheet = Sheet(TILE_COLUMNS, TILE_ROWS, ".")
    _draw_edges(sheet, piece)
    _draw_middle(sheet, piece)
    if "bridge" in piece.indexes:
        sheet.write(BRIDGE_COLUMN, BOTTOM_ROW, SIGN_LETTERS["bridge"])
    for segment in piece.segments:
        first_mark = segment.marks[0] if segment.marks else ""
        if first_mark in MARK_LETTERS:
            column, row = _locate_mark(piece, segment)
            sheet.write(column, row, MARK_LETTERS[first_mark])
    return sheet.list_rows()


def list_words_of_piece(piece: Piece) -> list[str]:
    """Return a word for each sign of a tile, for each of its segments, and for a river."""
    words = [sign.split()[0] for sign in piece.signs]  # the first word tells what the sign `number 3` is
    words += [segment.kind for segment in piece.segments]
    if piece.rivers:
        words.append("river")
    return words


def _draw_edges(sheet: Sheet, piece: Piece) -> None:
    """Draw cities along their sides, and roads and rivers from the middle of theirs."""
    north, east, south, west = range(4)
    for side, row in ((north, TOP_ROW), (south, BOTTOM_ROW)):
        match piece.edges[side]:
            case "c":
                sheet.write(LEFT_COLUMN, row, "#####")
            case "r":
                sheet.write(MIDDLE_COLUMN, row, "|")
            case "w":
                sheet.write(MIDDLE_COLUMN, row, "~")
    for side, city_column, road_column in ((west, LEFT_COLUMN, LEFT_COLUMN), (east, RIGHT_COLUMN, RIGHT_COLUMN - 1)):
        match piece.edges[side]:
            case "c":
                for row in range(TILE_ROWS):
                    sheet.write(city_column, row, "#")
            case "r":
                sheet.write(road_column, MIDDLE_ROW, "--")
            case "w":
                sheet.write(road_column, MIDDLE_ROW, "~~")


def _draw_middle(sheet: Sheet, piece: Piece) -> None:
    """Draw the sign of a tile in its middle, or without one what its land shows; a large city fills the row.

    Only a village in revolt has two signs: the revolt, the last of them, is drawn.
    """
    letters = [SIGN_LETTERS[word] for word in list_words_of_piece(piece) if word in SIGN_LETTERS]
    sheet.write(MIDDLE_COLUMN, MIDDLE_ROW, letters[-1] if letters else _choose_middle_letter(piece))
    if _has_wide_city(piece) and piece.edges.count("c") > 2:
        sheet.write(MIDDLE_COLUMN - 1, MIDDLE_ROW, "###")


def _locate_mark(piece: Piece, segment: Segment) -> tuple[int, int]:
    """Return column and row of a mark: below the middle; in a city on the north side above it.

    In a city it is a column farther to the right if several sides of the tile are cities.
    """
    if segment.kind != "city":
        return MIDDLE_COLUMN, BOTTOM_ROW
    column = MIDDLE_COLUMN + 1 if piece.edges.count("c") > 1 else MIDDLE_COLUMN
    row = TOP_ROW if piece.edges[0] == "c" else BOTTOM_ROW
    return column, row


def _choose_middle_letter(piece: Piece) -> str:
    """Return the character in the middle of a tile."""
    north, east, south, west = range(4)
    kinds = [segment.kind for segment in piece.segments]
    road_ends = {end for segment in piece.segments if segment.kind == "road" for end in segment.ends}
    if "cloister" in kinds:
        return "M"
    if "garden" in kinds:
        return "*"
    if _has_wide_city(piece):
        return "#"
    if road_ends == {west, east}:
        return "-"
    if road_ends == {north, south}:
        return "|"
    if len(road_ends) > 1:
        return "+"
    return "~" if piece.rivers else "."


def _has_wide_city(piece: Piece) -> bool:
    """Whether a city reaches more than one side of a tile."""
    return any(segment.kind == "city" and len(segment.ends) > 1 for segment in piece.segments)
