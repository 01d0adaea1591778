"""Bridges, paragraph by paragraph of the book."""

import pytest
from msgspec.structs import replace

from engine.games import carcassonne
from engine.games.carcassonne.tiles import PIECES, count_tiles_of, list_bridge_axes
from tests.engine.games.carcassonne_table import figure, set_up
from tests.engine.games.test_carcassonne_boxes import count_tiles
from tests.engine.games.test_carcassonne_messages import set_up_messages

BRIDGES = {"bridges_castles": True}


def set_up_bridges(tiles=(), meeples=(), **given):
    return set_up(tiles, meeples, **BRIDGES, **given)


def test_23_1_twelve_tiles_more_and_two_bridges_and_castles_each_with_five_or_six_players():
    assert count_tiles(**BRIDGES).total() == 72 + 12 == 72 + sum(count_tiles_of("bridges_castles").values())
    pieces = {
        seats: set_up_bridges(seats=seats, track=((0,),) * seats, inns_cathedrals=True).state for seats in range(2, 7)
    }
    assert {seats: state.bridges[0] for seats, state in pieces.items()} == {2: 3, 3: 3, 4: 3, 5: 2, 6: 2}
    assert {seats: state.castles_left[0] for seats, state in pieces.items()} == {2: 3, 3: 3, 4: 3, 5: 2, 6: 2}


def test_23_2_a_bridge_over_the_tile_in_hand_joins_the_roads_beyond_it():
    game = set_up_bridges(["U 2,0 0"], drawn="B").play("bridge hand-EW")
    assert game.state.bridges == (2, 3)
    assert "1,0 0" in game.menu("place")
    game.play("place 1,0 0", "figure meeple bridge")
    road = [feature for feature in game.state.features.values() if feature.kind == "road"]
    assert [(len(one.tiles), one.open, len(one.figures)) for one in road] == [(3, 2, 1)]
    assert carcassonne.view(game.state, None).figures[0].place == "1,0/bridge"


def test_23_2_a_bridge_needs_two_opposite_sides_with_nothing_but_field():
    expected = {
        "A": ("EW",),
        "B": ("NS", "EW"),
        "C": (),
        "D": (),
        "E": ("EW",),
        "U": ("NS",),
        "V": (),
        "F": ("NS",),
        "H": ("EW",),
        "X": (),
        "AB": (),
        "BB06": ("NS", "EW"),
        "WH02": (),  # the wall of the wheel
    }
    assert {tile: list_bridge_axes(tile) for tile in expected} == expected


def test_23_2_a_bridge_over_a_tile_on_the_table_is_for_a_tile_that_is_laid_beside_it():
    game = set_up_bridges(["B 0,1 0", "B 0,2 0", "U 1,0 0"], drawn="U")
    assert game.menu("bridge") == {"hand-NS", "0,1/bridge-EW", "0,2/bridge-EW", "1,0/bridge-NS"}
    game.play("bridge 0,2/bridge-EW")
    assert {option.split()[0] for option in game.menu("place")} == {"-1,2", "1,2", "0,3"}
    assert game.menu() == ["place"]
    game.play("place 1,2 0", "pass")
    assert game.state.bridges == (2, 3)
    assert game.state.tiles["0,2"].tile == "B=EW"
    assert "bridge" in game.menu(seat=1)


def test_23_2_a_bridge_ends_at_no_tile_that_shows_something_else():
    beside_a_field = set_up_bridges(["B 0,1 0", "B 1,1 0"], drawn="U").menu("bridge")
    assert not {"0,1/bridge-EW", "1,1/bridge-EW"} & beside_a_field
    assert "1,1/bridge-NS" not in set_up_bridges(["B 0,1 0", "B 1,1 0", "V 1,0 0"], drawn="U").menu("bridge")


def test_23_2_one_bridge_for_each_tile_and_three_for_a_player():
    game = set_up_bridges(drawn="B", bag=["B"] * 12, rig={"tile": ["B"] * 12})
    for _ in range(3):
        game.play("bridge hand-EW")
        assert game.menu() == ["place"]
        game.play(f"place {min(game.menu('place'))}", "pass")
        game.play(f"1: place {min(game.menu('place', 1))}", "1: pass")
    assert game.state.bridges == (0, 3)
    assert game.menu() == ["place"]


def test_23_2_a_tile_has_one_bridge_at_most():
    game = set_up_bridges(["B=EW 0,1 0"], drawn="U")
    assert not any(option.startswith("0,1/") for option in game.menu("bridge"))
    assert list_bridge_axes("B=EW") == ()


def test_23_2_not_over_acrobats_but_over_their_empty_stage():
    empty = set_up_bridges(["BT01 0,1 0"], drawn="U", big_top=True)
    assert "0,1/bridge-EW" in empty.menu("bridge")
    assert "0,1/bridge-EW" not in set_up_bridges(
        ["BT01 0,1 0"], ["0 meeple 0,1/acrobats"], drawn="U", big_top=True
    ).menu("bridge")


CLOSED = ["A 1,0 90", "A -1,0 270", "E 0,-1 180"]
"""Land that has field on all its sides."""


def test_23_3_a_tile_that_fits_only_with_a_bridge_gets_one_or_is_set_aside():
    game = set_up_bridges(CLOSED, drawn="X")
    assert game.menu() == ["bridge"]
    assert game.menu("bridge") == {"1,0/bridge-NS", "-1,0/bridge-NS", "aside"}
    game.play("bridge 1,0/bridge-NS")
    assert game.menu("place") == {"1,1 0"}
    given_up = set_up_bridges(CLOSED, drawn="X").play("bridge aside")
    assert (given_up.state.aside, given_up.menu()) == (("X",), ["place", "bridge"])
    assert given_up.state.bridges == (3, 3)


