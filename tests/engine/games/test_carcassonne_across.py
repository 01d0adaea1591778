"""Worked cases in which one box meets another, named after the paragraphs; the points were counted by hand."""

import pytest
from msgspec.structs import replace

from engine.chance import UnexpectedDraw
from engine.games import carcassonne
from engine.games.carcassonne.boxes.bathhouses import Bather
from engine.games.carcassonne.boxes.revolts import REVOLT_TILES
from engine.games.carcassonne.boxes.tower import Prisoner
from engine.games.carcassonne.state import find_figure
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_bazaars import lay_bazaar, sell_all
from tests.engine.games.test_carcassonne_castles import CASTLES, KNIGHT, SMALL_CITY, list_castles, make_castle
from tests.engine.games.test_carcassonne_count import citizen, set_up_city
from tests.engine.games.test_carcassonne_interplay import JOINED, join, set_fields
from tests.engine.games.test_carcassonne_leipzig import BLOCK, ROAD, START, merchants, put_inside
from tests.engine.games.test_carcassonne_messages import draw_message, set_up_messages
from tests.engine.games.test_carcassonne_plague import set_up_plague
from tests.engine.games.test_carcassonne_princess_dragon import places, set_up_dragon
from tests.engine.games.test_carcassonne_revolts import protect
from tests.engine.games.test_carcassonne_tower import LAND, build, prisoners
from tests.engine.games.test_carcassonne_wheel import crown, pig, turn


def hold(game, tile):
    """Put another tile into the hand of the seat that has drawn one."""
    return set_fields(game, work=(*game.state.work[:-1], replace(game.state.work[-1], tile=tile)))


# Castles and the boxes around them.


def test_23_5_24_4_a_knight_whom_the_dragon_eats_first_makes_no_castle():
    game = set_up_dragon([KNIGHT], ["U 1,0 0"], dragon="1,0", drawn="PD04", **CASTLES).play(SMALL_CITY, "pass")
    assert (game.points, places(game)) == ([0, 0], [])
    assert not game.find_events("CastleOffered")


def test_23_8_24_5_the_dragon_walks_over_a_castle_and_its_lord_is_paid_later():
    game = make_castle(["U 1,0 0", "A 2,0 90", "U -1,0 0"], princess_dragon=True)
    set_fields(hold(game, "PD04"), dragon="2,0").play("1: place 0,-2 0", "1: pass", "1: dragon -1,0")
    assert {event.cell for event in game.find_events("DragonMoved")} >= {"0,0"}
    assert list_castles(game) == [(("0,0", "0,-1"), "0,0/city")]
    hold(game, "A").play("place -2,0 270", "pass")
    assert game.points == [5, 0]


def test_22_3_23_5_a_knight_whom_a_tower_takes_makes_no_castle():
    game = set_up(LAND, ["1 meeple 0,0/city"], drawn="E", tower=True, **CASTLES)
    game.play(SMALL_CITY, "tower 0,1", "capture 0,0/city")
    assert (game.points, prisoners(game)) == ([0, 0], [(0, 1, "meeple")])
    assert not game.find_events("CastleOffered")


def test_23_8_25_2_a_city_that_becomes_a_castle_makes_no_king():
    assert carcassonne.view(make_castle(king_robber=True).state, None).titles == {}
    scored = set_up((), [KNIGHT], drawn="E", king_robber=True, **CASTLES).play(SMALL_CITY, "pass", "castle score")
    assert carcassonne.view(scored.state, None).titles == {"king": (0, 2)}


def test_23_6_6_a_lord_gets_what_an_inn_doubles():
    game = make_castle(["A -1,0 270", "I15 1,0 0"], inns_cathedrals=True)
    assert hold(game, "A").play("1: place 2,0 90", "1: pass").points == [2 * 4, 0]


def test_23_6_5_4_the_pay_of_a_lord_is_in_the_round_of_the_feature():
    """Both figures of the seat stop on dark spaces, and there is one message."""
    land, figures = ["A -1,0 270", "U 1,0 0", "U 2,0 0"], [KNIGHT, "0 meeple 0,0/road"]
    game = set_up_messages(land, figures, drawn="E", track=((0, 0), (0, 0)), message=[5], **CASTLES)
    game.play(SMALL_CITY, "pass", "castle make", "1: place 0,1 0", "1: pass")
    hold(game, "A").play("place 3,0 90", "pass", "score meeple", "score woman")
    assert game.state.track[0] == (5, 5)
    assert len(game.find_events("MessageDrawn")) == 1


