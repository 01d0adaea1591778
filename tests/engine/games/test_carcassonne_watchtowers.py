"""Watchtowers, paragraph by paragraph of the book."""

import pytest

from engine.games.carcassonne.tiles import count_tiles_of
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import count_tiles
from tests.engine.games.test_carcassonne_messages import draw_message, set_up_messages

TOWER = {"watchtowers": True}


def points_for_closing(tower, put="figure meeple city-S", *args, **given):
    """Return the points when this tower closes the city of the start tile."""
    return set_up(*args, drawn=tower, **TOWER, **given).play("place 0,-1 180", put).points


def test_12_1_twelve_tiles_more():
    assert count_tiles(watchtowers=True).total() == 72 + 12
    assert sum(count_tiles_of("watchtowers").values()) == 12


def test_12_2_a_meeple_on_the_tower_s_tile_is_paid_before_the_feature_even_without_the_lead():
    assert points_for_closing("WT04", "figure meeple city") == [2 + 4, 0]
    assert points_for_closing("WT04", "pass", (), ["1 meeple 0,0/city"]) == [0, 4]
    assert points_for_closing("WT04", "figure meeple field-nnw") == [0, 0]
    road, robbers = ["WT04 0,-1 180", "U 0,-2 90"], ["0 meeple 0,-1/road", "1 large 0,-2/road"]
    behind = set_up(road, robbers, drawn="A", inns_cathedrals=True, **TOWER).play("place 0,-3 0", "pass")
    assert behind.points == [2 * 2, 3]


def test_12_2_the_pay_is_an_award_of_its_own_in_the_round_of_the_feature():
    game = set_up_messages(track=((1, 3), (0, 0)), drawn="WT04", message=[3], **TOWER).play(
        "place 0,-1 180", "figure meeple city"
    )
    assert not game.find_events("FeatureScored")
    game.play("score woman", "score meeple")
    assert game.state.track[0] == (5, 5)
    assert len(game.find_events("MessageDrawn")) == 1


def test_12_3_every_meeple_on_the_tower_s_tile_is_paid():
    loop = ["WT05 10,0 0", "V 11,0 0", "V 11,1 90", "V 9,0 270", "V 9,1 180"]
    twice = set_up(loop, ["0 meeple 10,0/road-W", "0 meeple 10,0/road-E"], **TOWER).play("place 10,1 0", "pass")
    assert twice.points == [6 + 6 + 6, 0]
    assert [len(event.awards) for event in twice.find_events("RoundOpened")] == [2]


@pytest.mark.parametrize(
    ("tower", "land", "points"),
    [
        ("WT04", [], 2),
        ("WT03", ["U 1,0 0", "E 1,-1 0"], 3),
        ("WT01", ["U -1,0 0", "M -1,-1 90"], 2),
    ],
)
def test_12_4_meeples_shields_roads_cloisters_and_cities_of_nine_tiles_count(tower, land, points):
    put = "figure meeple city-S" if tower == "WT01" else "figure meeple city"
    assert points_for_closing(tower, put, land) == [points + 4, 0]


def test_12_4_cloisters_roads_and_everybody_s_meeples_count_but_no_builder():
    road = set_up(["WT11 1,0 0", "B 1,1 0"], ["0 meeple 1,0/road-W"], drawn="A", **TOWER)
    assert road.play("place -1,0 270", "pass").points == [3 + 3, 0]
    seen = ["0 builder 0,0/road", "0 meeple 0,0/road", "1 large 0,0/field-ese"]
    given = {"inns_cathedrals": True, "traders_builders": True}
    assert points_for_closing("WT04", "figure meeple city", (), seen, **given)[0] == 3 * 2 + 4


def test_12_5_a_tower_pays_nothing_at_the_end_and_nothing_for_messages():
    last = set_up(["WT04 5,5 0"], ["0 meeple 5,5/city"], bag=(), **TOWER).play("place 1,0 0", "pass")
    assert last.points == [1, 0]
    for number in (1, 8):
        game = draw_message(number, ["WT05 5,5 0"], ["0 meeple 5,5/road-E"], **TOWER).play("message perform")
        assert game.find_events("MessagePerformed")[0].points == 1
