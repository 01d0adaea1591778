"""The module that templates use as `board`: what a menu offers, and where the pieces of a table are drawn."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from engine.games.carcassonne.boxes.count import QUARTER_OF
from engine.games.carcassonne.boxes.revolts import SAFE
from engine.games.carcassonne.coordinates import (
    BATHS,
    CORNERS,
    CROWNS,
    GARDENS,
    LEIPZIG_QUARTERS,
    PLACES,
    QUARTER_PLACES,
    SMALL_CLOISTERS,
    TILE_SIZE,
    Point,
    find_segment,
    is_lying,
    locate_basket,
    locate_bather,
    locate_bridge_mark,
    locate_castle,
    locate_citizen,
    locate_corner,
    locate_count,
    locate_crown,
    locate_figure,
    locate_flock,
    locate_merchant,
    locate_new_castle,
    locate_offer,
    locate_offered_tile,
    locate_place,
    locate_quarter,
    locate_tile,
    locate_tollhouse,
    locate_tower,
    locate_tunnel,
)
from engine.games.carcassonne.letter import (
    PIECES_LEFT,
    lay_out_letter,
    lay_out_plates,
    locate_space,
)
from engine.games.carcassonne.sentences import describe_edges, describe_neighbours, describe_tile, find_extension
from engine.games.carcassonne.state import Figure
from engine.games.carcassonne.text_map import LEGEND, MARK_WORDS, draw_text_map, list_words_of_piece
from engine.games.carcassonne.tiles import (
    PIECES,
    SIDES,
    TRACK,
    Segment,
    get_plain_name,
    group_segments,
    list_neighbours,
    parse_cell,
)
from engine.menu import Choice, Menu, MenuEntry, Subset

__all__ = [
    "BATHS",
    "CROWNS",
    "GARDENS",
    "LEGEND",
    "LEIPZIG_QUARTERS",
    "PIECES",
    "PIECES_LEFT",
    "PLACES",
    "QUARTER_PLACES",
    "SMALL_CLOISTERS",
    "TRACK",
    "Extent",
    "Offers",
    "describe_edges",
    "describe_neighbours",
    "describe_tile",
    "draw_text_map",
    "find_extension",
    "find_extent",
    "find_space",
    "get_plain_name",
    "group_segments",
    "group_turns_by_cell",
    "is_lying",
    "label_offer",
    "lay_out_letter",
    "lay_out_plates",
    "list_moves_away",
    "list_offers",
    "list_options_of",
    "list_signs",
    "list_unfit_cells",
    "locate_basket",
    "locate_bather",
    "locate_bridge_mark",
    "locate_castle",
    "locate_citizen",
    "locate_corner",
    "locate_count",
    "locate_crown",
    "locate_figure",
    "locate_flock",
    "locate_leaving_citizen",
    "locate_merchant",
    "locate_new_castle",
    "locate_offer",
    "locate_offered_tile",
    "locate_place",
    "locate_quarter",
    "locate_space",
    "locate_tile",
    "locate_tollhouse",
    "locate_tower",
    "locate_tunnel",
    "move_below",
    "move_outside",
    "name_axes",
    "name_marks",
    "name_sides",
    "parse_cell",
]


NAME_DISTANCE = 25
"""How far the name of a mark in a letter is from the mark."""

NEAR_MIDDLE = 15
"""A smaller offset from the middle of a tile does not matter for the place of a name."""

VERBS_AWAY = frozenset({"capture", "escape", "message", "princess", "pyramid", "recall", "withdraw"})
"""The verbs of the moves that take the figure away that they name."""

ANSWERS_AWAY = {"castle": "castle score", "flock": "flock home"}
"""The answers that send the figure home that a box asks about, by their verbs; they name no figure."""

MOST_FAR_NAMES, MOST_NAMED_CELLS = 12, 24
"""The most segments of other tiles that are each named in a letter, and the most tiles, lest names cover the land."""

AXIS_ABOVE, AXIS_BESIDE = 45, 35
"""How far the numbers of columns and rows are from the middle of the outermost tiles, above and beside them."""


class Offers(Struct, frozen=True):
    """All that the moves of a menu touch: the options of `place`, and other tokens by the kind of thing they name.

    `kinds` are kinds of figures, `words` what no drawing shows, `lots` the tiles of an auction. A menu `is_scoring` if
    it asks for a scoring figure, `is_message` if it asks about a message that was drawn, and `is_builder` if it asks
    whether the builder builds.
    """

    places: tuple[tuple[str, ...], ...] = ()
    cells: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    corners: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    prisoners: tuple[str, ...] = ()
    bridges: tuple[str, ...] = ()
    lots: tuple[str, ...] = ()
    is_scoring: bool = False
    is_message: bool = False
    is_builder: bool = False


def list_offers(menu: Menu) -> Offers:
    """Return the tokens of a menu by the kind of thing they name, each once, as the menu has them; turns are sorted."""
    tokens = defaultdict[str, dict[str, None]](dict)  # dicts keep their order, unlike sets
    for entry in menu:
        for option in _list_options(entry):
            for field, token in _list_tokens(entry.verb, option):
                tokens[field][token] = None
    tokens["turns"] = dict.fromkeys(sorted(tokens["turns"], key=int))
    verbs = [entry.verb for entry in menu]
    return Offers(
        places=tuple(list_options_of(menu, "place")),
        is_scoring="score" in verbs,
        is_message="message" in verbs and "draw" not in tokens["words"],  # `draw` would ask whether to draw one
        is_builder="builder" in verbs,
        **{field: tuple(names) for field, names in tokens.items()},
    )


def list_options_of(menu: Menu, verb: str) -> list[tuple[str, ...]]:
    """Return those options of a verb that have several arguments."""
    options = [option for entry in menu if entry.verb == verb for option in _list_options(entry)]
    return [option for option in options if len(option) > 1]


def list_moves_away(menu: Menu, figure: Figure, question: str) -> list[str]:
    """Return the moves that take a figure off the land; `question` is the place that a box asks about, or empty.

    The last argument of a move is the place of the figure, or the segment that it is on; an answer to a box has none.
    """
    moves, places = list[str](), (figure.place, f"{figure.cell}/{figure.segment}")
    for entry in menu:
        if entry.verb in VERBS_AWAY:
            moves += [" ".join((entry.verb, *option)) for option in _list_options(entry) if option[-1] in places]
    if figure.place == question:
        moves += [ANSWERS_AWAY[entry.verb] for entry in menu if entry.verb in ANSWERS_AWAY]
    return moves


def locate_leaving_citizen(view: Any, seat: int, kind: str) -> Point | None:
    """Return the point of a meeple of Carcassonne that may go onto the feature that the count's box asks about.

    Without a feature the box asks about farms. Return None if the seat has no meeple of this kind in the quarter.
    """
    ground = find_segment(view.tiles, view.question).kind if view.question else "field"
    quarter = QUARTER_OF[ground]
    in_quarter = [citizen for citizen in view.citizens if citizen.segment == quarter]
    for index, citizen in enumerate(in_quarter):
        if citizen.seat == seat and citizen.kind == kind:
            return locate_citizen(quarter, index)
    return None


def _list_options(entry: MenuEntry) -> tuple[tuple[str, ...], ...]:
    """Return the options of an entry that have arguments; each item of a subset is one."""
    match entry:
        case Subset(items=items):
            return tuple((item,) for item in items)
        case Choice(options=options):
            return tuple(option for option in options if option)
    return ()


def _list_tokens(verb: str, option: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the tokens of an option, each after the name of the field of `Offers` to which it belongs."""
    match verb, option:
        case "place", (cell, turn):
            return [("cells", cell), ("turns", turn)]
        case "crown", (kind, section):
            return [("kinds", kind), ("words", section)]
        case "send", (figure, quarter):
            return [("figures", figure), ("words", quarter)]
        case "enter", (kind, quarter, to):
            return [("kinds", kind), ("words", quarter), ("words", to)]
        case "tunnel", (place, pair):
            return [("segments", place), ("words", pair)]
        case "flee", (place, goal):
            return [("figures", place), ("segments", goal)]
        case "figure" | "protect" | "deploy", (kind, segment):
            return [("kinds", kind), ("segments", segment)]
        case "message", ("perform", figure):
            return [("figures", figure)]
        case "exchange" | "deploy", (kind,) if kind != "remain":
            return [("kinds", kind)]
        case "bridge", (place,) if "/" in place:
            return [("bridges", place)]
        case "pick", (number,):
            return [("lots", number)]
        case "ransom", (prisoner,):
            return [("prisoners", prisoner)]
        case ("message", ("perform" | "points",)) | ("score" | "builder", _):
            return []  # buttons that the templates draw themselves
    return [(_choose_field(verb, option[0]), option[0])]


