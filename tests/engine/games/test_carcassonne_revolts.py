"""The Peasant Revolts, paragraph by paragraph of the book."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine import game as games
from engine import options
from engine.chance import make_sealed
from engine.games import carcassonne
from engine.games.carcassonne.boxes import get_rules
from engine.games.carcassonne.boxes.revolts import REVOLT_TILES, strike
from engine.games.carcassonne.state import count_tiles_left, list_figures
from engine.games.carcassonne.tiles import DATA, count_tiles_of
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import BUILDER

REVOLTS = {"revolts": True}
PLACES = ("place 0,1 0", "pass")


def protect(game, *places):
    """Lay the figures on these places down, as if they had been protected before."""
    features = {
        root: replace(feature, figures=tuple(replace(one, protected=one.place in places) for one in feature.figures))
        for root, feature in game.state.features.items()
    }
    game.state = replace(game.state, features=features)
    return game


def draw_revolt(tile, figures, *safe, land=(), **given):
    """Let seat 1 draw this tile, with these figures on the table and some of them protected."""
    game = set_up(land, figures, rig={"tile": [tile]}, bag=("U", *REVOLT_TILES, "U"), **REVOLTS, **given)
    return protect(game, *safe).play(*PLACES)


def places(game, seat):
    return sorted(figure.place for figure in list_figures(game.state) if figure.seat == seat)


def test_27_1_twelve_tiles_of_which_three_are_out_of_the_game():
    assert Counter(REVOLT_TILES.values()) == {"city": 5, "road": 4, "cloister": 3}
    assert "tiles.revolts" in DATA["own"]
    state = games.begin(carcassonne, options.parse(carcassonne.META.options, REVOLTS), 2, make_sealed(b"", 0)).state
    assert count_tiles_left(state) == 71 + 12 - 3 - 1


def test_27_1_each_revolt_is_drawn_as_seldom_as_if_three_had_been_removed():
    game = set_up(drawn="U", bag=("E",) * 5 + tuple(REVOLT_TILES), **REVOLTS)
    label, faces = "", ()

    def look(asked, items, number):
        nonlocal label, faces
        label, faces = asked, items
        return 0

    game.chance.source = look
    game.play("place 1,0 0", "pass")
    shares = Counter("revolt" if tile in REVOLT_TILES else tile for tile in faces)
    assert label == "tile"
    assert shares["revolt"] * 5 == shares["E"] * 9


def test_27_1_the_last_three_revolts_are_never_drawn():
    game = set_up(drawn="U", bag=("E", "RV01", "RV02", "RV05"), rig={"tile": ["E"]}, **REVOLTS)
    game.state = replace(game.state, buried=3)
    game.play("place 1,0 0", "pass")
    assert game.play("1: place 0,-1 180", "1: pass").over


def test_27_2_unprotected_meeples_of_the_kind_go_home_and_the_revolt_is_over():
    game = draw_revolt("RV01", ["1 meeple 0,0/city", "1 meeple 0,0/road", "0 meeple 5,5/city"], land=["E 5,5 0"])
    assert places(game, 1) == ["0,0/road"]
    assert places(game, 0) == ["5,5/city"]
    assert game.menu(seat=1) == ["place"]
    assert draw_revolt("RV02", ["1 meeple 0,0/road"]).state.supply[1]["meeple"] == 7
    assert draw_revolt("RV07", ["1 meeple 5,5/cloister"], land=["B 5,5 0"]).state.supply[1]["meeple"] == 7


def test_27_2_the_revolt_passes_on_until_a_seat_loses_a_meeple():
    land, figures = ["E 5,5 0", "E 5,7 0"], ["0 meeple 0,0/city", "2 meeple 5,5/city", "2 meeple 5,7/city"]
    game = draw_revolt("RV01", figures, land=land, seats=3)
    assert (places(game, 2), places(game, 0)) == ([], ["0,0/city"])


def test_27_3_protected_meeples_bring_two_points_each_and_stay():
    land, figures = ["E 5,5 0", "E 5,7 0"], ["1 meeple 0,0/city", "1 meeple 5,5/city", "0 meeple 5,7/city"]
    game = draw_revolt("RV01", figures, "0,0/city", "5,5/city", land=land)
    assert game.points == [0, 4]
    assert (places(game, 1), places(game, 0)) == (["0,0/city", "5,5/city"], [])


def test_27_3_of_both_kinds_the_unprotected_go_home_and_the_protected_are_paid():
    game = draw_revolt(
        "RV02", ["1 meeple 0,0/road", "1 meeple 5,5/road", "0 meeple 5,7/road"], "0,0/road", land=["A 5,5 0", "A 5,7 0"]
    )
    assert game.points == [0, 2]
    assert (places(game, 1), places(game, 0)) == (["0,0/road"], ["5,7/road"])


def test_27_4_a_meeple_is_placed_protected_for_four_points_and_below_zero():
    game = set_up(track=((3,), (0,)), **REVOLTS).play("place 1,0 0")
    assert {"meeple road-safe", "meeple field-nnw-safe"} & game.menu("protect") == {"meeple road-safe"}
    game.play("protect meeple road-safe")
    assert game.points == [-1, 0]
    assert [figure.protected for figure in list_figures(game.state)] == [True]


def test_27_4_instead_of_placing_one_a_meeple_on_the_land_is_protected_for_two():
    game = set_up(meeples=["0 meeple 0,0/city", "0 meeple 0,0/field-ese"], track=((10,), (0,)), **REVOLTS)
    assert "0,0/field-ese" not in game.play("place 1,0 0").menu("protect")
    game.play("protect 0,0/city")
    assert game.points == [8, 0]
    assert game.menu(seat=1) == ["place"]


def test_27_4_paying_moves_one_figure_and_draws_no_message():
    game = set_up(messages=True, track=((4, 9), (0, 0)), **REVOLTS).play("place 1,0 0", "protect meeple road-safe")
    game.play("score woman")
    assert game.state.track[0] == (4, 5)
    assert not game.find_events("MessageDrawn")
    below = set_up(messages=True, track=((1, 9), (0, 0)), **REVOLTS).play("place 1,0 0", "protect meeple road-safe")
    assert below.play("score meeple").state.track[0] == (-3, 9)


def test_27_4_below_zero_no_space_is_dark():
    game = set_up(drawn="E", messages=True, track=((-9, 1), (0, 0)), **REVOLTS)
    game.play("place 0,-1 180", "figure meeple city", "score meeple")
    assert game.state.track[0] == (-5, 1)
    assert not game.find_events("MessageDrawn")


def test_27_3_the_tile_waits_while_a_message_is_dealt_with():
    figures = ["1 meeple 0,0/city"]
    game = draw_revolt("RV01", figures, "0,0/city", messages=True, track=((0, 0), (3, 1)))
    assert game.play("1: score meeple", message=[5]).menu(seat=1) == ["message"]
    view = carcassonne.view(game.state, 1)
    assert (view.drawn, view.waiting) == ("", "RV01")
    game.play("1: message points", "1: score woman")
    assert game.menu(seat=1) == ["place"]
    assert len(game.find_events("RevoltBroke")) == 1


def test_27_5_a_scored_meeple_comes_home_unprotected():
    game = set_up(["A -1,0 270", "U 1,0 0"], ["0 meeple 0,0/road"], drawn="A", **REVOLTS)
    protect(game, "0,0/road").play("place 2,0 90", "pass")
    assert game.points == [4, 0]
    assert game.state.supply[0]["meeple"] == 7


def test_27_5_farmers_are_never_touched():
    assert places(draw_revolt("RV01", ["1 meeple 0,0/field-ese"]), 1) == ["0,0/field-ese"]


def test_27_6_a_builder_goes_home_with_the_last_meeple():
    game = draw_revolt(
        "RV02", [text.replace("0 ", "1 ", 1) for text in BUILDER], land=["U 1,0 0"], traders_builders=True
    )
    assert places(game, 1) == []
    assert game.state.supply[1]["builder"] == 1
    two = [*BUILDER, "0 meeple 5,5/city"]
    safe = draw_revolt(
        "RV02",
        [text.replace("0 ", "1 ", 1) for text in two],
        "0,0/road",
        land=["U 1,0 0", "E 5,5 0"],
        traders_builders=True,
    )
    assert places(safe, 1) == ["0,0/road", "1,0/road", "5,5/city"]


def test_27_6_the_fairy_stays_beside_a_meeple_that_is_protected_and_does_not_protect_it():
    game = set_up(meeples=["0 meeple 0,0/city"], fairy=True, **REVOLTS)
    game.state = replace(game.state, fairy=list_figures(game.state)[0])
    game.play("place 1,0 0", "protect 0,0/city")
    assert game.state.fairy in list_figures(game.state)
    unsafe = set_up(
        meeples=["1 meeple 0,0/city"], bag=tuple(REVOLT_TILES), rig={"tile": ["RV01"]}, fairy=True, **REVOLTS
    )
    unsafe.state = replace(unsafe.state, fairy=list_figures(unsafe.state)[0])
    assert places(unsafe.play(*PLACES), 1) == []


@pytest.mark.parametrize("tile", count_tiles_of("revolts"))
def test_27_2_every_revolt_is_told_apart_and_breaks_out_once(tile):
    game = draw_revolt(tile, ())
    assert [event.kind for event in game.find_events("RevoltBroke")] == [REVOLT_TILES[tile]]


KNIGHTS = st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=7)


@given(KNIGHTS)
def test_27_2_one_seat_at_most_loses_meeples_and_those_before_it_are_paid(knights):
    land = [f"E {2 * number},5 0" for number in range(7)]
    game = set_up(
        land, [f"{seat} meeple {2 * number},5/city" for number, (seat, _) in enumerate(knights)], seats=3, **REVOLTS
    )
    protect(game, *(f"{2 * number},5/city" for number, (_, safe) in enumerate(knights) if safe))
    event = strike(game.state, get_rules(game.state.options), "city")
    losers = {figure.seat for figure in event.figures}
    assert len(losers) <= 1
    asked = range(min(losers, default=2) + 1)
    assert {award.seat: award.points for award in event.awards} == {
        seat: 2 * knights.count((seat, True)) for seat in asked if (seat, True) in knights
    }
    assert [seat for seat in asked if (seat, False) in knights] == sorted(losers)
    assert len(event.figures) == sum(knights.count((seat, False)) for seat in losers)
