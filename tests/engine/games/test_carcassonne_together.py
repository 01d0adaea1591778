"""Boxes together: worked examples whose points were counted by hand from the rule texts."""

import pytest
from msgspec.structs import replace

from engine.games import carcassonne
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_messages import draw_message

TOWER = "WT04"  # §12: two points for each meeple on the nine tiles
BESIEGED_CITY = ["CA3 0,-1 180"]  # goes on with the city of the start tile and is open to the east
ROUND_A_HOLE = ["U 1,0 0", "U -1,0 0", "BT01 -1,1 0", "HS05 -1,2 270", "HS01 0,2 180", "BT01 1,2 0"]


def view(game):
    return carcassonne.view(game.state, None)


def set_fields(game, **fields):
    """Set the fields of boxes in the state."""
    game.state = replace(game.state, **fields)
    return game


def test_a_large_meeple_is_one_meeple_for_a_tower_and_all_kinds_of_place_count():
    game = set_up(meeples=["1 meeple 0,0/road"], drawn=TOWER, watchtowers=True, inns_cathedrals=True)
    assert game.play("place 0,-1 180", "figure large city").points == [2 * 2 + 4, 0]


def test_a_ringmaster_wakes_a_tower_which_counts_an_acrobat():
    game = set_up(["BT01 1,-1 0"], ["1 meeple 1,-1/acrobats"], drawn=TOWER, watchtowers=True, big_top=True)
    assert game.play("place 0,-1 180", "figure ringmaster city").points == [2 * 2 + 4 + 2, 0]


def test_a_tower_sees_neither_a_shepherd_nor_a_builder():
    figures = ["1 shepherd 0,0/field-ese", "1 meeple 0,0/road", "1 builder 0,0/road"]
    game = set_up(meeples=figures, drawn=TOWER, watchtowers=True, hills_sheep=True, traders_builders=True)
    set_fields(game, flocks={"0,0/field-ese": (2,)})
    assert game.play("place 0,-1 180", "figure meeple city").points == [2 * 2 + 4, 0]


def test_a_tower_counts_special_monasteries_as_cloisters():
    tiles = ["A -1,0 270", "A 2,0 90", "MO1 1,1 0"]
    game = set_up(tiles, drawn="WT11", watchtowers=True, monasteries=True)
    assert game.play("place 1,0 0", "figure meeple road-W").points == [3 * 2 + 3, 0]


def test_a_besieged_city_gives_its_goods_to_the_seat_that_completes_it():
    game = set_up(["T01 0,-1 180"], ["1 meeple 0,0/city"], drawn="CA1", cathars=True, traders_builders=True)
    assert game.play("place 1,-1 270", "pass").points == [0, 3]
    assert view(game).goods[0]["grain"] == 1


def test_a_mayor_counts_the_shields_of_a_besieged_city():
    city, figures = ["M 0,-1 180"], ["0 mayor 0,-1/city", "1 meeple 0,0/city"]
    game = set_up(city, figures, drawn="CA1", cathars=True, abbey_mayor=True)
    assert game.play("place 1,-1 270", "pass").points == [4, 4]


def test_a_hill_breaks_the_tie_in_a_besieged_city():
    city, figures = ["HS03 0,-1 180"], ["1 meeple 0,-1/city", "0 meeple 0,0/city"]
    game = set_up(city, figures, drawn="CA1", cathars=True, hills_sheep=True)
    assert game.play("place 1,-1 270", "pass").points == [0, 3]


def test_a_mayor_without_strength_on_a_hill_breaks_no_tie():
    city, figures = ["HS03 0,-1 180"], ["1 mayor 0,-1/city", "0 meeple 0,0/city"]
    game = set_up(city, figures, drawn="E", abbey_mayor=True, hills_sheep=True)
    assert game.play("place 1,-1 270", "pass").points == [6, 0]


