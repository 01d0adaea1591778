"""The bathhouses, paragraph by paragraph of the book."""

import pytest

from engine.games.carcassonne.boxes.bathhouses import LEFT_OUT, Bather
from engine.games.carcassonne.tiles import count_tiles_of
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_messages import set_up_messages

BATHS = {"bathhouses": True}
ROAD = ["BH2 1,0 0", "A 2,0 90"]
"""A road with a bathhouse for 3 points, which a tile A on -1,0 completes."""


def set_up_road(meeples=(), **given):
    return set_up(ROAD, meeples, drawn="A", **BATHS, **given)


def complete(*meeples, **given):
    return set_up_road(meeples, **given).play("place -1,0 270", "pass")


def bathe(track, bag=("U",) * 9, **given):
    """Return a game in which a meeple of seat 0 bathes at 1,0 and seat 0 has laid another tile."""
    game = set_up_road(["0 meeple 1,0/road"], track=track, bag=bag, **given)
    return game.play("place -1,0 270", "pass", "1: place 1,1 0", "1: pass", "place 2,1 0")


@pytest.mark.parametrize(("seats", "used"), [(2, 4), (3, 5), (4, 6), (6, 6)])
def test_31_1_six_tiles_with_fewer_of_them_for_two_and_three_players(seats, used):
    boxes = {"inns_cathedrals": True}
    bag = set_up(bag=tuple(count_tiles_of("bathhouses")), seats=seats, **boxes, **BATHS).state.bags[0]
    assert len(bag) == used == 6 - len(LEFT_OUT.get(str(seats), ()))


def test_31_2_a_completed_road_or_city_brings_the_number_of_its_bathhouses_more():
    assert complete("0 meeple 1,0/road").points == [4 + 3, 0]
    done = set_up((), ["1 meeple 0,0/city"], drawn="BH5", **BATHS).play("place 0,-1 180", "pass")
    assert done.points == [0, 4 + 5]


def test_31_2_unfinished_it_brings_nothing_more():
    game = set_up(ROAD[:1], ["0 meeple 1,0/road"], bag=(), drawn="A", **BATHS).play("place -1,0 270", "pass")
    assert (game.over, game.points, game.state.bathers) == (True, [3, 0], ())


def test_31_3_a_meeple_of_the_leader_bathes_and_the_others_go_home():
    game = complete("0 meeple 1,0/road", "0 meeple 2,0/road", "1 meeple 0,0/road")
    assert game.state.bathers == (Bather(0, "1,0", 3),)
    assert [supply["meeple"] for supply in game.state.supply] == [6, 7]


def test_31_3_if_several_lead_the_player_on_turn_bathes_first():
    game = complete("1 meeple 1,0/road", "0 meeple 2,0/road")
    assert (game.points, game.state.bathers) == ([7, 7], (Bather(0, "1,0", 3),))


def test_31_3_two_bathhouses_take_the_meeples_of_both_leaders():
    land = ["BH2 1,0 0", "BH2 2,0 0", "A 3,0 90"]
    game = set_up(land, ["1 meeple 1,0/road", "0 meeple 2,0/road"], drawn="A", **BATHS).play("place -1,0 270", "pass")
    assert (game.points, [bather.seat for bather in game.state.bathers]) == ([5 + 6, 5 + 6], [0, 1])


def test_31_3_only_plain_meeples_bathe():
    game = complete("0 large 1,0/road", inns_cathedrals=True)
    assert (game.points, game.state.bathers, game.state.supply[0]["large"]) == ([7, 0], (), 1)


def test_31_4_the_meeple_is_bought_back_before_the_figure_and_can_be_placed_at_once():
    game = bathe(((0,), (0,)))
    assert (game.menu("fetch"), game.state.supply[0]["meeple"]) == ({"1,0"}, 6)
    game.play("fetch 1,0")
    assert (game.points, game.state.bathers, game.state.supply[0]["meeple"]) == ([7 - 3, 0], (), 7)
    assert "fetch" not in game.menu()
    assert game.play("figure meeple field-ese").state.supply[0]["meeple"] == 6


def test_31_4_not_by_others_and_not_before_the_tile_and_below_zero_too():
    game = complete("0 meeple 1,0/road", track=((-6,), (0,)))
    assert game.play("1: place 1,1 0").menu("fetch", 1) == set()
    game.play("1: pass")
    assert game.menu() == ["place"]
    assert game.play("place 2,1 0", "fetch 1,0").points == [1 - 3, 0]


def test_31_4_once_for_each_tile():
    land = ["BH2 1,0 0", "BH2 2,0 0", "A 3,0 90"]
    game = set_up(land, ["0 meeple 1,0/road", "0 meeple 2,0/road"], drawn="A", **BATHS)
    game.play("place -1,0 270", "pass", "1: place 1,1 0", "1: pass", "place 2,1 0", "fetch 2,0")
    assert "fetch" not in game.menu()
    assert game.play("pass", "1: place 3,1 0", "1: pass", "place 1,2 0").menu("fetch") == {"1,0"}


def test_31_4_one_scoring_figure_pays_the_whole_and_no_message_is_drawn():
    game = set_up_messages(ROAD, ["0 meeple 1,0/road"], drawn="A", track=((1, 8), (0, 0)), **BATHS)
    game.play("place -1,0 270", "pass", "score meeple", "1: place 1,1 0", "1: pass", "place 2,1 0", "fetch 1,0")
    game.play("score meeple")
    assert game.state.track[0] == (8 - 3, 8)
    assert not game.find_events("MessageDrawn")


def test_31_5_at_the_end_a_meeple_in_a_bathhouse_brings_and_costs_nothing():
    game = bathe(((0,), (0,)), bag=("U", "U")).play("pass")
    assert (game.over, game.points, len(game.state.bathers)) == (True, [7, 0], 1)
