"""The boxes that can be mixed in, paragraph by paragraph of the book."""

from collections import Counter

import pytest
from msgspec.structs import replace

from engine import chance, options
from engine import game as games
from engine.games import carcassonne
from engine.games.carcassonne.boxes import get_rules
from engine.games.carcassonne.tiles import PIECES
from tests.engine.games.carcassonne_table import Game, set_up
from tests.engine.games.test_carcassonne_messages import CITY, draw_message, set_up_messages

OPTIONS = carcassonne.META.options
CATHEDRAL = ["I01 0,-1 0", "F -1,-1 0", "E -2,-1 90", "E 1,-1 270"]
TWO_ROBBERS = ["0 meeple -1,0/road", "1 meeple 1,0/road"]
BUILDER = ["0 meeple 0,0/road", "0 builder 1,0/road"]


def make_deck(**chosen):
    return get_rules(options.parse(OPTIONS, chosen)).make_deck()


def count_tiles(**chosen):
    deck = make_deck(**chosen)
    return Counter([deck.start, *(tile for bag in deck.bags for tile in bag)])


def test_6_1_eighteen_tiles_more():
    assert count_tiles(inns_cathedrals=True).total() == 72 + 18
    assert count_tiles(inns_cathedrals=True)["I01"] == 2


def test_6_2_an_inn_doubles_its_road_and_an_unfinished_one_is_worth_nothing():
    inn = {"inns_cathedrals": True}
    road, robber = ["A -1,0 270", "I15 1,0 0"], ["0 meeple 0,0/road"]
    assert set_up(road, robber, drawn="A", **inn).play("place 2,0 90", "pass").points == [8, 0]
    assert set_up(road, robber, bag=(), **inn).play("place 0,1 0", "pass").points == [0, 0]
    assert draw_message(1, road, robber, **inn).play("message perform").find_events("MessagePerformed")[0].points == 0
    assert draw_message(8, road, robber, **inn).play("message perform").find_events("MessagePerformed")[0].points == 0
    other_arm = set_up(["A -1,0 270"], robber, drawn="I14", **inn).play("place 1,0 0", "pass")
    assert other_arm.points == [3, 0]


def test_6_3_a_cathedral_triples_its_city_and_an_unfinished_one_is_worth_nothing():
    inn = {"inns_cathedrals": True}
    knight, farmer = ["0 meeple 0,0/city"], "1 meeple 0,0/field-ene"
    assert set_up(CATHEDRAL, knight, drawn="E", **inn).play("place 0,-2 180", "pass").points == [21, 0]
    assert set_up(CATHEDRAL, knight, bag=(), **inn).play("place 0,1 0", "pass").points == [0, 0]
    farm = set_up(CATHEDRAL, [farmer], drawn="E", bag=(), **inn).play("place 0,-2 180", "pass")
    assert farm.points == [0, 3]
    unfinished = ["I01 -1,1 0", "F 0,1 0"]
    for number in (2, 8):
        game = draw_message(number, unfinished, ["0 meeple 0,1/city"], **inn).play("message perform")
        assert game.find_events("MessagePerformed")[0].points == 0


def test_6_4_the_large_meeple_counts_as_two_in_the_lead_and_as_one_for_messages():
    inn = {"inns_cathedrals": True}
    assert "large road" in set_up(drawn="U", **inn).play("place 1,0 0").menu("figure")
    road = ["A -1,0 270", "U 1,0 0"]
    alone = set_up(road, ["0 large -1,0/road", "1 meeple 1,0/road"], drawn="A", **inn).play("place 2,0 90", "pass")
    assert alone.points == [4, 0]
    level = ["0 large -1,0/road", "1 meeple 1,0/road", "1 meeple 0,0/road"]
    assert set_up(road, level, drawn="A", **inn).play("place 2,0 90", "pass").points == [4, 4]
    knights = draw_message(6, ["F 0,1 0"], ["0 large 0,1/city"], **inn).play("message perform")
    assert knights.find_events("MessagePerformed")[0].points == 2
    farmers = draw_message(7, (), ["0 large 0,0/field-ese"], **inn).play("message perform")
    assert farmers.find_events("MessagePerformed")[0].points == 2


def test_7_1_twenty_four_tiles_more():
    assert count_tiles(traders_builders=True).total() == 72 + 24
    assert count_tiles(traders_builders=True, inns_cathedrals=True, river=True).total() == 72 - 1 + 24 + 18 + 12


