"""The Plague, paragraph by paragraph of the book."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine import bots, chance, menu, options
from engine import game as games
from engine.games import carcassonne
from engine.games.carcassonne.boxes import get_rules, plague
from engine.games.carcassonne.tiles import count_tiles_of
from tests.engine.games.carcassonne_plague import SlowPlague
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import count_tiles
from tests.engine.games.test_carcassonne_mixes import mix
from tests.invariants import carcassonne as invariants

BOX = {"plague": True}
ROAD = ["U 1,0 0", "U 2,0 0", "U 3,0 0", "U 4,0 0"]
"""The road of the start tile goes on to the east."""


def set_up_plague(meeples=(), tiles=ROAD, outbreaks=None, fleas=(), sleeping=(), ended=(), **given):
    """Return a game with outbreaks by their cells and numbers, and with active and sleeping fleas on cells."""
    game = set_up(tiles, meeples, **BOX, **given)
    on_land = {**dict.fromkeys(sleeping, False), **dict.fromkeys(fleas, True)}
    found = {"0,0": 1} if outbreaks is None else outbreaks
    game.state = replace(game.state, outbreaks=found, fleas=on_land, ended_outbreaks=tuple(ended))
    return game


def places(game):
    return [one.place for one in carcassonne.view(game.state, None).figures]


def test_33_1_six_tiles_more_and_none_among_the_first_seventeen():
    assert count_tiles(**BOX).total() == 72 + 6 == 72 + sum(count_tiles_of("plague").values())
    began, *_ = carcassonne.setup(
        options.parse(carcassonne.META.options, BOX | {"inns_cathedrals": True}), 2, chance.make_from_random(Random(1))
    )
    state = carcassonne.evolve(carcassonne.State(), began)
    rules, bag = get_rules(state.options), state.bags[0]
    assert {tile[0] for tile in plague.BOX.filter_bag(state, rules, bag)}.isdisjoint({"P1", "I0"})
    assert not any(tile.startswith(("PL", "I0", "I1")) for tile in plague.BOX.filter_bag(state, rules, bag))
    later = replace(state, bags=(bag[17:],))
    assert plague.BOX.filter_bag(later, rules, bag[17:]) == bag[17:]


def test_33_2_the_plague_breaks_out_on_a_source_with_the_next_number_and_no_figure_goes_there():
    game = set_up_plague(drawn="PL6", outbreaks={"0,0": 1}, ended=["9,9"]).play("place -1,0 270")
    assert game.state.outbreaks == {"0,0": 1, "-1,0": 3}
    assert game.find_events("FigureWithheld")
    assert not game.find_events("SpreadAsked")


def test_33_2_no_figure_comes_to_a_tile_with_an_outbreak_or_a_flea():
    land = ["B 5,5 0", "B 6,6 0", "B 7,7 0"]
    game = set_up_plague(tiles=land, drawn="PD29", outbreaks={"5,5": 1}, fleas=["6,6"], princess_dragon=True)
    game.play("place 0,-1 180")
    offered = game.menu("figure")
    assert "meeple 7,7/cloister" in offered
    assert not any("5,5/" in option or "6,6/" in option for option in offered)


def test_33_3_in_each_turn_a_flea_is_put_beside_an_outbreak_or_an_active_flea():
    game = set_up_plague(outbreaks={"1,0": 1}, fleas=["2,0"], sleeping=["4,0"]).play("place -1,0 0", "pass")
    assert game.menu("spread") == {"0,0", "3,0"}
    game.play("spread 3,0")
    assert list(game.state.fleas) == ["4,0", "2,0", "3,0"]
    assert game.state.turn == 1


def test_33_3_the_figures_there_go_home_before_features_are_scored():
    figures = ["1 meeple 1,0/road", "1 builder 3,0/road", "1 pig 1,0/field-nnw", "0 meeple 1,0/road 2"]
    game = set_up_plague(figures, drawn="A", traders_builders=True, outbreaks={"2,0": 1})
    game.play("place 5,0 90", "pass", "spread 1,0")
    assert places(game) == []
    assert game.state.supply[1] == {"meeple": 7, "builder": 1, "pig": 1}
    assert game.points == [0, 0]


def test_33_3_barns_meeples_on_towers_and_what_the_fairy_does_not_change():
    figures = ["1 meeple 0,1/tower", "1 barn 0,1/field NE", "1 meeple 0,1/field 2"]
    game = set_up_plague(figures, ["TO02 0,1 0", "B 1,0 0"], tower=True, abbey_mayor=True, fairy=True)
    game.state = replace(
        game.state, fairy=next(one for one in carcassonne.view(game.state, None).figures if one.way == "2")
    )
    game.play("place -1,0 0", "pass", "spread 0,1")
    assert sorted(places(game)) == ["0,1/field-NE", "0,1/tower"]


def test_33_3_the_only_tile_is_taken_without_a_question_and_without_one_nothing_spreads():
    one = set_up_plague(tiles=["U 1,0 0"], outbreaks={"1,0": 1}, drawn="E").play("place 0,-1 180", "pass")
    assert list(one.state.fleas) == ["0,0"]
    none = set_up_plague(tiles=["U 1,0 0"], outbreaks={"1,0": 1}, ended=["0,0"], drawn="E")
    assert none.play("place 0,-1 180", "pass").state.fleas == {}


def test_33_3_a_double_turn_spreads_once_and_message_4_again():
    meeples = ["0 meeple 4,0/road", "0 builder 4,0/road 2"]
    game = set_up_plague(meeples, outbreaks={"1,0": 1}, traders_builders=True, drawn="U")
    game.play("place 5,0 0", "pass", "spread 0,0", "builder build", "place 6,0 0", "pass")
    assert len(game.find_events("PlagueSpread")) == 1
    assert game.state.turn == 1


def many(count):
    return [f"{x},0" for x in range(1, count + 1)]


LONG = [f"U {x},0 0" for x in range(1, 21)]


def test_33_4_without_a_flea_in_supply_the_oldest_sleeping_one_is_taken():
    game = set_up_plague(tiles=LONG, fleas=many(16), sleeping=["20,0", "19,0"], outbreaks={"0,0": 1})
    game.play("place -1,0 0", "pass")
    assert game.menu("spread") == {"17,0", "-1,0"}
    game.play("spread 17,0")
    assert (len(game.state.fleas), "20,0" in game.state.fleas, game.state.fleas["19,0"]) == (18, False, False)


def test_33_4_of_one_outbreak_with_all_fleas_one_that_leaves_the_others_connected_moves_on():
    game = set_up_plague(tiles=LONG, fleas=many(18), outbreaks={"0,0": 1}).play("place -1,0 0", "pass")
    assert [event.taken for event in game.find_events("PlagueSpread")] == ["18,0"]
    assert "-1,0" in game.state.fleas


def test_33_5_without_a_free_or_sleeping_flea_the_lowest_of_several_outbreaks_ends():
    game = set_up_plague(tiles=LONG, fleas=many(18), outbreaks={"0,0": 1, "19,0": 2})
    game.play("place -1,0 0", "pass", "spread 20,0")
    assert [(event.cell, event.fleas) for event in game.find_events("OutbreakEnded")] == [("0,0", ())]
    assert (game.state.outbreaks, game.state.ended_outbreaks) == ({"19,0": 2}, ("0,0",))


def test_33_5_fleas_without_a_connection_fall_asleep_and_the_tile_of_the_outbreak_is_safe():
    land = ["U 1,0 0", "U 2,0 0", *(f"U {x},5 0" for x in range(18))]
    fleas = ["1,0", "2,0", *(f"{x},5" for x in range(1, 17))]
    game = set_up_plague(tiles=land, fleas=fleas, outbreaks={"0,0": 1, "0,5": 2})
    game.play("place -1,0 0", "pass", "spread -1,0")
    assert [event.fleas for event in game.find_events("OutbreakEnded")] == [("1,0", "-1,0")]
    game.play("1: place 3,0 0", "1: figure meeple road")
    assert "0,0" not in game.menu("spread", 1)


def test_33_6_a_figure_in_reach_of_the_next_flea_may_flee_along_its_road():
    game = set_up_plague(["0 meeple 1,0/road", "0 meeple 4,0/road"], outbreaks={"0,0": 1}, fleas=["3,0"])
    assert game.menu() == ["place", "flee"]
    assert game.menu("flee") == {"1,0/road 2,0/road"}
    game.play("flee 1,0/road 2,0/road")
    assert sorted(places(game)) == ["2,0/road", "4,0/road"]
    assert game.state.supply[0]["meeple"] == 5
    assert game.menu() == ["place"]


def test_33_6_not_over_fleas_or_outbreaks_and_not_to_the_dragon():
    game = set_up_plague(["0 meeple 2,0/road"], outbreaks={"1,0": 1}, fleas=["4,0"], princess_dragon=True)
    assert game.menu("flee") == {"2,0/road 3,0/road"}
    game.state = replace(game.state, dragon="3,0")
    assert "flee" not in game.menu()


def test_33_6_monks_do_not_flee_and_figures_out_of_reach_do_not_either():
    game = set_up_plague(["0 meeple 0,1/cloister", "0 meeple 4,0/road"], [*ROAD, "B 0,1 0"])
    assert game.menu() == ["place"]


def test_33_6_farmers_flee_under_no_road_and_knights_through_their_city():
    land = ["G 0,-1 90", "G 0,-2 90", "B 1,-1 0"]
    game = set_up_plague(["0 meeple 0,-1/city", "0 meeple 0,-1/field-ene"], land, outbreaks={"0,0": 1})
    flights = game.menu("flee")
    assert "0,-1/city 0,-2/city" in flights
    assert "0,-1/field-ene 1,-1/field" in flights
    assert not any(option.startswith("0,-1/city") and "0,0" in option for option in flights)


def test_33_6_a_farmer_goes_round_the_end_of_a_road_but_not_across_it():
    land = ["U 1,0 0", "U 2,0 0", "A 3,0 90"]
    game = set_up_plague(["0 meeple 1,0/field-nnw"], land)
    assert {"1,0/field-nnw 2,0/field-nnw", "1,0/field-nnw 2,0/field-ese"} <= game.menu("flee")
    game = set_up_plague(["0 meeple 1,0/field-nnw"], land, fleas=["3,0"])
    assert game.menu("flee") == {"1,0/field-nnw 2,0/field-nnw"}


def test_33_6_a_shepherd_takes_his_flock_along_and_a_protected_meeple_stays_protected():
    game = set_up_plague(["0 shepherd 1,0/field-nnw"], hills_sheep=True)
    game.state = replace(game.state, flocks={"1,0/field-nnw": (3,)})
    game.play("flee 1,0/field-nnw 2,0/field-nnw")
    assert game.state.flocks == {"2,0/field-nnw": (3,)}


def test_33_7_the_plague_brings_nothing_at_the_end():
    game = set_up_plague(bag=()).play("place 5,0 0", "pass")
    assert game.find_events("PlagueSpread")
    assert (game.over, game.points) == (True, [0, 0])


@pytest.mark.parametrize("number", range(4))
def test_random_games_agree_with_a_slow_model_of_the_plague_event_by_event(number):
    chosen, seats = mix(number)
    model = SlowPlague()
    for _, _, state, events in bots.play_out(carcassonne, replace(chosen, plague=True), seats, b"plague %d" % number):
        for event in events:
            model.apply(event)
        model.compare(state)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 120))
def test_no_flea_is_lost_and_every_active_one_is_connected(seed, most):
    boxes = {"fairy": True, "tower": True, "abbey_mayor": True, "hills_sheep": True, "princess_dragon": True}
    chosen = options.parse(carcassonne.META.options, BOX | boxes | {"messages": bool(seed % 2)})
    random = Random(seed)
    rigged = chance.make_from_random(random)
    state, _ = games.begin(carcassonne, chosen, 2, rigged)
    for _ in range(2 * most):
        offered = [(seat, one) for seat in range(2) if (one := carcassonne.menu(state, seat))]
        if not offered:
            break
        seat, one = random.choice(offered)
        state, _ = games.play(carcassonne, state, seat, random.choice(list(menu.iter_moves(one))), rigged)
        invariants.check_plague(state)
