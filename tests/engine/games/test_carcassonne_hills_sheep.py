"""Hills & Sheep, paragraph by paragraph of the book."""

import pytest
from msgspec.structs import replace

from engine.games import carcassonne
from engine.games.carcassonne.tiles import count_tiles_of
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import BUILDER, count_tiles
from tests.engine.games.test_carcassonne_messages import draw_message, set_up_messages

HILLS = {"hills_sheep": True}
TWO_KNIGHTS = ["0 meeple 0,-1/city", "1 meeple -2,-1/city"]


def set_up_flock(*sheep, land=(), others=(), drawn="B", **given):
    """Let seat 0 put a shepherd on the field south of the road and draw these tokens; its next tile is in hand."""
    game = set_up(
        land, others, drawn="U", bag=(drawn, "E", "U"), rig={"sheep": list(sheep), "tile": ["E", drawn]}, **HILLS
    )
    game.play("place 1,0 0", "figure shepherd field-ese")
    return game.play("1: place 0,-1 180", "1: pass")


def sheep_of(game):
    return carcassonne.view(game.state, None).flocks


def test_14_1_a_shepherd_goes_on_a_field_without_another_shepherd():
    game = set_up(meeples=["1 meeple 0,0/field-ese"], **HILLS).play("place 1,0 0")
    assert {"shepherd field-nnw", "shepherd field-ese"} <= game.menu("figure")
    taken = set_up(meeples=["1 shepherd 0,0/field-ese"], **HILLS).play("place 1,0 0")
    assert "shepherd field-ese" not in taken.menu("figure")
    assert "meeple field-ese" in taken.menu("figure")


def test_14_2_he_draws_sheep_or_goes_home_with_the_wolf():
    game = set_up(rig={"sheep": [3]}, **HILLS).play("place 1,0 0", "figure shepherd field-ese")
    assert sheep_of(game) == {"1,0/field-ese": (3,)}
    wolf = set_up(rig={"sheep": [0]}, **HILLS).play("place 1,0 0", "figure shepherd field-ese")
    assert sheep_of(wolf) == {}
    assert wolf.state.supply[0]["shepherd"] == 1


def test_14_3_when_his_field_grows_the_flock_grows_or_is_driven_home():
    game = set_up_flock(3, 2).play("place 1,1 0", "figure meeple cloister")
    assert game.menu("flock") == {"grow", "home"}
    assert game.play("flock grow").menu(seat=1) == ["place"]
    assert sheep_of(game) == {"1,0/field-ese": (3, 2)}
    other = set_up_flock(3).play("place 1,-1 0", "pass")
    assert other.menu(seat=1) == ["place"]


@pytest.mark.parametrize(("edition", "next_seat"), [(3, 1), (2, 0)])
def test_14_3_a_shepherd_on_the_second_tile_of_a_builder_decides_nothing_about_the_first(edition, next_seat):
    boxes = {"traders_builders": True, "edition": edition, **HILLS}
    game = set_up(["U 1,0 0"], BUILDER, rig={"sheep": [3]}, **boxes).play("place 2,0 0", "pass", "builder build")
    game.play("place 3,0 0", "figure shepherd field-ese")
    assert game.menu(seat=next_seat) == (["place"] if next_seat else ["flock"])


def test_14_3_nor_does_a_shepherd_on_the_tile_of_message_4():
    game = draw_message(4, ["U 1,0 0"], **HILLS)
    game.play("message perform", "place 2,0 0", "figure shepherd field-ese", sheep=[3])
    assert game.menu(seat=1) == ["place"]


def test_14_4_everybody_on_the_field_gets_all_its_sheep():
    game = set_up_flock(3).play("place 1,1 0", "pass", "flock home")
    assert game.points == [3, 0]
    assert sheep_of(game) == {}
    both = set_up(["B 5,5 0", "B 5,7 0"], ["0 shepherd 5,5/field", "1 shepherd 5,7/field"], drawn="B", **HILLS)
    both.state = replace(both.state, flocks={"5,5/field": (2, 1), "5,7/field": (4,)})
    both.play("place 5,6 0", "pass", "flock home")
    assert both.points == [7, 7]
    assert [own["shepherd"] for own in both.state.supply] == [1, 1]


def test_14_4_driving_home_is_a_scoring_of_round_2():
    game = set_up_messages(track=((2, 0), (0, 0)), message=[1], **HILLS)
    game.play("place 1,0 0", "figure shepherd field-ese", sheep=[3])
    game.play("1: place 2,0 0", "1: pass", "place 3,0 0", "figure meeple field-nnw", "flock home", "score meeple")
    assert game.menu() == ["message"]


def test_14_5_the_wolf_sends_all_of_the_field_home():
    game = set_up_flock(3, 0).play("place 1,1 0", "pass", "flock grow")
    assert game.points == [0, 0]
    assert sheep_of(game) == {}
    assert game.state.supply[0]["shepherd"] == 1