def test_7_2_goods_go_to_the_seat_that_completes_the_city():
    city = ["E 0,1 90", "T15 1,1 0"]
    game = set_up(city, ["1 meeple 1,1/city"], drawn="E", traders_builders=True).play("place 2,1 270", "pass")
    assert carcassonne.view(game.state, None).goods == (
        {"wine": 1, "grain": 0, "cloth": 0},
        {"wine": 0, "grain": 0, "cloth": 0},
    )
    assert game.points == [0, 6]
    empty = set_up(city, drawn="E", traders_builders=True).play("place 2,1 270", "pass")
    assert empty.state.goods[0]["wine"] == 1


def test_7_3_the_most_of_each_kind_bring_ten_points():
    game = set_up(bag=(), traders_builders=True, seats=3)
    goods = (
        {"wine": 2, "grain": 1, "cloth": 0},
        {"wine": 2, "grain": 0, "cloth": 0},
        {"wine": 1, "grain": 0, "cloth": 0},
    )
    game.state = replace(game.state, goods=goods)
    assert game.play("place 1,0 0", "pass").points == [20, 10, 0]


def test_7_4_the_builder_joins_an_own_meeple_and_does_not_count_for_the_lead():
    traders = {"traders_builders": True}
    own = set_up(meeples=["0 meeple 0,0/road"], **traders).play("place 1,0 0")
    assert "builder road" in own.menu("figure")
    assert "meeple road" not in own.menu("figure")
    other = set_up(meeples=["1 meeple 0,0/road"], **traders).play("place 1,0 0")
    assert "builder road" not in other.menu("figure")
    figures = [*TWO_ROBBERS, "0 builder 0,0/road"]
    road = ["A -1,0 270", "U 1,0 0"]
    assert set_up(road, figures, drawn="A", **traders).play("place 2,0 90", "pass").points == [4, 4]


def test_7_5_a_tile_that_goes_on_with_the_own_builder_allows_one_more():
    game = set_up(["U 1,0 0"], BUILDER, traders_builders=True).play("place 2,0 0", "pass")
    assert game.menu("builder") == {"build", "rest"}
    game.play("builder build", "place 3,0 0", "pass")
    assert game.menu(seat=1) == ["place"]
    rested = set_up(["U 1,0 0"], BUILDER, traders_builders=True).play("place 2,0 0", "pass", "builder rest")
    assert rested.menu(seat=1) == ["place"]
    assert set_up(["U 1,0 0"], BUILDER, bag=(), traders_builders=True).play("place 2,0 0", "pass").over


def test_7_5_also_when_the_builder_has_gone_home_but_not_for_a_new_or_a_foreign_one():
    traders = {"traders_builders": True}
    home = set_up(["U 1,0 0", "A -1,0 270"], BUILDER, drawn="A", **traders).play("place 2,0 90", "pass")
    assert home.points == [4, 0]
    assert home.state.supply[0]["builder"] == 1
    assert home.menu() == ["builder"]
    new = set_up(meeples=["0 meeple 0,0/road"], **traders).play("place 1,0 0", "figure builder road")
    assert new.menu(seat=1) == ["place"]
    foreign = set_up(["U 1,0 0"], ["1 meeple 0,0/road", "1 builder 1,0/road"], **traders).play("place 2,0 0", "pass")
    assert foreign.menu(seat=1) == ["place"]
    other_road = set_up(["U 1,0 0"], BUILDER, **traders).play("place 0,1 0", "pass")
    assert other_road.menu(seat=1) == ["place"]


def test_7_6_the_pig_adds_a_point_for_each_city_to_an_own_farm_in_the_lead():
    traders = {"traders_builders": True}
    farm = ["0 meeple 0,0/field-ene"]
    offered = set_up(["E 0,-1 180"], farm, bag=(), **traders).play("place 1,0 0")
    assert "pig field-nnw" in offered.menu("figure")
    assert "pig field-ese" not in offered.menu("figure")
    assert offered.play("figure pig field-nnw").points == [4, 0]
    pig = [*farm, "0 pig 1,0/field-nnw", "1 meeple -1,0/field-nnw"]
    tiles = ["E 0,-1 180", "U 1,0 0", "U -1,0 0"]
    assert set_up(tiles, pig, bag=(), **traders).play("place 0,1 0", "pass").points == [4, 3]
    behind = [*pig, "1 meeple 1,0/field-nnw"]
    assert set_up(tiles, behind, bag=(), **traders).play("place 0,1 0", "pass").points == [0, 3]


