"""The base game, paragraph by paragraph of its book."""

import pytest

from engine import chance, options
from engine import game as games
from engine.games import carcassonne
from engine.refusal import Refused
from tests.engine.games.carcassonne_table import at

OPTIONS = carcassonne.META.options
LOOP = ["M 0,1 180", "N 1,1 270", "G 1,2 90", "N 1,3 0", "N 0,3 90"]
ROUND_A_CLOISTER = ["B 0,1 0", "U 1,0 0", "U -1,0 0", "B -1,1 0", "B 1,1 0", "B -1,2 0", "B 0,2 0"]


def begun(seats=2, first=0, **chosen):
    luck = chance.make_rigged({"start player": [first], "tile": ["U", "V"]})
    return games.begin(carcassonne, options.parse(OPTIONS, chosen), seats, luck).state


def test_1_1_six_players_need_inns_and_cathedrals():
    with pytest.raises(Refused, match="Six players need"):
        begun(6)
    assert len(carcassonne.standing(begun(6, inns_cathedrals=True))) == 6
    assert len(carcassonne.standing(begun(5))) == 5


def test_1_2_seven_meeples_and_a_scoring_figure_on_space_0():
    view = carcassonne.view(begun(3, messages=False), 0)
    assert view.supply == ({"meeple": 7},) * 3
    assert view.track == ((0,),) * 3


def test_1_3_tile_d_lies_on_the_table_and_71_are_in_the_bag():
    view = carcassonne.view(begun(), None)
    assert [(cell, laid.tile) for cell, laid in view.tiles.items()] == [("0,0", "D")]
    assert view.left + 1 == 71


def test_1_4_chance_decides_who_begins_and_the_turn_goes_clockwise():
    state = begun(3, first=2, messages=False)
    assert [bool(carcassonne.menu(state, seat)) for seat in range(3)] == [False, False, True]
    luck = chance.make_rigged({"tile": ["V"]})
    state = games.play(carcassonne, state, 2, games.Move("place", ("1,0", "0")), luck).state
    state = games.play(carcassonne, state, 2, games.Move("pass"), luck).state
    assert [bool(carcassonne.menu(state, seat)) for seat in range(3)] == [True, False, False]


def test_2_1_everybody_sees_the_drawn_tile_and_nobody_the_next():
    game = at().play("place 1,0 0", "pass", tile=["U"])
    assert game.happened("TileDrawn")[0].tile == "U"
    assert all(carcassonne.hear(game.happened("TileDrawn")[0], seat).tile == "U" for seat in (0, 1, None))
    assert carcassonne.view(game.state, None).drawn == "U"
    assert not hasattr(carcassonne.view(game.state, 0), "bags")


def test_2_2_every_side_goes_on_with_what_it_touches():
    assert at(drawn="U").menu("place") == {"1,0 0", "-1,0 0", "0,1 0"}
    assert at(drawn="C").menu("place") == {"0,-1 0"}
    assert at(["E 1,1 90"], drawn="B").menu("place") == {"0,1 0", "1,2 0"}
    with pytest.raises(Refused):
        at(drawn="U").play("place 1,0 90")


def test_2_3_a_tile_that_fits_nowhere_leaves_the_game_and_another_is_drawn():
    game = at(drawn="E", bag=("C", "U")).play("place 0,-1 180", "pass", tile=["C", "U"])
    assert [event.tile for event in game.happened("TileSetAside")] == ["C"]
    assert carcassonne.view(game.state, None).aside == ("C",)
    assert carcassonne.view(game.state, None).drawn == "U"
    assert game.menu("place", seat=1)


def test_2_4_a_figure_goes_on_a_segment_of_the_new_tile_whose_feature_is_free():
    everything = at(drawn="A").play("place 1,0 90")
    assert everything.menu("figure") == {"meeple cloister", "meeple road", "meeple field"}
    taken = at(meeples=["1 meeple 0,0/road", "0 meeple 0,0/field-ese"], drawn="U").play("place 1,0 0")
    assert taken.menu("figure") == {"meeple field-nnw"}
    placed = taken.play("figure meeple field-nnw")
    assert placed.state.supply[0]["meeple"] == 5
    assert placed.happened("FigurePlaced")[0].figure.place == "1,0/field-nnw"