def test_a_complete_shrine_counts_the_vineyards_round_it():
    game = set_up([*ROUND_A_HOLE, "CU1 0,1 0"], ["0 meeple 0,1/cloister"], drawn="B", shrines=True, hills_sheep=True)
    assert game.play("place 1,1 0", "pass").points == [9 + 2 * 3, 0]


def test_a_monk_in_an_abbey_has_nine_points_at_once_and_the_vineyards():
    game = set_up([*ROUND_A_HOLE, "BT01 1,1 0"], abbey_mayor=True, hills_sheep=True, rig={"tile": ["U", "U"]})
    game.play("place 2,0 0", "pass", "1: abbey 0,1", "1: figure meeple cloister")
    assert game.points == [0, 9 + 2 * 3]


def test_an_abbot_who_comes_home_from_a_shrine_counts_no_vineyards():
    land = ["CU1 0,1 0", "HS01 0,2 180"]
    game = set_up(land, ["0 abbot 0,1/cloister"], abbot=True, shrines=True, hills_sheep=True)
    assert game.play("place 1,0 0", "recall 0,1/cloister").points == [1 + 3, 0]


@pytest.mark.parametrize(("monk", "points"), [("cloister", 9), ("cloister lying", 0)])
def test_a_lying_monk_sends_no_rival_home(monk, points):
    land = ["U 1,0 0", "U -1,0 0", "BT01 -1,1 0", "BT01 -1,2 0", "BT01 0,2 0", "CU1 1,2 0", "MO1 0,1 0"]
    game = set_up(land, [f"0 meeple 0,1/{monk}", "1 meeple 1,2/cloister"], drawn="BT01", shrines=True, monasteries=True)
    assert game.play("place 1,1 0", "pass").points == [points, 0]
    assert len(game.find_events("ChallengeLost")) == (points > 0)


def test_an_inn_doubles_the_road_and_leaves_the_toll_alone():
    land = ["A -1,0 270", "W 2,0 0"]
    game = set_up(land, ["0 meeple 0,0/road"], drawn="I15", tollkeepers=True, inns_cathedrals=True)
    set_fields(game, tollhouses={"2,0": (1, 1)})
    assert game.play("place 1,0 0", "pass").points == [2 * 4, 1]
    assert view(game).tollhouses == {"2,0": (1, 2)}


def test_the_teacher_brings_what_the_road_brought_without_the_toll():
    land = ["SH2 -1,0 0", "SH1 -2,0 0", "W 2,0 0"]
    game = set_up(land, ["0 meeple 0,0/road"], drawn="U", school=True, tollkeepers=True)
    set_fields(game, teacher=1, tollhouses={"2,0": (1, 1)})
    assert game.play("place 1,0 0", "pass").points == [4, 1 + 4]
    assert view(game).teacher == 0


def test_the_teacher_is_not_paid_for_the_fairy_and_the_ringmaster():
    game = set_up(["BT01 1,-1 0"], ["0 ringmaster 0,0/city"], drawn="E", school=True, big_top=True, fairy=True)
    set_fields(game, teacher=1, fairy=game.state.features[0].figures[0])
    assert game.play("place 0,-1 180", "pass").points == [4 + 2 + 3, 4]


def test_an_acrobat_beside_a_tree_may_harvest_it():
    game = set_up(["FT1 0,-1 180"], drawn="BT01", rig={"fruit": [5]}, fruit_trees=True, big_top=True)
    game.play("place 1,-1 0", "figure meeple acrobats", "harvest 0,-1")
    assert game.points == [5, 0]


def test_a_shepherd_beside_a_tree_may_not():
    game = set_up(["FT1 0,-1 180"], rig={"sheep": [2]}, fruit_trees=True, hills_sheep=True)
    game.play("place 1,0 0", "figure shepherd field-ese")
    assert not game.find_events("FruitOffered")
    assert game.menu(seat=1) == ["place"]