def test_7_7_with_the_last_own_meeple_the_builder_goes_home():
    traders = {"traders_builders": True}
    last = draw_message(8, ["U 1,0 0"], BUILDER, **traders).play("message perform 0,0/road")
    assert last.state.supply[0] == {"meeple": 7, "builder": 1, "pig": 1}
    stays = draw_message(8, ["U 1,0 0", "U -1,0 0"], [*BUILDER, "0 meeple -1,0/road"], **traders)
    stays.play("message perform 0,0/road")
    assert stays.state.supply[0] == {"meeple": 6, "builder": 0, "pig": 1}


def test_7_8_first_the_tile_of_message_4_then_its_second_part_then_that_of_the_first_tile():
    land = ["U 1,0 0", "A 2,1 180"]
    game = set_up_messages(
        land,
        [*BUILDER, "0 meeple 2,1/road"],
        drawn="W",
        track=((3, 0), (0, 0)),
        message=[4],
        traders_builders=True,
    )
    game.play("place 2,0 0", "pass", "score meeple", "message perform")
    assert carcassonne.view(game.state, 0).parts == ("turn", "message")
    game.play("place -1,0 0", "pass", "builder build")
    assert carcassonne.view(game.state, 0).parts == ("turn", "message", "builder")
    game.play("place -2,0 0", "pass")
    assert game.find_events("MessageReturned")
    assert game.menu() == ["builder"]
    game.play("builder build")
    assert carcassonne.view(game.state, 0).parts == ("turn", "builder")
    assert game.play("place -3,0 0", "pass").menu(seat=1) == ["place"]


def test_7_8_each_part_has_its_own_round_and_a_message_4_in_it_a_whole_turn():
    land = ["U 1,0 0", "A 2,1 180", "A 0,2 180", "B 1,1 0"]
    game = set_up_messages(
        land,
        [*BUILDER, "0 meeple 2,1/road"],
        drawn="W",
        bag=("E", *"UUUUUU"),
        track=((3, 1), (0, 0)),
        message=[5, 4],
        traders_builders=True,
    )
    game.play("place 2,0 0", "pass", "score meeple", "message points", "score meeple")
    game.play("builder build", tile=["E"]).play("place 0,-1 180", "figure meeple city", "score woman")
    assert game.state.track[0] == (7, 5)
    game.play("message perform", "place -1,0 0", "pass")
    assert game.menu() == ["builder"]
    assert carcassonne.view(game.state, 0).parts == ("turn", "builder", "message")


def test_7_9_builder_and_pig_are_no_meeples():
    traders = {"traders_builders": True}
    farm = ["0 meeple 0,0/field-ese", "0 pig 1,0/field-ese"]
    assert draw_message(7, ["U 1,0 0"], farm, **traders).play("message perform").state.owed[0].points == 2
    city = ["0 meeple 0,1/city", "0 builder 1,1/city"]
    assert draw_message(6, ["F 0,1 0", "F 1,1 0"], city, **traders).play("message perform").state.owed[0].points == 2
    assert draw_message(8, ["U 1,0 0"], BUILDER, **traders).menu("message") == {"points", "perform 0,0/road"}


def test_8_1_the_abbot_serves_only_in_cloisters_and_gardens():
    game = set_up(drawn="A", abbot=True).play("place 1,0 90")
    assert {place for place in game.menu("figure") if place.startswith("abbot")} == {"abbot cloister"}
    assert game.play("figure abbot cloister").state.supply[0] == {"meeple": 7, "abbot": 0}


def test_8_2_gardens_are_for_abbots_and_score_like_cloisters():
    assert sum(number for tile, number in count_tiles(abbot=True).items() if tile.endswith("*")) == 8
    everything = count_tiles(abbot=True, river=True, inns_cathedrals=True, traders_builders=True)
    assert sum(number for tile, number in everything.items() if tile.endswith("*")) == 8 + 2 + 2 + 1
    assert everything["V"] + everything["V*"] == 9
    game = set_up(drawn="U*", abbot=True).play("place 0,1 0")
    assert game.menu("figure") == {"abbot garden", "meeple road", "meeple field-nnw", "meeple field-ese"}
    around = ["U* 0,1 0", "U 1,0 0", "U -1,0 0", "U -1,1 0", "U 1,1 0", "B -1,2 0", "B 0,2 0"]
    assert set_up(around, ["0 abbot 0,1/garden"], drawn="B", abbot=True).play("place 1,2 0", "pass").points == [9, 0]