def test_23_5_31_3_a_city_with_a_bathhouse_that_becomes_a_castle_takes_no_meeple():
    game = set_up((), [KNIGHT], drawn="BH1", bathhouses=True, **CASTLES).play(SMALL_CITY, "pass", "castle make")
    assert (game.points, game.state.bathers) == ([0, 0], ())
    assert list_castles(game) == [(("0,0", "0,-1"), "0,0/city")]


def test_23_5_30_4_the_castle_comes_before_the_meeples_out_of_carcassonne():
    given = {"figures": ["1 meeple 0,0/city"], "drawn": "E", **CASTLES}
    game = set_up_city(citizen(0, "castle"), **given).play(SMALL_CITY, "pass")
    assert (game.menu(seat=1), game.menu()) == (["castle"], [])
    made = set_up_city(citizen(0, "castle"), **given).play(SMALL_CITY, "pass", "1: castle make")
    assert (made.points, len(made.state.citizens)) == ([0, 0], 1)
    assert game.play("1: castle score", "deploy meeple").points == [4, 4]


def test_23_6_30_2_who_pays_the_lord_of_another_has_helped_him_only():
    land = ["A -1,0 270", "U 1,0 0"]
    game = set_up_city(figures=["1 meeple 0,0/city"], land=land, drawn="E", count_at="castle", **CASTLES)
    game.play(SMALL_CITY, "pass", "1: castle make", "1: place 0,1 0", "1: pass")
    hold(game, "A").play("place 2,0 90", "pass")
    assert game.points == [0, 4]
    assert game.menu() == ["enter"]


def test_23_6_29_3_a_road_that_a_tunnel_completes_far_away_pays_the_lord():
    game = set_up([*JOINED, "A 6,5 90"], [KNIGHT], drawn="E", tunnel=True, **CASTLES)
    game.play(SMALL_CITY, "pass", "tunnel later", "castle make")
    set_fields(game, tunnels={"1,0/road-W": (1, "first")})
    game.play("1: place 0,1 0", "1: pass", "1: tunnel 5,5/road-E first")
    assert game.points == [5, 0]


def test_23_8_33_3_a_flea_does_not_reach_a_lord():
    game = make_castle(["U 1,0 0"], plague=True)
    set_fields(game, outbreaks={"1,0": 1}).play("1: place 2,0 0", "1: pass", "1: spread 0,0")
    assert list_castles(game) == [(("0,0", "0,-1"), "0,0/city")]


def test_23_8_28_4_the_plague_of_the_wheel_takes_a_lord_like_any_meeple_on_the_land():
    given = {"bag": ("U-2", "U", "U"), "rig": {"tile": ["U-2"]}, "wheel": True, **CASTLES}
    game = set_fields(set_up((), [KNIGHT], drawn="E", **given), pig=3).play(SMALL_CITY, "pass", "castle make")
    assert pig(game) == "plague"
    assert list_castles(game) == [(("0,0", "0,-1"), "")]
    assert (game.points, game.state.supply[0]["meeple"]) == ([0, 0], 7)


@pytest.mark.parametrize("number", [2, 5, 6])
def test_23_8_5_no_message_takes_a_castle_for_a_city(number):
    land = ["E 5,5 0", "E 5,4 180"]
    game = set_up_messages(land, ["0 meeple 5,5/city"], drawn="E", track=((1, 3), (0, 0)), message=[number], **CASTLES)
    (root,) = [root for root, feature in game.state.features.items() if feature.figures]
    castle = replace(game.state.features[root], kind="castle", marks=())
    set_fields(game, features={**game.state.features, root: castle})
    game.play(SMALL_CITY, "figure meeple city", "castle score", "score meeple", "message perform")
    assert game.find_events("MessagePerformed")[0].points == 0


# The fairy protects from the dragon alone.


def test_27_6_the_fairy_keeps_no_revolt_away():
    game = set_up(
        (), ["0 meeple 0,0/city"], rig={"tile": ["RV01", "RV07"]}, bag=("U", *REVOLT_TILES), fairy=True, revolts=True
    )
    set_fields(game, fairy=find_figure(game.state, "0,0/city")).play("place 0,1 0", "pass")
    assert (places(game), game.points) == ([], [0, 0])
    game.play(f"1: place {min(game.menu('place', 1))}", "1: pass")
    assert game.points == [0, 0]


