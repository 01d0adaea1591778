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
NO_SEAT = -1
PLAIN_FIELD = Feature("field")
"""A new field that touches no city; shared, because most fields begin like this."""


def apply_tile_placed(state: State, event: TilePlaced) -> State:
    """Add a tile to the land, and note in the part of the turn which features it completed."""
    cell, number = event.cell, len(state.tiles)
    piece, first = PIECES[event.tile][event.turn], number * MOST_SEGMENTS
    frontier, features, parents = state.frontier.copy(), state.features.copy(), state.parents.copy()
    met, surplus = _connect_sides(piece, cell, state.tiles, frontier, parents)
    done = _add_built(piece, number, met, surplus, features, parents)
    _add_fields(piece, first, met, features, parents)
    if surplus:  # two features that were completed one after the other may have become one
        done = [root for root in dict.fromkeys(find_root(parents, root) for root in done) if not features[root].open]
    if piece.closes:
        done += _close_neighbours(state, cell, features)
    enclosed = state.enclosed
    if cell in enclosed:
        done += _fill_neighbour(enclosed[cell], number, features)
    if piece.enclosed:
        enclosed, more = _add_enclosed(state, piece, cell, first, features)
        done += more
    tiles = state.tiles.copy()
    tiles[cell] = PlacedTile(event.tile, event.turn, first)
    return replace(
        state,
        work=_begin_figure_step(state.work, event, done),
        tiles=tiles,
        frontier=frontier,
        parents=parents,
        features=features,
        enclosed=enclosed,
    )


def _begin_figure_step(work: tuple[Work, ...], event: TilePlaced, done: list[int]) -> tuple[Work, ...]:
    """Return the work with its part at the step of placing a figure; before the first turn there is no work."""
    if not work:
        return ()
    *below, part = work
    assert isinstance(part, Part)
    completed = tuple(dict.fromkeys(done)) if done else ()
    return (*below, Part("figure", part.kind, event.tile, event.cell, completed, part.passed, part.extra, part.notes))


def find_features_met(state: State, piece: Piece, cell: str) -> set[int]:
    """Return the features that a tile would extend on this cell."""
    met, _ = _connect_sides(piece, cell, state.tiles, state.frontier.copy(), state.parents.copy())
    return {root for roots in met.values() for root in roots}


def find_features_ending_at(state: State, cell: str) -> list[int]:
    """Return the features that end at an empty cell."""
    beside = [(side, state.tiles[beyond]) for side, beyond in enumerate(list_neighbours(cell)) if beyond in state.tiles]
    return [
        find_root(state.parents, other.first + index)
        for side, other in beside
        for index in PIECES[other.tile][other.turn].meets[side - 2]
    ]


def can_grow(state: State, figure: Figure) -> bool:
    """Whether the feature of a figure leads to an empty cell; it is walked from the tile of the figure on."""
    root, seen, waiting = find_figure_root(state, figure), {figure.cell}, [figure.cell]
    while waiting:
        cell = waiting.pop()
        placed = state.tiles[cell]
        joins, first = PIECES[placed.tile][placed.turn].joins, placed.first
        for beyond, along in zip(list_neighbours(cell), joins, strict=True):
            if any(find_root(state.parents, first + index) == root for index in along):
                if beyond not in state.tiles:
                    return True
                if beyond not in seen:
                    seen.add(beyond)
                    waiting.append(beyond)
    return False


