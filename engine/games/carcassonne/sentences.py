"""Facts about the land that sentences need: the picture on a tile, what it extended, the surroundings of a cell."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from engine.games.carcassonne.tiles import PIECES, SIDES, Piece, Segment, list_cells_around, list_neighbours

STRIKING_SIGNS = ("dragon", "volcano", "portal", "princess", "source")
"""Signs and marks that decide what happens with a tile."""


def describe_tile(tile: str) -> list[str]:
    """Return what a tile shows, as keys for `tile_words.txt`: first its land, then what happens with it."""
    piece = PIECES[tile][0]
    cities = [segment for segment in piece.segments if segment.kind == "city"]
    roads = [segment for segment in piece.segments if segment.kind == "road"]
    words = list[str]()
    if any(segment.kind == "cloister" for segment in piece.segments):
        words.append("cloister")
    if cities:
        words.append(_describe_cities(cities))
    if roads:
        words.append(_describe_roads(roads))
    if piece.rivers:
        words.append("river")
    signs_and_marks = {*piece.signs, *(mark for segment in piece.segments for mark in segment.marks)}
    return [*(words or ["fields"]), *(sign for sign in STRIKING_SIGNS if sign in signs_and_marks)]


def _describe_cities(cities: list[Segment]) -> str:
    """Return the word for all cities of a tile: for a single one by how many sides it reaches."""
    return "two cities" if len(cities) > 1 else f"city {len(cities[0].ends)}"


def _describe_roads(roads: list[Segment]) -> str:
    """Return the word for all roads of a tile by how many sides they reach."""
    ends = [end for road in roads for end in road.ends]
    if len(ends) > 3:
        return "crossroads"
    if len(ends) == 3:
        return "fork"
    if len(ends) == 1:
        return "road end"
    if len(roads) > 1:
        return "two roads"
    return "straight road" if abs(ends[0] - ends[1]) == 2 else "road bend"  # opposite sides are two numbers apart


def describe_neighbours(tiles: Mapping[str, Any], cell: str) -> list[tuple[str, str]]:
    """Return for each tile beside an empty cell its side and the kind of its edge there: `("N", "c")` for a city."""
    beside = [(side, tiles[neighbour]) for side, neighbour in enumerate(list_neighbours(cell)) if neighbour in tiles]
    # The edge of a neighbour that touches the cell is on its opposite side, two sides further.
    return [(SIDES[side], PIECES[placed.tile][placed.turn].edges[side - 2]) for side, placed in beside]


def describe_edges(tile: str) -> list[tuple[str, str]]:
    """Return each side of a tile that is not turned, and the kind of its edge there: `("N", "c")` for a city."""
    return list(zip(SIDES, PIECES[tile][0].edges, strict=True))


class Extension(NamedTuple):
    """The feature that a new tile extended: a cloister, or a road or city with figures of these seats.

    `tiles` is the number of tiles that the road or city gained.
    """

    kind: str
    seats: tuple[int, ...] = ()
    tiles: int = 0


def find_extension(tiles: Mapping[str, Any], figures: Iterable[Any], cell: str) -> Extension | None:
    """Return what the tile of a cell extended when it was placed, judged by the figures that are there now.

    Return None if it extended neither a road or city with figures nor a cloister.
    """
    before = itertools.takewhile(lambda one: one != cell, tiles)  # they are in the order of placing
    earlier = {one: PIECES[tiles[one].tile][tiles[one].turn] for one in before}
    new = PIECES[tiles[cell].tile][tiles[cell].turn]
    for kind in ("city", "road"):
        new_segments = [(cell, segment.token) for segment in new.segments if segment.kind == kind]
        connected = _find_connected({**earlier, cell: new}, new_segments)
        on_it = [figure for figure in figures if figure.cell != cell and (figure.cell, figure.segment) in connected]
        if on_it:
            connected_before = _find_connected(earlier, ((figure.cell, figure.segment) for figure in on_it))
            gained_cells = _find_cells(connected) - _find_cells(connected_before)
            seats = tuple(sorted({figure.seat for figure in on_it}))
            return Extension(kind, seats, tiles=len(gained_cells))
    around = [earlier[one] for one in list_cells_around(cell) if one in earlier]
    has_cloister_around = any("cloister" in piece.indexes for piece in around)
    return Extension("cloister") if has_cloister_around else None


def _find_cells(segments: Iterable[tuple[str, str]]) -> set[str]:
    """Return the cells of segments (cell, token)."""
    return {cell for cell, _ in segments}


def _find_connected(pieces: Mapping[str, Piece], start: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return all segments (cell, token) of roads or cities that are connected with these."""
    queue, connected = list(start), set[tuple[str, str]]()
    while queue:
        cell, token = queue.pop()
        if (cell, token) in connected:
            continue
        connected.add((cell, token))
        segment = pieces[cell].segments[pieces[cell].indexes[token]]
        for side, beyond in enumerate(list_neighbours(cell)):
            if side in segment.ends and beyond in pieces:
                opposite = (side + 2) % 4  # the side of the tile beyond that touches this one
                others = [one for one in pieces[beyond].segments if one.kind == segment.kind and opposite in one.ends]
                queue += [(beyond, other.token) for other in others]
    return connected