def test_22_3_the_fairy_keeps_no_tower_away():
    game = set_up(LAND, ["1 meeple 1,1/cloister"], tower=True, fairy=True)
    build(set_fields(game, fairy=find_figure(game.state, "1,1/cloister"))).play("capture 1,1/cloister")
    assert prisoners(game) == [(0, 1, "meeple")]


# The dragon, the princess and the portal.


@pytest.mark.parametrize(("edition", "points"), [(6, [0, 0]), (5, [1, 0])])
def test_10_3_24_7_the_fairy_is_beside_no_meeple_that_comes_back_to_her_place(edition, points):
    """A tower takes the meeple, and another one comes through a portal."""
    boxes = {"tower": True, "princess_dragon": True, "fairy": True}
    game = set_up(LAND, ["0 meeple 1,1/cloister"], edition=edition, **boxes)
    set_fields(game, fairy=find_figure(game.state, "1,1/cloister"))
    game.play("place -1,0 0", "tower 0,1", "capture 1,1/cloister", "1: place -2,0 0", "1: pass")
    hold(game, "PD29").play("place 0,-1 180", "figure meeple 1,1/cloister", "1: place -3,0 0", "1: pass")
    assert carcassonne.view(game.state, None).fairy == "1,1/cloister"
    assert game.points == points
    assert game.play("place -4,0 0").menu("fairy") == ({"1,1/cloister"} if edition == 6 else set())


def test_24_5_30_3_the_dragon_goes_round_the_inside_of_carcassonne_and_eats_no_figure_there():
    game = set_up_dragon((), ["U 1,0 0", "CO06 2,0 0"], dragon="1,0", count=True)
    set_fields(game, citizens=(citizen(1, "castle"),)).play("place -1,0 0", "pass")
    assert "2,0" not in {event.cell for event in game.find_events("DragonMoved")}
    assert len(game.state.citizens) == 1


def test_24_5_31_3_the_dragon_leaves_a_bather_in_peace():
    game = set_up_dragon((), ["BH2 1,0 0"], dragon="1,0", bathhouses=True)
    set_fields(game, bathers=(Bather(1, "0,0", 3),)).play("place -1,0 0", "pass")
    assert game.find_events("DragonMoved")
    assert game.state.bathers == (Bather(1, "0,0", 3),)


ROUND_A_CHURCH = ["DA3 0,1 0", "A 1,0 90", "A 1,1 90", "A 0,2 180", "B -1,2 0", "B 1,2 0"]
"""A church below the start tile; the cells -1,0 and -1,1 are missing."""


def test_24_4_26_3_whom_the_dragon_ate_counts_for_no_church():
    figures = ["0 meeple 0,1/cloister", "1 meeple 1,0/cloister", "1 meeple 1,1/cloister"]
    game = set_up_dragon(figures, [*ROUND_A_CHURCH, "B -1,1 0"], dragon="1,2", darmstadt=True)
    game.play("place -1,0 0", "pass", "dragon 1,1", "1: dragon 1,0", "1: dragon -1,0", "1: dragon -1,2")
    assert (game.points, places(game)) == ([9 + 3, 0], [])


def test_24_6_27_4_a_princess_sends_a_protected_knight_home_too():
    game = set_up((), ["1 meeple 0,0/city"], drawn="PD11", princess_dragon=True, revolts=True)
    protect(game, "0,0/city").play(SMALL_CITY)
    assert "0,0/city" in game.menu("princess")
    game.play("princess 0,0/city")
    assert (places(game), game.state.supply[1]["meeple"]) == ([], 7)


def test_24_2_33_3_no_portal_leads_to_the_dragon_nor_to_a_flea():
    land = ["U 1,0 0", "B 5,5 0", "B 7,7 0"]
    game = set_up_plague(tiles=land, drawn="PD29", outbreaks={"9,9": 1}, fleas=["5,5"], princess_dragon=True)
    offered = set_fields(game, dragon="1,0").play("place 0,-1 180").menu("figure")
    assert {place.split()[1].partition("/")[0] for place in offered if "/" in place} == {"0,0", "7,7"}


