"""The markets of Leipzig, paragraph by paragraph of the book."""

import pytest
from msgspec.structs import replace

from engine import game as games
from engine import options
from engine.chance import make_sealed
from engine.games import carcassonne
from engine.games.carcassonne.boxes.leipzig import BONUSES, CELLS, START
from engine.games.carcassonne.state import Figure
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_messages import set_up_messages

LEIPZIG = {"leipzig": True}
BLOCK = [f"{name} {cell} 0" for name, cell in CELLS.items() if name != START]
ROAD = [*BLOCK, "U 2,0 0", "U 3,0 0"]
"""The road of the east gate, of four tiles that count as three; a tile A on 4,0 completes it."""


def set_up_leipzig(meeples=(), *inside, land=ROAD, drawn="A", **given):
    """Return a game with these meeples, written as `0 coiners`, in quarters; they are not in their owners' supplies."""
    game = set_up(land, meeples, drawn=drawn, start=START, **LEIPZIG, **given)
    return put_inside(game, *inside)


def put_inside(game, *inside):
    supply = [dict(own) for own in game.state.supply]
    merchants = tuple(Figure(int(one.split()[0]), "meeple", "", one.split()[1]) for one in inside)
    for one in merchants:
        supply[one.seat]["meeple"] -= 1
    game.state = replace(game.state, merchants=merchants, supply=tuple(supply))
    return game


def complete(*meeples, inside=(), **given):
    return set_up_leipzig(meeples, *inside, **given).play("place 4,0 90", "pass")


def merchants(game):
    return [(one.seat, one.segment) for one in carcassonne.view(game.state, None).merchants]


def test_32_1_the_block_of_eight_takes_the_place_of_the_start_tile_and_all_have_one_meeple_more():
    state = games.begin(carcassonne, options.parse(carcassonne.META.options, LEIPZIG), 2, make_sealed(b"", 0)).state
    assert {cell: placed.tile for cell, placed in state.tiles.items()} == {cell: name for name, cell in CELLS.items()}
    assert [supply["meeple"] for supply in state.supply] == [8, 8]
    assert sum(map(len, state.bags)) == 72 - 1 - 1  # the start tile and the one in hand


@pytest.mark.parametrize("other", ["river", "wind_roses", "school", "wheel", "count"])
def test_32_1_it_does_not_go_with_another_beginning(other):
    chosen = options.parse(carcassonne.META.options, LEIPZIG | {other: True})
    assert games.objection(carcassonne, chosen, 2).rule in ("32.1", "28.1", "30.1")


@pytest.mark.parametrize(("edition", "points"), [(4, 4), (3, 5)])
def test_32_1_the_long_road_at_a_gate_counts_as_one_tile(edition, points):
    assert complete("0 meeple 2,0/road", edition=edition).play("send nowhere").points == [points, 0]


@pytest.mark.parametrize(("edition", "points"), [(4, 2 * 5), (3, 2 * 6)])
def test_32_1_with_an_inn_it_counts_twice_as_one_tile(edition, points):
    road = [*ROAD, "I15 4,0 0"]
    game = set_up_leipzig(["0 meeple 2,0/road"], land=road, inns_cathedrals=True, edition=edition)
    assert game.play("place 5,0 90", "pass", "send nowhere").points == [points, 0]


@pytest.mark.parametrize(("edition", "tiles"), [(4, 4), (3, 5)])
def test_32_1_the_robber_baron_counts_it_as_one_tile(edition, tiles):
    game = complete(king_robber=True, edition=edition)
    assert [event.tiles for event in game.find_events("TitleTaken")] == [tiles]


def test_32_2_a_single_robber_who_is_sent_forfeits_the_road():
    game = complete("0 meeple 2,0/road")
    assert game.menu("send") == {"nowhere", *(f"2,0/road {quarter}" for quarter in BONUSES)}
    game.play("send 2,0/road coiners")
    assert (game.points, merchants(game)) == ([0, 0], [(0, "coiners")])
    assert game.state.supply[0]["meeple"] == 7


def test_32_2_who_sends_may_lose_the_lead():
    game = complete("0 meeple 2,0/road", "0 meeple 3,0/road", "1 meeple 1,0/road", "1 meeple 0,0/road")
    game.play("send 2,0/road coiners", "1: send nowhere")
    assert game.points == [0, 4]


