"""Further worked cases, above all of boxes together: rounds, payments and double turns as the rule text lists them.

The points of each were counted by hand from the text of The Messages and the rules of the boxes.
"""

import pytest
from msgspec.structs import replace

from engine.games import carcassonne
from engine.games.carcassonne.boxes.bathhouses import Bather
from engine.games.carcassonne.boxes.revolts import REVOLT_TILES
from engine.games.carcassonne.boxes.tower import Prisoner
from engine.games.carcassonne.state import list_figures
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import BUILDER
from tests.engine.games.test_carcassonne_count import citizen, set_up_city
from tests.engine.games.test_carcassonne_leipzig import BLOCK, ROAD, START, put_inside
from tests.engine.games.test_carcassonne_messages import draw_message, set_up_messages
from tests.engine.games.test_carcassonne_revolts import draw_revolt, places, protect
from tests.engine.games.test_carcassonne_tower import LAND, build, prisoners
from tests.engine.games.test_carcassonne_wheel import crown, pig, turn

CITY = "place 0,-1 180"


def set_fields(game, **fields):
    """Set the fields of boxes in the state."""
    game.state = replace(game.state, **fields)
    return game


def in_hand(game, seat):
    """Return the tile that is to be placed now, and the one that waits."""
    view = carcassonne.view(game.state, seat)
    return view.drawn, view.waiting


# Round 1b: between drawing a tile and laying it.


def test_message_4_in_round_1b_is_a_whole_turn_while_the_drawn_tile_waits():
    game = turn("fortune", messages=True, tracks=((0, 0), (0, 2)))
    game.play("1: score woman", message=[4]).play("1: message perform", tile=["U"])
    assert in_hand(game, 1) == ("U", "E-1")
    game.play("1: place -1,0 0")
    assert in_hand(game, 1) == ("", "E-1")
    game.play("1: pass")
    assert in_hand(game, 1) == ("E-1", "")
    assert game.menu(seat=1) == ["place"]
    assert len(game.find_events("WheelTurned")) == 1


def test_the_tile_of_message_4_turns_the_wheel_too():
    game = set_up_messages(drawn="E", track=((1, 3), (0, 0)), message=[4], wheel=True, bag=("E-1", "U", "U"))
    set_fields(game, pig=5).play(CITY, "figure meeple city", "score meeple").play("message perform", tile=["E-1"])
    assert (pig(game), game.menu()) == ("fortune", ["score"])
    assert [award.points for award in game.state.owed] == [3]


def test_each_part_of_a_double_turn_has_a_revolt_of_its_own():
    figures, bag = [*BUILDER, "1 meeple 5,5/city"], ("U", *REVOLT_TILES, "U")
    game = set_up(["U 1,0 0", "E 5,5 0"], figures, bag=bag, traders_builders=True, revolts=True)
    game.play("place 2,0 0", "pass").play("builder build", tile=["RV01"])
    assert (places(game, 1), game.state.turn) == ([], 0)


def test_what_a_revolt_brings_to_others_draws_no_message():
    game = draw_revolt("RV01", ["0 meeple 0,0/city"], "0,0/city", messages=True, track=((3, 8), (1, 1)))
    game.play("score meeple")
    assert (game.state.track[0], game.find_events("MessageDrawn")) == ((5, 8), [])
    assert game.menu(seat=1) == ["place"]


def test_all_protected_meeples_of_a_seat_are_one_award():
    land, figures = ["E 5,5 0"], ["1 meeple 0,0/city", "1 meeple 5,5/city"]
    game = draw_revolt("RV01", figures, "0,0/city", "5,5/city", land=land, messages=True, track=((0, 0), (1, 8)))
    assert [award.points for award in game.state.owed] == [4]
    assert game.play("1: score meeple", message=[5]).menu(seat=1) == ["message"]


def test_a_revolt_strikes_monks_of_every_kind_and_neither_gardens_nor_towers():
    land = ["CU1 5,5 0", "MO1 7,7 0", "TO02 9,9 0", "U* 11,11 0"]
    figures = ["1 meeple 5,5/cloister", "1 meeple 7,7/cloister lying", "1 meeple 9,9/tower", "1 abbot 11,11/garden"]
    boxes = {"shrines": True, "monasteries": True, "tower": True, "abbot": True}
    game = draw_revolt("RV07", figures, land=land, **boxes)
    assert places(game, 1) == ["11,11/garden", "9,9/tower"]