def test_24_7_31_2_a_portal_leads_to_an_unfinished_city_with_a_bathhouse_and_not_to_a_finished_one():
    game = set_up(["BH5 5,5 0", "BH5 7,7 0", "E 7,6 180"], drawn="PD29", princess_dragon=True, bathhouses=True)
    offered = game.play("place 0,-1 180").menu("figure")
    assert "meeple 5,5/city" in offered
    assert "meeple 7,7/city" not in offered


# Paying.


def test_22_6_of_two_scoring_figures_one_pays_the_whole_ransom():
    game = set_up_messages(LAND, track=((1, 2), (0, 0)), tower=True)
    set_fields(game, prisoners=(Prisoner(1, 0, "meeple"),))
    game.play("ransom meeple-2", "score meeple", "1: score woman")
    assert game.state.track == ((-2, 2), (0, 3))
    poor = set_fields(set_up_messages(LAND, track=((1, 1), (0, 0)), tower=True), prisoners=(Prisoner(1, 0, "meeple"),))
    assert poor.menu() == ["place"]


def test_22_6_31_4_a_ransom_and_a_bath_may_be_paid_in_one_turn():
    game = set_up([*LAND, "BH2 2,0 0"], track=((9,), (0,)), tower=True, bathhouses=True)
    set_fields(game, prisoners=(Prisoner(1, 0, "meeple"),), bathers=(Bather(0, "2,0", 3),))
    game.play("place -1,0 0", "ransom meeple-2", "fetch 2,0")
    assert game.points == [9 - 3 - 3, 3]
    assert "ransom" not in game.menu()


def test_23_10_5_10_the_turn_of_message_4_comes_before_the_auction():
    game = set_up_messages((), [KNIGHT], drawn="BB05", track=((1, 3), (0, 0)), message=[4], bag=("U",) * 9, **CASTLES)
    game.play(SMALL_CITY, "pass", "castle score", "score meeple", "message perform")
    assert not game.find_events("AuctionBegan")
    game.play("place 1,0 0", "pass")
    assert [event.seats for event in game.find_events("AuctionBegan")] == [(1, 0)]


def test_23_10_5_4_a_bid_that_is_received_on_the_own_turn_draws_no_message():
    tiles = ["E", "V"]
    game = set_up_messages((), (), drawn="BB06", bag=(*tiles, *["U"] * 4), track=((3, 9), (9, 9)), **CASTLES)
    game.play("place 0,1 0", "pass", tile=tiles)
    game.play("1: pick 1", "1: bid 1", "bid 2", "1: deal buy", "1: score woman", "score meeple")
    assert game.state.track == ((5, 9), (9, 7))
    assert not game.find_events("MessageDrawn")


def test_23_11_28_3_the_number_of_an_auctioned_tile_turns_the_wheel_when_it_is_used():
    game = lay_bazaar(tiles=["E-1", "V", "B", "U", "U", "U"], wheel=True)
    assert pig(game) == "fortune"
    sell_all(game)
    assert [event.tile for event in game.find_events("BoughtTileTaken")] == ["E-1"]
    assert pig(game) == "taxes"


def test_23_11_27_2_a_revolt_that_was_bought_breaks_out_when_it_is_used():
    game = lay_bazaar(tiles=["RV01", "V", *list(REVOLT_TILES)[1:], "U"], revolts=True)
    assert not game.find_events("RevoltBroke")
    assert len(sell_all(game).find_events("RevoltBroke")) == 1


def test_23_9_24_3_no_dragon_is_auctioned_before_the_first_volcano():
    game = lay_bazaar(tiles=["E", "V"], bag=("PD14", "PD16", "U"), princess_dragon=True)
    assert game.find_events("AuctionBegan")[0].tiles == ("E", "V")
    with pytest.raises(UnexpectedDraw):
        lay_bazaar(tiles=["PD14", "U", "U"], princess_dragon=True)


# Roads that boxes join, cut and end.


def test_23_4_29_3_a_bridge_and_a_tunnel_are_parts_of_one_road():
    game = join(["0 meeple -1,0/road"], ["B=EW 6,5 0", "A 7,5 90"], **CASTLES)
    assert game.play("place 0,1 0", "pass", "tunnel 5,5/road-E first").points == [6, 0]


