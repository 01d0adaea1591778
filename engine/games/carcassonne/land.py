"""The land: how a tile is added to its features, which figures are on them, and what each cell shows."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from engine.games.carcassonne import editions
from engine.games.carcassonne.state import (
    Feature,
    Figure,
    Part,
    PlacedTile,
    State,
    TilePlaced,
    Work,
    find_root,
    get_current_part,
    get_field,
)
from engine.games.carcassonne.tiles import (
    EDGES,
    MOST_SEGMENTS,
    PIECES,
    Piece,
    Segment,
    list_cells_around,
    list_neighbours,
)

Features = dict[int, Feature]
Parents = dict[int, int]
RootsMet = dict[int, list[int]]
"""The features that each segment of a new tile meets, by its index: each as often as an end of the segment meets it."""

NO_SEAT = -1
"""The seat of the fairy without a meeple, and of the teacher while no seat has him."""

PLAIN_FIELD = Feature("field")
"""A new field that touches no city; shared, because most fields begin like this."""


def apply_tile_placed(state: State, event: TilePlaced) -> State:
    """Add a tile to the land, and note in the part of the turn which features it completed."""
    cell, number = event.cell, len(state.tiles)
    piece, first = PIECES[event.tile][event.turn], number * MOST_SEGMENTS
    features, parents = state.features.copy(), state.parents.copy()
    met, closed_too_often = _connect_sides(piece, cell, state.tiles, parents)
    done = _add_built_segments(piece, number, met, closed_too_often, features, parents)
    _add_fields(piece, first, met, features, parents)
    if closed_too_often:  # a later segment may have joined, and opened again, what an earlier one had completed
        done = [root for root in dict.fromkeys(find_root(parents, root) for root in done) if not features[root].open]
    if piece.closes:
        done += _close_features_ending_at(state, cell, features)
    awaited_cells = state.awaited_cells
    if cell in awaited_cells:
        done += _add_tile_to_enclosed(awaited_cells[cell], number, features)
    if piece.enclosed_indexes:
        awaited_cells, more = _add_enclosed_segments(state, piece, cell, number, features)
        done += more
    return replace(
        state,
        work=_begin_figure_step(state.work, event, done),
        tiles=state.tiles | {cell: PlacedTile(event.tile, event.turn, first)},
        frontier=_extend_frontier(state, piece, cell),
        parents=parents,
        features=features,
        awaited_cells=awaited_cells,
    )


def _begin_figure_step(work: tuple[Work, ...], event: TilePlaced, done: list[int]) -> tuple[Work, ...]:
    """Return the work with its part at the figure step; `done` are the features completed by the tile, some twice."""
    if not work:  # before the first turn
        return ()
    *below, part = work
    assert isinstance(part, Part)
    return (*below, replace(part, step="figure", tile=event.tile, cell=event.cell, done=tuple(dict.fromkeys(done))))


def _extend_frontier(state: State, piece: Piece, cell: str) -> dict[str, int]:
    """Return the frontier with a new tile on this cell, which adds its edges to the empty cells beside it."""
    frontier = state.frontier.copy()
    frontier.pop(cell, None)
    for beyond, code in zip(list_neighbours(cell), piece.codes, strict=True):
        if beyond not in state.tiles:
            frontier[beyond] = frontier.get(beyond, 0) + code  # it fills the digit of one side, which was 0
    return frontier


def find_features_met(state: State, piece: Piece, cell: str) -> set[int]:
    """Return the features that a tile would extend on this cell."""
    met, _ = _connect_sides(piece, cell, state.tiles, state.parents.copy())  # it shortens paths in the copy only
    return {root for roots in met.values() for root in roots}


def find_features_ending_at(state: State, cell: str) -> list[int]:
    """Return the features that end at an empty cell; one with several ends there is listed as often."""
    roots = list[int]()
    for side, beyond in enumerate(list_neighbours(cell)):
        if beyond in state.tiles:
            other = state.tiles[beyond]
            facing = PIECES[other.tile][other.turn].outside_indexes[side - 2]  # along its side that faces the cell
            roots += [find_root(state.parents, other.first + index) for index in facing]
    return roots


def can_grow(state: State, figure: Figure) -> bool:
    """Whether the feature of a figure leads to an empty cell; searched tile by tile, as a field counts no open ends."""
    root, seen, waiting = find_figure_root(state, figure), {figure.cell}, [figure.cell]
    while waiting:
        cell = waiting.pop()
        placed = state.tiles[cell]
        piece = PIECES[placed.tile][placed.turn]
        for beyond, on_side in zip(list_neighbours(cell), piece.side_indexes, strict=True):
            if all(find_root(state.parents, placed.first + index) != root for index in on_side):
                continue  # the feature does not reach this side
            if beyond not in state.tiles:
                return True
            if beyond not in seen:
                seen.add(beyond)
                waiting.append(beyond)
    return False


def _connect_sides(
    piece: Piece, cell: str, tiles: dict[str, PlacedTile], parents: Parents
) -> tuple[RootsMet, dict[int, int]]:
    """Return which features the segments of a new tile meet, and shorten the paths to them in `parents`.

    Also return, by the same indexes, how many ends at shared sides are closed too often if each meeting closes two.
    """
    met: RootsMet = {}
    closed_too_often: dict[int, int] = {}
    for side, beyond in enumerate(list_neighbours(cell)):
        if beyond not in tiles:
            continue
        other = tiles[beyond]
        neighbour = PIECES[other.tile][other.turn]
        mine, theirs = piece.side_indexes[side], neighbour.outside_indexes[side - 2]  # the sides that face each other
        if piece.has_shared_side or neighbour.has_shared_side:
            pairs = _pair_shared_side(mine, theirs, piece.edges[side], closed_too_often)
        else:
            pairs = zip(mine, theirs)  # noqa: B905 - a tile that closes connects to nothing; `strict=False` takes long
        for index, there in pairs:
            met.setdefault(index, []).append(_find_root_and_shorten(parents, other.first + there))
    return met, closed_too_often


def _find_root_and_shorten(parents: Parents, segment: int) -> int:
    """Return the root of a segment, and make it the parent of the segment."""
    root = find_root(parents, segment)
    if root != segment:
        parents[segment] = root
    return root


def _pair_shared_side(
    mine: tuple[int, ...], theirs: tuple[int, ...], edge: str, closed_too_often: dict[int, int]
) -> Iterable[tuple[int, int]]:
    """Pair each segment at a side that two cities or two fields of one tile share with each one beyond it.

    `_add_built_segments` closes two ends for each pair, but here an end is in several pairs, and closes only once:
    each segment closes its own, and the first one those beyond for all. `closed_too_often` gets the rest.
    """
    if len(mine) == len(theirs) and edge != EDGES["city"]:
        return zip(mine, theirs, strict=True)  # but two fields face two others one to one
    for index in mine:
        really_closed = 1 + (len(theirs) if index == mine[0] else 0)
        closed_too_often[index] = closed_too_often.get(index, 0) + 2 * len(theirs) - really_closed
    return itertools.product(mine, theirs)


def _add_built_segments(
    piece: Piece, number: int, met: RootsMet, closed_too_often: dict[int, int], features: Features, parents: Parents
) -> list[int]:
    """Add the roads, cities and other places of a tile to the features; return those that are complete now."""
    done, first = list[int](), number * MOST_SEGMENTS
    for index, segment, open_ends in piece.built_segments:
        roots = met.get(index)
        if roots is None:
            features[first + index] = Feature(segment.kind, open_ends, (number,), segment.marks)
            continue
        root, others = _unite(first + index, roots, parents)
        # Two ends that meet are both closed; at a shared side one end meets several, and was subtracted each time.
        gained_ends = open_ends - 2 * len(roots) + closed_too_often.get(index, 0)
        ends_left = _grow(segment, number, root, others, features, gained_ends)
        if not ends_left:
            done.append(root)
    return done


def _add_fields(piece: Piece, first: int, met: RootsMet, features: Features, parents: Parents) -> None:
    """Add the fields of a tile to the features."""
    for index, cities_on_tile in piece.fields:
        roots = met.get(index)
        cities = tuple([first + city for city in cities_on_tile]) if cities_on_tile else ()
        if roots is None:
            features[first + index] = Feature("field", cities=cities) if cities else PLAIN_FIELD
            continue
        root, others = _unite(first + index, roots, parents)
        if cities or others:
            _grow_field(cities, root, others, features)


def _close_features_ending_at(state: State, cell: str, features: Features) -> list[int]:
    """Close each end of a road or city that leads to this cell; return those that are complete now, some twice."""
    ending = [root for root in find_features_ending_at(state, cell) if features[root].kind in ("road", "city")]
    for root in ending:
        features[root] = replace(features[root], open=features[root].open - 1)
    return [root for root in ending if not features[root].open]


def _unite(segment: int, roots: Sequence[int], parents: Parents) -> tuple[int, Sequence[int]]:
    """Put a new segment and all features that it meets under the root of the first; return it, and the other roots."""
    root = find_root(parents, roots[0])  # another segment of the tile may have united these with others
    parents[segment] = root
    if len(roots) == 1:
        return root, ()
    others: list[int] = []
    for other in roots[1:]:
        other = find_root(parents, other)
        if other != root:
            parents[other] = root
            others.append(other)
    return root, others


def _grow_field(cities: tuple[int, ...], root: int, others: Sequence[int], features: Features) -> None:
    """Add the cities of a new segment, and the fields that it connects, to a field."""
    feature = features[root]
    cities, figures = feature.cities + cities, feature.figures
    for other in others:
        merged = features.pop(other)
        cities += merged.cities
        figures += merged.figures
    features[root] = replace(feature, cities=cities, figures=figures)


def _grow(segment: Segment, number: int, root: int, others: Sequence[int], features: Features, gained_ends: int) -> int:
    """Add a new segment, and the features that it connects, to a road or city; return how many ends are still open."""
    feature = features[root]
    open_ = feature.open + gained_ends
    tiles, marks, figures = feature.tiles, feature.marks + segment.marks, feature.figures
    for other in others:
        merged = features.pop(other)
        open_ += merged.open
        tiles = tuple(sorted({*tiles, *merged.tiles}))  # a tile with two segments of a feature counts once
        marks += merged.marks
        figures += merged.figures
    if tiles[-1] != number:  # the last if another segment of the new tile has added it: no number is higher
        tiles += (number,)
    features[root] = Feature(segment.kind, open_, tiles, marks, figures=figures)
    return open_


def _add_tile_to_enclosed(roots: tuple[int, ...], number: int, features: Features) -> list[int]:
    """Add a new tile to the cloisters and gardens around its cell; return those that are complete now."""
    for root in roots:
        feature = features[root]
        tiles = (*feature.tiles, number)
        features[root] = Feature(feature.kind, feature.open - 1, tiles, feature.marks, figures=feature.figures)
    return [root for root in roots if not features[root].open]


def _add_enclosed_segments(
    state: State, piece: Piece, cell: str, number: int, features: Features
) -> tuple[dict[str, tuple[int, ...]], list[int]]:
    """Add the cloister and garden of a new tile to the features.

    Return the cells that cloisters and gardens wait for, and the new ones that are complete already.
    """
    empty = [one for one in list_cells_around(cell) if one not in state.tiles]
    tiles_around = [state.tiles[one].first // MOST_SEGMENTS for one in list_cells_around(cell) if one in state.tiles]
    roots = [number * MOST_SEGMENTS + index for index in piece.enclosed_indexes]
    for root, index in zip(roots, piece.enclosed_indexes, strict=True):
        segment = piece.segments[index]
        features[root] = Feature(segment.kind, len(empty), (*tiles_around, number), segment.marks)
    more_cells = {one: (*state.awaited_cells.get(one, ()), *roots) for one in empty}
    return state.awaited_cells | more_cells, ([] if empty else roots)


def add_figure(state: State, figure: Figure, **others: Any) -> State:
    """Move a figure from its owner's supply to its segment, and change these other fields."""
    root = find_figure_root(state, figure)
    feature = state.features[root]
    features = {**state.features, root: replace(feature, figures=(*feature.figures, figure))}
    return replace(state, features=features, supply=change_supply(state, (figure,), -1), **others)