def test_the_inquisition_counts_shrines_and_lying_monks_and_no_gardens():
    land = ["CU1 5,5 0", "MO1 7,7 0", "U* 9,9 0"]
    figures = ["1 meeple 5,5/cloister", "1 meeple 7,7/cloister lying", "1 abbot 9,9/garden"]
    boxes = {"shrines": True, "monasteries": True, "abbot": True}
    assert turn("inquisition", figures, land, **boxes).points == [0, 4]


def test_the_storm_pays_neither_for_bathers_nor_for_meeples_on_crowns():
    game = set_up(rig={"tile": ["U-2"]}, bag=("U-2", "U"), wheel=True, bathhouses=True)
    supply = ({"meeple": 4}, {"meeple": 7})
    set_fields(
        game, supply=supply, pig=1, bathers=(Bather(0, "9,9", 3),), crowns=(crown(0, "taxes"), crown(0, "storm"))
    )
    game.play("place 1,0 0", "pass")
    assert (pig(game), game.points) == ("storm", [4 + 3, 7])


def test_taxes_count_a_mayor_and_a_large_meeple_as_one_knight_each():
    figures = ["1 mayor 5,5/city", "1 large 5,5/city 2"]
    assert turn("taxes", figures, ["M 5,5 0"], abbey_mayor=True, inns_cathedrals=True).points == [0, 2 * (2 + 1)]


# Paying.


def test_a_protected_meeple_that_a_tower_takes_comes_back_unprotected():
    game = set_up(LAND, ["1 meeple 1,1/cloister"], tower=True, revolts=True, track=((0,), (9,)))
    build(protect(game, "1,1/cloister")).play("capture 1,1/cloister")
    assert prisoners(game) == [(0, 1, "meeple")]
    game.play("1: ransom meeple-1", "1: place 2,0 0", "1: figure meeple road")
    assert (game.points, [figure.protected for figure in list_figures(game.state)]) == ([3, 6], [False])


def test_neither_the_payer_nor_the_captor_of_a_ransom_draws_a_message():
    game = set_up_messages(LAND, ["0 meeple 1,1/cloister"], track=((8, 0), (2, 1)), tower=True)
    game.play("place -1,0 0", "pass", "1: place 2,0 0", "1: tower 0,1", "1: capture 1,1/cloister")
    game.play("ransom meeple-2", "score meeple", "1: score meeple")
    assert game.state.track == ((5, 0), (5, 1))
    assert (game.find_events("MessageDrawn"), game.menu()) == ([], ["place"])


def test_a_figure_below_zero_counts_in_the_sum_at_the_end():
    game = set_up(messages=True, track=((1, 9), (0, 0)), bag=(), revolts=True)
    game.play("place 1,0 0", "protect meeple road-safe", "score meeple")
    assert (game.over, game.points) == (True, [1 - 4 + 9 + 2, 0])


def test_a_wagon_that_drives_on_is_protected_no_longer():
    game = set_up(["A -1,0 270", "U 1,0 0"], ["0 wagon 0,0/road"], drawn="A", abbey_mayor=True, revolts=True)
    protect(game, "0,0/road").play("place 2,0 90", "pass", "drive 0,0/city")
    assert [(figure.kind, figure.protected) for figure in list_figures(game.state)] == [("wagon", False)]


def test_message_8_takes_a_protected_meeple_back():
    game = draw_message(8, ["U 1,0 0"], ["0 meeple 1,0/road"], revolts=True)
    protect(game, "1,0/road").play("message perform 1,0/road")
    assert game.find_events("MessagePerformed")[0].points == 2
    assert game.state.supply[0]["meeple"] == 7


def test_there_is_one_ransom_in_a_double_turn_and_another_in_the_turn_of_message_4():
    both = (Prisoner(1, 0, "meeple"), Prisoner(1, 0, "meeple"))
    boxes = {"traders_builders": True, "tower": True}
    double = set_fields(set_up(LAND, BUILDER, track=((9,), (0,)), **boxes), prisoners=both)
    assert double.play("ransom meeple-2", "place -1,0 0", "pass", "builder build").menu() == ["place"]
    game = set_up_messages(drawn="E", track=((4, 9), (0, 0)), message=[4], tower=True)
    set_fields(game, prisoners=both).play("ransom meeple-2", "score meeple", "1: score meeple")
    game.play(CITY, "figure meeple city", "score meeple", "message perform")
    assert game.menu() == ["place", "ransom"]