def test_29_3_32_2_a_tunnel_may_complete_the_road_of_a_gate():
    land = [*BLOCK, "TU2 2,0 0", "TU2 9,5 0", "A 10,5 90"]
    game = set_up(land, ["0 meeple 10,5/road"], drawn="U", start=START, leipzig=True, tunnel=True)
    set_fields(game, tunnels={"2,0/road-W": (0, "first")})
    game.play(f"place {min(game.menu('place'))}", "pass", "tunnel 9,5/road-E first")
    assert game.menu("send") >= {"10,5/road coiners", "nowhere"}
    assert game.play("send nowhere").points == [4, 0]


def test_32_2_an_abbey_may_complete_the_road_of_a_gate():
    land = [*ROAD, "B 5,0 0", "B 4,1 0", "B 4,-1 0"]
    game = set_up(land, ["1 meeple 2,0/road"], drawn="B", start=START, leipzig=True, abbey_mayor=True)
    game.play("place 6,0 0", "pass", "1: abbey 4,0", "1: pass", "1: send 2,0/road coiners")
    assert (game.points, merchants(game)) == ([0, 0], [(1, "coiners")])


@pytest.mark.parametrize(
    ("robbers", "points", "bathers"),
    [(["2,0/road"], 0, ()), (["2,0/road", "3,0/road"], 4 + 3, (Bather(0, "3,0", 3),))],
)
def test_31_3_32_2_the_meeple_that_went_to_leipzig_does_not_bathe(robbers, points, bathers):
    land = [*BLOCK, "U 2,0 0", "BH2 3,0 0"]
    figures = [f"0 meeple {place}" for place in robbers]
    game = set_up(land, figures, drawn="A", start=START, leipzig=True, bathhouses=True)
    game.play("place 4,0 90", "pass", "send 2,0/road coiners")
    assert (game.points, game.state.bathers) == ([points, 0], bathers)


def test_31_3_22_3_the_robber_whom_a_tower_takes_neither_scores_nor_bathes():
    land = ["BH2 1,0 0", "A 2,0 90", "TO02 1,1 0"]
    game = set_up(land, ["1 meeple 1,0/road"], drawn="A", bathhouses=True, tower=True)
    game.play("place -1,0 270", "tower 1,1", "capture 1,0/road")
    assert (game.points, game.state.bathers, prisoners(game)) == ([0, 0], (), [(0, 1, "meeple")])


def test_33_6_23_4_a_robber_flees_over_a_bridge_and_from_it():
    land = ["U 1,0 0", "B=EW 2,0 0", "U 3,0 0"]
    game = set_up_plague(["0 meeple 1,0/road"], land, outbreaks={"0,0": 1}, **CASTLES)
    assert game.menu("flee") == {"1,0/road 2,0/bridge", "1,0/road 3,0/road"}
    on_it = set_up_plague(["0 meeple 2,0/bridge"], land, outbreaks={"2,1": 1}, **CASTLES)
    assert on_it.menu("flee") >= {"2,0/bridge 1,0/road", "2,0/bridge 3,0/road"}


def test_33_6_29_3_no_figure_flees_through_a_tunnel():
    land = ["U -1,0 0", "U 1,0 0", "TU2 2,0 0", "TU2 5,5 0", "U 6,5 0"]
    game = set_up_plague(["0 meeple 1,0/road"], land, drawn="B", outbreaks={"0,0": 1}, tunnel=True)
    set_fields(game, tunnels={"2,0/road-W": (0, "first")})
    game.play("place 0,1 0", "pass", "tunnel 5,5/road-E first", "spread 0,1")
    game.play("1: place 7,5 0", "1: pass", "1: tunnel later", "1: spread -1,0")
    (road,) = [feature for feature in game.state.features.values() if feature.figures]
    assert len(road.tiles) > 5
    assert game.menu("flee") == {"1,0/road 2,0/road-W"}


# Towers, crowns and messages.


def test_22_4_26_3_a_meeple_on_a_tower_counts_for_a_church():
    land = [*ROUND_A_CHURCH, "TO02 -1,1 0"]
    game = set_up(land, ["1 meeple -1,1/tower"], drawn="U", tower=True, darmstadt=True)
    assert game.play("place -1,0 0", "pass").points == [0, 3]


