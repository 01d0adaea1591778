"""The tiles, in each of their four rotations, and the cells of the table."""

from __future__ import annotations

import functools
import itertools
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

DATA = tomllib.loads((Path(__file__).parent / "board.toml").read_text("utf-8"))

SIDES = "NESW"
WINDS = ("nnw", "nne", "ene", "ese", "sse", "ssw", "wsw", "wnw")
SIDE_STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))
TURNS = (0, 90, 180, 270)
EDGES = {"field": "f", "road": "r", "city": "c", "river": "w"}

EDGE_DIGITS = {"f": 1, "r": 2, "c": 3, "w": 4}
SIDE_WEIGHTS = (1, 5, 25, 125)
SURROUNDINGS = 625
"""The edges around an empty cell are one number to the base 5: a digit for each side, 0 if there is no tile."""

ROAD_MINUS_FIELD = EDGE_DIGITS["r"] - EDGE_DIGITS["f"]
"""What a digit gains when its edge becomes a road instead of a field."""

BRIDGE_AXES = {"NS": (0, 2), "EW": (1, 3)}
"""The axes along which a bridge can lead, each with its two sides."""

GARDEN = "*"
"""The end of the name of a tile that shows a garden."""

NUMBER = "-"
"""What is in the name of a tile before its number."""

BRIDGE = "="
"""What is in the name of a tile before the axis of its bridge."""

TUNNEL = "tunnel"
"""The mark of a road with an opening on its tile, which is an open end until a tunnel leads on from it."""

NUMBERS: dict[str, list[int]] = DATA["wheel"]["numbers"]
"""The numbers on copies of tiles of the base game."""

ENCLOSED_KINDS = frozenset({"cloister", "garden"})
"""The kinds of features that are complete when all eight cells around them have tiles."""

MOST_SEGMENTS = 16
"""The most segments of a tile: the segments of the tile with number n are numbered from n * MOST_SEGMENTS on."""
TRACK: int = DATA["track"]
START: str = DATA["start"]
SUPPLY: dict[str, int] = DATA["supply"]
MESSAGES = {int(number): name for number, name in DATA["messages"].items()}

Args = tuple[str, ...]
"""The arguments of one option of a menu."""


class Segment(Struct, frozen=True):
    """A piece of road, city or field on one tile, a cloister, a garden, or a place that a box adds.

    `token` names it in moves. `ends` are the sides (0 to 3 from the north, clockwise) that a road or city reaches, or
    the half sides (0 to 7) of a field. `marks` are its symbols, `cities` the cities of the tile that a field touches.
    """

    token: str
    kind: str
    ends: tuple[int, ...] = ()
    marks: tuple[str, ...] = ()
    cities: tuple[int, ...] = ()


class Piece(Struct, frozen=True, eq=False):
    """A tile in one of its rotations: its segments, and what its four neighbours see of it.

    * `indexes` has the index of each segment by its token.
    * `side_indexes` has for each side the indexes of the segments along it, clockwise; `outside_indexes` has them in
      the order in which the neighbour sees them.
    * `codes` is for each side the number that it adds to the surroundings of the cell beyond it.
    * `built_segments` are the roads, cities and places of boxes, each with its index and open ends (a tunnel is one);
      `fields` are the indexes of the fields, each with the cities that it touches; `enclosed_indexes` are those of the
      cloister and garden.
    * A tile `has_shared_side` if two cities or two fields reach the same side. A tile that `closes` ends all that it
      touches and connects to nothing. `signs` are the marks of the whole tile.
    """

    segments: tuple[Segment, ...]
    edges: str  # the letter of each side, from `EDGES`
    side_indexes: tuple[tuple[int, ...], ...]
    outside_indexes: tuple[tuple[int, ...], ...]
    codes: tuple[int, ...]
    rivers: tuple[str, ...]  # the sides that each of them joins, such as `NS`
    indexes: dict[str, int]
    built_segments: tuple[tuple[int, Segment, int], ...]
    fields: tuple[tuple[int, tuple[int, ...]], ...]
    enclosed_indexes: tuple[int, ...]
    signs: tuple[str, ...]
    has_shared_side: bool
    closes: bool


def count_tiles_of(box: str) -> dict[str, int]:
    """Return how many of each tile are in a box; empty if the box has no tiles."""
    return {name: row["count"] for name, row in DATA["tiles"].get(box, {}).items()}


