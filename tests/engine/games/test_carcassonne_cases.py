"""The worked cases of the boxes that came last, by their numbers; the points of each were counted by hand.

Each is played in one of the tests of Carcassonne, in a function whose name begins with `test_case_` and the number.
"""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.games import carcassonne
from engine.games.carcassonne.boxes.count import START as CARCASSONNE
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import BUILDER
from tests.engine.games.test_carcassonne_count import BLOCK as CARCASSONNE_BLOCK
from tests.engine.games.test_carcassonne_count import citizen, citizens
from tests.engine.games.test_carcassonne_count import complete_city as complete_city_of_others
from tests.engine.games.test_carcassonne_king_darmstadt import AROUND, complete_church, set_titles, titles
from tests.engine.games.test_carcassonne_leipzig import BLOCK as LEIPZIG_BLOCK
from tests.engine.games.test_carcassonne_leipzig import ROAD, merchants, set_up_leipzig
from tests.engine.games.test_carcassonne_messages import draw_message
from tests.engine.games.test_carcassonne_revolts import draw_revolt, places, protect
from tests.engine.games.test_carcassonne_tower import build, capture, hold, prisoners, set_up_tower
from tests.engine.games.test_carcassonne_tunnel import dig
from tests.engine.games.test_carcassonne_wheel import crown, list_farm, pig, turn

CASES = range(1, 56)
FOLDER = Path(__file__).parent


def test_every_case_is_played():
    text = "".join(path.read_text("utf-8") for path in FOLDER.glob("test_carcassonne*.py"))
    played = {int(number) for number in re.findall(r"^def test_case_(\d+)_", text, re.MULTILINE)}
    assert played == set(CASES)


def test_case_01_fortune_pays_only_the_seat_that_drew():
    assert turn("fortune", ["0 meeple 0,0/city"]).points == [0, 3]


def test_case_02_taxes_count_each_city_for_itself():
    figures = ["1 meeple 5,5/city", "1 meeple 7,7/city"]
    assert turn("taxes", figures, ["E 5,5 0", "M 7,7 0"]).points == [0, 1 + 2]


def test_case_03_famine_counts_each_farmer_and_each_completed_city_at_his_farm():
    figures = ["0 meeple 5,5/field", "0 meeple 5,5/field 2", "1 meeple 5,9/field"]
    assert turn("famine", figures, [*list_farm(5, 3), *list_farm(9, 2)]).points == [6, 2]


def test_case_04_inquisition_pays_two_for_each_monk():
    figures = ["1 meeple 5,5/cloister", "1 meeple 7,7/cloister", "0 meeple 9,9/cloister"]
    assert turn("inquisition", figures, ["B 5,5 0", "B 7,7 0", "B 9,9 0"]).points == [2, 4]


def test_case_05_with_the_plague_all_take_a_meeple_back_but_none_from_a_crown():
    figures = ["1 meeple 0,0/city", "1 meeple 0,0/road", "1 meeple 5,5/city"]
    game = turn("plague", figures, ["E 5,5 0"], crowns=[crown(0, "taxes")])
    assert (game.menu(seat=1), game.menu()) == (["withdraw"], [])
    game.play("1: withdraw 0,0/road")
    assert (game.points, places(game, 1)) == ([0, 0], ["0,0/city", "5,5/city"])
    assert carcassonne.view(game.state, None).crowns == (crown(0, "taxes"),)


def test_case_06_a_section_that_is_only_passed_does_nothing():
    game = turn("famine", number=2, crowns=[crown(0, "taxes")])
    assert (pig(game), game.points) == ("famine", [0, 0])
    assert carcassonne.view(game.state, None).crowns == (crown(0, "taxes"),)


@pytest.mark.parametrize(("track", "figure", "offered"), [((0, 3), "woman", "place"), ((0, 2), "woman", "message")])
def test_case_07_the_figures_are_looked_at_once_after_the_event_before_the_tile_is_laid(track, figure, offered):
    game = turn("fortune", messages=True, tracks=((0, 0), track)).play(f"1: score {figure}", message=[5])
    assert game.menu(seat=1) == [offered]


def test_case_08_protected_knights_bring_two_each_and_the_revolt_passes_on():
    land, figures = ["E 5,5 0", "E 5,7 0"], ["1 meeple 0,0/city", "1 meeple 5,5/city", "0 meeple 5,7/city"]
    game = draw_revolt("RV01", figures, "0,0/city", "5,5/city", land=land)
    assert (game.points, places(game, 1), places(game, 0)) == ([0, 4], ["0,0/city", "5,5/city"], [])


def test_case_09_of_both_kinds_the_unprotected_go_home_and_the_revolt_is_over():
    land, figures = ["A 5,5 0", "A 5,7 0"], ["1 meeple 0,0/road", "1 meeple 5,5/road", "0 meeple 5,7/road"]
    game = draw_revolt("RV02", figures, "0,0/road", land=land)
    assert (game.points, places(game, 1), places(game, 0)) == ([0, 2], ["0,0/road"], ["5,7/road"])


