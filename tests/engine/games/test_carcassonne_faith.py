"""The siege, shrines and special monasteries, paragraph by paragraph of the book."""

from msgspec.structs import replace

from engine.games import carcassonne
from engine.games.carcassonne.tiles import count_tiles_of
from tests.engine.games.carcassonne_table import figure, set_up
from tests.engine.games.test_carcassonne_boxes import count_tiles
from tests.engine.games.test_carcassonne_messages import draw_message

SIEGE = {"besiegers": True}
SHRINES = {"shrines": True}
MONASTERIES = {"monasteries": True}
KNIGHT = ["0 meeple 0,0/city"]
GATE = ["SB2 0,-1 270", "B 1,-1 0"]
TILES_AROUND = ["B 4,4 0", "B 5,4 0", "B 6,4 0", "B 4,5 0", "B 4,6 0", "B 5,6 0", "B 6,6 0"]
# Tiles of fields only: they show acrobats, which mean nothing without their box.
FIELDS = [f"BT01 {x},{y} 0" for x, y in ((4, 4), (5, 4), (6, 4), (4, 5), (4, 6), (6, 6))]


def test_15_1_six_tiles_and_four_tiles_more():
    assert count_tiles(besiegers=True).total() == 72 + 6 == 72 + sum(count_tiles_of("besiegers").values())
    assert count_tiles(cathars=True).total() == 72 + 4 == 72 + sum(count_tiles_of("cathars").values())
    assert count_tiles(besiegers=True, cathars=True).total() == 72 + 10
    cathars = set_up(drawn="CA1", meeples=KNIGHT, cathars=True, besiegers=True).play("place 0,-1 180", "pass")
    assert cathars.points == [2, 0]


def test_15_2_it_brings_half_when_complete():
    assert set_up(drawn="SB3", meeples=KNIGHT, **SIEGE).play("place 0,-1 180", "pass").points == [2, 0]
    holy = ["I01 0,-1 0", "SB3 -1,-1 90", "E 1,-1 270"]
    both = set_up(holy, KNIGHT, drawn="E", inns_cathedrals=True, **SIEGE).play("place 0,-2 180", "pass")
    assert both.points == [2 * 5, 0]


def test_15_3_and_nothing_before_that():
    city = ["SB2 5,5 0"]
    knight = ["0 meeple 5,5/city"]
    assert set_up(city, knight, bag=(), **SIEGE).play("place 1,0 0", "pass").points == [0, 0]
    for number in (2, 8):
        game = draw_message(number, city, knight, **SIEGE).play("message perform")
        assert game.find_events("MessagePerformed")[0].points == 0


def test_15_4_farmers_get_it_twice():
    farmer = ["0 meeple 0,0/field-ene"]
    end = set_up(drawn="SB3", meeples=farmer, bag=(), **SIEGE).play("place 0,-1 180", "pass")
    assert end.points == [6, 0]
    pig = [*farmer, "0 pig 0,0/field-ene"]
    with_pig = set_up(drawn="SB3", meeples=pig, bag=(), traders_builders=True, **SIEGE).play("place 0,-1 180", "pass")
    assert with_pig.points == [8, 0]


def test_15_5_a_cloister_beside_a_besieged_tile_lets_one_figure_out():
    game = set_up(GATE, KNIGHT, **SIEGE).play("place 1,0 0", "pass")
    assert game.menu("escape") == {"0,0/city", "stay"}
    game.play("escape 0,0/city")
    assert game.points == [0, 0]
    assert game.state.supply[0]["meeple"] == 7
    assert game.menu(seat=1) == ["place"]
    stay = set_up(GATE, KNIGHT, **SIEGE).play("place 1,0 0", "pass", "escape stay")
    assert stay.state.supply[0]["meeple"] == 6
    far = set_up([GATE[0], "B 2,-1 0"], KNIGHT, **SIEGE).play("place 1,0 0", "pass")
    assert far.menu(seat=1) == ["place"]


def test_15_5_the_builder_goes_with_the_last_knight_or_alone():
    pair = [*KNIGHT, "0 builder 0,-1/city"]
    game = set_up(GATE, pair, traders_builders=True, **SIEGE).play("place 1,0 0", "pass")
    assert game.menu("escape") == {"0,0/city", "0,-1/city", "stay"}
    assert game.play("escape 0,0/city").state.supply[0]["builder"] == 1
    alone = set_up(GATE, pair, traders_builders=True, **SIEGE).play("place 1,0 0", "pass", "escape 0,-1/city")
    assert alone.state.supply[0]["meeple"] == 6
    assert alone.state.supply[0]["builder"] == 1