def count_gardens_of(box: str) -> dict[str, int]:
    """Return how many of each tile of a box show a garden."""
    return {name: row["garden"] for name, row in DATA["tiles"][box].items() if "garden" in row}


def _iter_tile_rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each tile of board.toml by its name, and those with a garden or a number once more with it."""
    for box in DATA["tiles"].values():
        for name, row in box.items():
            yield name, row
            if "garden" in row:
                yield name + GARDEN, row | {"in_garden": True}
    for name, numbers in NUMBERS.items():
        for number in numbers:
            yield number_tile(name, number), DATA["tiles"]["base"][name] | {"signs": [f"number {number}"]}


def number_tile(name: str, number: int) -> str:
    """Return the name of the copy of a tile that shows a number."""
    return f"{name}{NUMBER}{number}"


@functools.cache
def get_plain_name(tile: str) -> str:
    """Return the name of a tile without its bridge, its garden or its number."""
    return tile.partition(BRIDGE)[0].rstrip(GARDEN).partition(NUMBER)[0]


def name_bridged_tile(name: str, axis: str) -> str:
    """Return the name of a tile with a bridge along an axis of the unturned tile, `NS` or `EW`."""
    return f"{name}{BRIDGE}{axis}"


@functools.cache
def list_bridge_axes(tile: str) -> Args:
    """Return the axes of an unturned tile along which a bridge can lead: it has none yet, and both sides are fields."""
    if BRIDGE in tile:
        return ()
    piece = PIECES[tile][0]
    return tuple(axis for axis, sides in BRIDGE_AXES.items() if all(_is_all_field(piece, side) for side in sides))


def _is_all_field(piece: Piece, side: int) -> bool:
    """Whether a side shows field in both halves and nothing else.

    A side at a wall has the edge of a field, but no field; beside a road there are two fields, but its edge is a road.
    """
    field_half_sides = {end for segment in piece.segments if segment.kind == "field" for end in segment.ends}
    return piece.edges[side] == EDGES["field"] and {2 * side, 2 * side + 1} <= field_half_sides


def _make_piece(row: dict[str, Any], turn: int) -> Piece:
    """Make the piece of a tile, as board.toml describes it, in one of its rotations."""
    segments = _name_segments([*_list_segments_but_fields(row, turn), *_list_fields(row, turn)])
    segments += tuple(_list_bridge(row, turn))
    rivers = tuple(rotate_sides(word, turn) for word in row.get("rivers", ()))
    kinds = [_find_side_kind(segments, rivers, side) for side in range(4)]
    edges = "".join(EDGES[kind] for kind in kinds)
    closes = bool(row.get("closes"))  # then no segment goes on beyond a side
    along = tuple(() if closes else _list_segments_along(segments, kinds[side], side) for side in range(4))
    return Piece(
        segments=segments,
        edges=edges,
        side_indexes=along,
        outside_indexes=tuple(tuple(reversed(indexes)) for indexes in along),  # from there it is anticlockwise
        # A neighbour sees an edge on its opposite side: two sides back, or forth, which is the same.
        codes=tuple(_encode_edge(edge, side - 2) for side, edge in enumerate(edges)),
        rivers=rivers,
        indexes={segment.token: index for index, segment in enumerate(segments)},
        built_segments=tuple(
            (index, segment, len(segment.ends) + segment.marks.count(TUNNEL))  # a tunnel is an open end, too
            for index, segment in enumerate(segments)
            if segment.kind not in ("field", *ENCLOSED_KINDS)
        ),
        fields=tuple((index, segment.cities) for index, segment in enumerate(segments) if segment.kind == "field"),
        enclosed_indexes=tuple(index for index, segment in enumerate(segments) if segment.kind in ENCLOSED_KINDS),
        signs=tuple(row.get("signs", ())),
        has_shared_side=any(kind in ("city", "field") and len(along[side]) > 1 for side, kind in enumerate(kinds)),
        closes=closes,
    )


def _encode_edge(edge: str, side: int) -> int:
    """Return what an edge on this side of a cell adds to the number of its surroundings."""
    return EDGE_DIGITS[edge] * SIDE_WEIGHTS[side]


def _list_segments_but_fields(row: dict[str, Any], turn: int) -> Iterator[Segment]:
    """Yield the cities, roads, cloister, garden and other places of a tile; a city `NE shield` has a mark.

    Their tokens are not whole before `_name_segments`: only the sides of a city or road, and empty for the others.
    """
    for kind, plural in (("city", "cities"), ("road", "roads")):
        for text in row.get(plural, ()):
            sides, *marks = text.split()
            rotated = rotate_sides(sides, turn)
            yield Segment(rotated, kind, tuple(SIDES.index(side) for side in rotated), tuple(marks))
    if "cloister" in row:
        marks = [] if row["cloister"] is True else [row["cloister"]]  # a cloister of another kind has a mark
        yield Segment("", "cloister", marks=tuple(marks))
    if row.get("in_garden"):
        yield Segment("", "garden")
    for kind in row.get("places", ()):
        yield Segment("", kind)


def _list_fields(row: dict[str, Any], turn: int) -> Iterator[Segment]:
    """Yield the fields of a tile, with the first half side as the token; those that reach none are `inner`, `inner2` …

    The field `345 > 0` reaches three half sides and touches the first city.
    """
    inner_tokens = ["inner", *(f"inner{number}" for number in range(2, MOST_SEGMENTS))]
    turned_half_sides = 2 * (turn // 90)
    for text in row.get("fields", ()):
        halves, _, cities = text.partition(">")
        ends = tuple(sorted((int(half) + turned_half_sides) % 8 for half in halves.strip()))
        token = WINDS[ends[0]] if ends else inner_tokens.pop(0)
        yield Segment(token, "field", ends, cities=tuple(map(int, cities.split())))


def _list_bridge(row: dict[str, Any], turn: int) -> Iterator[Segment]:
    """Yield the bridge over a tile, if there is one; it comes last, so that printed segments keep their indexes."""
    if "bridge" in row:
        sides = rotate_sides(row["bridge"], turn)
        yield Segment("bridge", "road", tuple(SIDES.index(side) for side in sides), ("bridge",))


def rotate_sides(sides: str, turn: int) -> str:
    """Return what sides of a tile become when it is turned clockwise: `NE` by 90 degrees is `ES`."""
    rotated = {SIDES[(SIDES.index(side) + turn // 90) % 4] for side in sides}
    return "".join(side for side in SIDES if side in rotated)


def _name_segments(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Give each segment its token: `city` if it is the only one of its kind on the tile, otherwise `city-NE`."""
    kinds = Counter(segment.kind for segment in segments)
    return tuple(
        replace(one, token=one.kind if kinds[one.kind] == 1 else f"{one.kind}-{one.token}") for one in segments
    )