def test_case_10_protecting_the_meeple_just_placed_costs_four_even_below_zero():
    game = set_up(track=((3,), (0,)), revolts=True).play("place 1,0 0", "protect meeple road-safe")
    assert game.points == [-1, 0]


def test_case_11_protecting_one_that_is_there_already_costs_two():
    game = set_up(meeples=["0 meeple 0,0/city"], track=((10,), (0,)), revolts=True)
    assert game.play("place 1,0 0", "protect 0,0/city").points == [8, 0]


def test_case_12_a_scored_meeple_comes_home_and_is_protected_no_longer():
    game = set_up(["A -1,0 270", "U 1,0 0"], ["0 meeple 0,0/road"], drawn="A", revolts=True)
    protect(game, "0,0/road").play("place 2,0 90", "pass")
    assert (game.points, game.state.supply[0]["meeple"]) == ([4, 0], 7)
    game.play("1: place 0,1 0", "1: pass", "place 0,2 0", "figure meeple field-nnw")
    assert [figure.protected for figure in carcassonne.view(game.state, None).figures] == [False]


FIVE = [*ROAD, "U 4,0 0"]
"""A road of the east gate that a tile A on 5,0 completes: it counts five tiles, the gate's double tile once."""


def complete_five(*meeples, inside=()):
    return set_up_leipzig(meeples, *inside, land=FIVE).play("place 5,0 90", "pass")


def test_case_13_instead_of_the_points_a_meeple_goes_to_a_quarter():
    game = complete_five("0 meeple 2,0/road").play("send 2,0/road coiners")
    assert (game.points, merchants(game)) == ([0, 0], [(0, "coiners")])
    assert complete_five("0 meeple 2,0/road").play("send nowhere").points == [5, 0]


def test_case_14_and_may_lose_the_lead_to_another():
    game = complete_five("0 meeple 2,0/road", "0 meeple 3,0/road", "1 meeple 1,0/road", "1 meeple 4,0/road")
    assert game.play("send 2,0/road coiners", "1: send nowhere").points == [0, 5]


def test_case_15_wainwrights_bring_one_more_for_each_tile_of_an_own_road():
    land = [*LEIPZIG_BLOCK, "A 0,5 0", "U 0,6 90", "U 0,7 90"]
    game = set_up_leipzig(["0 meeple 0,6/road"], "0 wainwrights", land=land)
    assert game.play("place 0,8 180", "pass").points == [4 + 4, 0]


def test_case_16_a_single_robber_sent_to_the_wainwrights_brings_nothing_now():
    game = complete_five("0 meeple 2,0/road").play("send 2,0/road wainwrights")
    assert (game.points, merchants(game)) == ([0, 0], [(0, "wainwrights")])


def test_case_17_coiners_bring_three_for_each_shield_of_a_city_in_the_lead_or_not():
    land = [*LEIPZIG_BLOCK, "M 0,5 180", "M 1,5 270", "N 0,6 90"]
    figures = ["0 meeple 0,5/city", "0 meeple 1,5/city", "1 meeple 0,6/city"]
    game = set_up_leipzig(figures, "0 coiners", "1 coiners", land=land, drawn="N")
    assert game.play("place 1,6 0", "pass").points == [(4 + 2) * 2 + 6, 6]


def test_case_28_each_floor_reaches_one_cell_farther_over_gaps_but_no_diagonals():
    game = build(set_up_tower(["1 meeple 0,3/cloister", "1 meeple 1,2/cloister"]), floors=2)
    assert game.menu("capture") == {"0,3/cloister", "nobody"}
    assert game.points == [0, 0]


def test_case_29_an_own_meeple_goes_home():
    game = capture("0 meeple 1,1/cloister", take="1,1/cloister")
    assert (game.points, prisoners(game), game.state.supply[0]["meeple"]) == ([0, 0], [], 7)


def test_case_30_the_ransom_is_three_and_once_a_turn():
    game = hold(((7,), (4,))).play("ransom meeple-2")
    assert (game.points, game.menu()) == ([4, 7], ["place"])


def test_case_31_without_three_points_there_is_no_ransom():
    game = hold(((2,), (4,)))
    assert (game.points, game.menu()) == ([2, 4], ["place"])


def test_case_39_who_helped_others_only_sends_a_meeple_into_the_city_and_may_move_the_count():
    road = ["A -1,0 270"]
    game = set_up(road, ["1 meeple 0,0/road"], drawn="A", count=True)
    game.state = replace(game.state, count_at="castle")
    game.play("place 1,0 90", "pass")
    assert game.points == [0, 3]
    game.play("enter meeple smithy count-market")
    assert [(one.seat, one.segment) for one in citizens(game)] == [(0, "smithy")]
    assert carcassonne.view(game.state, None).count_at == "market"