def test_5_14_28_6_message_8_takes_no_meeple_from_a_crown():
    game = draw_message(8, wheel=True)
    set_fields(game, crowns=(crown(0, "storm"),))
    own = {figure.place for figure in carcassonne.view(game.state, None).figures if figure.seat == 0}
    assert game.menu("message") == {"points", *(f"perform {place}" for place in own)}


def test_28_4_22_3_the_storm_pays_for_no_prisoner():
    game = set_up(LAND, bag=("U-2", "U"), rig={"tile": ["U-2"]}, wheel=True, tower=True)
    supply = ({"meeple": 6}, {"meeple": 7})
    set_fields(game, supply=supply, pig=1, prisoners=(Prisoner(1, 0, "meeple"),)).play("place -1,0 0", "pass")
    assert (pig(game), game.points) == ("storm", [6, 7])


def test_28_4_15_famine_counts_a_besieged_city_once():
    land, figures = ["CA1 0,-1 180"], ["1 meeple 0,0/field-ene"]
    assert turn("famine", figures, land, cathars=True).points == [0, 1]


# What the notes of The Messages say, with the boxes that came last.


def perform(number, tiles=(), meeples=(), words="", **given):
    """Return what message `number` brings seat 0, which completes a city of two tiles for it."""
    game = draw_message(number, tiles, meeples, **given).play(f"message perform {words}".strip())
    return game.find_events("MessagePerformed")[0].points


def test_5_4_a_toll_that_is_received_on_the_own_turn_draws_a_message():
    land = ["A -1,0 270", "W 2,0 0"]
    game = set_up_messages(
        land, ["1 meeple 0,0/road"], drawn="U", track=((4, 0), (0, 0)), message=[5], tollkeepers=True
    )
    set_fields(game, tollhouses={"2,0": (0, 1)}).play("place 1,0 0", "pass", "score meeple", "1: score woman")
    assert game.state.track == ((5, 0), (0, 4))
    assert len(game.find_events("MessageDrawn")) == 1


def test_5_5_the_pay_of_a_lord_on_the_turn_of_another_draws_no_message():
    land = ["A -1,0 270", "U 1,0 0", "U 2,0 0"]
    game = set_up_messages(land, [KNIGHT], drawn="E", track=((0, 0), (0, 0)), **CASTLES)
    game.play(SMALL_CITY, "pass", "castle make")
    hold(game, "A").play("1: place 3,0 90", "1: pass", "score meeple")
    assert game.state.track[0] == (5, 0)
    assert not game.find_events("MessageDrawn")


def test_5_9_message_1_counts_both_halves_of_a_road_that_a_tunnel_joins():
    land = ["U 1,0 0", "TU2 2,0 0", "TU2 5,5 0", "U 6,5 0"]
    game = set_up_messages(land, ["0 meeple 1,0/road"], drawn="E", track=((1, 3), (0, 0)), message=[1], tunnel=True)
    set_fields(game, tunnels={"2,0/road-W": (0, "first")}).play(SMALL_CITY, "figure meeple city")
    game.play("tunnel 5,5/road-E first", "score meeple", "message perform")
    assert game.find_events("MessagePerformed")[0].points == 3 + 2


def test_5_9_messages_1_and_2_bring_nothing_for_what_only_a_completed_feature_brings():
    assert perform(1, ["BH2 1,0 0"], ["0 meeple 1,0/road"], bathhouses=True) == 2
    assert perform(2, ["DA1 5,5 0"], ["0 meeple 5,5/city"], darmstadt=True) == 1


def test_5_12_message_6_counts_no_meeple_that_is_on_a_tower_or_inside_a_block():
    assert perform(6, ["TO15 5,5 0"], ["0 meeple 5,5/tower"], tower=True) == 0
    game = set_fields(draw_message(6, count=True), citizens=(citizen(0, "castle"),))
    assert game.play("message perform").find_events("MessagePerformed")[0].points == 0


def test_5_14_23_8_message_8_on_a_mayor_in_a_castle_brings_nothing_and_leaves_the_castle_empty():
    land = ["E 5,5 0", "E 5,4 180"]
    boxes = {"abbey_mayor": True, **CASTLES}
    game = set_up_messages(land, ["0 mayor 5,5/city"], drawn="E", track=((1, 3), (0, 0)), message=[8], **boxes)
    (root,) = [root for root, feature in game.state.features.items() if feature.figures]
    castle = replace(game.state.features[root], kind="castle", marks=())
    set_fields(game, features={**game.state.features, root: castle})
    game.play(SMALL_CITY, "figure meeple city", "castle score", "score meeple", "message perform 5,5/city")
    assert game.find_events("MessagePerformed")[0].points == 0
    assert (places(game), game.state.supply[0]["mayor"]) == ([], 1)


