"""The base game, paragraph by paragraph of its book."""

import pytest

from engine import chance, options
from engine import game as games
from engine.games import carcassonne
from engine.refusal import Refused
from tests.engine.games.carcassonne_table import set_up

OPTIONS = carcassonne.META.options
LOOP = ["M 0,1 180", "N 1,1 270", "G 1,2 90", "N 1,3 0", "N 0,3 90"]
ROUND_A_CLOISTER = ["B 0,1 0", "U 1,0 0", "U -1,0 0", "B -1,1 0", "B 1,1 0", "B -1,2 0", "B 0,2 0"]


def begin_game(seats=2, first=0, **chosen):
    rigged = chance.make_rigged({"start player": [first], "tile": ["U", "V"]})
    return games.begin(carcassonne, options.parse(OPTIONS, chosen), seats, rigged).state


def test_1_1_six_players_need_inns_and_cathedrals():
    with pytest.raises(Refused, match="Six players need"):
        begin_game(6)
    assert len(carcassonne.standing(begin_game(6, inns_cathedrals=True))) == 6
    assert len(carcassonne.standing(begin_game(5))) == 5


def test_1_2_seven_meeples_and_a_scoring_figure_on_space_0():
    view = carcassonne.view(begin_game(3, messages=False), 0)
    assert view.supply == ({"meeple": 7},) * 3
    assert view.track == ((0,),) * 3


def test_1_3_tile_d_is_on_the_table_and_71_are_in_the_bag():
    view = carcassonne.view(begin_game(), None)
    assert [(cell, placed.tile) for cell, placed in view.tiles.items()] == [("0,0", "D")]
    assert view.left + 1 == 71


def test_1_4_chance_decides_who_begins_and_the_turn_goes_clockwise():
    state = begin_game(3, first=2, messages=False)
    assert [bool(carcassonne.menu(state, seat)) for seat in range(3)] == [False, False, True]
    rigged = chance.make_rigged({"tile": ["V"]})
    state = games.play(carcassonne, state, 2, games.Move("place", ("1,0", "0")), rigged).state
    state = games.play(carcassonne, state, 2, games.Move("pass"), rigged).state
    assert [bool(carcassonne.menu(state, seat)) for seat in range(3)] == [True, False, False]


@pytest.mark.parametrize("name", ["catapult", "castles_germany"])
def test_1_5_a_box_that_is_left_out_is_no_option(name):
    assert name not in carcassonne.META.options.__struct_fields__


def test_2_1_all_seats_see_the_drawn_tile_and_none_sees_the_next():
    game = set_up().play("place 1,0 0", "pass", tile=["U"])
    assert game.find_events("TileDrawn")[0].tile == "U"
    assert all(carcassonne.hear(game.find_events("TileDrawn")[0], seat).tile == "U" for seat in (0, 1, None))
    assert carcassonne.view(game.state, None).drawn == "U"
    assert not hasattr(carcassonne.view(game.state, 0), "bags")


def test_2_2_every_side_goes_on_with_what_it_touches():
    assert set_up(drawn="U").menu("place") == {"1,0 0", "-1,0 0", "0,1 0"}
    assert set_up(drawn="C").menu("place") == {"0,-1 0"}
    assert set_up(["E 1,1 90"], drawn="B").menu("place") == {"0,1 0", "1,2 0"}
    with pytest.raises(Refused):
        set_up(drawn="U").play("place 1,0 90")


def test_2_3_a_tile_that_fits_nowhere_leaves_the_game_and_another_is_drawn():
    game = set_up(drawn="E", bag=("C", "U")).play("place 0,-1 180", "pass", tile=["C", "U"])
    assert [event.tile for event in game.find_events("TileSetAside")] == ["C"]
    assert carcassonne.view(game.state, None).aside == ("C",)
    assert carcassonne.view(game.state, None).drawn == "U"
    assert game.menu("place", seat=1)


def test_2_4_a_figure_goes_on_a_segment_of_the_new_tile_whose_feature_is_free():
    everything = set_up(drawn="A").play("place 1,0 90")
    assert everything.menu("figure") == {"meeple cloister", "meeple road", "meeple field"}
    taken = set_up(meeples=["1 meeple 0,0/road", "0 meeple 0,0/field-ese"], drawn="U").play("place 1,0 0")
    assert taken.menu("figure") == {"meeple field-nnw"}
    placed = taken.play("figure meeple field-nnw")
    assert placed.state.supply[0]["meeple"] == 5
    assert placed.find_events("FigurePlaced")[0].figure.place == "1,0/field-nnw"


