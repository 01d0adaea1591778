"""How a tile joins the land: roads, cities and fields grow together, cloisters see their neighbours come."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from engine.games.carcassonne.board import EDGES, MOST_SEGMENTS, PIECES, Piece, Segment, around, near
from engine.games.carcassonne.state import Feature, Figure, Laid, Part, State, TilePlaced, Work, find

Features = dict[int, Feature]
BARE = Feature("field")


def placed(state: State, event: TilePlaced) -> State:
    """The land with one more tile, and the features it completed noted in the part of the turn."""
    cell, number = event.cell, len(state.tiles)
    piece, first = PIECES[event.tile][event.turn], number * MOST_SEGMENTS
    frontier, features, parents = state.frontier.copy(), state.features.copy(), state.parents.copy()
    joined, spare = _joined(piece, cell, state.tiles, frontier, parents)
    done = _built(piece, number, joined, spare, features, parents)
    _farmed(piece, first, joined, features, parents)
    if spare:  # what a segment completed may have become one with another, through the next segment
        done = [root for root in dict.fromkeys(find(parents, root) for root in done) if not features[root].open]
    if piece.closes:
        done += _closed_in(state, cell, features)
    enclosed = state.enclosed
    if cell in enclosed:
        done += _approached(enclosed[cell], number, features)
    if piece.enclosed:
        enclosed, more = _enclosed(state, piece, cell, first, features)
        done += more
    tiles = state.tiles.copy()
    tiles[cell] = Laid(event.tile, event.turn, first)
    return replace(
        state,
        work=_laid(state.work, event, done),
        tiles=tiles,
        frontier=frontier,
        parents=parents,
        features=features,
        enclosed=enclosed,
    )


def _laid(work: tuple[Work, ...], event: TilePlaced, done: list[int]) -> tuple[Work, ...]:
    """The part of the turn that goes on with the figures, if it is a turn and not the beginning."""
    if not work:
        return ()
    *below, part = work
    assert isinstance(part, Part)
    finished = tuple(dict.fromkeys(done)) if done else ()
    return (*below, Part("figure", part.kind, event.tile, event.cell, finished, part.passed, part.extra, part.notes))


def met(state: State, piece: Piece, cell: str) -> set[int]:
    """The features that a tile would go on with here."""
    joined, _ = _joined(piece, cell, state.tiles, state.frontier.copy(), state.parents.copy())
    return {root for roots in joined.values() for root in roots}


def open_to(state: State, cell: str) -> list[int]:
    """The features that end at an empty cell."""
    beside = [(side, state.tiles[beyond]) for side, beyond in enumerate(near(cell)) if beyond in state.tiles]
    return [
        find(state.parents, other.first + there)
        for side, other in beside
        for there in PIECES[other.tile][other.turn].meets[side - 2]
    ]


def _joined(
    piece: Piece, cell: str, tiles: dict[str, Laid], frontier: dict[str, int], parents: dict[int, int]
) -> tuple[dict[int, list[int]], dict[int, int]]:
    """For segments of the tile the features that they meet, one for each end that is met; paths are shortened.

    Also how many open ends this counts too often, by segment: where two cities share a side. The frontier is moved on:
    the cell is taken, and the empty ones beside it can be taken now.
    """
    joined: dict[int, list[int]] = {}
    spare: dict[int, int] = {}
    frontier.pop(cell, None)
    for side, beyond in enumerate(near(cell)):
        other = tiles.get(beyond)
        if other is None:
            frontier[beyond] = frontier.get(beyond, 0) + piece.codes[side]
            continue
        neighbour = PIECES[other.tile][other.turn]
        mine, theirs = piece.joins[side], neighbour.meets[side - 2]
        if piece.shared or neighbour.shared:
            pairs = _halved(mine, theirs, piece.edges[side], spare)
        else:
            pairs = zip(mine, theirs, strict=False)  # a tile that closes joins nothing
        for place, there in pairs:
            root = segment = other.first + there
            while root in parents:
                root = parents[root]
            if root != segment:
                parents[segment] = root
            if place in joined:
                joined[place].append(root)
            else:
                joined[place] = [root]
    return joined, spare


def _halved(
    mine: tuple[int, ...], theirs: tuple[int, ...], edge: str, spare: dict[int, int]
) -> Iterable[tuple[int, int]]:
    """Where two cities share a side, each of them goes on with all that lies beyond it; so do fields."""
    if len(mine) == len(theirs) and edge != EDGES["city"]:
        return zip(mine, theirs, strict=True)
    for number, place in enumerate(mine):
        spare[place] = spare.get(place, 0) + 2 * len(theirs) - 1 - (0 if number else len(theirs))
    return itertools.product(mine, theirs)


def _built(
    piece: Piece,
    number: int,
    joined: dict[int, list[int]],
    spare: dict[int, int],
    features: Features,
    parents: dict[int, int],
) -> list[int]:
    """Put the roads, the cities and other places of the tile into the land; those that have no open end left."""
    done: list[int] = []
    first = number * MOST_SEGMENTS
    for place, segment in piece.built:
        roots = joined.get(place)
        if roots is None:
            features[first + place] = Feature(segment.kind, len(segment.ends), (number,), segment.marks)
            continue
        root, others = _united(first + place, roots, parents)
        if not _grow(segment, number, root, others, features, 2 * len(roots) - spare.get(place, 0)):
            done.append(root)
    return done


def _farmed(
    piece: Piece, first: int, joined: dict[int, list[int]], features: Features, parents: dict[int, int]
) -> None:
    """Put the fields of the tile into the land."""
    for place, local in piece.fields:
        roots = joined.get(place)
        cities = tuple([first + city for city in local]) if local else ()
        if roots is None:
            features[first + place] = Feature("field", cities=cities) if cities else BARE
            continue
        root, others = _united(first + place, roots, parents)
        if cities or others:
            _grow_field(cities, root, others, features)


def _closed_in(state: State, cell: str, features: Features) -> list[int]:
    """A tile that closes goes on with nothing: the roads and cities along it lose an open end; those without any."""
    done: list[int] = []
    for root in open_to(state, cell):
        feature = features[root]
        if feature.kind in ("road", "city"):
            features[root] = replace(feature, open=feature.open - 1)
            done.append(root)
    return [root for root in done if not features[root].open]


def _united(segment: int, roots: Sequence[int], parents: dict[int, int]) -> tuple[int, Sequence[int]]:
    """The feature that a segment goes on with, and the further ones that become one with it by that."""
    root = parents[segment] = find(parents, roots[0])
    if len(roots) == 1:
        return root, ()
    others: list[int] = []
    for other in roots[1:]:
        other = find(parents, other)
        if other != root:
            parents[other] = root
            others.append(other)
    return root, others


def _grow_field(cities: tuple[int, ...], root: int, others: Sequence[int], features: Features) -> None:
    feature = features[root]
    cities, figures = feature.cities + cities, feature.figures
    for other in others:
        gone = features.pop(other)
        cities += gone.cities
        figures += gone.figures
    features[root] = Feature("field", 0, (), (), cities, figures)


def _grow(segment: Segment, number: int, root: int, others: Sequence[int], features: Features, met: int) -> int:
    """How many ends of the road or city are open now that so many have met."""
    feature = features[root]
    open_ = feature.open + len(segment.ends) - met
    tiles, marks, figures = feature.tiles, feature.marks + segment.marks, feature.figures
    for other in others:
        gone = features.pop(other)
        open_ += gone.open
        tiles = tuple(sorted({*tiles, *gone.tiles}))  # a tile with two segments of a feature counts once
        marks += gone.marks
        figures += gone.figures
    if tiles[-1] != number:
        tiles += (number,)
    features[root] = Feature(segment.kind, open_, tiles, marks, (), figures)
    return open_


def _approached(roots: tuple[int, ...], number: int, features: Features) -> list[int]:
    """Cloisters and gardens gain a neighbour; those that have all of theirs."""
    for root in roots:
        feature = features[root]
        tiles = (*feature.tiles, number)
        features[root] = Feature(feature.kind, feature.open - 1, tiles, feature.marks, (), feature.figures)
    return [root for root in roots if not features[root].open]


def _enclosed(
    state: State, piece: Piece, cell: str, first: int, features: Features
) -> tuple[dict[str, tuple[int, ...]], list[int]]:
    """A new cloister or garden begins with the neighbours it finds, and waits for the others."""
    enclosed = state.enclosed.copy()
    found = [state.tiles[beyond].first // MOST_SEGMENTS for beyond in around(cell) if beyond in state.tiles]
    for place in piece.enclosed:
        root, segment = first + place, piece.segments[place]
        features[root] = Feature(segment.kind, 8 - len(found), (*found, first // MOST_SEGMENTS), segment.marks)
        for beyond in around(cell):
            if beyond not in state.tiles:
                enclosed[beyond] = (*enclosed.get(beyond, ()), root)
    return enclosed, [first + place for place in piece.enclosed if len(found) == 8]


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
    return root_at(state, figure.cell, figure.segment)


def cells_of(state: State, feature: Feature) -> list[str]:
    """The cells of the tiles that belong to a feature."""
    cells = list(state.tiles)
    return [cells[number] for number in feature.tiles]


def near_to(cell: str) -> tuple[str, ...]:
    """A cell and the eight round it."""
    return (cell, *around(cell))


def has_place(state: State, cell: str, token: str) -> bool:
    """Whether there is such a segment on the tile of a cell."""
    laid = state.tiles.get(cell)
    return laid is not None and token in PIECES[laid.tile][laid.turn].locals


def root_at(state: State, cell: str, token: str) -> int:
    """The feature of the segment of that name on a cell."""
    laid = state.tiles[cell]
    return find(state.parents, laid.first + PIECES[laid.tile][laid.turn].locals[token])


def segments_at(state: State, cell: str) -> Iterator[tuple[Segment, int]]:
    """The segments of the tile on a cell, each with the feature it belongs to."""
    laid = state.tiles[cell]
    for place, segment in enumerate(PIECES[laid.tile][laid.turn].segments, laid.first):
        yield segment, find(state.parents, place)


def signs_at(state: State, cell: str) -> tuple[str, ...]:
    """The marks of the whole tile on a cell."""
    laid = state.tiles.get(cell)
    return PIECES[laid.tile][0].signs if laid else ()


def _supplied(state: State, figures: tuple[Figure, ...], change: int) -> tuple[dict[str, int], ...]:
    supply = list(state.supply)
    for figure in figures:
        own = supply[figure.seat]
        supply[figure.seat] = {**own, figure.kind: own[figure.kind] + change}
    return tuple(supply)