def test_a_wagon_on_a_road_with_an_inn_drives_on_into_the_city_of_its_tile():
    road = ["A -1,0 270", "A 2,0 90"]
    game = set_up(road, ["0 wagon 0,0/road"], drawn="I15", abbey_mayor=True, inns_cathedrals=True)
    game.play("place 1,0 0", "pass", "drive 0,0/city")
    assert game.points == [2 * 4, 0]
    assert [figure.kind for figure in view(game).figures] == ["wagon"]


def test_a_ringmaster_in_a_besieged_city_that_stays_open_has_his_bonus_alone():
    land = [*BESIEGED_CITY, "BT01 -1,-1 0"]
    game = set_up(land, ["0 ringmaster 0,-1/city"], bag=(), cathars=True, big_top=True)
    assert game.play("place 1,0 0", "pass").points == [2, 0]


def test_the_circus_pays_for_a_mayor_and_a_wagon_but_for_no_barn_and_no_shepherd():
    figures = ["1 mayor 0,0/city", "1 wagon 0,0/road", "0 shepherd 0,0/field-ese"]
    given = {"big_top": True, "abbey_mayor": True, "hills_sheep": True}
    game = set_up(["BT08 1,0 0"], figures, drawn="BT06", rig={"animal": [4]}, **given)
    set_fields(game, tent="1,0", animals=(3, 4), flocks={"0,0/field-ese": (1,)})
    assert game.play("place 0,1 0", "pass", "flock grow", sheep=[1]).points == [0, 8]


def test_farmers_beside_a_besieged_city_with_a_pig_have_eight_points():
    figures = ["0 meeple 0,0/field-ene", "0 pig 0,0/field-ene"]
    game = set_up(meeples=figures, drawn="CA1", bag=(), cathars=True, traders_builders=True)
    assert game.play("place 0,-1 180", "pass").points == [8, 0]


FARMERS = {"inns_cathedrals": True, "traders_builders": True}


@pytest.mark.parametrize(
    ("number", "tiles", "figures", "boxes", "points"),
    [
        (2, ["CA3 2,1 180"], ["0 meeple 2,1/city"], {"cathars": True}, 0),
        (2, ["WT06 2,1 180"], ["0 meeple 2,1/city"], {"watchtowers": True}, 1),
        (3, ["CU1 0,1 0", "HS01 0,2 180"], ["0 meeple 0,1/cloister"], {"shrines": True, "hills_sheep": True}, 3),
        (3, ["MO1 0,1 0", "HS01 0,2 180"], ["0 meeple 0,1/cloister lying"], {"monasteries": True}, 4),
        (5, ["M 2,1 180"], ["0 mayor 2,1/city"], {"abbey_mayor": True}, 2),
        (6, ["E 0,1 180"], ["0 mayor 0,1/city", "0 ringmaster 0,1/city"], {"abbey_mayor": True, "big_top": True}, 4),
        (7, ["U 0,1 0"], ["0 large 0,1/field-nnw", "0 pig 0,1/field-nnw"], FARMERS, 2),
        (8, ["CA3 2,1 180"], ["0 meeple 2,1/city"], {"cathars": True}, 0),
        (8, ["WT06 2,1 180"], ["0 meeple 2,1/city"], {"watchtowers": True}, 1),
        (8, ["BT01 1,1 0", "CA3 2,1 180"], ["0 ringmaster 2,1/city"], {"cathars": True, "big_top": True}, 2),
        (8, ["E 0,1 180"], ["0 mayor 0,1/city"], {"abbey_mayor": True}, 0),
    ],
)
def test_messages_count_the_feature_as_their_footnotes_say(number, tiles, figures, boxes, points):
    game = draw_message(number, tiles, figures, **boxes)
    args = f" {figures[0].split()[2]}" if number == 8 else ""
    assert game.play(f"message perform{args}").find_events("MessagePerformed")[0].points == points