def read_figure(state: State, seat: int, kind: str, token: str) -> Figure:
    """Return the figure that a move places by a token: `cloister-lying` on the new tile, `1,0/city` on another one."""
    other_cell, _, segment = token.rpartition("/")
    cell = other_cell or get_current_part(state).cell
    way = ""
    if not has_segment(state, cell, segment):
        segment, _, way = segment.rpartition("-")  # the way in which the figure is placed
    figure = Figure(seat, kind, cell, segment, way)
    others = state.features[find_figure_root(state, figure)].figures
    return _number_figure(figure, {other.place for other in others}) if others else figure


def _number_figure(figure: Figure, taken: Collection[str]) -> Figure:
    """Give a figure a number if its place is taken, so that each place is unique."""
    number = 1
    while figure.place in taken:
        number += 1
        figure = replace(figure, way=str(number))
    return figure


def replace_figure(state: State, old: Figure, new: Figure) -> State:
    """Replace a figure on the table by another one on the same segment."""
    root = find_figure_root(state, old)
    feature = state.features[root]
    figures = tuple(new if figure == old else figure for figure in feature.figures)
    return replace(state, features={**state.features, root: replace(feature, figures=figures)})


def send_home(state: State, figures: tuple[Figure, ...], **others: Any) -> State:
    """Move figures from the table to their owners' supplies, and change these other fields."""
    features, supply = _remove_from_features(state, figures), change_supply(state, figures, 1)
    return replace(state, features=features, supply=supply, **_leave_fairy(state, figures), **others)


