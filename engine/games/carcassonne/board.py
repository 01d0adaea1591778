"""The tiles as they lie in every turn, and the cells of the endless table they lie on."""

from __future__ import annotations

import functools
import itertools
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

DATA = tomllib.loads((Path(__file__).parent / "board.toml").read_text("utf-8"))

SIDES = "NESW"
WINDS = ("nnw", "nne", "ene", "ese", "sse", "ssw", "wsw", "wnw")
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))
TURNS = (0, 90, 180, 270)
EDGES = {"field": "f", "road": "r", "city": "c", "river": "w"}
DIGITS = {"f": 1, "r": 2, "c": 3, "w": 4}
"""What lies around an empty cell is a number of four digits, one for each side; 0 is where no tile lies yet."""
PLACES = (1, 5, 25, 125)
SURROUNDINGS = 625
MOST_SEGMENTS = 16
TRACK: int = DATA["track"]
START: str = DATA["start"]
SUPPLY: dict[str, int] = DATA["supply"]
MESSAGES = {int(number): name for number, name in DATA["messages"].items()}

Args = tuple[str, ...]


class Segment(Struct, frozen=True):
    """A piece of road, city or field on one tile, or a place on it; `cities` are those a field touches."""

    token: str
    kind: str
    ends: tuple[int, ...] = ()
    marks: tuple[str, ...] = ()
    cities: tuple[int, ...] = ()


class Piece(Struct, frozen=True, eq=False):
    """A tile in one turn: its segments, and what it shows its four neighbours.

    `joins` names for each side the segments along it clockwise, `meets` the same as the neighbour sees them, and
    `codes` is what each side adds to the surroundings of the cell beyond it. Two cities or fields on one side make the
    tile `shared`; one that `closes` ends whatever it touches. `signs` are the marks of the whole tile.
    """

    segments: tuple[Segment, ...]
    edges: str
    joins: tuple[tuple[int, ...], ...]
    meets: tuple[tuple[int, ...], ...]
    codes: tuple[int, ...]
    rivers: tuple[str, ...]
    locals: dict[str, int]
    built: tuple[tuple[int, Segment], ...]
    fields: tuple[tuple[int, tuple[int, ...]], ...]
    enclosed: tuple[int, ...]
    signs: tuple[str, ...]
    shared: bool
    closes: bool


def tiles_of(box: str) -> dict[str, int]:
    """How many of each tile are in a box; none where it has no tiles of its own."""
    return {name: row["count"] for name, row in DATA["tiles"].get(box, {}).items()}


def gardens_of(box: str) -> dict[str, int]:
    """How many of each tile show a garden in a box."""
    return {name: row["garden"] for name, row in DATA["tiles"][box].items() if "garden" in row}


def _rows() -> Iterator[tuple[str, dict[str, Any]]]:
    for box in DATA["tiles"].values():
        for name, row in box.items():
            yield name, row
            if "garden" in row:
                yield name + GARDEN, row | {"in_garden": True}


def _piece(row: dict[str, Any], turn: int) -> Piece:
    quarter = turn // 90
    segments = _named([*_built(row, quarter), *_fields(row, quarter)])
    rivers = tuple(_turned(word, quarter) for word in row.get("rivers", ()))
    kinds = [_side_kind(segments, rivers, side) for side in range(4)]
    closes = bool(row.get("closes"))
    joins = tuple(() if closes else _along(segments, kinds[side], side) for side in range(4))
    return Piece(
        segments=segments,
        edges="".join(EDGES[kind] for kind in kinds),
        joins=joins,
        meets=tuple(tuple(reversed(joins[side])) for side in range(4)),
        codes=tuple(DIGITS[EDGES[kinds[side]]] * PLACES[side - 2] for side in range(4)),
        rivers=rivers,
        locals={segment.token: place for place, segment in enumerate(segments)},
        built=tuple((place, s) for place, s in enumerate(segments) if s.kind not in ("field", *ENCLOSED)),
        fields=tuple((place, s.cities) for place, s in enumerate(segments) if s.kind == "field"),
        enclosed=tuple(place for place, segment in enumerate(segments) if segment.kind in ENCLOSED),
        signs=tuple(row.get("signs", ())),
        shared=any(kind in ("city", "field") and len(along) > 1 for kind, along in zip(kinds, joins, strict=True)),
        closes=closes,
    )


def _built(row: dict[str, Any], quarter: int) -> Iterator[Segment]:
    for kind, plural in (("city", "cities"), ("road", "roads")):
        for text in row.get(plural, ()):
            sides, *marks = text.split()
            turned = _turned(sides, quarter)
            yield Segment(turned, kind, tuple(SIDES.index(side) for side in turned), tuple(marks))
    if "cloister" in row:
        yield Segment("", "cloister", (), () if row["cloister"] is True else (row["cloister"],))
    if row.get("in_garden"):
        yield Segment("", "garden")
    for kind in row.get("places", ()):
        yield Segment("", kind)


def _fields(row: dict[str, Any], quarter: int) -> Iterator[Segment]:
    inner = itertools.chain(("inner",), (f"inner{number}" for number in itertools.count(2)))
    for text in row.get("fields", ()):
        halves, _, cities = text.partition(">")
        ends = tuple(sorted((int(half) + 2 * quarter) % 8 for half in halves.strip()))
        yield Segment(WINDS[ends[0]] if ends else next(inner), "field", ends, (), tuple(map(int, cities.split())))


def _turned(sides: str, quarter: int) -> str:
    turned = {SIDES[(SIDES.index(side) + quarter) % 4] for side in sides}
    return "".join(side for side in SIDES if side in turned)


