"""Coordinates of pieces in the drawing: a tile is 100 wide, and the middle of the start tile is the origin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from engine.games.carcassonne.state import Figure, PlacedTile
from engine.games.carcassonne.tiles import DATA, PIECES, Segment, get_plain_name, list_neighbours, parse_cell

TILE_SIZE = 100


class Point(NamedTuple):
    """A point of the drawing, to the right and down."""

    x: float
    y: float


Offset = tuple[int, int]
Tiles = Mapping[str, PlacedTile]

SEGMENT_OFFSETS: Mapping[str, Offset] = {
    "city0": (0, -35),
    "city1": (35, 0),
    "city2": (0, 35),
    "city3": (-35, 0),
    "city03": (-24, -26),
    "city12": (26, 24),
    "city13": (0, 0),
    "city02": (0, 0),
    "city01": (24, -26),
    "city013": (0, -12),
    "city0123": (0, 4),
    "road0": (0, -32),
    "road1": (32, 0),
    "road2": (0, 32),
    "road3": (-32, 0),
    "road13": (-6, 5),
    "road02": (6, -28),
    "road12": (15, 15),
    "road23": (-15, 15),
    "road03": (-15, -15),
    "road01": (15, -15),
    "road013": (0, -10),
    "cloister": (0, -4),
    "field0": (-24, -37),
    "field1": (24, -37),
    "field2": (37, -20),
    "field3": (37, 22),
    "field4": (24, 37),
    "field5": (-24, 37),
    "field6": (-37, 22),
    "field7": (-37, -20),
}
"""Where a figure is on an unturned tile: by the ends of a road or city, by the half side in the middle of a field."""

INNER_FIELDS: Mapping[str, Offset] = {
    "AM02 field-inner": (-27, -27),
    "AM02 field-inner2": (27, -27),
    "AM03 field-inner": (-16, -24),
    "KR5 field-inner": (-27, -27),
    "PD10 field-inner": (20, -19),
    "KR5 field-inner2": (27, -27),
    "T03 field-inner": (-22, 30),
    "T04 field-inner": (-22, 30),
    "T06 field": (12, 10),
    "TO17 field": (0, 24),
    "T14 field": (6, -6),
    "RV03 field": (6, -6),
}
"""Where a figure is on a field that reaches no side; on other tiles it is in the middle."""

GARDENS: Mapping[str, Offset] = {
    "E": (0, 12),
    "H": (0, 0),
    "I": (16, 16),
    "M": (31, 17),
    "N": (31, 17),
    "R": (0, 41),
    "U": (-24, -24),
    "V": (20, -20),
    "I03": (0, 0),
    "I15": (-24, -25),
    "T08": (34, 34),
    "T11": (18, 30),
    "R10": (20, -20),
    "BT01": (24, 26),
    "BT07": (30, -28),
    "HS14": (32, 30),
    "AM10": (26, -24),
    "KR2": (24, 24),
    "TO02": (-28, -28),
    "TO04": (28, -28),
    "PD04": (-28, 18),
    "PD20": (26, 26),
    "BB04": (22, 26),
}
"""Where the garden is on a tile."""

STAGES: Mapping[str, Offset] = {
    "BT01": (0, -6),
    "BT02": (0, -14),
    "BT03": (20, -16),
    "BT04": (-24, 0),
    "BT05": (-24, 0),
}
"""Where the acrobats perform."""

TOWERS: Mapping[str, Offset] = {
    "TO01": (0, 18),
    "TO03": (33, 33),
    "TO08": (0, 4),
    "TO09": (0, -10),
    "TO10": (18, 18),
    "TO11": (0, -9),
    "TO12": (20, 20),
    "TO13": (16, 22),
    "TO14": (20, 20),
    "TO15": (24, -31),
    "TO16": (0, 16),
    "TO17": (0, -8),
}
"""Where the base of a tower is, if not in the middle."""

BATHS: Mapping[str, Offset] = {
    "BH1": (0, -3),
    "BH2": (27, 25),
    "BH3": (14, 14),
    "BH4": (20, -20),
    "BH5": (25, -31),
    "BH6": (25, -31),
}
"""Where the bathhouse is on a tile."""

BATHER_ABOVE = 10
"""How far a meeple in a bathhouse is above its middle, so that its number can be read."""

PLACES: Mapping[str, Mapping[str, Offset]] = {"acrobats": STAGES, "tower": TOWERS}
"""Where the places are that boxes add to tiles, if not in the middle."""

ON_TOP_OF_TOWER = 26
"""How far a figure on a tower is above its base."""

SMALL_CLOISTERS: Mapping[str, Offset] = {"R05": (0, -30), "DA3": (-14, -14), "KR1": (0, 14), "PD13": (-18, 2)}
"""Where a cloister is that shares its tile with more, and is drawn smaller."""

OFF_THE_MIDDLE: Mapping[str, Offset] = {
    "AM07 road": (0, 10),
    "AM08 road": (0, 10),
    "BB02 road": (13, 32),
    "BB07 city": (-34, 2),
    "BB08 road": (-34, 1),
}
"""Where a figure is on a segment that shares the middle of its tile with another one."""

BRIDGE_POINTS: Mapping[tuple[int, ...], Offset] = {(0, 2): (0, -30), (1, 3): (-30, 0)}
BRIDGE_MARKS: Mapping[str, Offset] = {"NS": (0, -30), "EW": (-30, 0)}
"""Where a figure is on a bridge, and where the mark for building one is."""
CORNERS: Mapping[str, Offset] = {"NE": (46, -46), "SE": (46, 46), "SW": (-46, 46), "NW": (-46, -46)}
BESIDE_OTHERS: Mapping[str, Offset] = {"2": (12, 0), "3": (6, -14)}
"""How far the second and third figure of a segment are from the first."""

TOLLHOUSE, BASKET, BESIDE_SHEPHERD, IN_QUARTER = (0, -14), (36, 36), (14, 8), (46, -20)
"""How far a tollhouse and a number of fruits are from the middle of a tile, a flock from its shepherd, and the Count
from the middle of a quarter."""

BESIDE_UPRIGHT = {"lying": 22, "safe": -22}
"""How far the mark for a figure that lies or is protected is from the mark for one that does not."""

OPENING_DISTANCE = 15
"""How far the opening of a tunnel is from the middle of its tile."""

QUARTER_PLACES: Mapping[str, Offset] = {
    "castle": (-122, -47),
    "cathedral": (22, -47),
    "smithy": (-122, 47),
    "market": (22, 47),
}
"""The middle of each quarter of Carcassonne on the land."""

LEIPZIG_MIDDLE = -50
LEIPZIG_QUARTERS: Mapping[str, Offset] = {
    "wainwrights": (-27, -27),
    "sheds": (27, -27),
    "bookbinders": (27, 27),
    "coiners": (-27, 27),
}
"""Where the middle of Leipzig is on the land, to the right and down, and that of each of its quarters from there."""

FIRST_CITIZEN, CITIZEN_STEPS = (-20, 4), (24, 20)
FIRST_MERCHANT, MERCHANT_STEPS = (-14, 3), (14, 15)
"""Where the first meeple in a quarter is from its middle, and how far the next ones are to the right and down."""

WHEEL_MIDDLE, CROWN_DISTANCE, CROWN_SPREAD = -50, 122, 13
"""Where the middle of the wheel is on the land, how far its crowns are from it, and by how many degrees two crowns of a
section are turned from the middle of the section."""

CROWNS: Mapping[str, int] = DATA["wheel"]["crowns"]
UPRIGHT_ON_FIELDS = frozenset({"pig", "shepherd", "barn"})


def locate_tile(cell: str) -> Point:
    """Return the middle of a cell."""
    return _locate_in_cell(cell, (0, 0))


def locate_tollhouse(cell: str) -> Point:
    """Return the point of a tollhouse."""
    return _locate_in_cell(cell, TOLLHOUSE)


def locate_basket(cell: str) -> Point:
    """Return the point of the number of fruits on a tree."""
    return _locate_in_cell(cell, BASKET)


def locate_flock(tiles: Tiles, place: str) -> Point:
    """Return the point of the flock of a shepherd."""
    return _shift(locate_place(tiles, place), BESIDE_SHEPHERD)


def locate_count(quarter: str) -> Point:
    """Return the point of the count in a quarter of Carcassonne."""
    return _shift(locate_quarter(quarter), IN_QUARTER)


def locate_castle(cells: Sequence[str]) -> Point:
    """Return the point of a castle: in the middle of the side that its two tiles share."""
    one, other = map(locate_tile, cells)
    return Point((one.x + other.x) / 2, (one.y + other.y) / 2)


def locate_new_castle(tiles: Tiles, place: str) -> Point:
    """Return the point of a castle in the small city of this place."""
    cell = place.partition("/")[0]
    (side,) = find_segment(tiles, place).ends
    return locate_castle((cell, list_neighbours(cell)[side]))


def locate_bridge_mark(token: str) -> Point:
    """Return the point of the mark for a bridge over a tile, such as `1,0/bridge-NS`: near one of its ends."""
    cell, _, axis = token.partition("/bridge-")
    return _locate_in_cell(cell, BRIDGE_MARKS[axis])


def locate_corner(cell: str, corner: str) -> Point:
    """Return the corner of a cell, such as `NE`."""
    return _locate_in_cell(cell, CORNERS[corner])


def locate_crown(section: str, number: str) -> Point:
    """Return the point of a crown of the wheel, by its number in its section: `1`, or `2` beside it."""
    sections = list(CROWNS)
    spread = CROWN_SPREAD if CROWNS[section] > 1 else 0
    middle = sections.index(section) * 360 / len(sections)
    turn = middle - spread if number == "1" else middle + spread
    x, y = math.sin(math.radians(turn)), -math.cos(math.radians(turn))
    return Point(WHEEL_MIDDLE + CROWN_DISTANCE * x, WHEEL_MIDDLE + CROWN_DISTANCE * y)


def locate_quarter(quarter: str) -> Point:
    """Return the middle of a quarter of Carcassonne."""
    return Point(*QUARTER_PLACES[quarter])


def locate_citizen(quarter: str, index: int) -> Point:
    """Return the point of a meeple in a quarter of Carcassonne."""
    return _locate_in_group(_shift(locate_quarter(quarter), FIRST_CITIZEN), index, CITIZEN_STEPS)


def locate_merchant(quarter: str, index: int) -> Point:
    """Return the point of a meeple in a quarter of Leipzig."""
    middle = _shift(Point(LEIPZIG_MIDDLE, LEIPZIG_MIDDLE), LEIPZIG_QUARTERS[quarter])
    return _locate_in_group(_shift(middle, FIRST_MERCHANT), index, MERCHANT_STEPS)


def _locate_in_group(first: Point, index: int, steps: Offset) -> Point:
    """Return the point of one of several meeples: three are beside each other, more in front of them."""
    row, column = divmod(index, 3)
    return _shift(first, (steps[0] * column, steps[1] * row))


def _shift(point: Point, offset: Offset) -> Point:
    """Return the point that is so far to the right and down of another one."""
    return Point(point.x + offset[0], point.y + offset[1])


def locate_tunnel(tiles: Tiles, place: str) -> Point:
    """Return the point of the opening of a tunnel: on its road, near the middle of its tile."""
    middle, end = locate_tile(place.partition("/")[0]), locate_place(tiles, place)
    share = OPENING_DISTANCE / math.hypot(end.x - middle.x, end.y - middle.y)
    return Point(middle.x + share * (end.x - middle.x), middle.y + share * (end.y - middle.y))


def is_lying(figure: Figure) -> bool:
    """Whether a figure is drawn lying: a farmer on his field, or one that was laid down (§17) or is protected (§27)."""
    is_farmer = figure.segment.startswith("field") and figure.kind not in UPRIGHT_ON_FIELDS
    return is_farmer or figure.way == "lying" or figure.protected


def locate_figure(tiles: Tiles, figure: Figure) -> Point:
    """Return the point of a figure; figures on the same segment are beside each other."""
    if figure.way in CORNERS:
        return locate_corner(figure.cell, figure.way)
    first = locate_segment(tiles, figure.cell, figure.segment)
    return _shift(first, BESIDE_OTHERS.get(figure.way, (0, 0)))


def locate_place(tiles: Tiles, place: str) -> Point:
    """Return the point of a place such as `1,0/cloister-lying`; it is the same for an upright figure."""
    cell, _, token = place.partition("/")
    segment, _ = split_way(tiles, cell, token)
    return locate_segment(tiles, cell, segment)


def locate_offer(tiles: Tiles, token: str) -> Point:
    """Return the point of the mark for placing a figure; a token without a cell belongs to the latest tile."""
    cell, _, rest = token.rpartition("/")
    cell = cell or list(tiles)[-1]
    segment, way = split_way(tiles, cell, rest)  # the mark for each way is beside that for an upright figure
    return _shift(locate_segment(tiles, cell, segment), (BESIDE_UPRIGHT.get(way, 0), 0))


def locate_offered_tile(tiles: Tiles, token: str) -> Point:
    """Return the middle of the tile to which the token of a segment belongs."""
    return locate_tile(token.rpartition("/")[0] or list(tiles)[-1])


def find_segment(tiles: Tiles, place: str) -> Segment:
    """Return the segment of a place such as `1,0/cloister-lying`; it is the same for an upright figure."""
    cell, _, token = place.partition("/")
    segment, _ = split_way(tiles, cell, token)
    piece = PIECES[tiles[cell].tile][tiles[cell].turn]
    return piece.segments[piece.indexes[segment]]


def split_way(tiles: Tiles, cell: str, token: str) -> tuple[str, str]:
    """Split a token such as `cloister-lying` into its segment and how the figure is on it, empty if it is upright."""
    placed = tiles[cell]
    if token in PIECES[placed.tile][placed.turn].indexes:
        return token, ""
    segment, _, way = token.rpartition("-")
    return segment, way


def locate_segment(tiles: Tiles, cell: str, token: str) -> Point:
    """Return the point of the first figure of a segment; one on a tower is drawn above its base."""
    placed = tiles[cell]
    pieces = PIECES[placed.tile]
    index = pieces[placed.turn].indexes[token]  # a segment keeps it when its tile is turned
    unturned = pieces[0].segments[index]
    point = _locate_on_turned_tile(cell, placed, _find_offset(placed.tile, unturned))
    return _shift(point, (0, -ON_TOP_OF_TOWER)) if unturned.kind == "tower" else point


def _locate_on_turned_tile(cell: str, placed: PlacedTile, offset: Offset) -> Point:
    """Return the point that has this offset from the middle of its tile before it is turned."""
    x, y = offset
    return _locate_in_cell(cell, {0: (x, y), 90: (-y, x), 180: (-x, -y), 270: (y, -x)}[placed.turn])


def locate_bather(tiles: Tiles, cell: str) -> Point:
    """Return the point of a meeple in the bathhouse on a cell."""
    middle = _locate_on_turned_tile(cell, tiles[cell], BATHS[tiles[cell].tile])
    return _shift(middle, (0, -BATHER_ABOVE))


def locate_tower(tiles: Tiles, cell: str) -> Point:
    """Return the point of the base of a tower."""
    return _shift(locate_segment(tiles, cell, "tower"), (0, ON_TOP_OF_TOWER))


def _find_offset(tile: str, segment: Segment) -> Offset:
    """Return where the first figure of a segment is on the unturned tile."""
    plain, ends = get_plain_name(tile), segment.ends
    match segment.kind:
        case "garden":
            return GARDENS[plain]
        case "road" if "bridge" in segment.marks:
            return BRIDGE_POINTS[ends]
        case "road" | "city" if f"{plain} {segment.token}" in OFF_THE_MIDDLE:
            return OFF_THE_MIDDLE[f"{plain} {segment.token}"]
        case "acrobats" | "tower":
            return PLACES[segment.kind].get(plain, (0, 0))
        case "cloister" if plain in SMALL_CLOISTERS:
            return SMALL_CLOISTERS[plain]
        case "field" if not ends:
            return INNER_FIELDS.get(f"{plain} {segment.token}", (0, 0))
        case "field":
            return SEGMENT_OFFSETS[f"field{ends[len(ends) // 2]}"]
    return SEGMENT_OFFSETS[segment.kind + "".join(map(str, ends))]


def _locate_in_cell(cell: str, offset: Offset) -> Point:
    """Return the point that has this offset from the middle of a cell."""
    x, y = parse_cell(cell)
    return Point(float(x * TILE_SIZE + offset[0]), float(y * TILE_SIZE + offset[1]))
