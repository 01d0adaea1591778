"""Under the Big Top, paragraph by paragraph of the book."""

import pytest

from engine.games import carcassonne
from engine.games.carcassonne.tiles import count_tiles_of
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import count_tiles
from tests.engine.games.test_carcassonne_messages import draw_message, set_up_messages

TOP = {"big_top": True}
PYRAMID = ["0 meeple 5,5/acrobats", "1 meeple 5,5/acrobats 2", "0 meeple 5,5/acrobats 3"]


def set_up_circus(*args, animal=(), **given):
    """Return a game with the tent on the cell 1,0."""
    game = set_up(*args, drawn="BT08", rig={"animal": list(animal), **given.pop("rig", {})}, **TOP, **given)
    return game.play("place 1,0 0", "pass")


def test_13_1_twenty_tiles_sixteen_tokens_and_a_tent():
    assert count_tiles(big_top=True).total() == 72 + 20
    assert sum(count_tiles_of("big_top").values()) == 20
    view = carcassonne.view(set_up(**TOP).state, None)
    assert sorted(view.animals) == [1, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 6, 6, 7]
    assert view.tent == ""


def test_13_2_the_first_circus_tile_brings_the_tent_and_no_points():
    game = set_up_circus(meeples=["0 meeple 0,0/city"])
    assert carcassonne.view(game.state, None).tent == "1,0"
    assert game.points == [0, 0]


def test_13_3_the_next_one_turns_the_token_over_and_pays_every_meeple_round_the_tent():
    figures = ["0 meeple 0,0/city", "0 meeple 0,0/field-ese", "1 large 0,0/field-ene", "1 builder 0,0/road"]
    given = {"inns_cathedrals": True, "traders_builders": True}
    game = set_up_circus(meeples=figures, animal=[5], bag=("BT06", "U", "U"), rig={"tile": ["BT06", "U"]}, **given)
    game.play("1: place 2,0 90", "1: pass")
    assert game.points[:2] == [10, 5]
    assert carcassonne.view(game.state, None).animals.count(5) == 2


def test_13_3_the_circus_is_the_last_thing_of_the_round_after_the_figures_have_gone_home():
    land, robber = ["A -1,0 270"], ["0 meeple -1,0/road"]
    game = set_up_circus(land, robber, animal=[4], bag=("BT06", "U", "U"), rig={"tile": ["BT06", "U"]})
    assert game.points == [3, 0]
    game.play("1: place 0,1 0", "1: pass")
    assert game.find_events("CircusShown")[0].awards == ()


def test_13_4_the_circus_plays_once_more_at_the_end():
    game = set_up_circus(meeples=["1 meeple 0,0/city"], animal=[7], bag=())
    assert game.points == [0, 7 + 1]


def test_13_5_a_small_meeple_climbs_on_acrobats_near_the_tile_just_laid_until_there_are_three():
    game = set_up(["BT01 0,1 0"], inns_cathedrals=True, **TOP).play("place 1,0 0")
    assert {word for word in game.menu("figure") if "acrobats" in word} == {"meeple 0,1/acrobats"}
    game.play("figure meeple 0,1/acrobats", "1: place 2,0 0")
    assert not any("acrobats" in word for word in game.menu("figure", seat=1))
    full = set_up(["BT01 5,5 0"], PYRAMID, **TOP).play("place 5,6 0")
    assert not any("acrobats" in word for word in full.menu("figure"))
    own = set_up(drawn="BT01", **TOP).play("place 0,1 0", "figure meeple acrobats")
    assert own.state.supply[0]["meeple"] == 6


def test_13_6_a_full_pyramid_is_scored_instead_of_a_figure():
    game = set_up(["BT01 5,5 0"], PYRAMID, **TOP).play("place 1,0 0")
    assert game.menu() == ["figure", "pyramid", "pass"]
    assert game.play("pyramid 5,5/acrobats").points == [10, 5]
    assert [own["meeple"] for own in game.state.supply] == [7, 7]
    assert set_up(["BT01 5,5 0"], PYRAMID[:2], **TOP).play("place 1,0 0").menu() == ["figure", "pass"]
    first = set_up_messages(
        ["BT01 5,5 0"], ["0 meeple 5,5/acrobats", *PYRAMID[1:]], track=((0, 1), (0, 0)), message=[1], **TOP
    )
    first.play("place 1,0 0", "pyramid 5,5/acrobats", "score meeple", "1: score meeple")
    assert first.menu() == ["message"]


def test_13_7_an_acrobat_brings_five_points_at_the_end_and_for_message_8():
    assert set_up(["BT01 5,5 0"], PYRAMID[:2], bag=(), **TOP).play("place 1,0 0", "pass").points == [5, 5]
    game = draw_message(8, ["BT01 5,5 0"], PYRAMID, **TOP)
    game.play("message perform 5,5/acrobats-3")
    assert game.find_events("MessagePerformed")[0].points == 5
    assert game.state.supply[0]["meeple"] == 6
    fairy = set_up(["BT01 5,5 0"], PYRAMID[:1], fairy=True, bag=(), **TOP)
    assert fairy.play("place 1,0 0", "fairy 5,5/acrobats").points == [5, 0]


@pytest.mark.parametrize("number", [6, 7])
def test_13_7_an_acrobat_is_neither_knight_nor_farmer(number):
    game = draw_message(number, ["BT01 5,5 0"], PYRAMID, without_target="points_only", **TOP)
    assert game.menu("message") == {"points"}


def test_13_8_a_ringmaster_brings_two_points_for_every_stage_round_him_in_the_lead_or_not():
    stages = ["BT10 1,-1 0", "BT01 -1,-2 0"]
    game = set_up(stages, drawn="E", **TOP).play("place 0,-1 180", "figure ringmaster city")
    assert game.points == [4 + 2 * 2, 0]
    behind = set_up(stages, ["0 ringmaster 0,0/city", "1 large 0,0/city"], drawn="E", inns_cathedrals=True, **TOP)
    assert behind.play("place 0,-1 180", "pass").points == [2, 4]
    at_the_end = set_up(stages, ["0 ringmaster 0,0/field-ene"], bag=(), **TOP).play("place 1,0 0", "pass")
    assert at_the_end.points == [2, 0]
    land, him = ["U 1,0 0", "BT06 2,0 90"], ["0 ringmaster 1,0/road"]
    eighth = draw_message(8, land, him, **TOP).play("message perform 1,0/road")
    assert eighth.find_events("MessagePerformed")[0].points == 3 + 2
    first = draw_message(1, land, him, **TOP).play("message perform")
    assert first.find_events("MessagePerformed")[0].points == 3


def test_13_3_a_circus_tile_is_dealt_with_once_though_a_message_moves_the_tent_on():
    land, robber = ["A -1,0 270"], ["0 meeple -1,0/road"]
    game = set_up_messages(
        land, robber, track=((2, 0), (0, 0)), message=[4], drawn="BT08", bag=("BT06", "U", "U"), **TOP
    )
    game.play("place 1,0 0", "pass", "score meeple")
    game.play("message perform", tile=["BT06"])
    game.play("place 2,0 90", "pass", animal=[4])
    assert len(game.find_events("CircusShown")) == 1
    assert carcassonne.view(game.state, None).tent == "2,0"
    assert game.menu(seat=1) == ["place"]