def _named(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Each segment under its token: the kind alone where the tile has one of it, else the kind and where it lies."""
    kinds = Counter(segment.kind for segment in segments)
    return tuple(
        Segment(s.kind if kinds[s.kind] == 1 else f"{s.kind}-{s.token}", s.kind, s.ends, s.marks, s.cities)
        for s in segments
    )


def _side_kind(segments: Sequence[Segment], rivers: Sequence[str], side: int) -> str:
    if any(SIDES[side] in river for river in rivers):
        return "river"
    built = [segment.kind for segment in segments if segment.kind != "field" and side in segment.ends]
    return built[0] if built else "field"


def _along(segments: Sequence[Segment], kind: str, side: int) -> tuple[int, ...]:
    def at(kind: str, end: int) -> int:
        return next(place for place, segment in enumerate(segments) if segment.kind == kind and end in segment.ends)

    first, last = 2 * side, 2 * side + 1
    match kind:
        case "city":
            return tuple(place for place, s in enumerate(segments) if s.kind == "city" and side in s.ends)
        case "road":
            return (at("field", first), at("road", side), at("field", last))
        case "river":
            return (at("field", first), at("field", last))
    return tuple(dict.fromkeys((at("field", first), at("field", last))))


def _looks(piece: Piece) -> object:
    """What tells a turn of a tile from another one."""
    return frozenset((s.kind, s.ends, s.marks) for s in piece.segments), frozenset(piece.rivers)


def _fits(tile: str) -> tuple[Args, ...]:
    """For all surroundings of a cell the turns in which this tile fits there, as a move names them."""
    fits, seen = [Args()] * SURROUNDINGS, set[object]()
    for turn, piece in PIECES[tile].items():
        if _looks(piece) in seen:
            continue
        seen.add(_looks(piece))
        shown = [DIGITS[edge] * place for edge, place in zip(piece.edges, PLACES, strict=True)]
        for known in range(1, 16):
            fits[sum(digit for side, digit in enumerate(shown) if known >> side & 1)] += (str(turn),)
    return tuple(fits)


def by_water(surroundings: int) -> bool:
    """Whether a river leads to this cell."""
    return any(surroundings // place % 5 == DIGITS["w"] for place in PLACES)


@functools.cache
def at(cell: str) -> tuple[int, int]:
    """The cell's place: steps to the east and to the south of the start."""
    x, y = cell.split(",")
    return int(x), int(y)


@functools.cache
def near(cell: str) -> tuple[str, ...]:
    """The cells to the north, east, south and west."""
    x, y = at(cell)
    return tuple(f"{x + dx},{y + dy}" for dx, dy in STEPS)


@functools.cache
def around(cell: str) -> tuple[str, ...]:
    """The eight cells round a cell."""
    x, y = at(cell)
    return tuple(f"{x + dx},{y + dy}" for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy)


@functools.cache
def spots(tile: str, turn: int, kind: str, where: frozenset[str]) -> tuple[tuple[int, Args], ...]:
    """The segments of these kinds on a tile, each with the arguments that put such a figure there."""
    segments = enumerate(PIECES[tile][turn].segments)
    return tuple((place, (kind, segment.token)) for place, segment in segments if segment.kind in where)


GARDEN = "*"
ENCLOSED = frozenset({"cloister", "garden"})
PIECES: dict[str, dict[int, Piece]] = {name: {turn: _piece(row, turn) for turn in TURNS} for name, row in _rows()}
FITS: dict[str, tuple[Args, ...]] = {tile: _fits(tile) for tile in PIECES}


class GoneOn(NamedTuple):
    """What a tile went on with: a road or city of these seats, and by how many tiles; or the cloister beside it."""

    kind: str
    seats: tuple[int, ...] = ()
    tiles: int = 0


def gone_on(tiles: Mapping[str, Any], figures: Iterable[Any], cell: str) -> GoneOn | None:
    """What the tile of this cell went on with when it was laid, as the figures that stand there now show it."""
    before = itertools.takewhile(lambda laid: laid[0] != cell, tiles.items())
    earlier = {one: PIECES[laid.tile][laid.turn] for one, laid in before}
    own = PIECES[tiles[cell].tile][tiles[cell].turn]
    for kind in ("city", "road"):
        land = _land(
            {**earlier, cell: own}, ((cell, segment.token) for segment in own.segments if segment.kind == kind)
        )
        held = [one for one in figures if one.cell != cell and (one.cell, one.segment) in land]
        if held:
            kept = {one for one, _ in _land(earlier, ((one.cell, one.segment) for one in held))}
            return GoneOn(kind, tuple(sorted({one.seat for one in held})), len({one for one, _ in land} - kept))
    beside = (earlier[one] for one in around(cell) if one in earlier)
    return GoneOn("cloister") if any("cloister" in piece.locals for piece in beside) else None


def _land(pieces: Mapping[str, Piece], some: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """All segments that hang together with some of a road or city."""
    todo, found = list(some), set[tuple[str, str]]()
    while todo:
        cell, token = todo.pop()
        if (cell, token) in found:
            continue
        found.add((cell, token))
        segment = pieces[cell].segments[pieces[cell].locals[token]]
        for side, beyond in enumerate(near(cell)):
            if side in segment.ends and beyond in pieces:
                met = (one for one in pieces[beyond].segments if one.kind == segment.kind)
                todo += [(beyond, one.token) for one in met if (side + 2) % 4 in one.ends]
    return found