def play_extra_tile(tile, place, tiles=(), fields=None, **given):
    """Let seat 0 draw message 4 and lay this tile for it, without a figure."""
    game = set_up_messages(tiles, (), drawn="E", bag=(tile, *["U"] * 6), track=((1, 3), (0, 0)), message=[4], **given)
    game.play(SMALL_CITY, "figure meeple city", *(["castle score"] if given.get("bridges_castles") else []))
    set_fields(game, **(fields or {})).play("score meeple").play("message perform", tile=[tile])
    return game.play(f"place {place}", "pass")


def test_5_10_24_8_the_extra_tile_of_message_4_wakes_the_dragon():
    game = play_extra_tile("PD16", "-1,0 0", ["U 1,0 0"], {"dragon": "1,0"}, princess_dragon=True)
    assert {event.cell for event in game.find_events("DragonMoved")} >= {"0,0"}


def test_5_10_29_2_in_the_turn_of_message_4_there_is_another_token():
    land = ["TU2 5,5 0", "TU2 7,7 0"]
    game = set_up_messages(land, (), drawn="E", track=((1, 3), (0, 0)), message=[4], tunnel=True)
    game.play(SMALL_CITY, "figure meeple city", "tunnel 5,5/road-W first", "score meeple", "message perform")
    game.play("place 1,0 0", "pass")
    assert "7,7/road-E first" in game.menu("tunnel")


def test_5_10_33_3_in_the_turn_of_message_4_the_plague_spreads_again():
    game = set_up_messages(["U 1,0 0", "U 2,0 0"], (), drawn="E", track=((1, 3), (0, 0)), message=[4], plague=True)
    set_fields(game, outbreaks={"1,0": 1}).play(SMALL_CITY, "figure meeple city", "spread 2,0", "score meeple")
    game.play("message perform", "place -1,0 0", "pass")
    assert len(game.state.fleas) + (game.menu() == ["spread"]) == 2


def test_28_7_a_section_and_its_crowns_are_one_round_with_one_message():
    game = turn("fortune", crowns=[crown(1, "fortune")], messages=True, tracks=((0, 0), (2, 2)))
    game.play("1: score woman", "1: score meeple", message=[5])
    assert game.state.track[1] == (5, 5)
    assert len(game.find_events("MessageDrawn")) == 1


def test_28_3_a_number_works_again_in_each_part_of_a_double_turn():
    game = set_up(
        ["U 1,0 0"],
        ["0 meeple 0,0/road", "0 builder 1,0/road"],
        bag=("U-2", "U", "U"),
        wheel=True,
        traders_builders=True,
    )
    game.play("place 2,0 0", "pass").play("builder build", tile=["U-2"])
    assert pig(game) == "famine"


def test_32_4_bookbinders_pay_for_a_church_too():
    land = [*BLOCK, *(f"B {x},{y} 0" for x in (8, 9, 10) for y in (8, 9, 10) if (x, y) not in ((9, 9), (10, 10)))]
    land = [*land, "DA3 9,9 180"]
    game = set_up(land, ["0 meeple 9,9/cloister"], drawn="B", start=START, leipzig=True, darmstadt=True)
    put_inside(game, "0 bookbinders").play("place 10,10 0", "pass")
    assert game.points == [9 + 3 + 3, 0]


# Figures that come to a tile by other ways than being placed, and what becomes of those beside them.


@pytest.mark.parametrize("barred", [{"dragon": "0,1"}, {"outbreaks": {"9,9": 1}, "fleas": {"0,1": True}}])
def test_18_6_24_2_33_2_a_wagon_drives_neither_to_the_dragon_nor_to_a_flea(barred):
    boxes = {"abbey_mayor": True, **({"princess_dragon": True} if "dragon" in barred else {"plague": True})}
    land = ["A -1,0 270", "B 0,1 0", "B -1,1 0", "B 9,9 0", "B 9,8 0", "B 9,7 0"]
    game = set_fields(set_up(land, ["0 wagon 0,0/road"], drawn="A", **boxes), **barred).play("place 1,0 90", "pass")
    if game.menu("spread"):
        game.play("spread 9,8")
    assert "-1,1/cloister" in game.menu("drive")
    assert "0,1/cloister" not in game.menu("drive")