# Features that boxes change together.


def test_the_darmstadtium_adds_three_to_a_cathedral():
    land = ["DA1 0,-1 0", "I01 0,-2 0", "E -1,-1 90", "E 1,-1 270", "E -1,-2 90", "E 1,-2 270"]
    game = set_up(land, ["0 meeple 0,0/city"], drawn="E", darmstadt=True, inns_cathedrals=True)
    assert game.play("place 0,-3 180", "pass").points == [3 * 8 + 3, 0]


def test_a_besieged_city_with_a_bathhouse_brings_one_a_tile_and_the_bathhouse():
    game = set_up(["CA3 0,-1 180"], ["0 meeple 0,0/city"], drawn="BH1", cathars=True, bathhouses=True)
    game.play("place 1,-1 270", "pass")
    assert (game.points, game.state.bathers) == ([3 + 3, 0], (Bather(0, "1,-1", 3),))


JOINED = ["A -1,0 270", "TU2 1,0 0", "TU2 5,5 0"]
"""Roads that end at the openings `1,0/road-W` and `5,5/road-E`; a token is on the first one."""


def join(figures, beyond, **given):
    """Let seat 0 place the second token, which joins the two roads."""
    game = set_up([*JOINED, *beyond], figures, drawn="B", tunnel=True, **given)
    set_fields(game, tunnels={"1,0/road-W": (0, "first")})
    return game


def test_a_road_joined_by_a_tunnel_pays_its_inn_and_is_the_longest():
    boxes = {"inns_cathedrals": True, "king_robber": True}
    game = join(["0 meeple -1,0/road"], ["I15 6,5 0", "A 7,5 90"], **boxes)
    game.play("place 0,1 0", "pass", "tunnel 5,5/road-E first")
    assert (game.points, carcassonne.view(game.state, None).titles) == ([2 * 6, 0], {"baron": (0, 6)})


def test_a_tunnel_brings_the_toll_of_a_crossroads_far_away():
    game = join(["0 meeple -1,0/road"], ["W 6,5 0"], tollkeepers=True)
    set_fields(game, tollhouses={"6,5": (1, 1)}).play("place 0,1 0", "pass", "tunnel 5,5/road-E first")
    assert game.points == [5, 1]


def test_a_road_joined_by_a_tunnel_pays_the_leader_of_both_halves():
    figures = ["0 meeple -1,0/road", "1 meeple 6,5/road", "1 meeple 7,5/road"]
    game = join(figures, ["U 6,5 0", "A 7,5 90"]).play("place 0,1 0", "pass", "tunnel 5,5/road-E first")
    assert game.points == [0, 6]


def test_a_token_of_a_tunnel_rouses_no_builder():
    game = set_up(["U 1,0 0", "TU2 2,0 0", "TU2 5,5 0"], BUILDER, drawn="B", tunnel=True, traders_builders=True)
    assert game.play("place 0,1 0", "pass", "tunnel 2,0/road-W first").state.turn == 1


def test_a_tower_takes_an_acrobat_and_the_pyramid_shrinks():
    land = ["TO02 0,1 0", "BT01 1,1 0"]
    game = set_up(land, ["1 meeple 1,1/acrobats", "0 meeple 1,1/acrobats 2"], tower=True, big_top=True)
    build(game).play("capture 1,1/acrobats")
    assert places(game, 1) == []
    assert places(game, 0) == ["1,1/acrobats-2"]


def test_the_monk_of_a_challenge_whom_a_tower_takes_challenges_no_longer():
    land = ["U 1,0 0", "U -1,0 0", "BT01 -1,1 0", "BT01 -1,2 0", "TO02 0,2 0", "CU1 1,2 0", "B 0,1 0"]
    figures = ["0 meeple 0,1/cloister", "1 meeple 1,2/cloister"]
    boxes = {"shrines": True, "tower": True, "big_top": True}
    game = set_up(land, figures, drawn="U", **boxes)
    set_fields(game, towers={"0,2": 0}).play(
        "place 2,0 0", "tower 0,2", "capture 1,2/cloister", "1: place 3,0 0", "1: pass"
    )
    set_fields(game, work=(replace(game.state.work[-1], tile="BT01"),)).play("place 1,1 0", "pass")
    assert (game.points, game.find_events("ChallengeLost")) == ([9, 0], [])


