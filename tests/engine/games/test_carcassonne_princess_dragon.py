"""The Princess & the Dragon, paragraph by paragraph of the book."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine import bots, chance, menu, options
from engine import game as games
from engine.games import carcassonne
from engine.games.carcassonne.boxes import get_rules, princess_dragon
from engine.games.carcassonne.boxes.count import CELLS, START
from engine.games.carcassonne.boxes.princess_dragon import find_prey, list_ways
from engine.games.carcassonne.tiles import DATA, PIECES, count_tiles_of
from tests.engine.games.carcassonne_dragon import SlowDragon
from tests.engine.games.carcassonne_table import figure, set_up
from tests.engine.games.test_carcassonne_boxes import count_tiles
from tests.engine.games.test_carcassonne_messages import set_up_messages
from tests.engine.games.test_carcassonne_mixes import mix
from tests.invariants import carcassonne as invariants

BOX = {"princess_dragon": True}
BLOCK = ["B 0,1 0", "B 1,1 0", "B 0,2 0", "B 1,2 0"]
"""Two by two cloisters below the start tile."""


def set_up_dragon(meeples=(), tiles=(), dragon="0,0", drawn="PD16", fairy=None, **given):
    """Return a game in which the dragon is on a cell and seat 0 holds a dragon tile."""
    boxes = {**BOX, "fairy": True} if fairy else BOX
    game = set_up(tiles, meeples, drawn=drawn, **boxes, **given)
    game.state = replace(game.state, dragon=dragon, **({"fairy": figure(fairy)} if fairy else {}))
    return game


def walk(*meeples, tiles=BLOCK, place="place -1,0 0", **given):
    """Place a dragon tile and no figure, so that the dragon sets out."""
    return set_up_dragon(meeples, tiles, **given).play(place, "pass")


def places(game):
    return [one.place for one in carcassonne.view(game.state, None).figures]


def test_24_1_thirty_tiles_more():
    signs = Counter(sign for name, n in count_tiles_of("princess_dragon").items() for sign in PIECES[name][0].signs * n)
    marks = Counter(
        mark
        for name, n in count_tiles_of("princess_dragon").items()
        for segment in PIECES[name][0].segments
        for mark in segment.marks * n
    )
    assert count_tiles(**BOX).total() == 72 + 30
    assert (signs, marks["princess"]) == ({"dragon": 12, "volcano": 6, "portal": 6}, 6)
    assert DATA["dragon_steps"] == 6


def test_24_2_the_dragon_comes_to_a_volcano_and_no_figure_goes_there():
    game = set_up(drawn="PD17", **BOX, traders_builders=True).play("place 1,0 0")
    assert game.state.dragon == "1,0"
    assert game.find_events("FigureWithheld")
    assert game.points == [0, 0]
    assert not game.find_events("DragonMoved")


def test_24_2_what_is_no_figure_on_the_tile_goes_on():
    game = set_up(["TO02 0,1 0"], drawn="PD17", **BOX, tower=True).play("place 1,0 0")
    assert game.menu() == ["tower", "pass"]


def test_24_2_nothing_is_put_on_the_tile_of_the_dragon():
    game = set_up(["BT02 1,0 90"], drawn="B", **BOX, big_top=True).play("place 2,0 0")
    assert "meeple 1,0/acrobats" in game.menu("figure")
    game.state = replace(game.state, dragon="1,0")
    assert "meeple 1,0/acrobats" not in game.menu("figure")


def test_24_2_no_wagon_drives_to_the_tile_of_the_dragon():
    land = ["A 1,0 90", "B 0,1 0", "B -1,1 0"]
    game = set_up(land, ["0 wagon 0,0/road"], drawn="A", **BOX, abbey_mayor=True)
    game.state = replace(game.state, dragon="0,1")
    game.play("place -1,0 270", "pass")
    assert "-1,1/cloister" in game.menu("drive")
    assert "0,1/cloister" not in game.menu("drive")


def test_24_2_no_barn_is_built_on_a_volcano():
    land = ["B 0,1 0", "B 1,1 0", "B 1,0 0"]
    assert "barn" in set_up([*land, "B 0,2 0"], drawn="B", **BOX, abbey_mayor=True).play("place 1,2 0").menu()
    assert "barn" not in set_up([*land, "B 0,2 0"], drawn="PD01", **BOX, abbey_mayor=True).play("place 1,2 0").menu()


def test_24_3_before_the_first_volcano_no_dragon_tile_is_drawn():
    bag = ("PD16", "PD04*", "U", "PD01")
    state = set_up(bag=bag, **BOX).state
    assert princess_dragon.BOX.filter_bag(state, get_rules(state.options), bag) == ["U", "PD01"]
    state = replace(state, dragon="0,0")
    assert princess_dragon.BOX.filter_bag(state, get_rules(state.options), bag) == bag


def test_24_3_if_only_dragon_tiles_are_left_they_are_placed_without_a_dragon():
    game = set_up(drawn="U", bag=("PD16",), **BOX).play("place 1,0 0", "pass", tile=["PD16"])
    game.play("1: place 2,0 0", "1: pass")
    assert game.over
    assert not game.find_events("DragonWoke")


def test_24_4_all_move_the_dragon_in_turn_six_steps_beginning_with_the_seat_on_turn():
    land = [f"B {x},{y} 0" for x in range(3) for y in range(1, 4)]
    game = walk(tiles=land, seats=3, dragon="1,2")
    assert [game.menu(seat=seat) for seat in range(3)] == [["dragon"], [], []]
    game.play("dragon 1,1")
    assert [game.menu(seat=seat) for seat in range(3)] == [[], ["dragon"], []]
    game.play("1: dragon 0,1", "2: dragon 0,2")
    assert (game.state.dragon, game.state.dragon_path, game.state.turn) == ("2,3", (), 1)
    assert [event.seat for event in game.find_events("DragonMoved")] == [0, 1, 2, 0, 1, 2]


def test_24_4_side_by_side_and_never_twice_to_a_tile_of_this_move():
    game = walk(tiles=["B 0,1 0", "B 1,1 0", "B 0,2 0", "B 1,2 0"])
    assert game.menu("dragon") == {"-1,0", "0,1"}
    game.play("dragon 0,1")
    assert game.menu("dragon", 1) == {"1,1", "0,2"}


def test_24_4_without_a_way_on_the_move_is_over():
    game = walk(tiles=[])
    assert [event.cell for event in game.find_events("DragonMoved")] == ["-1,0"]
    assert (game.state.dragon, game.state.turn) == ("-1,0", 1)
    assert game.find_events("DragonStopped")


def test_24_4_the_only_way_is_gone_without_a_question():
    game = walk(tiles=["U 1,0 0", "U 2,0 0", "U 3,0 0"], place="place 4,0 0")
    assert [(event.seat, event.cell) for event in game.find_events("DragonMoved")] == [
        (0, "1,0"),
        (1, "2,0"),
        (0, "3,0"),
        (1, "4,0"),
    ]
    assert not any(event.figures for event in game.find_events("DragonMoved"))


def test_24_4_it_never_enters_the_tile_of_the_fairy():
    game = walk("1 meeple 0,1/cloister", fairy="1 meeple 0,1/cloister")
    assert [event.cell for event in game.find_events("DragonMoved")] == ["-1,0"]
    assert places(game) == ["0,1/cloister"]


def test_24_4_it_stays_out_where_the_fairy_is_left_alone():
    game = walk(fairy="1 meeple 0,1/cloister")
    assert game.state.dragon == "-1,0"


def test_24_2_the_fairy_is_not_put_on_the_tile_of_the_dragon():
    meeples = ["0 meeple 0,0/road", "0 meeple 0,1/cloister"]
    game = set_up(["B 0,1 0"], meeples, drawn="U", **BOX, fairy=True)
    game.state = replace(game.state, dragon="0,0")
    assert game.play("place 1,0 0").menu("fairy") == {"0,1/cloister"}


def test_24_4_it_does_not_go_inside_a_city_or_the_wheel():
    block = [f"{name} {cell} 0" for name, cell in CELLS.items() if name != START]
    game = set_up(block, drawn="U", start=START, **BOX, count=True)
    game.state = replace(game.state, dragon="0,-1", dragon_path=("0,-1",))
    assert list_ways(game.state) == ["1,-1", "-1,-1"]


def test_24_5_it_eats_everything_on_the_tiles_that_it_enters():
    meeples = ["0 meeple 0,1/cloister", "1 large 0,1/field", "1 pig 0,1/field 2", "1 meeple 1,1/cloister"]
    game = walk(*meeples, traders_builders=True, inns_cathedrals=True).play("dragon 0,1")
    assert {one.place for one in game.find_events("DragonMoved")[0].figures} == {
        "0,1/cloister",
        "0,1/field",
        "0,1/field-2",
    }
    assert places(game) == ["1,1/cloister"]
    assert [supply["meeple"] for supply in game.state.supply] == [7, 6]
    assert game.state.supply[1] == {"meeple": 6, "large": 1, "builder": 1, "pig": 1}


def test_24_5_the_tile_that_it_leaves_is_safe():
    game = walk("1 meeple 0,0/road").play("dragon 0,1")
    assert places(game) == ["0,0/road"]


def test_24_5_what_it_eats_is_not_scored():
    game = set_up_dragon(["1 meeple 0,0/city"], ["B 1,0 0", "B -1,0 0"], dragon="1,0", drawn="PD04")
    game.play("place 0,-1 180", "pass")
    assert (places(game), game.points) == ([], [0, 0])


def test_24_5_features_are_scored_after_the_dragon():
    game = set_up_dragon(["1 meeple 0,0/city"], ["U 0,1 0", "B -5,5 0"], dragon="-5,5", drawn="PD04")
    game.play("place 0,-1 180", "pass")
    assert game.points == [0, 4]


def test_24_5_a_builder_or_pig_goes_home_with_the_last_meeple_of_its_feature():
    meeples = ["1 meeple 1,0/road", "1 builder 2,0/road", "0 meeple 3,0/road"]
    land = ["U 1,0 0", "U 2,0 0", "U 3,0 0", "B 0,1 0"]
    game = walk(*meeples, tiles=land, dragon="0,1", traders_builders=True)
    assert game.state.dragon == "0,0" or game.menu("dragon")
    game.play("1: dragon 1,0")
    assert game.state.supply[1] == {"meeple": 7, "builder": 1, "pig": 1}


def test_24_5_a_builder_stays_while_another_meeple_of_its_owner_stays():
    meeples = [
        "1 meeple 1,0/road",
        "1 builder 2,0/road",
        "1 meeple 3,0/road",
        "0 builder 4,0/road",
        "0 meeple 4,0/road 2",
    ]
    land = ["U 1,0 0", "U 2,0 0", "U 3,0 0", "U 4,0 0", "B 0,1 0"]
    game = walk(*meeples, tiles=land, dragon="0,1", traders_builders=True).play("1: dragon 1,0")
    event = next(one for one in game.find_events("DragonMoved") if one.cell == "1,0")
    assert [one.place for one in event.figures] == ["1,0/road"]


def test_24_5_barns_and_meeples_on_towers_are_safe():
    land = ["TO02 0,1 0", "B 1,1 0", "B 1,0 0"]
    meeples = ["1 meeple 0,1/tower", "1 barn 0,1/field NE", "1 meeple 0,1/field 2"]
    game = walk(*meeples, tiles=land, tower=True, abbey_mayor=True).play("dragon 0,1")
    assert {one.place for one in game.find_events("DragonMoved")[0].figures} == {"0,1/field-2"}


def test_24_5_an_eaten_shepherd_loses_his_flock_to_the_bag():
    game = set_up_dragon(["1 shepherd 0,1/field"], ["B 0,1 0"], hills_sheep=True)
    game.state = replace(game.state, flocks={"0,1/field": (3, 2)})
    game.play("place -1,0 0", "pass", "dragon 0,1")
    assert game.state.flocks == {}
    assert game.state.supply[1]["shepherd"] == 1
    assert game.points == [0, 0]


def test_24_5_acrobats_are_eaten_and_meeples_in_cities_bathhouses_and_on_crowns_are_not():
    game = walk("1 meeple 0,1/acrobats", "1 meeple 0,1/acrobats 2", tiles=["BT01 0,1 0"], big_top=True)
    game.play("dragon 0,1")
    assert places(game) == []
    assert game.state.supply[1]["meeple"] == 7


def test_24_8_the_extra_tile_of_a_builder_moves_the_dragon_within_its_part():
    meeples = ["0 meeple 0,0/road", "0 builder 0,0/road 2"]
    land = ["B -3,3 0"]
    game = set_up_dragon(meeples, land, dragon="-3,3", bag=("PD14",), traders_builders=True)
    game.play("place 1,0 0", "pass", "builder build", tile=["PD14"])
    assert game.find_events("DragonWoke") == game.find_events("DragonWoke")[:1]
    cell = min(game.menu("place"))
    game.play(f"place {cell}", "pass")
    assert len(game.find_events("DragonWoke")) == 2


def test_24_8_points_before_the_dragon_bring_their_message_after_its_move():
    land = ["B 1,1 0", "B 0,1 0", "B -1,1 0"]
    game = set_up_messages(
        land, ["0 abbot 0,1/cloister"], track=((0, 1), (0, 0)), message=[1], drawn="PD16", **BOX, abbot=True
    )
    game.state = replace(game.state, dragon="1,1")
    game.play("place 1,0 0", "recall 0,1/cloister", "score meeple")
    assert game.find_events("DragonWoke")
    assert game.menu(seat=0) in (["dragon"], ["message"])
    names = [type(event).__name__ for event in game.events]
    assert "MessageDrawn" not in names or names.index("MessageDrawn") > names.index("DragonWoke")


def test_24_6_a_princess_may_send_a_knight_of_her_city_home_instead_of_a_figure():
    game = set_up(["PD19 0,-1 180"], ["1 meeple 0,0/city"], drawn="PD18", **BOX, traders_builders=True)
    game.play("place 1,-1 0")
    assert game.menu("princess") == {"0,0/city"}
    game.play("princess 0,0/city")
    assert (places(game), game.state.supply[1]["meeple"], game.points) == ([], 7, [0, 0])
    assert game.state.turn == 1


def test_24_6_any_knight_but_no_builder_and_the_seat_may_also_do_something_else():
    meeples = ["1 meeple 0,0/city", "1 builder 0,0/city 2", "0 large 0,-1/city"]
    game = set_up(["PD19 0,-1 180"], meeples, drawn="PD20", **BOX, traders_builders=True, inns_cathedrals=True)
    game.play("place 1,-1 0")
    assert game.menu("princess") == {"0,0/city", "0,-1/city"}
    assert "pass" in game.menu()
    game.play("princess 0,0/city")
    assert game.state.supply[1] == {"meeple": 7, "large": 1, "builder": 1, "pig": 1}


def test_24_6_a_princess_without_a_knight_changes_nothing():
    game = set_up(drawn="PD20", **BOX)
    game.play(f"place {min(game.menu('place'))}")
    assert "princess" not in game.menu()


def test_24_6_a_knight_who_was_sent_home_is_not_scored():
    game = set_up([], ["1 meeple 0,0/city"], drawn="PD09", **BOX)
    game.play("place 0,-1 180")
    assert game.menu("princess") == {"0,0/city"}
    game.play("princess 0,0/city")
    assert game.points == [0, 0]


def test_24_7_through_a_portal_to_any_free_and_unfinished_feature():
    land = ["U 5,5 0", "U 6,5 0", "B 5,6 0", "A 9,9 0", "A 9,10 180", "E 7,7 0", "E 7,6 180"]
    game = set_up(land, ["1 meeple 7,7/field"], drawn="PD27", **BOX)
    game.play("place 0,-1 180")
    offered = game.menu("figure")
    assert {"meeple 5,5/road", "meeple 6,5/road", "meeple 5,6/cloister", "meeple 5,6/field"} <= offered
    assert not {"meeple 9,9/road", "meeple 7,7/city", "meeple 7,6/city", "meeple 7,7/field"} & offered
    assert {"meeple city", "meeple road"} & offered


def test_24_7_each_kind_goes_where_it_may_and_builder_and_pig_do_not_go():
    land = ["B 5,6 0", "E 7,7 0", "U 5,9 0"]
    game = set_up(land, drawn="PD29", **BOX, abbey_mayor=True, traders_builders=True, abbot=True)
    offered = game.play("place 0,-1 180").menu("figure")
    far = {option for option in offered if "/" in option}
    assert {option for option in far if option.startswith("mayor")} == {"mayor 7,7/city"}
    assert {option for option in far if option.startswith("abbot")} == {"abbot 5,6/cloister"}
    assert {"wagon 5,9/road", "wagon 7,7/city", "wagon 5,6/cloister"} <= far
    assert not any(option.split()[0] in ("builder", "pig", "barn") for option in far)


def test_24_7_not_to_towers_the_school_or_the_tile_of_the_dragon_but_to_acrobats():
    land = ["TO02 5,6 0", "BT01 8,8 0", "U 5,9 0"]
    game = set_up(land, drawn="PD29", **BOX, tower=True, big_top=True)
    game.state = replace(game.state, dragon="5,9", towers={"5,6": 1})
    offered = game.play("place 0,-1 180").menu("figure")
    assert "meeple 8,8/acrobats" in offered
    assert "meeple 5,6/tower" in offered  # as always with the tower (§22.4)
    assert not any("5,9/" in option for option in offered)
    assert "ringmaster 8,8/acrobats" not in offered


def test_24_8_through_a_portal_no_meeple_is_placed_protected_or_lying():
    game = set_up(["MO1 5,5 0", "U 5,9 0"], drawn="PD29", **BOX, revolts=True, monasteries=True)
    game.play("place 0,-1 180")
    assert {"meeple 5,5/cloister", "meeple 5,9/road"} <= game.menu("figure")
    assert not any("/" in option for option in game.menu("protect"))
    assert not any("lying" in option for option in game.menu("figure"))


def test_case_33_a_volcano_brings_the_dragon_and_takes_no_meeple():
    game = set_up(drawn="PD01", **BOX).play("place 0,1 0")
    assert (game.state.dragon, game.menu(), game.points) == ("0,1", [], [0, 0])
    assert game.state.turn == 1


def test_case_34_what_the_dragon_eats_is_not_scored():
    game = set_up_dragon(["0 meeple 0,0/city"], ["G 0,-1 90"], dragon="1,0", drawn="PD04")
    game.play("place 0,-2 180", "pass")
    assert [event.cell for event in game.find_events("DragonMoved")] == ["0,0", "0,-1", "0,-2"]
    assert (game.points, game.state.supply[0]["meeple"]) == ([0, 0], 7)


def test_case_35_the_dragon_moves_before_the_scoring():
    game = set_up_dragon(["0 meeple 0,0/city"], dragon="1,0", drawn="PD04").play("place 0,-1 180", "pass")
    assert game.points == [0, 0]


def test_case_36_a_princess_sends_one_knight_home_instead_of_a_figure():
    game = set_up(["G 0,-1 90"], ["1 meeple 0,0/city"], drawn="PD11", **BOX).play("place 0,-2 180")
    game.play("princess 0,0/city")
    assert (game.points, game.state.supply[1]["meeple"], game.state.turn) == ([0, 0], 7, 1)


def test_case_37_a_robber_comes_through_a_portal_to_an_empty_road_far_away():
    game = set_up(["U 5,5 0", "U 6,5 0", "U 7,5 0"], drawn="PD29", bag=(), **BOX)
    assert game.play("place 0,-1 180", "figure meeple 7,5/road").points == [3, 0]


def test_case_38_a_dragon_tile_before_the_first_volcano_is_not_drawn():
    game = set_up(drawn="U", bag=("PD16", "U"), **BOX)
    game.play("place 1,0 0", "pass")
    assert [event.tile for event in game.find_events("TileDrawn")] == ["U"]


@pytest.mark.parametrize("number", range(6))
def test_random_games_agree_with_a_slow_model_of_the_dragon_event_by_event(number):
    chosen, seats = mix(number)
    chosen = replace(chosen, princess_dragon=True)
    check_against_slow_model(chosen, seats, b"dragon %d" % number)


@pytest.mark.soak
@pytest.mark.timeout(36_000)
def test_a_thousand_random_games_agree_with_the_slow_model():
    for number in range(1000):
        chosen, seats = mix(number)
        check_against_slow_model(replace(chosen, princess_dragon=True), seats, b"dragon %d" % number)


def check_against_slow_model(chosen, seats, seed):
    model = SlowDragon(seats)
    for _, _, state, events in bots.play_out(carcassonne, chosen, seats, seed):
        for event in events:
            model.apply(event)
        model.compare(state, {seat: carcassonne.menu(state, seat) for seat in range(seats)})


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_the_dragon_never_meets_the_fairy_nor_a_figure_that_it_could_eat(seed, most):
    boxes = {"fairy": True, "tower": True, "abbey_mayor": True, "big_top": True, "hills_sheep": True}
    chosen = options.parse(carcassonne.META.options, BOX | boxes | {"messages": bool(seed % 2)})
    random = Random(seed)
    rigged = chance.make_from_random(random)
    state, _ = games.begin(carcassonne, chosen, 3, rigged)
    for _ in range(3 * most):
        offered = [(seat, one) for seat in range(3) if (one := carcassonne.menu(state, seat))]
        if not offered:
            break
        seat, one = random.choice(offered)
        state, _ = games.play(carcassonne, state, seat, random.choice(list(menu.iter_moves(one))), rigged)
        invariants.check_dragon(state)
        assert not state.dragon or not find_prey(state, state.dragon)