def _connect_sides(
    piece: Piece, cell: str, tiles: dict[str, PlacedTile], frontier: dict[str, int], parents: dict[int, int]
) -> tuple[dict[int, list[int]], dict[int, int]]:
    """Find the features that each segment of a new tile meets, once for each end that meets one.

    Also return by segment how many open ends this counts too often (`_pair_shared_side`). Updates the frontier for the
    new tile, and shortens the paths in `parents`.
    """
    met: dict[int, list[int]] = {}
    surplus: dict[int, int] = {}
    frontier.pop(cell, None)
    for side, beyond in enumerate(list_neighbours(cell)):
        if beyond not in tiles:
            frontier[beyond] = frontier.get(beyond, 0) + piece.codes[side]
            continue
        other = tiles[beyond]
        neighbour = PIECES[other.tile][other.turn]
        mine, theirs = piece.joins[side], neighbour.meets[side - 2]
        if piece.shared or neighbour.shared:
            pairs = _pair_shared_side(mine, theirs, piece.edges[side], surplus)
        else:
            pairs = zip(mine, theirs)  # noqa: B905 - a tile that closes connects to nothing; `strict=False` takes long
        for index, there in pairs:
            root = segment = other.first + there
            while root in parents:
                root = parents[root]
            if root != segment:
                parents[segment] = root
            met.setdefault(index, []).append(root)
    return met, surplus


def _pair_shared_side(
    mine: tuple[int, ...], theirs: tuple[int, ...], edge: str, surplus: dict[int, int]
) -> Iterable[tuple[int, int]]:
    """Pair the segments at a side that two cities or two fields of one tile share.

    Two cities at one side connect to every city beyond it, which meets more ends than there are: count the surplus.
    """
    if len(mine) == len(theirs) and edge != EDGES["city"]:
        return zip(mine, theirs, strict=True)
    for number, index in enumerate(mine):
        surplus[index] = surplus.get(index, 0) + 2 * len(theirs) - 1 - (0 if number else len(theirs))
    return itertools.product(mine, theirs)


def _add_built(
    piece: Piece,
    number: int,
    met: dict[int, list[int]],
    surplus: dict[int, int],
    features: Features,
    parents: dict[int, int],
) -> list[int]:
    """Add the roads, cities and other places of a tile to the features; return those that are complete now."""
    done: list[int] = []
    first = number * MOST_SEGMENTS
    for index, segment, ends in piece.built:
        roots = met.get(index)
        if roots is None:
            features[first + index] = Feature(segment.kind, ends, (number,), segment.marks)
            continue
        root, others = _unite(first + index, roots, parents)
        more_ends = ends - 2 * len(roots) + surplus.get(index, 0)  # each end that meets one closes both
        if not _grow(segment, number, root, others, features, more_ends):
            done.append(root)
    return done


def _add_fields(
    piece: Piece, first: int, met: dict[int, list[int]], features: Features, parents: dict[int, int]
) -> None:
    """Add the fields of a tile to the features."""
    for index, local in piece.fields:
        roots = met.get(index)
        cities = tuple([first + city for city in local]) if local else ()
        if roots is None:
            features[first + index] = Feature("field", cities=cities) if cities else PLAIN_FIELD
            continue
        root, others = _unite(first + index, roots, parents)
        if cities or others:
            _grow_field(cities, root, others, features)


def _close_neighbours(state: State, cell: str, features: Features) -> list[int]:
    """Close the roads and cities that end at a tile which closes; return those that are complete now."""
    done: list[int] = []
    for root in find_features_ending_at(state, cell):
        feature = features[root]
        if feature.kind in ("road", "city"):
            features[root] = replace(feature, open=feature.open - 1)
            done.append(root)
    return [root for root in done if not features[root].open]


def _unite(segment: int, roots: Sequence[int], parents: dict[int, int]) -> tuple[int, Sequence[int]]:
    """Make a new segment part of the first of the features that it meets, and the others part of it too.

    Return that feature and the others.
    """
    root = roots[0]
    while root in parents:
        root = parents[root]
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


def _grow(segment: Segment, number: int, root: int, others: Sequence[int], features: Features, more_ends: int) -> int:
    """Add a new segment, and the features that it connects, to a road or city; return how many ends are still open."""
    feature = features[root]
    open_ = feature.open + more_ends
    tiles, marks, figures = feature.tiles, feature.marks + segment.marks, feature.figures
    for other in others:
        merged = features.pop(other)
        open_ += merged.open
        tiles = tuple(sorted({*tiles, *merged.tiles}))  # a tile with two segments of a feature counts once
        marks += merged.marks
        figures += merged.figures
    if tiles[-1] != number:
        tiles += (number,)
    features[root] = Feature(segment.kind, open_, tiles, marks, (), figures)
    return open_


