"""Fruit trees, tollkeepers and the school, on tiles of our own, paragraph by paragraph of the book."""

import pytest
from msgspec.structs import replace

from engine import chance, options
from engine import game as games
from engine.games import carcassonne
from engine.games.carcassonne.tiles import DATA, count_tiles_of
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import BUILDER, count_tiles
from tests.engine.games.test_carcassonne_messages import draw_message, set_up_messages

FRUIT = {"fruit_trees": True}
TOLL = {"tollkeepers": True}
VILLAGE = ["W 1,0 90"]


def set_up_tree(*values, **given):
    """Seat 0 lays the first tree below the start tile."""
    return set_up(drawn="FT1", rig={"fruit": list(values)}, **FRUIT, **given).play("place 0,1 180")


def test_19_1_six_tiles_of_our_own():
    assert count_tiles(fruit_trees=True).total() == 72 + 6 == 72 + sum(count_tiles_of("fruit_trees").values())
    assert "tiles.fruit_trees" in DATA["own"]


def test_19_2_every_tree_has_four_tokens_of_its_fruit():
    game = set_up_tree(3)
    assert carcassonne.view(game.state, None).trees == {"0,1": 4}
    game.play("figure meeple field", "harvest 0,1")
    assert carcassonne.view(game.state, None).trees == {"0,1": 3}
    assert carcassonne.view(game.state, None).baskets == ({"quince": 1}, {})


def test_19_3_who_placed_a_meeple_beside_a_tree_may_do_one_thing():
    game = set_up_tree(3).play("figure meeple field")
    assert game.menu() == ["harvest", "keep"]
    assert game.play("keep").menu(seat=1) == ["place"]
    assert set_up_tree().play("pass").menu(seat=1) == ["place"]
    beside = set_up(["FT1 0,1 180"], **FRUIT).play("place 1,0 0", "figure meeple road")
    assert beside.menu("harvest") == {"0,1"}
    pig = set_up(["FT1 0,1 180"], ["0 meeple 0,0/field-ese"], traders_builders=True, **FRUIT).play("place 1,0 0")
    assert pig.play("figure pig field-ese").menu(seat=1) == ["place"]


@pytest.mark.parametrize(("edition", "next_seat"), [(3, 1), (2, 0)])
def test_19_3_a_tree_laid_second_offers_nothing_to_the_figure_of_the_first_tile(edition, next_seat):
    boxes = {"traders_builders": True, "edition": edition, **FRUIT}
    game = set_up(["U 1,0 0"], BUILDER, rig={"tile": ["FT1"]}, bag=("FT1", "U"), **boxes)
    game.play("place 2,0 0", "figure meeple field-ese", "builder build", "place 2,1 180", "pass")
    assert game.menu(seat=next_seat) == (["place"] if next_seat else ["harvest", "keep"])


def test_19_4_a_token_is_worth_its_value_at_once_in_round_2():
    assert set_up_tree(5).play("figure meeple field", "harvest 0,1").points == [5, 0]
    game = set_up_messages(drawn="FT1", track=((0, 1), (0, 0)), message=[1], **FRUIT).play(
        "place 0,1 180", "figure meeple field"
    )
    assert game.play("harvest 0,1", fruit=[5]).play("score meeple").menu() == ["message"]
    empty = set_up(["FT1 0,1 180"], **FRUIT)
    empty.state = replace(empty.state, picked={"0,1": (5, 4, 3, 2)})
    assert empty.play("place 1,0 0", "figure meeple road").menu(seat=1) == ["place"]


@pytest.mark.parametrize(("fruits", "points"), [(1, 1), (2, 3), (3, 6), (4, 10)])
def test_19_5_different_fruits_are_sold_together(fruits, points):
    game = set_up(["FT1 0,1 180"], **FRUIT)
    kinds = DATA["fruit"]["kinds"][:fruits]
    game.state = replace(game.state, baskets=(dict.fromkeys(kinds, 2), {}))
    game.play("place 1,0 0", "figure meeple road", "sell " + " ".join(kinds))
    assert game.points == [points, 0]
    assert set(carcassonne.view(game.state, None).baskets[0].values()) == {1}


def test_20_1_ten_tiles_of_our_own():
    assert count_tiles(tollkeepers=True).total() == 72 + 10 == 72 + sum(count_tiles_of("tollkeepers").values())
    rows = DATA["tiles"]["tollkeepers"].values()
    assert sum(row["count"] for row in rows if "travellers" in str(row)) == 8


def test_20_2_a_tollhouse_goes_on_any_crossroads_and_keeps_its_side_when_it_moves():
    game = set_up([*VILLAGE, "X 5,5 0"], **TOLL).play("place -1,0 0")
    assert game.menu("toll") == {"1,0", "5,5"}
    game.play("toll 1,0")
    assert carcassonne.view(game.state, None).tollhouses == {"1,0": (0, 1)}
    assert game.play("1: place -2,0 0").menu("toll", seat=1) == {"5,5"}
    moved = set_up([*VILLAGE, "X 5,5 0"], **TOLL)
    moved.state = replace(moved.state, tollhouses={"5,5": (0, 2)})
    moved.play("place -1,0 0", "toll 1,0")
    assert carcassonne.view(moved.state, None).tollhouses == {"1,0": (0, 2)}


