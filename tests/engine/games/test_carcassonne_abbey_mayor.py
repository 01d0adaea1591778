"""Abbey & Mayor, paragraph by paragraph of the book."""

from engine.games import carcassonne
from engine.games.carcassonne.tiles import count_tiles_of
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import count_tiles
from tests.engine.games.test_carcassonne_messages import draw_message, set_up_messages

ABBEY = {"abbey_mayor": True}
HOLE = ["U 5,4 0", "U 5,6 0", "V 4,5 180", "B 6,5 0"]
CROSS = ["B 5,5 0", "B 5,6 0", "B 6,5 0"]


def set_up_hole(*args, **given):
    """Return a game in which seat 1 is to draw, and the cell 5,5 is a hole."""
    land = [*HOLE, *given.pop("land", [])]
    return set_up(land, *args, **ABBEY, **given).play("place 1,0 0", "pass")


def test_18_1_twelve_tiles_and_four_things_for_everybody():
    assert count_tiles(abbey_mayor=True).total() == 72 + 12 == 72 + sum(count_tiles_of("abbey_mayor").values())
    game = set_up(**ABBEY)
    assert carcassonne.view(game.state, None).abbeys == (1, 1)
    assert {kind: game.state.supply[0][kind] for kind in ("mayor", "wagon", "barn")} == {
        "mayor": 1,
        "wagon": 1,
        "barn": 1,
    }


def test_18_2_an_abbey_goes_into_a_hole_instead_of_a_tile_that_is_drawn():
    game = set_up_hole()
    assert game.menu(seat=1) == ["draw", "abbey"]
    assert game.menu("abbey", seat=1) == {"5,5"}
    game.play("1: abbey 5,5")
    assert "meeple cloister" in game.menu("figure", seat=1)
    assert carcassonne.view(game.state, None).abbeys == (1, 0)
    drawn = set_up_hole().play("1: draw")
    assert drawn.menu(seat=1) == ["place"]
    assert set_up(**ABBEY).play("place 1,0 0", "pass").menu(seat=1) == ["place"]


def test_18_2_also_for_message_4_and_the_second_tile():
    game = draw_message(4, HOLE, bag=(), **ABBEY)
    assert game.play("message perform").menu() == ["abbey", "pass"]
    builder = ["0 meeple 0,0/road", "0 builder 1,0/road"]
    twice = set_up(["U 1,0 0", *HOLE], builder, traders_builders=True, **ABBEY).play(
        "place 2,0 0", "pass", "builder build"
    )
    assert twice.menu() == ["draw", "abbey"]


def test_18_3_it_closes_what_reaches_it_and_goes_on_with_nothing():
    land = ["E 5,4 180", "A 6,5 90", "B 5,6 0", "B 4,5 0"]
    figures = ["0 meeple 5,4/city", "1 meeple 6,5/road", "1 builder 6,5/road"]
    game = set_up(land, figures, traders_builders=True, **ABBEY).play("place 1,0 0", "pass", "1: abbey 5,5", "1: pass")
    assert game.points == [2, 1]
    assert not game.find_events("BuilderRoused")
    around = [f"BT01 {x},{y} 0" for x, y in ((4, 4), (5, 4), (6, 4), (4, 5), (6, 5), (4, 6), (5, 6), (6, 6))]
    monk = set_up(around, **ABBEY).play("place 1,0 0", "pass", "1: abbey 5,5", "1: figure meeple cloister")
    assert monk.points == [0, 9]


def test_18_3_a_field_that_ends_at_an_abbey_is_driven_home():
    land = ["R 5,4 0", "B 5,6 0", "B 4,5 0", "B 6,5 0"]
    game = set_up(land, ["0 shepherd 5,4/field"], hills_sheep=True, rig={"sheep": [3]}, **ABBEY)
    game.play("place 1,0 0", "pass", "1: abbey 5,5", "1: pass")
    assert game.points == [3, 0]


def test_18_4_at_the_end_everybody_may_lay_the_own_abbey():
    game = set_up(HOLE, bag=(), seats=3, **ABBEY).play("place 1,0 0", "pass")
    assert [event.seat for event in game.find_events("OvertimeBegan")] == [1]
    game.play("1: pass", "2: abbey 5,5", "2: figure meeple cloister")
    assert [event.seat for event in game.find_events("OvertimeBegan")] == [1, 2]
    assert game.over
    assert game.points == [0, 0, 5]


