"""The Wheel of Fortune, paragraph by paragraph of the book."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine import game as games
from engine import options
from engine.chance import make_sealed
from engine.games import carcassonne
from engine.games.carcassonne.boxes import get_rules
from engine.games.carcassonne.boxes.wheel import CROWNS, SECTIONS, get_number, turn_wheel
from engine.games.carcassonne.state import Figure
from engine.games.carcassonne.tiles import DATA, START
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import make_deck

WHEEL = {"wheel": True}


def turn(section, figures=(), land=(), number=1, crowns=(), tracks=None, **given):
    """Let seat 1 draw a tile with this number that turns the wheel to a section."""
    tile = {1: "E-1", 2: "U-2", 3: "V-3"}[number]
    game = set_up(land, figures, rig={"tile": [tile]}, bag=(tile, "U"), track=tracks, **WHEEL, **given)
    pig = (SECTIONS.index(section) - number) % len(SECTIONS)
    game.state = replace(game.state, pig=pig, crowns=tuple(crowns))
    return game.play("place 1,0 0", "pass")


def crown(seat, section, way="1"):
    return Figure(seat, "meeple", "", section, way)


def pig(game):
    return carcassonne.view(game.state, None).pig


def test_28_1_the_block_of_sixteen_takes_the_place_of_the_start_tile():
    state = games.begin(carcassonne, options.parse(carcassonne.META.options, WHEEL), 2, make_sealed(b"", 0)).state
    assert len(state.tiles) == 16
    assert set(state.tiles) == {f"{x},{y}" for x in range(-2, 2) for y in range(-2, 2)}
    assert state.tiles["0,0"].tile != START
    assert carcassonne.view(state, None).pig == "fortune"
    assert all(feature.open for feature in state.features.values() if feature.kind != "field")


def test_28_1_all_the_meadow_round_the_wheel_is_one_where_no_road_or_city_divides_it():
    state = games.begin(carcassonne, options.parse(carcassonne.META.options, WHEEL), 2, make_sealed(b"", 0)).state
    fields = [feature for feature in state.features.values() if feature.kind == "field"]
    assert len(fields) == 4  # the four roads divide it


@pytest.mark.parametrize(("other", "name"), [("river", "River"), ("wind_roses", "Wind roses"), ("school", "School")])
def test_28_1_the_wheel_does_not_go_with_another_beginning(other, name):
    chosen = options.parse(carcassonne.META.options, {"wheel": True, other: True})
    assert f"“{name}”" in str(carcassonne.objection(chosen, 2))


def test_28_2_nineteen_tiles_have_a_number():
    deck = make_deck(wheel=True)
    tiles = [tile for bag in deck.bags for tile in bag]
    numbers = [get_number(tile) for tile in tiles if get_number(tile)]
    assert (len(tiles), len(numbers), set(numbers)) == (71, 19, {1, 2, 3})
    assert (sum(CROWNS.values()), len(CROWNS)) == (9, 6)
    assert {"wheel.crowns", "wheel.numbers", "tiles.wheel"} <= set(DATA["own"])


def test_28_2_a_numbered_tile_is_no_garden_and_a_special_monastery_takes_its_number_away():
    assert "E*" in make_deck(wheel=True, abbot=True).bags[0]
    tiles = make_deck(wheel=True, monasteries=True).bags[0]
    assert sum(get_number(tile) > 0 for tile in tiles) == 17


def test_28_3_the_pig_runs_as_many_sections_as_the_number_before_the_tile_is_laid():
    game = turn("taxes")
    assert (pig(game), game.menu(seat=1)) == ("taxes", ["place"])
    assert pig(turn("fortune", number=3)) == "fortune"
    game = turn("storm", number=2)
    assert [event.number for event in game.find_events("WheelTurned")] == [2]


def test_28_3_a_tile_that_fits_nowhere_turns_the_wheel_all_the_same():
    game = set_up(rig={"tile": ["E-1", "C", "U-2", "U"]}, bag=("C", "E-1", "U-2", "U"), **WHEEL)
    tiles = {cell: replace(placed) for cell, placed in game.state.tiles.items()}
    game.state = replace(game.state, tiles=tiles)
    game.play("place 1,0 0", "pass", "1: place 0,-1 180", "1: pass")
    assert len(game.find_events("TileSetAside")) == 1
    assert len(game.find_events("WheelTurned")) == 2


def test_28_4_fortune_pays_the_seat_that_drew():
    assert turn("fortune", ["0 meeple 0,0/city"]).points == [0, 3]


def test_28_4_taxes_pay_for_each_knight_the_shields_and_the_own_knights_of_his_city():
    land = ["E 5,5 0", "M 7,7 0"]
    assert turn("taxes", ["1 meeple 5,5/city", "1 meeple 7,7/city"], land).points == [0, 1 + 2]
    two = ["0 meeple 7,7/city", "0 large 7,7/city 2", "1 meeple 7,7/city 3"]
    assert turn("taxes", two, land, inns_cathedrals=True).points == [2 * (2 + 1), 1 + 1]
    assert turn("taxes", ["0 meeple 0,0/road", "0 meeple 0,0/field-ese"]).points == [0, 0]


def list_farm(y, cities):
    """Return the tiles of a farm that touches so many completed cities."""
    return [tile for x in range(5, 5 + cities) for tile in (f"E {x},{y} 0", f"E {x},{y - 1} 180")]


def test_28_4_famine_pays_for_each_farmer_the_completed_cities_at_his_farm():
    figures = ["0 meeple 5,5/field", "0 meeple 5,5/field 2", "1 meeple 5,9/field"]
    assert turn("famine", figures, [*list_farm(5, 3), *list_farm(9, 2)]).points == [6, 2]
    assert turn("famine", ["1 meeple 5,5/field"], ["E 5,5 0"]).points == [0, 0]


def test_28_4_famine_counts_a_besieged_city_once():
    assert turn("famine", ["1 meeple 5,5/field"], ["CA1 5,5 0", "E 5,4 180"], cathars=True).points == [0, 1]


def test_28_4_storm_pays_for_each_meeple_in_the_supply():
    game = turn("storm", ["1 meeple 0,0/city"], traders_builders=True, inns_cathedrals=True)
    assert game.points == [8, 7]


def test_28_4_inquisition_pays_two_for_each_monk():
    land = ["B 5,5 0", "B 7,7 0", "CU1 9,9 0"]
    figures = ["1 meeple 5,5/cloister", "1 meeple 7,7/cloister", "0 meeple 9,9/cloister"]
    assert turn("inquisition", figures, land, shrines=True).points == [2, 4]


def test_28_4_with_the_plague_each_seat_takes_a_meeple_back_the_one_on_turn_first():
    figures = ["1 meeple 0,0/city", "1 meeple 0,0/road", "0 meeple 5,5/city", "0 meeple 7,7/city"]
    game = turn("plague", figures, ["E 5,5 0", "E 7,7 0"], crowns=[crown(0, "taxes")])
    assert (game.menu(seat=1), game.menu(seat=0)) == (["withdraw"], [])
    game.play("1: withdraw 0,0/city")
    assert game.menu("withdraw") == {"5,5/city", "7,7/city"}
    game.play("withdraw 7,7/city")
    assert game.menu(seat=1) == ["place"]
    assert {figure.place for figure in carcassonne.view(game.state, None).figures} == {"0,0/road", "5,5/city"}
    assert game.points == [0, 0]


def test_28_4_the_only_meeple_is_taken_back_without_a_question_and_none_from_a_crown():
    game = turn("plague", ["1 meeple 0,0/city"], crowns=[crown(0, "taxes")])
    assert game.menu(seat=1) == ["place"]
    assert carcassonne.view(game.state, None).figures == ()
    assert carcassonne.view(game.state, None).crowns == (crown(0, "taxes"),)


def test_28_4_a_builder_goes_home_with_the_last_meeple():
    figures = ["0 meeple 5,5/city", "0 builder 5,5/city 2"]
    game = turn("plague", figures, ["E 5,5 0"], traders_builders=True)
    assert carcassonne.view(game.state, None).figures == ()


def test_28_5_a_meeple_is_placed_on_a_free_crown_instead_of_a_figure_on_the_tile():
    game = set_up(**WHEEL)
    game.state = replace(game.state, crowns=(crown(1, "fortune"), crown(1, "taxes")))
    game.play("place 1,0 0")
    assert game.menu("crown") == {f"meeple {section}" for section in SECTIONS if section != "fortune"}
    game.play("crown meeple taxes")
    assert game.state.supply[0]["meeple"] == 6
    assert carcassonne.view(game.state, None).crowns[-1] == crown(0, "taxes", "2")
    assert game.menu(seat=1) == ["place"]


def test_28_6_when_the_pig_stops_there_each_meeple_brings_three_and_goes_home():
    game = turn("taxes", crowns=[crown(0, "taxes"), crown(1, "storm"), crown(0, "taxes", "2")])
    assert game.points == [6, 0]
    assert carcassonne.view(game.state, None).crowns == (crown(1, "storm"),)


def test_28_6_a_section_that_the_pig_passes_by_pays_nothing():
    game = turn("famine", number=2, crowns=[crown(1, "taxes")])
    assert game.points == [0, 0]
    assert carcassonne.view(game.state, None).crowns == (crown(1, "taxes"),)


def test_28_6_at_the_end_crowns_bring_nothing():
    game = set_up(bag=(), **WHEEL).play("place 1,0 0", "crown meeple taxes")
    assert game.over
    assert game.points == [0, 0]


@pytest.mark.parametrize(("track", "figure", "has_message"), [((0, 3), "woman", False), ((0, 2), "woman", True)])
def test_28_7_one_look_at_the_figures_after_the_event_and_before_the_tile_is_laid(track, figure, has_message):
    game = turn("fortune", messages=True, tracks=((0, 0), track))
    game.play(f"1: score {figure}", message=[5])
    assert game.menu(seat=1) == (["message"] if has_message else ["place"])
    if has_message:
        assert carcassonne.view(game.state, 1).waiting == "E-1"
        assert game.play("1: message points", "1: score meeple").menu(seat=1) == ["place"]


def test_a_table_without_the_wheel_has_no_pig():
    assert carcassonne.view(set_up().state, None).pig == ""
    assert get_rules(set_up().state.options).hooks["react_to_drawing"] == ()


@given(
    st.integers(0, 5), st.integers(1, 3), st.lists(st.tuples(st.integers(0, 1), st.sampled_from(SECTIONS)), max_size=9)
)
def test_28_6_only_the_crowns_of_the_section_are_paid_and_all_of_them(start, number, wanted):
    game = set_up(**WHEEL)
    crowns = [crown(seat, section, str(way)) for way, (seat, section) in enumerate(wanted)]
    game.state = replace(game.state, pig=start, crowns=tuple(crowns))
    event = turn_wheel(game.state, get_rules(game.state.options), number)
    assert event.section == SECTIONS[(start + number) % 6]
    assert list(event.figures) == [one for one in crowns if one.segment == event.section]
    paid = {award.seat: award.points for award in event.awards if award.why == "crown"}
    assert paid == {seat: 3 * wanted.count((seat, event.section)) for seat in (0, 1) if (seat, event.section) in wanted}