def test_8_3_an_abbot_may_come_home_for_what_his_cloister_is_worth():
    land, figures = ["B 0,1 0", "B 0,2 0"], ["0 abbot 0,1/cloister", "1 abbot 0,2/cloister"]
    game = set_up(land, figures, abbot=True).play("place 1,0 0")
    assert game.menu("recall") == {"0,1/cloister"}
    game.play("recall 0,1/cloister")
    assert game.points == [4, 0]
    assert game.state.supply[0]["abbot"] == 1
    assert not game.find_events("FigurePlaced")
    assert game.menu(seat=1) == ["place"]


@pytest.mark.parametrize(("edition", "points"), [(1, 1 + 4 + 3), (2, 1 + 4)])
def test_8_3_the_fairy_beside_him_brought_her_points_in_edition_1_only(edition, points):
    game = set_up(["B 0,1 0"], ["0 abbot 0,1/cloister"], abbot=True, fairy=True, edition=edition)
    game.play("place 1,0 0", "fairy 0,1/cloister", "1: place -1,0 0", "1: pass", "place -2,0 0", "recall 0,1/cloister")
    assert game.points == [points, 0]


@pytest.mark.parametrize(("edition", "can_leave"), [(4, False), (3, True)])
def test_8_3_an_abbot_whose_place_is_surrounded_stays_until_it_is_scored(edition, can_leave):
    around = [f"B {x},{y} 0" for x in (-1, 0, 1) for y in (1, 2, 3) if (x, y) != (1, 3)]
    figures = ["0 abbot 0,2/cloister"]
    game = set_up(around, figures, drawn="B", abbot=True, edition=edition).play("place 1,3 0")
    assert game.menu("recall") == ({"0,2/cloister"} if can_leave else set())
    assert game.play("pass").points == [9, 0]


def test_8_3_a_lying_abbot_comes_home_though_he_is_surrounded():
    around = [f"B {x},{y} 0" for x in (-1, 0, 1) for y in (1, 2, 3) if (x, y) not in ((0, 2), (1, 3))]
    figures = ["0 abbot 0,2/cloister lying"]
    game = set_up(["MO1 0,2 0", *around], figures, drawn="B", abbot=True, monasteries=True).play("place 1,3 0")
    assert game.menu("recall") == {"0,2/cloister-lying"}
    assert game.play("recall 0,2/cloister-lying").points[0] >= 5


def test_8_4_his_return_is_a_round_of_its_own():
    game = set_up_messages(
        ["B 0,1 0", "B 0,2 0"],
        ["0 abbot 0,1/cloister", "0 meeple 0,0/city"],
        drawn="E",
        track=((2, 1), (0, 0)),
        abbot=True,
        message=[5, 7],
    )
    game.play(CITY, "recall 0,1/cloister", "score meeple", "message points", "score meeple")
    assert game.menu() == ["score"]
    game.play("score woman")
    assert [event.number for event in game.find_events("MessageDrawn")] == [5, 7]


def begin_river_game(*drawn):
    rigged = chance.make_rigged({"start player": [0], "tile": drawn})
    chosen = options.parse(OPTIONS, {"river": True, "messages": False})
    game = Game(games.begin(carcassonne, chosen, 2, rigged).state)
    game.chance = rigged
    return game


def test_9_1_the_spring_then_ten_river_tiles_then_the_lake_then_the_bag():
    deck = make_deck(river=True)
    assert deck.start == "R01"
    assert [len(bag) for bag in deck.bags] == [10, 1, 71]
    assert deck.bags[1] == ("R02",)
    assert all(tile.startswith("R") for tile in deck.bags[0])
    game = begin_river_game("R07")
    assert carcassonne.view(game.state, None).tiles["0,0"].tile == "R01"
    assert len(game.state.bags[0]) == 9


def test_9_2_a_river_tile_goes_on_with_the_river_and_never_turns_twice_to_the_same_side():
    game = begin_river_game("R10", "R10")
    assert game.menu("place") == {"1,0 0", "1,0 90"}
    game.play("place 1,0 0", "pass")
    assert game.menu("place", seat=1) == {"1,1 180"}