def test_case_40_from_the_quarter_onto_the_feature_that_is_completed():
    game = complete_city_of_others(citizen(0, "castle")).play("deploy meeple")
    assert game.points == [10, 10]


def test_case_41_the_count_blocks_his_quarter():
    game = complete_city_of_others(citizen(0, "castle"), count_at="castle")
    assert (game.points, game.menu("deploy")) == ([0, 10], set())


def test_case_42_carcassonne_is_a_city_for_the_farms_at_its_wall():
    land, farmer = [*CARCASSONNE_BLOCK, "E -1,-2 0"], ["0 meeple -1,-2/field"]
    game = set_up(land, farmer, drawn="E", bag=(), start=CARCASSONNE, count=True).play("place -1,-3 180", "pass")
    assert game.points == [6, 0]


def test_case_43_the_king_brings_one_for_each_completed_city_and_for_carcassonne():
    cities = [tile for x in (5, 6, 7) for tile in (f"E {x},5 0", f"E {x},4 180")]
    land = [*CARCASSONNE_BLOCK, *cities, "E -1,-2 0"]
    game = set_up(land, drawn="E", bag=(), start=CARCASSONNE, count=True, king_robber=True)
    game = set_titles(game, king=(0, 9)).play("place -1,-3 180", "pass")
    assert game.points == [4 + 1, 0]


def test_case_44_the_robber_baron_brings_one_for_each_completed_road():
    roads = [tile for x in range(5, 11) for tile in (f"A {x},5 0", f"A {x},6 180")]
    game = set_up([*roads, "A -1,0 270"], drawn="A", bag=(), king_robber=True)
    assert set_titles(game, baron=(0, 9)).play("place 1,0 90", "pass").points == [7, 0]


def test_case_45_the_title_goes_to_the_seat_that_completes_and_not_to_the_owner():
    city = [f"G 0,{y} 90" for y in (-1, -2, -3, -4)]
    game = set_up(city, ["1 meeple 0,0/city"], drawn="E", king_robber=True).play("place 0,-5 180", "pass")
    assert (game.points, titles(game)) == ([0, 12], {"king": (0, 6)})


def test_case_47_a_church_brings_three_for_the_most_meeples_on_it_and_round_it():
    own = ["0 meeple 0,2/cloister", "0 meeple -1,1/cloister", "0 meeple -1,3/cloister"]
    assert complete_church(*own, "1 meeple 1,1/cloister").points == [12, 0]


def test_case_48_also_without_a_monk():
    assert complete_church("1 meeple 1,1/cloister").points == [0, 3]


def test_case_49_not_at_the_end():
    game = set_up([*AROUND[:-1], "DA3 0,2 180"], ["0 meeple 0,2/cloister"], drawn="V", bag=(), darmstadt=True)
    assert game.play("place 1,0 90", "pass").points == [7, 0]


def test_case_50_not_while_its_city_is_unfinished():
    game = set_up(["DA1 0,-1 0", "E -1,-1 90"], ["0 meeple 0,0/city"], bag=(), darmstadt=True)
    assert game.play("place 0,1 0", "pass").points == [3, 0]


def test_case_51_message_3_counts_churches():
    land = ["DA3 0,1 0", "B -1,1 0", "B -1,2 0", "B 1,2 0"]
    game = draw_message(3, land, ["0 meeple 0,1/cloister"], darmstadt=True).play("message perform")
    assert game.find_events("MessagePerformed")[0].points == 5


def test_case_52_one_token_closes_nothing():
    game = dig("tunnel 1,0/road-W first", figures=["0 meeple -1,0/road"])
    assert (game.points, game.find_events("FeatureScored")) == ([0, 0], [])


def test_case_53_a_road_to_an_open_opening_is_unfinished_at_the_end():
    game = set_up(["TU2 1,0 0"], ["0 meeple 0,0/road"], drawn="U", bag=(), tunnel=True).play("place 0,1 0", "pass")
    assert game.play("tunnel later").points == [2, 0]


def test_case_54_one_token_in_a_double_turn():
    land, rig = ["U 1,0 0", "TU2 5,5 0"], {"tile": ["U", "U", "U"]}
    game = set_up(land, BUILDER, rig=rig, traders_builders=True, tunnel=True)
    game.play("place 2,0 0", "pass", "tunnel 5,5/road-E first", "builder build", "place 3,0 0", "pass")
    assert (game.points, game.menu(seat=1)) == ([0, 0], ["place"])


def test_case_55_a_token_besides_a_meeple():
    game = set_up(["TU2 1,0 0"], drawn="V", tunnel=True).play("place 0,1 0", "figure meeple road")
    game.play("tunnel 1,0/road-W first")
    assert [figure.place for figure in carcassonne.view(game.state, None).figures] == ["0,1/road"]
    assert game.points == [0, 0]