def test_2_5_a_meeple_that_comes_back_is_too_late_and_one_on_a_finished_feature_returns():
    seven = ["A -1,0 270", *(f"B {x},1 0" for x in range(6))]
    out = ["0 meeple -1,0/road", *(f"0 meeple {x},1/cloister" for x in range(6))]
    game = set_up(seven, out, drawn="A").play("place 1,0 90")
    assert game.find_events("FigureWithheld")
    assert game.state.supply[0]["meeple"] == 1
    returned = set_up(drawn="E").play("place 0,-1 180", "figure meeple city")
    assert returned.points == [4, 0]
    assert returned.state.supply[0]["meeple"] == 7


def test_2_6_no_figure_is_allowed_and_a_seat_that_could_only_pass_is_not_asked():
    game = set_up().play("place 1,0 0", "pass")
    assert game.find_events("FigureWithheld")
    assert game.state.supply[0]["meeple"] == 7
    full = ["0 meeple 0,0/road", "0 meeple 0,0/field-ene", "0 meeple 0,0/field-ese"]
    full_game = set_up(meeples=full, drawn="U").play("place 1,0 0")
    assert full_game.menu() == []
    assert full_game.menu(seat=1) == ["place"]


def test_2_7_after_the_scoring_the_next_seat_is_on_turn():
    game = set_up(seats=3).play("place 1,0 0", "pass")
    assert [bool(game.menu(seat=seat)) for seat in range(3)] == [False, True, False]


def test_3_1_a_road_brings_one_point_for_each_tile():
    closed = set_up(["A -1,0 270"], ["0 meeple 0,0/road"], drawn="A").play("place 1,0 90", "pass")
    assert closed.points == [3, 0]
    loop = set_up(["V 0,1 270", "V 1,1 0", "V 0,2 180"], ["1 meeple 0,1/road"], drawn="V").play("place 1,2 90", "pass")
    assert loop.points == [0, 4]
    open_end = set_up(["A -1,0 270"], ["0 meeple 0,0/road"], drawn="U").play("place 1,0 0", "pass")
    assert open_end.points == [0, 0]


def test_3_2_a_city_brings_two_for_each_tile_and_shield():
    assert set_up(meeples=["0 meeple 0,0/city"], drawn="E").play("place 0,-1 180", "pass").points == [4, 0]
    walls = set_up(["E 0,1 90", "F 1,1 0"], ["0 meeple 1,1/city"], drawn="E")
    assert walls.play("place 2,1 270", "pass").points == [8, 0]


def test_3_3_a_cloister_brings_nine_when_it_is_surrounded():
    game = set_up(ROUND_A_CLOISTER, ["0 meeple 0,1/cloister"], drawn="B").play("place 1,2 0", "pass")
    assert game.points == [9, 0]
    hole = set_up([*ROUND_A_CLOISTER[1:], "B 1,2 0"], drawn="B").play("place 0,1 0", "figure meeple cloister")
    assert hole.points == [9, 0]
    assert hole.state.supply[0]["meeple"] == 7


def test_3_4_a_tile_with_two_segments_of_a_city_counts_once_and_each_shield_counts():
    game = set_up(LOOP, ["0 meeple 0,1/city"], drawn="H").play("place 0,2 0", "pass")
    assert game.points == [(6 + 1) * 2, 0]
    two_arms = ["M 0,1 180", "H 0,2 0", "N 1,1 270", "G 1,2 90", "N 0,3 90"]
    joined = set_up(two_arms, ["0 meeple 0,1/city"], drawn="N").play("place 1,3 0", "pass")
    assert joined.points == [(6 + 1) * 2, 0]


def test_3_5_a_completed_feature_without_a_meeple_brings_nothing():
    game = set_up(drawn="E").play("place 0,-1 180", "pass")
    assert game.points == [0, 0]
    assert not game.find_events("FeatureScored")


def test_3_6_the_lead_takes_all_and_a_level_lead_takes_all_too():
    tiles, figures = ["A -1,0 270", "U 1,0 0"], ["0 meeple -1,0/road", "1 meeple 1,0/road"]
    assert set_up(tiles, figures, drawn="A").play("place 2,0 90", "pass").points == [4, 4]
    more = [*figures, "1 meeple 0,0/road"]
    assert set_up(tiles, more, drawn="A").play("place 2,0 90", "pass").points == [0, 4]