def lift_figures(state: State, figures: tuple[Figure, ...]) -> State:
    """Take figures from the table, but not to their owners' supplies."""
    return replace(state, features=_remove_from_features(state, figures), **_leave_fairy(state, figures))


def _leave_fairy(state: State, figures: tuple[Figure, ...]) -> dict[str, Figure]:
    """§10.3: Return `fairy` without a seat if her figure leaves; until edition 6 it could come back to her."""
    fairy: Figure | None = get_field(state, "fairy")
    if fairy is None or fairy not in figures or not editions.forgets_figure_of_fairy(state.edition):
        return {}
    return {"fairy": replace(fairy, seat=NO_SEAT)}


def _remove_from_features(state: State, figures: tuple[Figure, ...]) -> Features:
    """Return the features without these figures."""
    features = state.features.copy()
    for figure in figures:
        root = find_figure_root(state, figure)
        feature = features[root]
        features[root] = replace(feature, figures=tuple([other for other in feature.figures if other != figure]))
    return features


def change_supply(state: State, figures: tuple[Figure, ...], change: int) -> tuple[dict[str, int], ...]:
    """Return the supplies of all seats, with `change` more for each of these figures in the one of its owner."""
    supply = list(state.supply)
    for figure in figures:
        own = supply[figure.seat]
        supply[figure.seat] = {**own, figure.kind: own[figure.kind] + change}
    return tuple(supply)