def test_16_1_six_tiles_more():
    assert count_tiles(shrines=True).total() == 72 + 6 == 72 + sum(count_tiles_of("shrines").values())


def test_16_2_a_shrine_is_a_cloister_in_everything():
    shrine = ["CU1 5,5 0", *TILES_AROUND]
    assert set_up(shrine, ["0 meeple 5,5/cloister"], drawn="B").play("place 6,5 0", "pass").points == [9, 0]
    assert set_up(shrine[:1], ["0 meeple 5,5/cloister"], bag=(), **SHRINES).play("place 1,0 0", "pass").points == [1, 0]
    third = draw_message(3, shrine, ["0 meeple 5,5/cloister"], **SHRINES).play("message perform")
    assert third.find_events("MessagePerformed")[0].points == 8


def test_16_3_not_beside_two_of_the_other_kind():
    one = set_up(["B 5,5 0"], drawn="CU1", **SHRINES).menu("place")
    assert "5,6 0" in one
    two = set_up(["B 5,5 0", "B 7,5 0"], drawn="CU1", **SHRINES).menu("place")
    assert "6,5 0" not in two
    taken = set_up(["B 5,5 0", "CU1 5,6 0"], drawn="CU1", **SHRINES).menu("place")
    assert "5,4 0" not in taken
    assert "5,7 0" in taken
    other = set_up(["B 5,5 0", "CU1 5,6 0"], drawn="B", **SHRINES).menu("place")
    assert "5,7 0" not in other
    assert "5,4 0" in other


def test_16_4_who_is_finished_first_sends_the_other_home():
    land = ["CU1 5,5 0", "B 5,6 0", *FIELDS]
    monks = ["0 meeple 5,5/cloister", "1 meeple 5,6/cloister"]
    game = set_up(land, monks, drawn="BT01", fairy=True, **SHRINES)
    game.state = replace(game.state, fairy=figure(monks[1]))
    assert game.play("place 6,5 0", "pass").points == [9, 0]
    assert [own["meeple"] for own in game.state.supply] == [7, 7]
    empty = set_up(land, monks[1:], drawn="BT01", **SHRINES).play("place 6,5 0", "pass")
    assert empty.state.supply[1]["meeple"] == 6
    last = ["BT01 6,5 0", "BT01 4,7 0", "BT01 5,7 0", "BT01 6,7 0"]
    both = set_up([tile for tile in [*land, *last] if " 6,6 " not in tile], monks, drawn="BT01", **SHRINES)
    assert both.play("place 6,6 0", "pass").points == [9, 9]


def test_17_1_they_take_the_place_of_six_cloisters():
    counts = count_tiles(monasteries=True)
    assert counts.total() == 72
    assert (counts["A"], counts["B"], counts["MO1"], counts["MO2"]) == (0, 0, 4, 2)
    assert sum(count_tiles_of("monasteries").values()) == 6


def test_17_2_a_figure_is_placed_upright_or_lying():
    game = set_up(drawn="MO1", abbot=True, **MONASTERIES).play("place 0,1 0")
    assert {"meeple cloister", "meeple cloister-lying", "abbot cloister-lying"} <= game.menu("figure")
    game.play("figure meeple cloister-lying")
    assert carcassonne.view(game.state, None).figures[0].way == "lying"
    assert "meeple cloister-lying" not in set_up(drawn="B", **MONASTERIES).play("place 0,1 0").menu("figure")


def test_17_3_row_and_column_at_the_end_and_nothing_before():
    full = set_up(
        ["MO1 5,5 0", *TILES_AROUND], ["0 meeple 5,5/cloister lying"], drawn="B", bag=("U", "U"), **MONASTERIES
    )
    assert full.play("place 6,5 0", "pass").points == [0, 0]
    row = ["MO1 5,5 0", "B 5,4 0", "B 5,3 0", "B 6,5 0", "B 6,6 0", "B 5,7 0"]
    end = set_up(row, ["0 meeple 5,5/cloister lying"], bag=(), **MONASTERIES).play("place 1,0 0", "pass")
    assert end.points == [4, 0]


def test_17_4_messages_and_the_abbot_count_row_and_column():
    row, lying = ["MO1 5,5 0", "B 5,4 0", "B 5,3 0", "B 6,6 0"], ["0 meeple 5,5/cloister lying"]
    for number, move in ((3, "message perform"), (8, "message perform 5,5/cloister-lying")):
        game = draw_message(number, row, lying, **MONASTERIES).play(move)
        assert game.find_events("MessagePerformed")[0].points == 3
    abbot = set_up(row, ["0 abbot 5,5/cloister lying"], abbot=True, **MONASTERIES)
    assert abbot.play("place 1,0 0", "recall 5,5/cloister-lying").points == [3, 0]