def _choose_field(verb: str, token: str) -> str:
    """Return the field of the offers for a token by its form: `1,0/city-N` is a figure or segment, `1,0` a cell."""
    if token in CORNERS:
        return "corners"
    if "/" in token:
        return "segments" if verb == "drive" else "figures"
    return "cells" if "," in token else "words"


class Extent(NamedTuple):
    """The outermost columns and rows of some cells."""

    west: int
    east: int
    north: int
    south: int


def find_extent(cells: Iterable[str]) -> Extent:
    """Return the extent of these cells and the start tile."""
    positions = [(0, 0), *map(parse_cell, cells)]
    xs, ys = [x for x, _ in positions], [y for _, y in positions]
    return Extent(min(xs), max(xs), min(ys), max(ys))


def list_unfit_cells(tiles: Iterable[str], offered: Iterable[str]) -> list[str]:
    """Return the empty cells beside tiles where the tile in hand does not fit."""
    left_out = {*tiles, *offered}
    beside = dict.fromkeys(cell for tile in tiles for cell in list_neighbours(tile))
    return [cell for cell in beside if cell not in left_out]


def find_space(steps: int) -> int:
    """Return the space after so many steps; below 0, where payments can bring a figure, the steps themselves."""
    return steps if steps < 0 else steps % TRACK