def _fill_neighbour(roots: tuple[int, ...], number: int, features: Features) -> list[int]:
    """Add a new tile to the cloisters and gardens around its cell; return those that are complete now."""
    for root in roots:
        feature = features[root]
        tiles = (*feature.tiles, number)
        features[root] = Feature(feature.kind, feature.open - 1, tiles, feature.marks, (), feature.figures)
    return [root for root in roots if not features[root].open]


def _add_enclosed(
    state: State, piece: Piece, cell: str, first: int, features: Features
) -> tuple[dict[str, tuple[int, ...]], list[int]]:
    """Add the cloister and garden of a new tile to the features.

    Return the cells that cloisters and gardens wait for, and the new ones that are complete already.
    """
    enclosed = state.enclosed.copy()
    beside = [state.tiles[beyond].first // MOST_SEGMENTS for beyond in list_cells_around(cell) if beyond in state.tiles]
    for index in piece.enclosed:
        root, segment = first + index, piece.segments[index]
        features[root] = Feature(segment.kind, 8 - len(beside), (*beside, first // MOST_SEGMENTS), segment.marks)
        for beyond in list_cells_around(cell):
            if beyond not in state.tiles:
                enclosed[beyond] = (*enclosed.get(beyond, ()), root)
    return enclosed, [first + index for index in piece.enclosed if len(beside) == 8]


def add_figure(state: State, figure: Figure, **others: Any) -> State:
    """Move a figure from its owner's supply to its segment, and change these other fields."""
    root = find_figure_root(state, figure)
    feature = state.features[root]
    features = state.features.copy()
    features[root] = replace(feature, figures=(*feature.figures, figure))
    return replace(state, features=features, supply=change_supply(state, (figure,), -1), **others)


def read_figure(state: State, seat: int, kind: str, token: str) -> Figure:
    """Return the figure that a move places: on the new tile, unless the token names another cell."""
    cell, _, segment = token.rpartition("/")
    cell, way = cell or get_current_part(state).cell, ""
    placed = state.tiles[cell]
    if segment not in PIECES[placed.tile][placed.turn].locals:
        segment, _, way = segment.rpartition("-")
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
    features, root = state.features.copy(), find_figure_root(state, old)
    figures = tuple(new if figure == old else figure for figure in features[root].figures)
    features[root] = replace(features[root], figures=figures)
    return replace(state, features=features)


def remove_figures(state: State, figures: tuple[Figure, ...], **others: Any) -> State:
    """Move figures from the table to their owners' supplies, and change these other fields."""
    features, supply = _remove_from_features(state, figures), change_supply(state, figures, 1)
    return replace(state, features=features, supply=supply, **_leave_fairy(state, figures), **others)


def lift_figures(state: State, figures: tuple[Figure, ...]) -> State:
    """Take figures from the table, but not to their owners' supplies."""
    return replace(state, features=_remove_from_features(state, figures), **_leave_fairy(state, figures))


def _leave_fairy(state: State, figures: tuple[Figure, ...]) -> dict[str, Figure]:
    """§10.3: Return the fairy without her meeple, if it is one of those that leave: another may come to its place."""
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
    """Return the supplies with so many more of each of these figures."""
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
    return find_root(state.parents, placed.first + PIECES[placed.tile][placed.turn].locals[token])


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
    return placed is not None and token in PIECES[placed.tile][placed.turn].locals


def iter_segments(state: State, cell: str) -> Iterator[tuple[Segment, int]]:
    """Yield each segment of the tile on a cell with the feature that it belongs to."""
    placed = state.tiles[cell]
    for number, segment in enumerate(PIECES[placed.tile][placed.turn].segments, placed.first):
        yield segment, find_root(state.parents, number)


def get_signs(state: State, cell: str) -> tuple[str, ...]:
    """Return the marks of the tile on a cell; empty if there is no tile."""
    placed = state.tiles.get(cell)
    return PIECES[placed.tile][0].signs if placed else ()