def test_2_5_a_meeple_that_comes_back_is_too_late_and_one_on_a_finished_feature_returns():
    seven = ["A -1,0 270", *(f"B {x},1 0" for x in range(6))]
    out = ["0 meeple -1,0/road", *(f"0 meeple {x},1/cloister" for x in range(6))]
    game = at(seven, out, drawn="A").play("place 1,0 90")
    assert game.happened("FigureWithheld")
    assert game.state.supply[0]["meeple"] == 1
    returned = at(drawn="E").play("place 0,-1 180", "figure meeple city")
    assert returned.points == [4, 0]
    assert returned.state.supply[0]["meeple"] == 7


def test_2_6_no_figure_is_allowed_and_who_could_only_pass_is_not_asked():
    game = at().play("place 1,0 0", "pass")
    assert game.happened("FigureWithheld")
    assert game.state.supply[0]["meeple"] == 7
    full = ["0 meeple 0,0/road", "0 meeple 0,0/field-ene", "0 meeple 0,0/field-ese"]
    asked = at(meeples=full, drawn="U").play("place 1,0 0")
    assert asked.menu() == []
    assert asked.menu(seat=1) == ["place"]


def test_2_7_after_the_scoring_the_next_seat_is_on_turn():
    game = at(seats=3).play("place 1,0 0", "pass")
    assert [bool(game.menu(seat=seat)) for seat in range(3)] == [False, True, False]


def test_3_1_a_road_brings_one_point_for_each_tile():
    closed = at(["A -1,0 270"], ["0 meeple 0,0/road"], drawn="A").play("place 1,0 90", "pass")
    assert closed.points == [3, 0]
    ring = at(["V 0,1 270", "V 1,1 0", "V 0,2 180"], ["1 meeple 0,1/road"], drawn="V").play("place 1,2 90", "pass")
    assert ring.points == [0, 4]
    open_end = at(["A -1,0 270"], ["0 meeple 0,0/road"], drawn="U").play("place 1,0 0", "pass")
    assert open_end.points == [0, 0]


def test_3_2_a_city_brings_two_for_each_tile_and_shield():
    assert at(meeples=["0 meeple 0,0/city"], drawn="E").play("place 0,-1 180", "pass").points == [4, 0]
    walls = at(["E 0,1 90", "F 1,1 0"], ["0 meeple 1,1/city"], drawn="E")
    assert walls.play("place 2,1 270", "pass").points == [8, 0]


def test_3_3_a_cloister_brings_nine_when_it_is_surrounded():
    game = at(ROUND_A_CLOISTER, ["0 meeple 0,1/cloister"], drawn="B").play("place 1,2 0", "pass")
    assert game.points == [9, 0]
    hole = at([*ROUND_A_CLOISTER[1:], "B 1,2 0"], drawn="B").play("place 0,1 0", "figure meeple cloister")
    assert hole.points == [9, 0]
    assert hole.state.supply[0]["meeple"] == 7


def test_3_4_a_tile_with_two_segments_of_a_city_counts_once_and_each_shield_counts():
    game = at(LOOP, ["0 meeple 0,1/city"], drawn="H").play("place 0,2 0", "pass")
    assert game.points == [(6 + 1) * 2, 0]
    two_arms = ["M 0,1 180", "H 0,2 0", "N 1,1 270", "G 1,2 90", "N 0,3 90"]
    joined = at(two_arms, ["0 meeple 0,1/city"], drawn="N").play("place 1,3 0", "pass")
    assert joined.points == [(6 + 1) * 2, 0]


def test_3_5_a_completed_feature_without_a_meeple_brings_nothing():
    game = at(drawn="E").play("place 0,-1 180", "pass")
    assert game.points == [0, 0]
    assert not game.happened("FeatureScored")


def test_3_6_the_lead_takes_all_and_a_level_lead_takes_all_too():
    tiles, figures = ["A -1,0 270", "U 1,0 0"], ["0 meeple -1,0/road", "1 meeple 1,0/road"]
    assert at(tiles, figures, drawn="A").play("place 2,0 90", "pass").points == [4, 4]
    more = [*figures, "1 meeple 0,0/road"]
    assert at(tiles, more, drawn="A").play("place 2,0 90", "pass").points == [0, 4]