def list_signs(tiles: Mapping[str, Any]) -> list[str]:
    """Return the words of the single-character marks on this text board that need explaining here, sorted.

    `LEGEND` omits those that the board explains at every table.
    """
    words = set[str]()
    for tile in {placed.tile for placed in tiles.values()}:
        piece = PIECES[tile][0]
        words.update(list_words_of_piece(piece), piece.indexes)  # a bridge is named by its token: its kind is road
        words.update(MARK_WORDS.get(mark, mark) for segment in piece.segments for mark in segment.marks)
    return sorted(words & LEGEND.keys())


def name_sides(segment: Segment) -> str:
    """Return the sides that a road or city reaches, such as `NE`."""
    return "".join(SIDES[end] for end in segment.ends)


def label_offer(token: str) -> str:
    """Return what tells a figure or segment on offer from the others: its cell, and its sides or the way of a figure.

    The label of `field-nnw` is `NNW`, of `1,0/city-NE` it is `1,0 NE`, and of `cloister` it is empty.
    """
    cell, _, segment = token.rpartition("/")
    ends = [_label_end(end) for end in segment.split("-")[1:]]
    return " ".join((cell, *ends)).strip()


def _label_end(end: str) -> str:
    """Return how a label shows the end of a token: sides are capital letters, words are not, and `inner` is `in`."""
    if end.startswith("inner"):
        return end.replace("inner", "in")
    return end if end in ("lying", "safe") else end.upper()


def name_marks(tokens: Sequence[str]) -> dict[str, str]:
    """Return what is written beside the marks of segments, by their tokens.

    If many segments are on other tiles, only the first mark of each of these tiles has a name, which is the cell; if
    there are too many tiles, they have none. A mark for a protected figure has none if the same segment has another
    mark.
    """
    beside_others = {token + SAFE for token in tokens}  # the marks for protected figures beside another mark
    tokens = [token for token in tokens if token not in beside_others]
    far = [token for token in tokens if "/" in token]
    if len(far) <= MOST_FAR_NAMES:
        return {token: label_offer(token) for token in tokens}
    names = {token: label_offer(token) for token in tokens if "/" not in token}
    first_by_cell = {token.partition("/")[0]: token for token in reversed(far)}  # the first one comes last and wins
    if len(first_by_cell) <= MOST_NAMED_CELLS:
        names |= {token: cell for cell, token in first_by_cell.items()}
    return names


def name_axes(tokens: Sequence[str], tiles: Iterable[str]) -> list[tuple[str, Point]]:
    """Return the numbers of all columns and rows with their points; empty if `name_marks` names what is offered."""
    cells = {token.partition("/")[0] for token in tokens if "/" in token}
    if len(cells) <= MOST_NAMED_CELLS:
        return []
    west, east, north, south = find_extent(list(tiles))
    top, left = TILE_SIZE * north - AXIS_ABOVE, TILE_SIZE * west - AXIS_BESIDE
    columns = [(str(x), Point(TILE_SIZE * x, top)) for x in range(west, east + 1)]
    return [*columns, *((str(y), Point(left, TILE_SIZE * y)) for y in range(north, south + 1))]


def move_outside(middle: Point, point: Point) -> Point:
    """Return where the name of a mark is: farther from the middle of its tile, or below the mark in the middle.

    Fields beside a road go out diagonally, so that their names do not cover the name of the road.
    """
    x, y = _find_direction(point.x - middle.x), _find_direction(point.y - middle.y)
    if not x and not y:
        return move_below(point)
    step = NAME_DISTANCE / math.hypot(x, y)
    return Point(point.x + x * step, point.y + y * step)


def _find_direction(offset: float) -> int:
    """Return 1 or -1 by the sign of an offset, and 0 near the middle."""
    return 0 if abs(offset) < NEAR_MIDDLE else round(math.copysign(1, offset))


def move_below(point: Point) -> Point:
    """Return where the name below a mark is."""
    return Point(point.x, point.y + NAME_DISTANCE)


def group_turns_by_cell(places: Iterable[tuple[str, ...]]) -> dict[str, list[str]]:
    """Return for each cell of the options of `place` the turns in which the tile fits."""
    turns: dict[str, list[str]] = {}
    for cell, turn in places:
        turns.setdefault(cell, []).append(turn)
    return turns