@pytest.mark.parametrize(("side", "points"), [(1, 1 + 1 + 3), (2, 2 * 5)])
def test_20_3_houses_robbers_and_travellers_of_a_road_are_tolled(side, points):
    game = set_up([*VILLAGE, "TK3 -1,0 0"], ["1 large 0,0/road"], drawn="A", inns_cathedrals=True, **TOLL)
    game.state = replace(game.state, tollhouses={"1,0": (0, side)})
    assert game.play("place -2,0 270", "pass").points == [points, 4]


def test_20_4_a_small_toll_turns_a_large_one_goes_home_and_nothing_changes_nothing():
    for side, after in ((1, {"1,0": (0, 2)}), (2, {})):
        game = set_up(VILLAGE, ["1 meeple 0,0/road"], drawn="A", **TOLL)
        game.state = replace(game.state, tollhouses={"1,0": (0, side)})
        game.play("place -1,0 270", "pass")
        assert game.points == [side, 3]
        assert carcassonne.view(game.state, None).tollhouses == after
    idle = set_up(VILLAGE, drawn="A", **TOLL)
    idle.state = replace(idle.state, tollhouses={"1,0": (0, 1)})
    idle.play("place -1,0 270", "pass")
    assert idle.points == [0, 0]
    assert carcassonne.view(idle.state, None).tollhouses == {"1,0": (0, 1)}
    game = draw_message(1, VILLAGE, ["0 meeple 0,0/road"], **TOLL).play("message perform")
    assert game.find_events("MessagePerformed")[0].points == 2


SCHOOL = ["SH2 -1,0 0", "SH1 -2,0 0"]


def set_up_school(*figures, land=(), drawn="A", teacher=-1, **given):
    """Return a game with the school to the west of the start tile."""
    game = set_up([*SCHOOL, *land], figures, drawn=drawn, school=True, **given)
    game.state = replace(game.state, teacher=teacher)
    return game


def get_teacher_owner(game):
    return carcassonne.view(game.state, None).teacher


def test_21_1_the_school_is_beside_the_start_tile_and_not_beside_a_spring():
    rigged = chance.make_rigged({"start player": [0], "tile": ["U"]})
    state = games.begin(carcassonne, options.parse(carcassonne.META.options, {"school": True}), 2, rigged).state
    assert {cell: placed.tile for cell, placed in state.tiles.items()} == {"0,0": "D", "-1,0": "SH2", "-2,0": "SH1"}
    river = options.parse(carcassonne.META.options, {"school": True, "river": True})
    assert "“River”" in str(carcassonne.objection(river, 2))


@pytest.mark.parametrize(("edition", "drives_to_school"), [(3, False), (2, True)])
def test_21_1_a_wagon_does_not_drive_to_the_school(edition, drives_to_school):
    game = set_up_school("0 wagon 0,0/city", drawn="E", abbey_mayor=True, edition=edition).play(
        "place 0,-1 180", "pass"
    )
    assert any(goal.startswith("-1,0/") for goal in game.menu("drive")) == drives_to_school
    assert "0,0/road" in game.menu("drive")


def test_21_2_the_seat_that_completes_a_road_to_the_school_takes_the_teacher():
    game = set_up_school("1 meeple 0,0/road").play("place 1,0 90", "pass")
    assert game.points == [0, 3]
    assert get_teacher_owner(game) == 0
    assert get_teacher_owner(set_up_school().play("place 1,0 90", "pass")) == 0
    assert get_teacher_owner(set_up_school(teacher=1).play("place 1,0 90", "pass")) == 0


def test_21_3_the_next_feature_brings_the_owner_as_much_as_its_leader():
    game = set_up_school("1 meeple 0,0/city", drawn="E", teacher=0).play("place 0,-1 180", "pass")
    assert game.points == [4, 4]
    assert get_teacher_owner(game) == -1
    own = set_up_school("0 meeple 0,0/city", drawn="E", teacher=0).play("place 0,-1 180", "pass")
    assert own.points == [8, 0]
    nobody = set_up_school(drawn="E", teacher=0).play("place 0,-1 180", "pass")
    assert (nobody.points, get_teacher_owner(nobody)) == ([0, 0], 0)
    tower = set_up_school("1 meeple 0,0/city", drawn="WT04", teacher=0, watchtowers=True).play("place 0,-1 180", "pass")
    assert tower.points == [4, 4]


def test_21_4_of_different_points_the_owner_chooses():
    figures = ["1 meeple 1,-1/road", "1 meeple 0,0/city"]
    game = set_up_school(*figures, land=["A 1,-1 90"], drawn="L", teacher=1).play("place 0,-1 180", "pass")
    assert game.menu("lesson", seat=1) == {"2", "4"}
    assert game.play("1: lesson 4").points == [0, 2 + 4 + 4]
    assert get_teacher_owner(game) == -1


def test_21_5_the_old_owner_is_paid_for_the_road_that_takes_the_teacher_away():
    game = set_up_school("1 meeple 0,0/road", teacher=1).play("place 1,0 90", "pass")
    assert game.points == [0, 3 + 3]
    assert get_teacher_owner(game) == 0
    last = set_up_school(teacher=0, bag=(), drawn="U").play("place 1,0 0", "pass")
    assert last.points == [0, 0]