@pytest.mark.parametrize("barred", [{"dragon": "0,2"}, {"outbreaks": {"9,9": 1}, "fleas": {"0,2": True}}, {}])
def test_30_4_24_2_33_2_no_meeple_comes_out_of_carcassonne_to_the_dragon_or_a_flea(barred):
    box = "princess_dragon" if "dragon" in barred else "plague"
    around = [f"B {x},{y} 0" for x in (-1, 0, 1) for y in (1, 2, 3) if (x, y) != (1, 3)]
    land = [*around, "B 9,9 0", "B 9,8 0", "B 9,7 0"]
    game = set_up_city(citizen(0, "cathedral"), land=land, figures=["1 meeple 0,0/road"], drawn="B", **{box: True})
    set_fields(game, **barred).play("place 1,3 0", "pass")
    if game.menu("spread"):
        game.play("spread 9,8")
    assert game.menu("deploy") == (set() if barred else {"meeple", "remain"})


def test_33_6_24_2_no_figure_flees_to_the_dragon():
    game = set_fields(set_up_plague(["0 meeple 1,0/road"], princess_dragon=True), dragon="3,0")
    assert game.menu("flee") == {"1,0/road 2,0/road", "1,0/road 4,0/road"}


def test_31_3_33_3_a_flea_does_not_reach_a_bather():
    land, bather = ["U 1,0 0", "BH2 2,0 0"], Bather(1, "2,0", 4)
    game = set_up_plague(tiles=land, outbreaks={"1,0": 1}, bathhouses=True)
    set_fields(game, bathers=(bather,)).play("place -1,0 0", "pass", "spread 2,0")
    assert game.state.bathers == (bather,)


def test_32_2_10_3_the_fairy_pays_for_no_meeple_that_goes_to_leipzig():
    game = set_up([*ROAD], ["0 meeple 2,0/road"], drawn="A", start=START, leipzig=True, fairy=True)
    set_fields(game, fairy=find_figure(game.state, "2,0/road")).play("place 4,0 90", "pass", "send 2,0/road coiners")
    assert (game.points, carcassonne.view(game.state, None).fairy) == ([0, 0], "2,0/road")


def test_32_2_7_3_the_builder_goes_home_with_the_last_meeple_that_goes_to_leipzig():
    figures = ["0 meeple 2,0/road", "0 builder 3,0/road"]
    game = set_up([*ROAD], figures, drawn="A", start=START, leipzig=True, traders_builders=True)
    game.play("place 4,0 90", "pass", "send 2,0/road coiners")
    assert (game.points, game.state.supply[0]["builder"]) == ([0, 0], 1)


def test_28_4_the_storm_pays_for_each_kind_of_meeple_and_for_nothing_else():
    boxes = ("abbey_mayor", "abbot", "traders_builders", "inns_cathedrals", "hills_sheep", "big_top")
    assert turn("storm", ["0 meeple 0,0/city"], **dict.fromkeys(boxes, True)).points == [6 + 5, 7 + 5]


@pytest.mark.parametrize(
    ("kind", "box"), [("large", "inns_cathedrals"), ("mayor", "abbey_mayor"), ("wagon", "abbey_mayor")]
)
def test_23_5_every_kind_of_meeple_can_become_a_lord_and_a_wagon_does_not_drive_away(kind, box):
    game = set_up((), [f"0 {kind} 0,0/city"], drawn="E", **CASTLES, **{box: True})
    game.play(SMALL_CITY, "pass", "castle make")
    assert list_castles(game) == [(("0,0", "0,-1"), "0,0/city")]
    assert (game.menu(), game.menu("place", seat=1) != set()) == ([], True)


def test_27_4_neither_farmers_nor_lords_nor_meeples_on_towers_are_protected():
    land, figures = ["E 5,5 0", "TO02 7,7 0"], ["0 meeple 5,5/city", "0 meeple 0,0/field-ene", "0 meeple 7,7/tower"]
    game = set_up(land, figures, revolts=True, tower=True)
    assert set_fields(game, towers={"7,7": 1}).play("place 1,0 0").menu("protect") == {"5,5/city", "meeple road-safe"}
