"""How a tile joins the land: roads, cities and fields grow together, cloisters see their neighbours come."""

from __future__ import annotations

from msgspec.structs import replace

from engine.games.carcassonne.board import MOST_SEGMENTS, PIECES, Piece, around, near
from engine.games.carcassonne.state import Feature, Figure, Laid, Part, State, TilePlaced, find, on_top, part_of

Features = dict[int, Feature]


def placed(state: State, event: TilePlaced) -> State:
    """The land with one more tile, and the features it completed noted in the part of the turn."""
    cell = event.cell
    piece = PIECES[event.tile][event.turn]
    first = len(state.tiles) * MOST_SEGMENTS
    features, parents = state.features.copy(), state.parents.copy()
    joined = _joined(state, piece, cell, parents)
    done = [_grown(piece, place, first, joined[place], features, parents) for place in range(len(joined))]
    enclosed = state.enclosed
    if piece.enclosed or enclosed:
        enclosed, more = _surrounded(state, piece, cell, first, features)
        done += more
    work = state.work
    if work:
        part = part_of(state)
        finished = tuple(dict.fromkeys([root for root in done if root >= 0]))
        work = on_top(state, Part("figure", part.kind, event.tile, cell, finished, part.passed, part.extra))
    return replace(
        state,
        work=work,
        tiles={**state.tiles, cell: Laid(event.tile, event.turn, first)},
        frontier=_frontier(state, piece, cell),
        parents=parents,
        features=features,
        enclosed=enclosed,
    )


def _joined(state: State, piece: Piece, cell: str, parents: dict[int, int]) -> list[list[int]]:
    """For each segment of the tile the features that it meets, one for each end that is met."""
    joined: list[list[int]] = [[] for _ in piece.segments]
    tiles = state.tiles
    for side, beyond in enumerate(near(cell)):
        other = tiles.get(beyond)
        if other is None:
            continue
        first = other.first
        meets = PIECES[other.tile][other.turn].meets[side - 2]
        for place, there in zip(piece.joins[side], meets, strict=True):
            segment = first + there
            root = find(parents, segment)
            if root != segment:
                parents[segment] = root
            joined[place].append(root)
    return joined


def met(state: State, piece: Piece, cell: str) -> set[int]:
    """The features that a tile would go on with here."""
    return {root for roots in _joined(state, piece, cell, state.parents.copy()) for root in roots}


def _grown(piece: Piece, place: int, first: int, joined: list[int], features: Features, parents: dict[int, int]) -> int:
    """Put one segment of the tile into the land; the feature it completes, or -1."""
    segment = piece.segments[place]
    kind = segment.kind
    number = first // MOST_SEGMENTS
    cities = tuple([first + city for city in segment.cities])
    if not joined:
        if kind not in ENDLESS:
            features[first + place] = Feature(kind, len(segment.ends), (number,), segment.marks)
        elif kind == "field":
            features[first + place] = Feature(kind, 0, (), (), cities)
        return -1
    root, *others = {find(parents, root): None for root in joined}
    parents[first + place] = root
    feature = features[root]
    open_, tiles, marks, figures = feature.open, feature.tiles, feature.marks + segment.marks, feature.figures
    cities += feature.cities
    for other in others:
        parents[other] = root
        gone = features.pop(other)
        open_ += gone.open
        tiles += gone.tiles
        marks += gone.marks
        cities += gone.cities
        figures += gone.figures
    if kind == "field":
        features[root] = Feature(kind, 0, (), (), cities, figures)
        return -1
    if others:
        tiles = tuple(sorted({*tiles, number}))
    elif tiles[-1] != number:
        tiles += (number,)
    open_ += len(segment.ends) - 2 * len(joined)
    features[root] = Feature(kind, open_, tiles, marks, (), figures)
    return -1 if open_ else root


def _surrounded(
    state: State, piece: Piece, cell: str, first: int, features: Features
) -> tuple[dict[str, int], list[int]]:
    """Cloisters and gardens gain a neighbour, or begin with those they find."""
    tiles, enclosed, number, done = state.tiles, state.enclosed, first // MOST_SEGMENTS, list[int]()
    for beyond in around(cell):
        root = enclosed.get(beyond)
        if root is not None and root in features:
            feature = features[root]
            features[root] = Feature(feature.kind, feature.open - 1, (*feature.tiles, number), figures=feature.figures)
            if feature.open == 1:
                done.append(root)
    for place in piece.enclosed:
        found = [tiles[beyond].first // MOST_SEGMENTS for beyond in around(cell) if beyond in tiles]
        features[first + place] = Feature(piece.segments[place].kind, 8 - len(found), (*found, number))
        enclosed = {**enclosed, cell: first + place}
        if len(found) == 8:
            done.append(first + place)
    return enclosed, done


def _frontier(state: State, piece: Piece, cell: str) -> dict[str, int]:
    """The empty cells beside the land, each with what its neighbours ask of it."""
    frontier = state.frontier.copy()
    frontier.pop(cell, None)
    for side, beyond in enumerate(near(cell)):
        if beyond not in state.tiles:
            frontier[beyond] = frontier.get(beyond, 0) | piece.codes[side]
    return frontier


def stationed(state: State, figure: Figure) -> State:
    """A figure leaves its owner's supply for a segment."""
    root = root_of(state, figure)
    feature = state.features[root]
    features = state.features.copy()
    features[root] = replace(feature, figures=(*feature.figures, figure))
    return replace(state, features=features, supply=_supplied(state, (figure,), -1))


def taken_back(state: State, figures: tuple[Figure, ...]) -> State:
    """These figures leave the table for their owners' supplies."""
    features = state.features.copy()
    for figure in figures:
        root = root_of(state, figure)
        feature = features[root]
        features[root] = replace(feature, figures=tuple(other for other in feature.figures if other != figure))
    return replace(state, features=features, supply=_supplied(state, figures, 1))


def root_of(state: State, figure: Figure) -> int:
    """The feature a figure stands on."""
    laid = state.tiles[figure.cell]
    return find(state.parents, laid.first + PIECES[laid.tile][laid.turn].locals[figure.segment])


def _supplied(state: State, figures: tuple[Figure, ...], change: int) -> tuple[dict[str, int], ...]:
    supply = list(state.supply)
    for figure in figures:
        own = supply[figure.seat]
        supply[figure.seat] = {**own, figure.kind: own[figure.kind] + change}
    return tuple(supply)


ENDLESS = frozenset({"field", "cloister", "garden"})
