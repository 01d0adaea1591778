"""Castles, paragraph by paragraph of the book."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine import bots, chance, options
from engine.games import carcassonne
from engine.games.carcassonne.boxes import big_top, get_rules, wheel
from engine.games.carcassonne.boxes.castles import NO_CASTLE, list_castle_cells
from engine.games.carcassonne.boxes.princess_dragon import find_prey
from engine.games.carcassonne.boxes.revolts import list_meeples_on
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_messages import set_up_messages
from tests.invariants import carcassonne as invariants

CASTLES = {"bridges_castles": True}
SMALL_CITY = "place 0,-1 180"
"""Completes the city of the start tile with the drawn E."""

KNIGHT = "0 meeple 0,0/city"


def set_up_castles(tiles=(), meeples=(KNIGHT,), drawn="E", **given):
    return set_up(tiles, meeples, drawn=drawn, **CASTLES, **given)


def make_castle(tiles=(), meeples=(KNIGHT,), seat=0, **given):
    """Let seat 0 complete a small city, and the owner of its only meeple turn it into a castle."""
    return set_up_castles(tiles, meeples, **given).play(SMALL_CITY, "pass", f"{seat}: castle make")


def list_castles(game):
    return [(castle.cells, castle.lord) for castle in carcassonne.view(game.state, None).castles]


def test_case_18_23_5_the_only_knight_of_a_small_city_becomes_lord_of_a_castle_for_no_points():
    game = set_up_castles().play(SMALL_CITY, "pass")
    assert game.menu("castle") == {"make", "score"}
    game.play("castle make")
    assert game.points == [0, 0]
    assert list_castles(game) == [(("0,0", "0,-1"), "0,0/city")]
    assert game.state.castles_left == (2, 3)
    assert game.state.supply[0]["meeple"] == 6


def test_23_5_or_the_city_is_scored_as_usual():
    game = set_up_castles().play(SMALL_CITY, "pass", "castle score")
    assert (game.points, list_castles(game), game.state.supply[0]["meeple"]) == ([4, 0], [], 7)


def test_23_5_its_owner_is_asked_whoever_completed_the_city():
    game = set_up_castles((), ["1 meeple 0,0/city"]).play(SMALL_CITY, "pass")
    assert game.menu() == []
    assert game.play("1: castle make").state.castles_left == (3, 2)
    assert game.points == [0, 0]


@pytest.mark.parametrize(
    "meeples", [[], [KNIGHT, "1 meeple 0,0/city 2"], [KNIGHT, "0 meeple 0,0/city 2"]], ids=["none", "two", "own two"]
)
def test_23_5_there_must_be_one_meeple_in_the_city(meeples):
    assert not set_up_castles((), meeples).play(SMALL_CITY, "pass").find_events("CastleOffered")


def test_23_5_a_builder_beside_the_knight_goes_home():
    game = make_castle((), [KNIGHT, "0 builder 0,0/city 2"], traders_builders=True, bag=["U"] * 9)
    assert game.state.supply[0] == {"meeple": 6, "builder": 1, "pig": 1}


def test_23_5_no_player_is_asked_without_a_castle_left():
    game = set_up_castles()
    game.state = replace(game.state, castles_left=(0, 3))
    assert game.play(SMALL_CITY, "pass").points == [4, 0]


def test_23_5_a_city_of_three_tiles_is_too_large():
    game = set_up_castles(["G 0,-1 90"]).play("place 0,-2 180", "pass")
    assert (game.points, game.find_events("CastleOffered")) == ([6, 0], [])


def test_23_5_both_halves_have_to_be_half_circles():
    spur = set_up_castles((), drawn="HS01", hills_sheep=True).play(SMALL_CITY, "pass")
    assert (spur.points, spur.find_events("CastleOffered")) == ([4, 0], [])
    tower = set_up_castles((), ["0 meeple 0,0/city-S"], start="H", drawn="TO15", tower=True)
    tower.play("place 0,1 0", "pass")
    assert (tower.points, tower.find_events("CastleOffered")) == ([4, 0], [])


def test_23_5_the_other_city_of_a_tower_s_tile_can_become_a_castle():
    game = set_up_castles((), drawn="TO15", tower=True).play("place 0,-1 0", "pass")
    assert game.find_events("CastleOffered")
    assert set(NO_CASTLE) == {"TO15", "AM03", "AM09", "BB04", "HS01", "HS07"}


@pytest.mark.parametrize(("edition", "turns"), [(5, {"0", "180"}), (4, {"0"})])
def test_22_1_the_tile_with_two_cities_and_a_tower_has_four_turns_since_edition_5(edition, turns):
    game = set_up_castles((), drawn="TO15", tower=True, edition=edition)
    (place,) = [entry for entry in carcassonne.menu(game.state, 0) if entry.verb == "place"]
    assert {turn for cell, turn in place.options if cell == "0,-1"} == turns


def test_23_5_turned_round_the_city_with_the_tower_becomes_no_castle():
    game = set_up_castles((), drawn="TO15", tower=True).play("place 0,-1 180", "pass")
    assert (game.points, game.find_events("CastleOffered")) == ([4, 0], [])


def test_23_6_the_six_cells_are_those_of_the_castle_and_beside_its_long_sides():
    assert list_castle_cells(("0,0", "0,-1")) == {"-1,0", "0,0", "1,0", "-1,-1", "0,-1", "1,-1"}
    assert list_castle_cells(("2,5", "3,5")) == {"2,4", "2,5", "2,6", "3,4", "3,5", "3,6"}


ROAD = ["A -1,0 270", "U 2,0 0", "A 3,0 90"]
"""A road of five tiles that crosses the tile of the castle; the cell 1,0 is empty."""


def test_case_19_23_6_the_next_feature_completed_near_pays_the_lord_as_much_and_he_goes_home():
    game = make_castle(ROAD, [KNIGHT, "1 meeple 2,0/road"]).play("1: place 1,0 0", "1: pass")
    assert game.points == [5, 5]
    assert list_castles(game) == [(("0,0", "0,-1"), "")]
    assert game.state.supply[0]["meeple"] == 7


def test_23_6_a_feature_without_figures_pays_too():
    assert make_castle(ROAD).play("1: place 1,0 0", "1: pass").points == [5, 0]


def test_23_6_a_road_farther_off_does_not_pay():
    away = ["A 1,2 270", "A 3,2 90", "B 0,1 0", "B 0,2 0"]
    game = make_castle(away, [KNIGHT, "1 meeple 1,2/road"]).play("1: place 2,2 0", "1: pass")
    assert game.points == [0, 3]
    assert list_castles(game)[0][1]


def test_23_6_the_tile_that_made_the_castle_does_not_pay():
    game = set_up_castles(["A 1,-1 90", "A -1,-1 270"], drawn="WT05", watchtowers=True)
    game.play("place 0,-1 180", "pass", "castle make")
    assert (game.points, bool(list_castles(game)[0][1])) == ([0, 0], True)


def test_case_20_23_6_of_several_features_the_most_points_count_once():
    """A road of two tiles and a city of three, six points, on one tile."""
    land = ["A 2,-1 90", "G 1,-2 90", "E 1,-3 180"]
    game = make_castle(land, bag=["T16"] * 4, rig={"tile": ["T16"] * 4}, traders_builders=True)
    game.play("1: place 1,-1 0", "1: pass")
    assert game.points == [6, 0]
    assert len(game.find_events("FeatureScored")) == 1


def test_23_6_a_cloister_pays_only_if_it_is_on_one_of_the_six_cells():
    near = ["B 1,-1 0", "B 2,-1 0", "B 0,-2 0", "B 1,-2 0", "B 2,-2 0", "U 1,0 0"]
    assert make_castle(near).play("1: place 2,0 0", "1: pass").points == [9, 0]
    far = ["B 0,-2 0", "B 1,-2 0", "B -1,-2 0", "B -1,-3 0", "B 0,-3 0", "B 1,-3 0", "B -1,-1 0"]
    game = make_castle(far, bag=["E"] * 9, rig={"tile": ["E"] * 2})
    assert game.play("1: place 1,-1 90", "1: pass").points == [0, 0]


def test_23_6_a_dead_castle_is_not_paid_again():
    bag = ["U", "A", "U", "U"]
    game = make_castle([*ROAD, "A 1,-2 0"], bag=bag, rig={"tile": bag}).play("1: place 1,0 0", "1: pass")
    assert game.points == [5, 0]
    assert game.play("place 1,-1 180", "pass").points == [5, 0]
    assert len(game.find_events("CastlesReached")) == 1


def test_23_6_pay_comes_in_round_3_and_may_draw_a_message():
    game = set_up_messages(ROAD, [KNIGHT], drawn="E", message=[1], track=((0, 5), (4, 0)), **CASTLES)
    game.play(SMALL_CITY, "pass", "castle make", "1: place 0,1 0", "1: pass")
    game.play("place 1,0 0", "pass", "score woman")
    assert game.state.track[0] == (0, 10)
    assert game.find_events("MessageDrawn")


def make_two_castles(land, tile):
    """Let each seat make a castle, one beside the other; then seat 0 draws a tile."""
    knights = [KNIGHT, "1 meeple 1,0/city"]
    bag = ["E", tile, "U", "U"]
    game = set_up_castles(["D 1,0 0", *land], knights, bag=bag, rig={"tile": bag})
    game.play(SMALL_CITY, "pass", "castle make", "1: place 1,-1 180", "1: pass", "1: castle make")
    return game


@pytest.mark.parametrize(("x", "paid"), [(-1, "first"), (2, "second")])
def test_case_21_23_7_a_castle_that_is_paid_pays_the_castles_near_it_in_turn(x, paid):
    """The road is near one of the two castles only: the other one gets its points from that one."""
    road = [f"A {x},-5 0", *(f"U {x},{y} 90" for y in (-4, -3, -2))]
    game = make_two_castles(road, "A").play(f"place {x},-1 180", "pass")
    assert game.points == [5, 5], paid
    assert [lord for _, lord in list_castles(game)] == ["", ""]


def test_23_7_a_castle_that_is_made_pays_no_other():
    game = make_two_castles([], "U")
    assert game.points == [0, 0]
    assert all(lord for _, lord in list_castles(game))


def test_23_8_a_castle_is_four_for_a_farm_with_a_pig_five():
    farmer = "1 meeple 0,0/field-ene"
    assert make_castle((), [KNIGHT, farmer], bag=()).points == [0, 4]
    pig = make_castle((), [KNIGHT, farmer, "1 pig 0,0/field-ene 2"], bag=(), traders_builders=True)
    assert pig.points == [0, 5]
    city = set_up_castles((), [KNIGHT, farmer], bag=()).play(SMALL_CITY, "pass", "castle score")
    assert city.points == [4, 3]


def test_case_22_23_8_a_farm_with_two_castles_and_a_city_is_eleven():
    land, knights = ["D 1,0 0", "D 2,0 0", "E 2,-1 180"], [KNIGHT, "1 meeple 1,0/city"]
    game = set_up_castles(land, [*knights, "0 meeple 2,0/field-ene"], bag=["E"], rig={"tile": ["E"]})
    game.play(SMALL_CITY, "pass", "castle make", "1: place 1,-1 180", "1: pass", "1: castle make")
    assert game.points == [4 + 4 + 3, 0]


def test_23_8_a_barn_gets_five_for_a_castle_and_a_farm_that_is_joined_to_it_two():
    barn = "1 barn 0,0/field-ene NE"
    assert make_castle((), [KNIGHT, barn], bag=(), abbey_mayor=True).points == [0, 5]
    farmer = "1 meeple 0,0/field-ene 2"
    assert make_castle((), [KNIGHT, barn, farmer], bag=(), abbey_mayor=True).points == [0, 2 + 5]


def play_message(number):
    """Let seat 0, the lord of a castle, draw this message two turns later."""
    bag = ["U", "E", *["U"] * 4]
    track = ((1, 3), (0, 0))
    game = set_up_messages(["E 1,1 90"], [KNIGHT], drawn="E", message=[number], track=track, bag=bag, **CASTLES)
    game.play(SMALL_CITY, "pass", "castle make", "1: place -1,0 0", "1: pass", tile=["U", "E"])
    return game.play("place 2,1 270", "figure meeple city", "castle score", "score meeple")


def test_case_23_23_8_nothing_at_the_end_and_nothing_for_message_8():
    assert make_castle(bag=()).points == [0, 0]
    game = play_message(8).play("message perform 0,0/city")
    assert game.find_events("MessagePerformed")[0].points == 0
    assert list_castles(game)[0][1] == ""


def test_23_8_a_lord_is_no_knight_for_messages():
    assert play_message(6).play("message perform").find_events("MessagePerformed")[0].points == 0


def test_case_46_23_8_a_castle_is_no_city_for_the_king():
    assert make_castle(king_robber=True).state.titles == {}
    cities = [tile for x in (5, 6, 7) for tile in (f"E {x},2 0", f"E {x},1 180")]
    game = set_up_castles(cities, bag=(), king_robber=True)
    game.state = replace(game.state, titles={"king": (0, 3)})
    assert game.play(SMALL_CITY, "pass", "castle make").points == [3, 0]


@pytest.mark.parametrize(("answer", "points"), [("make", [4, 4 + 2]), ("score", [4, 4 + 4])])
def test_23_8_a_castle_is_no_city_for_a_watchtower(answer, points):
    """The tower at the end of a road of four tiles counts the tiles with a city round it."""
    land, bag = ["A -1,0 270", "WT10 1,-1 90", "E 1,-2 180"], ["V"] * 4
    meeples = [KNIGHT, "1 meeple 1,-1/road"]
    game = set_up_castles(land, meeples, bag=bag, rig={"tile": bag}, watchtowers=True)
    game.play(SMALL_CITY, "pass", f"castle {answer}", "1: place 1,0 90", "1: pass")
    assert game.points == points


def test_case_32_23_8_a_tower_does_not_reach_a_lord():
    game = make_castle(["TO02 0,1 0"], [KNIGHT, "0 meeple 0,0/road"], tower=True)
    game.play("1: place 1,0 0", "1: tower 0,1")
    assert game.menu("capture", 1) == {"0,0/road", "nobody"}


def test_23_8_the_dragon_does_not_eat_a_lord():
    game = make_castle((), [KNIGHT, "0 meeple 0,0/road"], princess_dragon=True)
    assert [figure.segment for figure in find_prey(game.state, "0,0")] == ["road"]


def test_23_5_the_dragon_comes_before_the_question_of_a_castle():
    """A knight who is eaten leaves no castle."""
    game = set_up_castles(["U -1,0 0"], drawn="PD28", princess_dragon=True)
    game.state = replace(game.state, dragon="-1,0")
    game.play(SMALL_CITY, "pass")
    assert [event.cell for event in game.find_events("DragonMoved")] == ["0,0", "0,-1"]
    assert (game.points, game.find_events("CastleOffered")) == ([0, 0], [])


def test_23_8_the_wheel_counts_no_castle_and_no_lord():
    farmer = "1 meeple 0,0/field-ene"
    for answer, taxes, famine in (("make", 0, 0), ("score", 0, 1)):
        game = set_up_castles((), [KNIGHT, farmer]).play(SMALL_CITY, "pass", f"castle {answer}")
        rules = get_rules(game.state.options)
        assert wheel.count_taxes(game.state, rules, 0) == taxes
        assert wheel.count_famine(game.state, rules, 1) == famine


def test_23_8_a_revolt_does_not_reach_a_lord():
    game = make_castle(revolts=True)
    assert list_meeples_on(game.state, get_rules(game.state.options), 0, "city") == []


def test_23_8_the_fairy_pays_three_when_the_lord_is_paid():
    game = make_castle(ROAD, fairy=True)
    lord = carcassonne.view(game.state, None).figures[0]
    game.state = replace(game.state, fairy=lord)
    assert game.play("1: place 1,0 0", "1: pass").points == [5 + 3, 0]


def test_23_8_the_pay_of_a_lord_is_a_feature_for_the_teacher():
    game = make_castle(ROAD, school=True)
    game.state = replace(game.state, teacher=1)
    assert game.play("1: place 1,0 0", "1: pass").points == [5, 5]


def test_23_8_the_circus_counts_a_lord():
    game = make_castle(["BT06 0,1 0"], big_top=True)
    game.state = replace(game.state, tent="0,1")
    circus = big_top._show_circus(game.state, get_rules(game.state.options), chance.make_rigged({"animal": [5]}))
    assert [(award.seat, award.points) for award in circus.awards] == [(0, 5)]


@given(st.integers(0, 5000), st.integers(2, 4))
@settings(max_examples=12, deadline=None)
def test_23_a_castle_is_never_a_city_and_no_bridge_castle_or_tile_is_lost(seed, seats):
    chosen = options.parse(carcassonne.META.options, CASTLES | {"messages": bool(seed % 2), "tower": bool(seed % 3)})
    for _, _, state, events in bots.play_out(carcassonne, chosen, seats, b"castle %d" % seed):
        invariants.check_castles(state)
        invariants.check_auction(state)
        cities = {root for root, feature in state.features.items() if feature.kind == "city"}
        assert cities.isdisjoint(castle.root for castle in state.castles)
        for event in events:
            if type(event).__name__ == "TileBought" and event.awards:
                assert sum(award.points for award in event.awards) in (0, event.awards[0].points)