def test_32_2_only_leaders_are_asked_the_one_on_turn_first():
    game = complete("0 meeple 2,0/road", "1 meeple 3,0/road", "1 meeple 1,0/road")
    assert (game.menu(), game.menu(seat=1)) == ([], ["send"])
    both = complete("0 meeple 2,0/road", "1 meeple 3,0/road")
    assert (both.menu(), both.menu(seat=1)) == (["send"], [])


def test_32_2_a_road_that_leads_nowhere_is_scored_at_once():
    game = set_up_leipzig(["0 meeple 0,5/road"], land=[*BLOCK, "A 0,5 0", "A 0,7 180"], drawn="U")
    assert game.play("place 0,6 90", "pass").find_events("MarketOpened") == []


def test_32_2_through_villages_but_not_through_cloisters():
    village = [*BLOCK, "W 2,0 90", "A 2,-2 0", "A 3,5 0"]
    game = set_up_leipzig(["0 meeple 2,-2/road"], land=village, drawn="U").play("place 2,-1 90", "pass")
    assert game.menu() == ["send"]
    assert game.play("send nowhere").points == [3, 0]
    other = [*BLOCK, "A 2,0 90", "A 5,5 90"]
    far = set_up_leipzig(["0 meeple 5,5/road"], land=[*other, "U 4,5 0"], drawn="A").play("place 3,5 270", "pass")
    assert (far.menu(), far.points) == ([], [3, 0])


def test_32_3_one_meeple_in_each_quarter_and_others_may_be_there():
    game = complete("0 meeple 2,0/road", inside=("0 coiners", "1 wainwrights"))
    assert game.menu("send") == {"nowhere", "2,0/road wainwrights", "2,0/road bookbinders"}
    full = complete("0 meeple 2,0/road", inside=[f"0 {quarter}" for quarter in BONUSES])
    assert full.points == [4 + 4, 0]


def test_32_3_companions_do_not_stay_without_the_meeple():
    game = complete("0 meeple 2,0/road", "0 builder 3,0/road", traders_builders=True)
    game.play("send 2,0/road coiners")
    assert game.state.supply[0]["builder"] == 1
    assert not carcassonne.view(game.state, None).figures


def test_32_4_wainwrights_bring_one_more_for_each_tile_of_a_road():
    assert complete("0 meeple 2,0/road", inside=["0 wainwrights"]).play("send nowhere").points == [4 + 4, 0]
    two = complete("0 meeple 2,0/road", "0 meeple 3,0/road").play("send 2,0/road wainwrights")
    assert two.points == [4 + 4, 0]


def test_32_4_coiners_bring_three_for_each_shield_in_the_lead_or_not():
    land = [*BLOCK, "C 0,5 0", "E 0,4 180", "E -1,5 90", "F 1,5 0"]
    figures = ["0 meeple 0,5/city", "0 meeple 1,5/city", "1 meeple 0,4/city"]
    game = set_up_leipzig(figures, "0 coiners", "1 coiners", land=[*land, "E 2,5 270"], drawn="E")
    game.play("place 0,6 0", "pass")
    assert game.points == [(6 + 2) * 2 + 6, 6]


def test_32_4_bookbinders_bring_three_for_each_cloister():
    land = [
        *BLOCK,
        "B 5,5 0",
        *(f"B {x},{y} 0" for x in (4, 5, 6) for y in (4, 5, 6) if (x, y) not in ((5, 5), (6, 6))),
    ]
    game = set_up_leipzig(["0 meeple 5,5/cloister"], "0 bookbinders", land=land, drawn="B")
    assert game.play("place 6,6 0", "pass").points == [9 + 3, 0]


def test_32_4_at_the_end_unfinished_features_are_paid_too():
    game = set_up_leipzig(["0 meeple 2,0/road"], "0 wainwrights", land=ROAD, drawn="U", bag=())
    assert game.play("place 4,0 0", "pass").points == [4 + 4, 0]


def test_32_4_messages_pay_without_leipzig():
    land, figures = [*ROAD, "A -5,5 0", "A -5,7 180"], ["0 meeple 2,0/road", "1 meeple -5,5/road"]
    game = set_up_messages(land, figures, drawn="U", start=START, track=((1, 1), (0, 3)), message=[1], **LEIPZIG)
    put_inside(game, "0 wainwrights")
    game.play("place 4,0 0", "pass")
    assert game.points == [2, 3]


def test_32_5_for_farms_at_its_wall_leipzig_is_a_completed_city():
    game = set_up_leipzig(["0 meeple -1,0/field-ese"], land=BLOCK, drawn="U", bag=())
    place = min(game.menu("place"))
    assert game.play(f"place {place}", "pass").points[0] == 3