def find_figure_root(state: State, figure: Figure) -> int:
    """Return the feature that a figure is on."""
    return find_token_root(state, figure.cell, figure.segment)


def find_token_root(state: State, cell: str, token: str) -> int:
    """Return the feature of the segment with this token on the tile of a cell."""
    placed = state.tiles[cell]
    return find_root(state.parents, placed.first + PIECES[placed.tile][placed.turn].indexes[token])


def list_cells(state: State, feature: Feature) -> list[str]:
    """Return the cells of the tiles of a feature."""
    cells = list(state.tiles)
    return [cells[number] for number in feature.tiles]


def find_segment_cell(state: State, number: int) -> str:
    """Return the cell of the tile that the segment with this number is on."""
    return list(state.tiles)[number // MOST_SEGMENTS]


def has_segment(state: State, cell: str, token: str) -> bool:
    """Whether there is a tile on a cell, and a segment with this token on it."""
    placed = state.tiles.get(cell)
    return placed is not None and token in PIECES[placed.tile][placed.turn].indexes


def iter_segments(state: State, cell: str) -> Iterator[tuple[Segment, int]]:
    """Yield each segment of the tile on a cell with the feature that it belongs to."""
    placed = state.tiles[cell]
    for number, segment in enumerate(PIECES[placed.tile][placed.turn].segments, placed.first):
        yield segment, find_root(state.parents, number)


def get_signs(state: State, cell: str) -> tuple[str, ...]:
    """Return the signs of the tile on a cell; empty if there is no tile."""
    placed = state.tiles.get(cell)
    return PIECES[placed.tile][0].signs if placed else ()