def test_18_5_a_mayor_counts_the_shields_of_his_city():
    alone = set_up(drawn="E", **ABBEY).play("place 0,-1 180", "figure mayor city")
    assert alone.points == [0, 0]
    assert alone.state.supply[0]["mayor"] == 1
    shields = ["AM01 5,5 0", "E 5,4 180", "E 6,5 270", "E 4,5 90"]
    strong = set_up(shields, ["0 mayor 5,5/city", "1 meeple 5,4/city"], drawn="E", **ABBEY).play("place 5,6 0", "pass")
    assert strong.points == [2 * 7, 0]
    assert "mayor road" not in set_up(**ABBEY).play("place 1,0 0").menu("figure")
    knight = draw_message(6, shields, ["0 mayor 5,5/city"], **ABBEY).play("message perform")
    assert knight.find_events("MessagePerformed")[0].points == 2
    nothing = draw_message(8, ["E 5,5 0"], ["0 mayor 5,5/city"], **ABBEY).play("message perform")
    assert nothing.find_events("MessagePerformed")[0].points == 0


def test_18_6_a_wagon_drives_on_to_a_free_unfinished_feature():
    game = set_up(["W 1,0 90"], ["0 wagon 1,0/road-W"], drawn="A", **ABBEY).play("place -1,0 270", "pass")
    assert game.points == [3, 0]
    assert game.menu("drive") >= {"1,0/road-N", "1,0/road-S", "0,0/city", "home"}
    game.play("drive 1,0/road-N")
    assert game.state.supply[0]["wagon"] == 0
    assert game.menu(seat=1) == ["place"]
    other = set_up(["W 1,0 90"], ["1 wagon 1,0/road-W"], drawn="A", **ABBEY).play("place -1,0 270", "pass")
    assert other.menu() == []
    assert other.play("1: drive home").state.supply[1]["wagon"] == 1


def test_18_6_wagons_drive_before_the_round_ends():
    game = set_up_messages(
        ["W 1,0 90"], ["0 wagon 1,0/road-W"], track=((2, 0), (0, 0)), message=[1], drawn="A", **ABBEY
    )
    game.play("place -1,0 270", "pass", "score meeple")
    assert game.menu() == ["drive"]
    assert game.play("drive home").menu() == ["message"]


def test_18_7_a_barn_is_built_where_four_fields_meet():
    game = set_up(CROSS, drawn="B", **ABBEY).play("place 6,6 0")
    assert game.menu("barn") == {"NW"}
    game.play("barn NW", "1: place 7,6 90")
    assert "meeple field-nnw" not in game.menu("figure", seat=1)
    assert "meeple field-nne" in game.menu("figure", seat=1)
    second = set_up([*CROSS, "B 6,6 0", "B 7,5 0"], ["1 barn 5,5/field NW"], drawn="B", **ABBEY).play("place 7,6 0")
    assert "barn" not in second.menu()


def test_18_8_the_farmers_of_its_farm_are_scored_and_go_home():
    city = ["E 5,4 0", "E 5,3 180"]
    figures = ["1 meeple 5,5/field", "1 pig 5,6/field"]
    game = set_up([*city, *CROSS], figures, drawn="B", traders_builders=True, **ABBEY).play("place 6,6 0", "barn NW")
    assert game.points == [0, 4]
    assert game.state.supply[1]["meeple"] == 7
    assert game.state.supply[1]["pig"] == 1
    assert game.state.supply[0]["barn"] == 0


def test_18_9_farmers_who_are_joined_to_a_barn_get_one_for_each_city():
    city = ["E 5,4 0", "E 5,3 180"]
    figures = ["0 barn 5,5/field SE", "1 meeple 8,5/field"]
    game = set_up([*city, *CROSS, "B 6,6 0", "B 8,5 0"], figures, drawn="B", **ABBEY).play("place 7,5 0", "pass")
    assert game.points == [0, 1]
    assert game.state.supply[1]["meeple"] == 7
    assert game.state.supply[0]["barn"] == 0
    two = set_up([*CROSS, "B 6,6 0", "B 8,5 0"], ["0 barn 5,5/field SE", "1 barn 8,5/field SE"], drawn="B", **ABBEY)
    two.play("place 7,5 0", "pass")
    assert [own["barn"] for own in two.state.supply] == [0, 0]


def test_18_10_at_the_end_a_barn_brings_four_for_each_city():
    city = ["E 5,4 0", "E 5,3 180"]
    barns = ["0 barn 5,5/field SE", "1 barn 5,6/field NE"]
    game = set_up([*city, *CROSS, "B 6,6 0"], barns, bag=(), **ABBEY).play("place 1,0 0", "pass")
    assert game.points == [4, 4]
    besieged = ["CA1 5,4 0", "E 5,3 180"]
    double = set_up([*besieged, *CROSS, "B 6,6 0"], barns[:1], bag=(), cathars=True, **ABBEY)
    assert double.play("place 1,0 0", "pass").points == [8, 0]
