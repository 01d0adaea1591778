"""Wind roses, paragraph by paragraph of the book."""

import pytest

from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import count_tiles, make_deck

ROSES = {"wind_roses": True, "start": "WR4"}


def test_11_1_a_full_rose_is_the_start_tile_unless_the_river_begins():
    assert make_deck(wind_roses=True).start == "WR4"
    made = count_tiles(wind_roses=True)
    assert made.total() == 72 - 1 + 6
    assert made["D"] == 3
    river = make_deck(wind_roses=True, river=True)
    assert river.start == "R01"
    assert river.bags[-1].count("WR4") == 1
    lost = set_up(drawn="WR1", wind_roses=True).play("place 0,-1 180")
    assert lost.points == [0, 0]


@pytest.mark.parametrize(
    ("tile", "place", "points"),
    [("WR1", "0,-1 0", 3), ("WR2", "0,-1 0", 0), ("WR2", "0,1 180", 3), ("WR6", "-1,0 180", 3), ("WR3", "1,0 90", 0)],
)
def test_11_2_row_and_column_of_the_full_rose_belong_to_both_sides(tile, place, points):
    assert set_up(drawn=tile, **ROSES).play(f"place {place}").points == [points, 0]


def test_11_3_three_points_before_the_figure_however_the_rose_is_turned():
    game = set_up(drawn="WR3", **ROSES).play("place 0,-1 90")
    assert game.points == [3, 0]
    assert "pass" in game.menu()
    first = set_up(drawn="WR1", messages=True, track=((2, 0), (0, 0)), rig={"message": [1]}, **ROSES)
    first.play("place 0,-1 0", "score meeple", "message points", "score woman")
    assert first.menu() == ["figure", "pass"]
    assert first.state.track[0] == (5, 2)


def test_11_4_the_second_full_rose_takes_over_and_turns_the_compass():
    turned = ["WR5 0,1 270"]
    assert set_up(turned, drawn="WR1", **ROSES).play("place -1,1 0").points == [3, 0]
    assert set_up(turned, drawn="WR2", bag=(), **ROSES).play("place -1,1 0", "pass").points == [0, 0]