def _find_side_kind(segments: Sequence[Segment], rivers: Sequence[str], side: int) -> str:
    """Return what a side of a tile shows: river, city, road or field."""
    if any(SIDES[side] in river for river in rivers):
        return "river"
    built = [segment.kind for segment in segments if segment.kind != "field" and side in segment.ends]
    return built[0] if built else "field"


def _list_segments_along(segments: Sequence[Segment], kind: str, side: int) -> tuple[int, ...]:
    """Return the indexes of the segments along a side of this kind, clockwise.

    A road or river has a field on its left and its right, unless a wall is there.
    """

    def find(kind: str, end: int) -> tuple[int, ...]:
        return tuple(index for index, one in enumerate(segments) if one.kind == kind and end in one.ends)

    left_field, right_field = find("field", 2 * side), find("field", 2 * side + 1)
    match kind:
        case "city":
            return find("city", side)
        case "road":
            return (*left_field, *find("road", side), *right_field)
        case "river":
            return (*left_field, *right_field)
    return tuple(dict.fromkeys((*left_field, *right_field)))  # mostly one field that is in both halves


def _describe_look(piece: Piece, no_castle: Sequence[int]) -> object:
    """Return a value that is equal for rotations of a tile that look the same.

    The cities with the indexes `no_castle` look different from others: one of them has a tower.
    """
    barred = frozenset(piece.segments[index].ends for index in no_castle)
    return frozenset((s.kind, s.ends, s.marks) for s in piece.segments), frozenset(piece.rivers), barred


