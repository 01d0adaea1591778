"""A bare program that plays random games of base Carcassonne for two, for comparison: lists that change in place.

It enumerates every move, scores every feature and keeps nothing else: no menus as data, no events, no log.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from engine.games.carcassonne.tiles import FITTING_TURNS, PIECES, START, SURROUNDINGS, Piece, count_tiles_of

WIDTH = 148
MIDDLE = WIDTH * WIDTH // 2 + WIDTH // 2
BESIDE = (-WIDTH, 1, WIDTH, -1)
AROUND = (*BESIDE, -WIDTH - 1, -WIDTH + 1, WIDTH - 1, WIDTH + 1)
FREE = 0
"""The figures of a seat on a feature are counted in eight bits of a number; 0 means that no figure is on it."""


class Turned(NamedTuple):
    """A tile in one rotation: for each segment its kind, open ends and shields, and how it meets its neighbours."""

    kinds: tuple[str, ...]
    ends: tuple[int, ...]
    shields: tuple[int, ...]
    codes: tuple[int, ...]
    joins: tuple[tuple[int, ...], ...]
    meets: tuple[tuple[int, ...], ...]
    touching: tuple[tuple[int, int], ...]
    indexes: range


def _turn(piece: Piece) -> Turned:
    segments = piece.segments
    return Turned(
        tuple(segment.kind for segment in segments),
        tuple(len(segment.ends) for segment in segments),
        tuple(segment.marks.count("shield") for segment in segments),
        piece.codes,
        piece.side_indexes,
        piece.outside_indexes,
        tuple((index, city) for index, segment in enumerate(segments) for city in segment.cities),
        range(len(segments)),
    )


BAG = [name for name, count in count_tiles_of("base").items() for _ in range(count)]
BAG.remove(START)
TURNED = {name: {turn: _turn(piece) for turn, piece in PIECES[name].items()} for name in {*BAG, START}}
FITTING = {
    name: [tuple(TURNED[name][int(turn)] for turn in FITTING_TURNS[name][code]) for code in range(SURROUNDINGS)]
    for name in TURNED
}


class Land:
    """The tiles, and a union-find over their segments: `parents`, and lists that are right for each root."""

    def __init__(self) -> None:
        self.board: list[Turned | None] = [None] * (WIDTH * WIDTH)
        self.first = dict[int, int]()
        self.frontier = dict[int, int]()
        self.parents, self.open, self.tiles = list[int](), list[int](), list[int]()
        self.shields, self.figures, self.kinds = list[int](), list[int](), list[str]()
        self.touching = list[tuple[int, int]]()
        self.monks = dict[int, list[int]]()
        self.supply, self.scores = [7, 7], [0, 0]

    def find(self, segment: int) -> int:
        parents = self.parents
        while parents[segment] != segment:
            parents[segment] = parents[parents[segment]]
            segment = parents[segment]
        return segment

    def place(self, cell: int, tile: Turned) -> int:
        """Add a tile; return the number of its first segment."""
        first = len(self.parents)
        size, bit = len(tile.kinds), 1 << len(self.first)
        self.parents.extend(range(first, first + size))
        self.open.extend(tile.ends)
        self.tiles.extend([bit] * size)
        self.shields.extend(tile.shields)
        self.figures.extend([FREE] * size)
        self.kinds.extend(tile.kinds)
        self.touching.extend([(first + field, first + city) for field, city in tile.touching])
        self.board[cell], self.first[cell] = tile, first
        self.frontier.pop(cell, None)
        for side, step in enumerate(BESIDE):
            other = self.board[cell + step]
            if other is None:
                self.frontier[cell + step] = self.frontier.get(cell + step, 0) + tile.codes[side]
                continue
            beyond = self.first[cell + step]
            for mine, theirs in zip(tile.joins[side], other.meets[side - 2], strict=True):
                self.unite(first + mine, beyond + theirs)
        return first

    def unite(self, mine: int, theirs: int) -> None:
        root, other = self.find(theirs), self.find(mine)
        if root == other:
            self.open[root] -= 2
            return
        self.parents[other] = root
        self.open[root] += self.open[other] - 2
        self.tiles[root] |= self.tiles[other]
        self.shields[root] += self.shields[other]
        self.figures[root] += self.figures[other]

    def find_occupied(self, cell: int, tile: Turned) -> int:
        """Return the segments of a tile that would join a feature with figures on this cell, each as a bit."""
        occupied, board, parents, figures, joins = 0, self.board, self.parents, self.figures, tile.joins
        for side in (0, 1, 2, 3):
            beyond = cell + BESIDE[side]
            other = board[beyond]
            if other:
                first = self.first[beyond]
                for mine, theirs in zip(joins[side], other.meets[side - 2], strict=False):
                    root = first + theirs
                    while parents[root] != root:
                        root = parents[root]
                    if figures[root]:
                        occupied |= 1 << mine
        return occupied

    def finish(self, seat: int, cell: int, tile: Turned, segment: int | None) -> None:
        """Place a figure, and score what is complete."""
        first = self.first[cell]
        if segment is not None:
            self.supply[seat] -= 1
            if tile.kinds[segment] == "cloister":
                self.monks[cell] = [sum(self.board[cell + step] is not None for step in AROUND), seat]
            else:
                self.figures[self.find(first + segment)] += 1 << (8 * seat)
        for index, kind in enumerate(tile.kinds):
            if kind in ("city", "road"):
                root = self.find(first + index)
                if self.open[root] == 0 and self.figures[root]:
                    points = self.tiles[root].bit_count()
                    self.award(root, 2 * (points + self.shields[root]) if kind == "city" else points)
                    self.figures[root] = FREE
        self._count_neighbours(cell)

    def _count_neighbours(self, cell: int) -> None:
        for near in [cell + step for step in AROUND if cell + step in self.monks]:
            self.monks[near][0] += 1
        for near in [near for near, (count, _) in self.monks.items() if count == len(AROUND)]:
            _, seat = self.monks.pop(near)
            self.scores[seat] += 9
            self.supply[seat] += 1

    def award(self, root: int, points: int) -> None:
        counts = [(self.figures[root] >> (8 * seat)) & 255 for seat in range(2)]
        for seat, count in enumerate(counts):
            self.supply[seat] += count
            if count == max(counts):
                self.scores[seat] += points

    def count_at_end(self) -> None:
        farms = dict[int, set[int]]()
        for field, city in self.touching:
            root = self.find(field)
            if self.figures[root] and self.open[self.find(city)] == 0:
                farms.setdefault(root, set()).add(self.find(city))
        for root, parent in enumerate(self.parents):
            if root == parent and self.figures[root]:
                is_field = self.kinds[root] == "field"
                whole = self.tiles[root].bit_count() + self.shields[root]
                self.award(root, 3 * len(farms.get(root, ())) if is_field else whole)
        for count, seat in self.monks.values():
            self.scores[seat] += count + 1


Option = tuple[int, Turned, int | None]


def list_moves(land: Land, tile: str, seat: int) -> list[Option]:
    """Return every cell and rotation, each without a figure and with one on each free segment."""
    fitting, options = FITTING[tile], list[Option]()
    for cell, code in land.frontier.items():
        for turned in fitting[code]:
            options.append((cell, turned, None))
            if land.supply[seat]:
                occupied = land.find_occupied(cell, turned)
                options += [(cell, turned, index) for index in turned.indexes if not occupied >> index & 1]
    return options


def play(random: Random) -> list[int]:
    """Play a random game, and return the scores."""
    land, seat, bag = Land(), 0, BAG[:]
    land.place(MIDDLE, TURNED[START][0])
    random.shuffle(bag)
    for tile in bag:
        options = list_moves(land, tile, seat)
        if options:
            cell, turned, segment = options[int(random.random() * len(options))]
            land.place(cell, turned)
            land.finish(seat, cell, turned, segment)
            seat = 1 - seat
    land.count_at_end()
    return land.scores