def test_14_6_a_closed_field_is_driven_home_at_once_even_if_another_seat_closes_it():
    inner = set_up(drawn="T06", rig={"sheep": [4]}, traders_builders=True, **HILLS)
    assert inner.play("place 0,-1 0", "figure shepherd field").points == [4, 0]
    rig = {"sheep": [2], "tile": ["R", "U"]}
    other = set_up(drawn="R", bag=("R", "U", "U"), rig=rig, **HILLS).play("place 0,-1 180", "figure shepherd field")
    assert other.points == [0, 0]
    assert other.play("1: place 0,-2 0", "1: pass").points == [2, 0]


def test_14_7_flocks_left_over_bring_nothing():
    game = set_up(bag=(), rig={"sheep": [4]}, **HILLS).play("place 1,0 0", "figure shepherd field-ese")
    assert game.over
    assert game.points == [0, 0]


def test_14_8_a_tile_of_the_bag_goes_under_the_hill():
    game = set_up(drawn="HS13", bag=("U",) * 5, **HILLS).play("place 1,0 90")
    assert carcassonne.view(game.state, None).left == 4
    assert set_up(drawn="HS13", bag=("U",), **HILLS).play("place 1,0 90", "pass").over
    assert not set_up(drawn="HS13", bag=(), **HILLS).play("place 1,0 90", "pass").find_events("HillRaised")
    assert count_tiles(hills_sheep=True).total() == 72 + 18 == 72 + sum(count_tiles_of("hills_sheep").values())


@pytest.mark.parametrize(
    ("hills", "points"),
    [((), [8, 8]), ((0,), [8, 0]), ((1,), [0, 8]), ((0, 1), [8, 8])],
)
def test_14_9_a_level_seat_with_a_meeple_on_a_hill_leads(hills, points):
    east = "HS03 0,-1 270" if 0 in hills else "N 0,-1 270"
    land = ["U -1,0 0", "U -2,0 0", "HS04 -2,-1 90" if 1 in hills else "E -2,-1 90", east]
    figures = ["0 meeple 0,-1/city", "1 meeple -2,-1/city-E" if 1 in hills else "1 meeple -2,-1/city"]
    game = set_up(land, figures, drawn="G", **HILLS).play("place -1,-1 0", "pass")
    assert game.points == points


def test_14_9_a_real_lead_is_not_beaten_by_a_hill():
    land = ["U -1,0 0", "U -2,0 0", "E -2,-1 90", "HS03 0,-1 270"]
    figures = ["0 meeple 0,-1/city", "1 large -2,-1/city"]
    game = set_up(land, figures, drawn="G", inns_cathedrals=True, **HILLS).play("place -1,-1 0", "pass")
    assert game.points == [0, 8]


def test_14_10_a_city_goes_on_with_both_cities_of_one_side():
    land = ["U 1,0 0", "U -1,0 0", "E 1,-1 270"]
    game = set_up(land, ["0 meeple 0,0/city"], drawn="HS02", **HILLS).play("place 0,-1 180", "pass")
    assert game.points == [0, 0]
    done = set_up([*land, "HS02 0,-1 180"], ["0 meeple 0,0/city"], drawn="E", **HILLS).play("place -1,-1 90", "pass")
    assert done.points == [2 * 4, 0]
    facing = set_up(["HS02 0,-1 180", "HS02 5,5 0"], ["0 meeple 5,5/city-NE"], drawn="HS02", **HILLS)
    joined = facing.play("place 5,4 180", "pass").state
    assert [feature.open for feature in joined.features.values() if feature.figures] == [4]


def test_14_11_a_complete_cloister_counts_the_vineyards_round_it():
    around = ["B 4,4 0", "B 5,4 0", "B 6,4 0", "B 4,5 0", "B 5,5 0", "HS01 4,6 180", "HS01 5,6 180"]
    monk = ["0 meeple 5,5/cloister"]
    game = set_up([*around, "HS05 6,6 180"], monk, drawn="B", **HILLS).play("place 6,5 0", "pass")
    assert game.points == [9 + 3 * 3, 0]
    unfinished = set_up(around, monk, bag=(), **HILLS).play("place 1,0 0", "pass")
    assert unfinished.points == [7, 0]
    message = draw_message(3, around, monk, **HILLS).play("message perform")
    assert message.find_events("MessagePerformed")[0].points == 7
    garden = ["E* 5,5 0", *(tile for tile in around if " 5,5" not in tile and " 5,4" not in tile), "E 5,4 180"]
    abbot = set_up([*garden, "HS05 6,6 180"], ["0 abbot 5,5/garden"], drawn="B", abbot=True, **HILLS)
    assert abbot.play("place 6,5 0", "pass").points == [9, 0]