@pytest.mark.parametrize(("edition", "points"), [(4, [9 + 3, 9 + 3 + 4]), (3, [9, 9 + 3 + 4])])
def test_a_citizen_on_a_church_counts_for_its_bonus_even_if_a_city_comes_first(edition, points):
    beside = ["B -1,-1 0", "B 1,-1 0", "B 1,-2 0", "B -1,-3 0", "B 1,-3 0"]
    land = ["DA3 0,-2 180", "A 0,-3 0", "A -1,-2 270", *beside]
    figures = ["1 meeple 0,-2/cloister", "1 meeple 0,0/city"]
    given = {"land": land, "figures": figures, "drawn": "E", "darmstadt": True, "edition": edition}
    game = set_up_city(citizen(0, "cathedral"), **given).play("place 0,-1 180", "pass", "deploy meeple")
    assert game.points == points


def test_a_citizen_who_comes_onto_a_city_may_end_in_its_bathhouse():
    game = set_up_city(citizen(0, "castle"), drawn="BH5", bathhouses=True).play(
        "place 0,-1 180", "pass", "deploy meeple"
    )
    assert (game.points, game.state.bathers) == ([4 + 5, 0], (Bather(0, "0,-1", 5),))


def test_citizens_and_merchants_are_near_no_watchtower():
    game = set_up_city(citizen(0, "smithy"), figures=["1 meeple 0,0/road"], drawn="WT04", watchtowers=True)
    assert game.play("place 0,-1 180", "figure meeple city").points == [2 * 2 + 4, 0]


# Leipzig.


def perform_8(edition, *inside):
    """Let seat 0 take its robber back from the road of the east gate."""
    land = [*ROAD, "A -5,5 0", "A -5,7 180"]
    figures = ["0 meeple 2,0/road", "0 meeple -5,5/road"]
    given = {"drawn": "U", "start": START, "track": ((2, 1), (0, 0)), "leipzig": True, "edition": edition}
    game = put_inside(set_up_messages(land, figures, message=[8], **given), *inside)
    game.play("place -5,6 90", "pass", "score meeple")
    while game.menu() == ["score"]:
        game.play("score woman")
    return game.play("message perform 2,0/road").find_events("MessagePerformed")[0].points


@pytest.mark.parametrize(("edition", "points"), [(4, 3 + 3), (3, 4)])
def test_message_8_pays_the_quarter_of_leipzig_as_the_final_scoring_does(edition, points):
    assert perform_8(edition, "0 wainwrights") == points
    assert perform_8(edition) == (3 if edition == 4 else 4)


def test_a_wagon_that_goes_to_leipzig_drives_nowhere_else():
    game = set_up(ROAD, ["0 wagon 2,0/road"], drawn="A", start=START, leipzig=True, abbey_mayor=True)
    game.play("place 4,0 90", "pass", "send 2,0/road coiners")
    assert [(one.kind, one.segment) for one in game.state.merchants] == [("wagon", "coiners")]
    assert game.menu(seat=1) == ["place"]


def test_a_revolt_does_not_reach_the_meeples_in_leipzig():
    game = set_up(
        BLOCK, drawn="U", start=START, bag=("U", *REVOLT_TILES), rig={"tile": ["RV02"]}, leipzig=True, revolts=True
    )
    put_inside(game, "1 coiners")
    place = min(game.menu("place"))
    game.play(f"place {place}", "pass")
    assert [(one.seat, one.segment) for one in game.state.merchants] == [(1, "coiners")]


@pytest.mark.parametrize(("place", "points"), [("6,4 180", 4 + 1 + 3), ("7,5 0", 0)])
def test_coiners_are_paid_for_a_besieged_city_only_if_it_brings_points(place, points):
    land = [*BLOCK, "M 5,5 180", "CA3 6,5 0", "E 5,6 0"]
    game = set_up(land, ["0 meeple 5,5/city"], drawn="E", start=START, bag=(), leipzig=True, cathars=True)
    assert put_inside(game, "0 coiners").play(f"place {place}", "pass").points == [points, 0]