def test_9_3_figures_go_on_the_banks_and_the_field_goes_round_the_spring():
    game = begin_river_game("R07", "R07", "R10").play("place 1,0 0")
    assert game.menu("figure") == {"meeple field-nnw", "meeple field-ese"}
    game.play("figure meeple field-nnw", "1: place 2,0 0")
    assert [event.seat for event in game.find_events("FigureWithheld")] == [1]
    assert [segment.token for segment in PIECES["R02"][0].segments] == ["field"]


def test_10_1_the_fairy_moves_beside_an_own_meeple_instead_of_a_figure():
    figures = ["0 meeple 0,0/road", "1 meeple 0,0/city", "0 builder 1,0/road"]
    game = set_up(["U 1,0 0"], figures, fairy=True, traders_builders=True).play("place 0,1 0")
    assert game.menu("fairy") == {"0,0/road"}
    game.play("fairy 0,0/road")
    assert carcassonne.view(game.state, None).fairy == "0,0/road"
    assert not game.find_events("FigurePlaced")
    assert game.menu(seat=1) == ["place"]


def begin_turn_with_fairy(**given):
    """Let seat 0 begin a turn with the fairy beside its robber."""
    game = set_up_messages(meeples=["0 meeple 0,0/road"], fairy=True, **given)
    return game.play("place 0,1 0", "fairy 0,0/road", "1: place 0,2 0", "1: pass")


def test_10_2_a_point_first_of_all_in_a_round_of_its_own():
    game = begin_turn_with_fairy(track=((4, 0), (0, 0)), message=[5])
    assert [type(event).__name__ for event in game.events[-2:]] == ["TurnBegan", "RoundOpened"]
    game.play("score meeple")
    assert game.menu() == ["message"]
    assert game.play("message points", "score woman").menu() == ["place"]
    assert game.state.track[0] == (5, 2)


def test_10_2_not_for_the_second_part_of_a_double_turn_but_for_message_4():
    double = set_up(["U 1,0 0"], BUILDER, fairy=True, traders_builders=True)
    double.play("place 0,1 0", "fairy 0,0/road", "1: place 0,2 0", "1: pass", "place 2,0 0", "pass")
    assert double.points == [1, 0]
    assert double.play("builder build").points == [1, 0]
    message = begin_turn_with_fairy(track=((4, 0), (0, 0)), message=[4]).play("score meeple", "message perform")
    assert message.menu() == ["score"]
    assert message.points == [6, 0]


def test_10_3_three_points_to_the_owner_of_the_meeple_beside_her_in_the_lead_or_not():
    figures = ["0 meeple 0,0/road", "1 meeple -1,0/road", "1 meeple 1,0/road"]
    land = ["A -1,0 270", "U 1,0 0"]
    game = set_up(land, figures, bag=("U", "A", "U"), fairy=True, rig={"tile": ["U", "A", "U"]})
    game.play("place 0,1 0", "fairy 0,0/road", "1: place 0,2 0", "1: pass", "place 2,0 90", "pass")
    scored = game.find_events("FeatureScored")[0]
    assert [(award.seat, award.points, award.why) for award in scored.awards] == [(1, 4, "road"), (0, 3, "fairy")]
    assert game.points == [1 + 3, 4]
    assert carcassonne.view(game.state, None).fairy == "0,0/road"
    at_the_end = set_up(meeples=["0 meeple 0,0/road"], bag=(), fairy=True).play("place 0,1 0", "fairy 0,0/road")
    assert at_the_end.points == [1 + 3, 0]


def test_10_3_beside_no_meeple_she_brings_nothing():
    game = set_up(["A -1,0 270"], ["0 meeple 0,0/road"], bag=("A", *"UUU"), fairy=True, rig={"tile": ["A", "U", "U"]})
    game.play("place 0,1 0", "fairy 0,0/road", "1: place 1,0 90", "1: pass")
    assert game.points == [3 + 3, 0]
    assert not game.find_events("RoundOpened")


def test_10_4_her_points_count_for_message_8_and_not_for_message_1():
    for number, points in ((8, 1 + 3), (1, 1)):
        game = begin_turn_with_fairy(track=((4, 0), (0, 0)), message=[number]).play("score meeple", "message perform")
        assert game.find_events("MessagePerformed")[0].points == points