def _find_fitting_turns(tile: str) -> tuple[Args, ...]:
    """Return for all surroundings of a cell the turns in which this tile fits there, as moves write them.

    It fits where one to four of its edges continue what is around. Of turns that look the same only the first is
    listed (§2.2).
    """
    fits = [Args()] * SURROUNDINGS
    seen = set[object]()
    no_castle = ROWS[tile.partition(BRIDGE)[0]].get("no_castle", ())
    for turn, piece in PIECES[tile].items():
        appearance = _describe_look(piece, no_castle)
        if appearance in seen:
            continue
        seen.add(appearance)
        codes = [_encode_edge(edge, side) for side, edge in enumerate(piece.edges)]
        for number in range(1, 5):
            for touching in itertools.combinations(codes, number):  # the edges that have a tile beyond them
                fits[sum(touching)] += (str(turn),)  # the codes add up to the number of these surroundings
    return tuple(fits)


def has_river_beside(surroundings: int) -> bool:
    """Whether a river leads to a cell with these surroundings, which have a digit to the base 5 for each side."""
    digits = (surroundings // weight % 5 for weight in SIDE_WEIGHTS)
    return EDGE_DIGITS["w"] in digits


@functools.cache
def parse_cell(cell: str) -> tuple[int, int]:
    """Return how far a cell is to the east and to the south of the start tile."""
    x, y = cell.split(",")
    return int(x), int(y)


@functools.cache
def list_neighbours(cell: str) -> tuple[str, ...]:
    """Return the cells to the north, east, south and west."""
    x, y = parse_cell(cell)
    return tuple(f"{x + dx},{y + dy}" for dx, dy in SIDE_STEPS)


@functools.cache
def list_cells_around(cell: str) -> tuple[str, ...]:
    """Return the eight cells around a cell."""
    x, y = parse_cell(cell)
    return tuple(f"{x + dx},{y + dy}" for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy)


def list_nine_cells(cell: str) -> tuple[str, ...]:
    """Return a cell and the eight around it."""
    return (cell, *list_cells_around(cell))


@functools.cache
def list_figure_options(tile: str, turn: int, kind: str, grounds: frozenset[str]) -> tuple[tuple[int, Args], ...]:
    """Return the index of each segment whose kind is in `grounds`, with the arguments that place a figure there."""
    numbered = enumerate(PIECES[tile][turn].segments)
    return tuple((index, (kind, segment.token)) for index, segment in numbered if segment.kind in grounds)


class Pieces(dict[str, dict[int, Piece]]):
    """Each tile in its rotations by its name; it is made when it is needed first, as all of them take 70 ms."""

    def __missing__(self, tile: str) -> dict[int, Piece]:
        name, _, axis = tile.partition(BRIDGE)
        row = ROWS[name] | ({"bridge": axis} if axis else {})
        self[tile] = {turn: _make_piece(row, turn) for turn in TURNS}
        return self[tile]


class DrawnSegments(Struct, frozen=True):
    """The segments that a tile's drawing shows, by kind.

    `marked` are the segments with symbols, without cloisters. Two cities in opposite corners leave little room.
    """

    cities: tuple[Segment, ...]
    roads: tuple[Segment, ...]
    cloisters: tuple[Segment, ...]
    marked: tuple[Segment, ...]
    has_opposite_cities: bool


def group_segments(tile: str) -> DrawnSegments:
    """Group the segments of a tile by how they are drawn; a road on a bridge is drawn with the bridge."""
    segments = [segment for segment in PIECES[tile][0].segments if "bridge" not in segment.marks]
    cities, roads, cloisters = (
        tuple(segment for segment in segments if segment.kind == kind) for kind in ("city", "road", "cloister")
    )
    return DrawnSegments(
        cities=cities,
        roads=roads,
        cloisters=cloisters,
        marked=tuple(segment for segment in segments if segment.marks and segment.kind != "cloister"),
        has_opposite_cities={(0, 3), (1, 2)} <= {city.ends for city in cities},  # north-west and south-east
    )


class FittingTurns(dict[str, tuple[Args, ...]]):
    """The turns in which each tile fits, for each number of surroundings; computed when they are needed first."""

    def __missing__(self, tile: str) -> tuple[Args, ...]:
        self[tile] = _find_fitting_turns(tile)
        return self[tile]


ROWS = dict(_iter_tile_rows())
"""What board.toml says about each tile, by its name."""

PIECES = Pieces()
FITTING_TURNS = FittingTurns()
