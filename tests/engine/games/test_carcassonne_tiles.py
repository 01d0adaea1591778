"""The tiles as data: how many there are in each box, and that each is whole in every rotation."""

import subprocess
import sys

import pytest

from engine.games.carcassonne.tiles import DATA, FITTING_TURNS, PIECES, ROWS, TURNS, count_tiles_of

BLOCKS = {name: row for box in DATA["tiles"].values() for name, row in box.items() if "wall" in row}
TILES = tuple(ROWS)
WHOLE_TILES = [tile for tile in TILES if not PIECES[tile][0].closes and tile not in BLOCKS]


def test_a_tile_is_made_when_it_is_needed_first():
    """All of them would be a tenth of what the server does until its first answer."""
    code = "from engine.games.carcassonne import tiles; print(len(tiles.PIECES))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_each_box_has_its_tiles():
    assert {box: sum(count_tiles_of(box).values()) for box in DATA["tiles"]} == {
        "base": 72,
        "inns_cathedrals": 18,
        "traders_builders": 24,
        "river": 12,
        "wind_roses": 6,
        "watchtowers": 12,
        "big_top": 20,
        "hills_sheep": 18,
        "besiegers": 6,
        "cathars": 4,
        "shrines": 6,
        "monasteries": 6,
        "abbey_mayor": 12,
        "abbey": 1,
        "fruit_trees": 6,
        "tollkeepers": 10,
        "school": 2,
        "king_robber": 5,
        "darmstadt": 3,
        "revolts": 12,
        "wheel": 16,
        "tunnel": 4,
        "count": 12,
        "tower": 18,
        "bridges_castles": 12,
        "bathhouses": 6,
        "princess_dragon": 30,
        "plague": 6,
        "leipzig": 8,
    }


@pytest.mark.parametrize(
    ("box", "mark", "number"),
    [
        ("base", "shield", 10),
        ("inns_cathedrals", "shield", 3),
        ("inns_cathedrals", "inn", 6),
        ("inns_cathedrals", "cathedral", 2),
        ("traders_builders", "wine", 9),
        ("traders_builders", "grain", 6),
        ("traders_builders", "cloth", 5),
    ],
)
def test_the_symbols_of_a_box(box, mark, number):
    marks = [
        m for tile, copies in count_tiles_of(box).items() for s in PIECES[tile][0].segments for m in s.marks * copies
    ]
    assert marks.count(mark) == number


@pytest.mark.parametrize("turn", TURNS)
def test_every_side_belongs_to_one_thing_and_every_half_side_to_at_most_one_field(turn):
    along = {"c": ["city"], "r": ["field", "road", "field"], "f": ["field"], "w": ["field", "field"]}
    for tile in WHOLE_TILES:
        piece = PIECES[tile][turn]
        fields = sorted(end for segment in piece.segments if segment.kind == "field" for end in segment.ends)
        open_sides = [side for side, edge in enumerate(piece.edges) if edge != "c"]
        assert fields == [half for side in open_sides for half in (2 * side, 2 * side + 1)], tile
        for side, edge in enumerate(piece.edges):
            kinds = [piece.segments[index].kind for index in piece.side_indexes[side]]
            assert kinds == along[edge] * count_reaching(piece, side), tile


@pytest.mark.parametrize("box", ["wheel", "count", "leipzig"])
def test_the_tiles_of_a_block_match_and_have_field_wherever_there_is_no_wall(box):
    cells = {tuple(map(int, row["cell"].split(","))): name for name, row in DATA["tiles"][box].items()}
    for (x, y), name in cells.items():
        piece, wall = PIECES[name][0], {int(half) for half in DATA["tiles"][box][name]["wall"]}
        fields = {end for segment in piece.segments if segment.kind == "field" for end in segment.ends}
        assert fields | wall == {2 * side + half for side in range(4) if piece.edges[side] != "c" for half in (0, 1)}
        assert not fields & wall
        for side, (dx, dy) in enumerate(((0, -1), (1, 0), (0, 1), (-1, 0))):
            beyond = cells.get((x + dx, y + dy))
            if beyond:
                edge, joins = piece.edges[side], piece.side_indexes[side]
                assert edge == PIECES[beyond][0].edges[side - 2]
                assert len(joins) == len(PIECES[beyond][0].side_indexes[side - 2]) <= {"f": 1, "r": 3}[edge]
            else:
                assert not {2 * side, 2 * side + 1} & wall


def count_reaching(piece, side):
    """Return how many cities, or fields without a road between them, reach a side: 1, or 2 if they share it."""
    reach = {"city": {side}, "field": {2 * side, 2 * side + 1}}
    kind = {"c": "city", "f": "field"}.get(piece.edges[side])
    return max(1, sum(s.kind == kind and not reach[kind].isdisjoint(s.ends) for s in piece.segments))


def test_segments_have_names_of_their_own():
    for tile in TILES:
        for piece in PIECES[tile].values():
            names = [segment.token.casefold() for segment in piece.segments]
            assert len(set(names)) == len(names) <= 16, tile


def test_turns_that_look_the_same_are_one():
    def turns(tile):
        return {int(turn) // 90 for turns in FITTING_TURNS[tile] for turn in turns}

    assert turns("B") == turns("C") == turns("X") == {0}
    assert turns("U") == turns("H") == {0, 1}
    assert turns("V") == turns("D") == {0, 1, 2, 3}