def test_3_7_all_figures_come_back_to_their_owners():
    tiles = ["A -1,0 270", "U 1,0 0"]
    figures = ["0 meeple -1,0/road", "1 meeple 1,0/road", "1 meeple 0,0/road", "0 meeple 0,0/city"]
    game = set_up(tiles, figures, drawn="A").play("place 2,0 90", "pass")
    assert [own["meeple"] for own in game.state.supply] == [6, 7]
    assert [figure.place for figure in carcassonne.view(game.state, 0).figures] == ["0,0/city"]


def test_3_8_the_leader_of_a_feature_is_paid_even_if_another_seat_completes_it():
    assert set_up(meeples=["1 meeple 0,0/city"], drawn="E").play("place 0,-1 180", "pass").points == [0, 4]


def test_3_9_everything_one_tile_completes_is_scored_at_once():
    tiles, figures = ["A -1,0 270", "A 1,1 180"], ["0 meeple -1,0/road", "1 meeple 1,1/road"]
    game = set_up(tiles, figures, drawn="W").play("place 1,0 0", "pass")
    assert game.points == [3, 2]
    assert len(game.find_events("FeatureScored")) == 2


def test_4_1_the_game_ends_after_the_turn_of_the_last_tile():
    game = set_up(bag=()).play("place 1,0 0")
    assert not game.over
    assert game.play("pass").over
    assert game.menu() == game.menu(seat=1) == []
    discarded = set_up(drawn="E", bag=("C",)).play("place 0,-1 180", "pass", tile=["C"])
    assert discarded.over


def test_4_2_what_is_unfinished_counts_single():
    tiles = ["B 0,1 0", "F 0,2 0"]
    figures = ["0 meeple 0,0/road", "1 meeple 0,0/city", "0 meeple 0,1/cloister", "1 meeple 0,2/city"]
    game = set_up(tiles, figures, bag=()).play("place 1,0 0", "pass")
    scored = {(event.kind, event.cell): event.awards[0].points for event in game.find_events("FeatureScored")}
    assert scored == {("road", "0,0"): 2, ("city", "0,0"): 1, ("cloister", "0,1"): 4, ("city", "0,2"): 2}
    assert game.points == [6, 3]


def test_4_3_the_lead_decides_at_the_end_too():
    tiles, figures = ["U -1,0 0"], ["0 meeple 0,0/road", "1 meeple -1,0/road"]
    assert set_up(tiles, figures, bag=()).play("place 1,0 0", "pass").points == [3, 3]
    farm = ["1 meeple 0,0/field-ene", "1 meeple -1,0/field-nnw", "0 meeple 1,-1/field"]
    game = set_up(["U -1,0 0", "E 0,-1 180", "B 1,-1 0"], farm, bag=()).play("place 1,0 0", "pass")
    assert game.points == [0, 3]


def test_4_4_a_farm_brings_three_for_each_completed_city_once():
    figures = ["0 meeple 0,-1/field", "1 meeple 0,0/field-ene"]
    several_farms = set_up(["E 0,-1 180"], figures, bag=()).play("place 0,1 0", "pass")
    assert several_farms.points == [3, 3]
    touched_twice = set_up(LOOP, drawn="H", bag=()).play("place 0,2 0", "figure meeple field")
    assert touched_twice.points == [3, 0]
    open_city = set_up(meeples=["0 meeple 0,0/field-ene"], bag=()).play("place 0,1 0", "pass")
    assert open_city.points == [0, 0]


def test_4_5_a_road_parts_fields_and_a_field_goes_round_its_end():
    figures = ["0 meeple 0,0/field-ese"]
    assert set_up(["E 0,-1 180"], figures, drawn="U", bag=()).play("place 1,0 0", "pass").points == [0, 0]
    assert set_up(["E 0,-1 180"], figures, drawn="A", bag=()).play("place 1,0 90", "pass").points == [3, 0]


def test_4_6_the_most_points_win_and_equal_points_share_a_place():
    game = set_up(meeples=["1 meeple 0,0/road"], bag=(), seats=3).play("place 1,0 0", "pass")
    assert [standing.place for standing in carcassonne.standing(game.state)] == [2, 1, 2]