def test_3_7_all_figures_come_back_to_their_owners():
    tiles = ["A -1,0 270", "U 1,0 0"]
    figures = ["0 meeple -1,0/road", "1 meeple 1,0/road", "1 meeple 0,0/road", "0 meeple 0,0/city"]
    game = at(tiles, figures, drawn="A").play("place 2,0 90", "pass")
    assert [own["meeple"] for own in game.state.supply] == [6, 7]
    assert [figure.place for figure in carcassonne.view(game.state, 0).figures] == ["0,0/city"]


def test_3_8_whoever_completes_a_feature_its_leader_is_paid():
    assert at(meeples=["1 meeple 0,0/city"], drawn="E").play("place 0,-1 180", "pass").points == [0, 4]


def test_3_9_everything_one_tile_completes_is_scored_at_once():
    tiles, figures = ["A -1,0 270", "A 1,1 180"], ["0 meeple -1,0/road", "1 meeple 1,1/road"]
    game = at(tiles, figures, drawn="W").play("place 1,0 0", "pass")
    assert game.points == [3, 2]
    assert len(game.happened("FeatureScored")) == 2


def test_4_1_the_game_ends_after_the_turn_of_the_last_tile():
    game = at(bag=()).play("place 1,0 0")
    assert not game.over
    assert game.play("pass").over
    assert game.menu() == game.menu(seat=1) == []
    discarded = at(drawn="E", bag=("C",)).play("place 0,-1 180", "pass", tile=["C"])
    assert discarded.over


def test_4_2_what_is_unfinished_counts_single():
    tiles = ["B 0,1 0", "F 0,2 0"]
    figures = ["0 meeple 0,0/road", "1 meeple 0,0/city", "0 meeple 0,1/cloister", "1 meeple 0,2/city"]
    game = at(tiles, figures, bag=()).play("place 1,0 0", "pass")
    scored = {(event.kind, event.cell): event.awards[0].points for event in game.happened("FeatureScored")}
    assert scored == {("road", "0,0"): 2, ("city", "0,0"): 1, ("cloister", "0,1"): 4, ("city", "0,2"): 2}
    assert game.points == [6, 3]


def test_4_3_the_lead_decides_at_the_end_too():
    tiles, figures = ["U -1,0 0"], ["0 meeple 0,0/road", "1 meeple -1,0/road"]
    assert at(tiles, figures, bag=()).play("place 1,0 0", "pass").points == [3, 3]
    farm = ["1 meeple 0,0/field-ene", "1 meeple -1,0/field-nnw", "0 meeple 1,-1/field"]
    game = at(["U -1,0 0", "E 0,-1 180", "B 1,-1 0"], farm, bag=()).play("place 1,0 0", "pass")
    assert game.points == [0, 3]


def test_4_4_a_farm_brings_three_for_each_completed_city_once():
    figures = ["0 meeple 0,-1/field", "1 meeple 0,0/field-ene"]
    several_farms = at(["E 0,-1 180"], figures, bag=()).play("place 0,1 0", "pass")
    assert several_farms.points == [3, 3]
    touched_twice = at(LOOP, drawn="H", bag=()).play("place 0,2 0", "figure meeple field")
    assert touched_twice.points == [3, 0]
    open_city = at(meeples=["0 meeple 0,0/field-ene"], bag=()).play("place 0,1 0", "pass")
    assert open_city.points == [0, 0]


def test_4_5_a_road_parts_fields_and_a_field_goes_round_its_end():
    figures = ["0 meeple 0,0/field-ese"]
    assert at(["E 0,-1 180"], figures, drawn="U", bag=()).play("place 1,0 0", "pass").points == [0, 0]
    assert at(["E 0,-1 180"], figures, drawn="A", bag=()).play("place 1,0 90", "pass").points == [3, 0]


def test_4_6_the_most_points_win_and_equal_points_share_a_place():
    game = at(meeples=["1 meeple 0,0/road"], bag=(), seats=3).play("place 1,0 0", "pass")
    assert [standing.place for standing in carcassonne.standing(game.state)] == [2, 1, 2]