def test_23_3_without_a_bridge_left_such_a_tile_is_set_aside_at_once():
    game = set_up_bridges(CLOSED, bag=["X", "U", "U"], rig={"tile": ["X", "U"]})
    game.state = replace(game.state, bridges=(3, 0))
    game.play("place 0,1 0", "pass")
    assert game.state.aside == ("X",)


def test_case_24_23_4_a_road_that_crosses_its_own_tile_on_a_bridge_counts_that_tile_once():
    """Six tiles: the road comes back over the tile on which it began."""
    loop = ["V 1,1 0", "V 1,2 90", "V 0,2 180", "A -1,1 270"]
    game = set_up_bridges(loop, ["0 meeple 0,2/road"], start="A").play("bridge hand-NS", "place 0,1 0", "pass")
    assert game.points == [6, 0]


def test_23_4_a_bridge_is_one_tile_of_its_road_and_with_the_road_below_it_still_one():
    game = set_up_bridges(["A -1,0 270", "U 2,0 0", "A 3,0 90"], ["0 meeple 0,0/road"], drawn="B")
    assert game.play("bridge hand-EW", "place 1,0 0", "pass").points == [5, 0]


def test_23_4_fields_and_cities_below_are_not_cut():
    game = set_up_bridges(["U 2,0 0"], ["0 meeple 0,0/field-ene", "1 meeple 2,0/field-ese"], drawn="B")
    game.play("bridge hand-EW", "place 1,0 0", "pass")
    farm = next(one for one in game.state.features.values() if one.kind == "field" and len(one.figures) == 2)
    assert {figure.cell for figure in farm.figures} == {"0,0", "2,0"}
    piece = PIECES["F=NS"][0]
    assert piece.edges == "rcrc"
    assert [segment.kind for segment in piece.segments] == ["city", "field", "field", "road"]


def test_23_4_only_a_bridge_over_the_new_tile_takes_a_robber():
    game = set_up_bridges(["B 0,1 0"], drawn="U").play("bridge 0,1/bridge-EW", "place 1,1 0")
    assert {option for option in game.menu("figure") if "bridge" in option} == set()
    assert "meeple road" in game.menu("figure")
    taken = set_up_bridges(["U 2,0 0"], ["1 meeple 2,0/road"], drawn="B").play("bridge hand-EW", "place 1,0 0")
    assert "meeple bridge" not in taken.menu("figure")


@pytest.mark.parametrize(("inns", "points"), [(True, 8), (False, 4)])
def test_23_4_an_inn_on_the_road_of_a_bridge_counts_for_all_of_it_with_the_box_of_inns(inns, points):
    game = set_up_bridges(["A -1,0 270", "BB09 2,0 90"], ["0 meeple 0,0/road"], drawn="B", inns_cathedrals=inns)
    assert game.play("bridge hand-EW", "place 1,0 0", "pass").points == [points, 0]


def test_23_4_a_bridge_rouses_the_builder_of_its_road():
    builder = ["0 meeple 0,0/road", "0 builder 0,0/road 2"]
    game = set_up_bridges((), builder, drawn="B", traders_builders=True)
    game.play("bridge hand-EW", "place 1,0 0", "pass")
    assert game.menu() == ["builder"]
    beside = set_up_bridges(["B 0,1 0"], builder, drawn="U", traders_builders=True)
    assert not beside.play("bridge 0,1/bridge-EW", "place 1,1 0", "pass").find_events("BuilderRoused")


def test_23_4_a_double_turn_allows_a_bridge_for_each_tile_and_so_does_message_4():
    builder = ["0 meeple 0,0/road", "0 builder 0,0/road 2"]
    game = set_up_bridges((), builder, drawn="B", rig={"tile": ["B"]}, bag=["B"] * 9, traders_builders=True)
    game.play("bridge hand-EW", "place 1,0 0", "pass", "builder build", "bridge hand-EW")
    assert game.state.bridges == (1, 3)
    four = set_up_messages(drawn="E", track=((1, 3), (0, 0)), message=[4], bag=["B"] * 9, **BRIDGES)
    four.play("bridge hand-EW", "place 0,-1 180", "figure meeple city", "castle score", "score meeple")
    four.play("message perform", "bridge hand-EW", tile=["B"])
    assert four.state.bridges == (1, 3)


def test_23_4_a_robber_on_a_bridge_can_be_protected_and_a_revolt_of_roads_strikes_him():
    game = set_up_bridges(drawn="B", revolts=True).play("bridge hand-EW", "place 1,0 0")
    assert "meeple bridge-safe" in game.menu("protect")
    game.play("protect meeple bridge-safe")
    figure = carcassonne.view(game.state, None).figures[0]
    assert (figure.segment, figure.protected) == ("bridge", True)


def test_23_4_meeples_from_the_smithy_come_onto_a_road_that_ends_on_a_bridge():
    land = ["A -1,0 270", "A 2,0 90"]
    game = set_up_bridges(land, ["1 meeple 0,0/road"], drawn="B", count=True)
    smith = figure("0 meeple 0,0/smithy")
    game.state = replace(game.state, citizens=(replace(smith, cell="", way="1"),), count_at="market")
    game.play("bridge hand-EW", "place 1,0 0", "pass", "deploy meeple")
    assert game.find_events("CitizenMoved")[0].figure.place == "1,0/bridge"
    assert game.points == [4, 4]
