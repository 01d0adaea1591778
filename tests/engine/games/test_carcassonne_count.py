"""The Count of Carcassonne, paragraph by paragraph of the book."""

import pytest
from msgspec.structs import replace

from engine import game as games
from engine import options
from engine.chance import make_sealed
from engine.games import carcassonne
from engine.games.carcassonne.boxes.count import CELLS, QUARTERS, START
from engine.games.carcassonne.state import Figure
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import BUILDER

COUNT = {"count": True}
CITY = [f"G 0,{y} 90" for y in (-1, -2, -3)]
BLOCK = [f"{name} {cell} 0" for name, cell in CELLS.items() if name != START]
FARM = ["E 0,-1 180"]


def citizen(seat, quarter, way="1", kind="meeple"):
    return Figure(seat, kind, "", quarter, way)


def set_up_city(*inside, count_at="market", land=(), figures=(), start="D", **given):
    """Return a game with these meeples in the city, which are not in their owners' supplies."""
    game = set_up(land, figures, start=start, **COUNT, **given)
    supply = [dict(own) for own in game.state.supply]
    for one in inside:
        supply[one.seat][one.kind] -= 1
    game.state = replace(game.state, citizens=inside, count_at=count_at, supply=tuple(supply))
    return game


def citizens(game):
    return carcassonne.view(game.state, None).citizens


def help_others(**given):
    """Let seat 0 complete the city of seat 1."""
    game = set_up_city(figures=["1 meeple 0,0/city"], drawn="E", count_at="castle", **given)
    return game.play("place 0,-1 180", "pass")


def test_30_1_the_block_of_twelve_takes_the_place_of_the_start_tile():
    state = games.begin(carcassonne, options.parse(carcassonne.META.options, COUNT), 2, make_sealed(b"", 0)).state
    assert {cell: placed.tile for cell, placed in state.tiles.items()} == {cell: name for name, cell in CELLS.items()}
    assert carcassonne.view(state, None).count_at == "castle"
    assert list(QUARTERS) == ["castle", "smithy", "cathedral", "market"]


@pytest.mark.parametrize("other", ["river", "wind_roses", "school", "wheel"])
def test_30_1_the_city_does_not_go_with_another_beginning(other):
    chosen = options.parse(carcassonne.META.options, {"count": True, other: True})
    assert carcassonne.objection(chosen, 2) is not None


def test_30_2_a_seat_that_helped_others_only_may_send_a_meeple_and_then_the_count():
    game = help_others()
    assert game.points == [0, 4]
    assert {"meeple smithy count-castle", "outside"} <= game.menu("enter")
    game.play("enter meeple castle count-market")
    assert citizens(game) == (citizen(0, "castle"),)
    assert carcassonne.view(game.state, None).count_at == "market"
    assert game.state.supply[0]["meeple"] == 6
    assert game.menu(seat=1) == ["place"]
    assert citizens(help_others().play("enter outside")) == ()


def test_30_2_points_of_the_own_keep_the_city_closed():
    figures = ["1 meeple 0,0/city", "0 meeple 1,-1/road"]
    own = set_up_city(land=["A 1,-1 90"], figures=figures, drawn="L").play("place 0,-1 180", "pass")
    assert own.points == [2, 4]
    assert own.menu(seat=1) == ["place"]
    assert set_up_city(drawn="E").play("place 0,-1 180", "pass").menu(seat=1) == ["place"]


def test_30_2_a_bonus_is_no_points_of_a_feature():
    figures = ["1 meeple 0,0/city", "1 meeple 0,0/city 2", "0 meeple 0,0/city 3"]
    game = set_up_city(figures=figures, drawn="E", fairy=True)
    game.state = replace(game.state, fairy=game.state.features[0].figures[2])
    game.play("place 0,-1 180", "pass")
    assert game.points == [3, 4]
    assert game.menu() == ["enter"]


def test_30_2_once_in_a_double_turn():
    land = ["U 1,0 0", "U 2,0 0", "E 2,-1 0", "U 3,0 0"]
    figures = [*BUILDER, "1 meeple 2,-1/city"]
    rig = {"tile": ["E", "U", "U"]}
    game = set_up_city(land=land, figures=figures, drawn="U", rig=rig, bag=("E", "U", "U"), traders_builders=True)
    game.play("place 4,0 0", "pass", "builder build", "place 2,-2 180", "pass")
    assert game.points == [0, 4]
    assert game.menu() == ["enter"]
    first = set_up_city(land=land, figures=[*figures, "1 meeple 6,0/city"][:3], drawn="U", traders_builders=True)
    assert first.play("place 4,0 0", "pass").menu() == ["builder"]


def test_30_3_an_abbot_goes_to_the_cathedral_only():
    entries = {args for args in help_others(abbot=True).menu("enter") if args.startswith("abbot")}
    assert {args.split()[1] for args in entries} == {"cathedral"}


def complete_city(*inside, count_at="market", **given):
    """Let seat 0 complete a city of five tiles with a knight of seat 1."""
    game = set_up_city(*inside, count_at=count_at, land=CITY, figures=["1 meeple 0,0/city"], drawn="E", **given)
    return game.play("place 0,-4 180", "pass")


def test_30_4_meeples_come_from_the_castle_onto_a_completed_city():
    game = complete_city(citizen(0, "castle"))
    assert game.menu("deploy") == {"meeple", "remain"}
    game.play("deploy meeple")
    assert game.points == [10, 10]
    assert citizens(game) == ()
    assert game.state.supply[0]["meeple"] == 7
    stayed = complete_city(citizen(0, "castle")).play("deploy remain")
    assert stayed.points == [0, 10]
    assert citizens(stayed) == (citizen(0, "castle"),)


def test_30_4_the_count_keeps_the_meeples_of_his_quarter():
    game = complete_city(citizen(0, "castle"), count_at="castle")
    assert game.points == [0, 10]
    assert game.menu() == ["enter"]


def test_30_4_several_meeples_may_come_and_the_seat_on_turn_is_asked_last():
    inside = [citizen(0, "castle"), citizen(1, "castle", "2"), citizen(1, "castle", "3"), citizen(0, "smithy")]
    game = complete_city(*inside)
    assert (game.menu(), game.menu(seat=1)) == ([], ["deploy"])
    game.play("1: deploy meeple")
    assert game.menu("deploy", seat=1) == {"meeple", "remain"}
    game.play("1: deploy remain", "deploy meeple")
    assert game.points == [0, 10]


def test_30_4_a_meeple_may_come_onto_an_empty_road_or_cloister():
    road = set_up_city(citizen(0, "smithy"), land=["A -1,0 270"], drawn="A").play("place 1,0 90", "pass")
    assert road.play("deploy meeple").points == [3, 0]
    around = ["A -1,0 270", "A 1,0 90", "B 0,1 0", "B -1,1 0", "B 1,1 0", "B -1,2 0", "B 0,2 0"]
    monk = set_up_city(citizen(0, "cathedral"), land=around, drawn="B").play("place 1,2 0", "pass")
    assert monk.play("deploy meeple").points[0] >= 9


def test_30_5_before_the_final_scoring_meeples_go_from_the_market_onto_farms():
    game = set_up_city(citizen(0, "market"), count_at="castle", land=FARM, bag=()).play("place 1,0 0", "pass")
    farms = {args for args in game.menu("deploy") if args != "remain"}
    assert farms
    game.play("deploy " + min(farms))
    assert game.over
    assert game.points == [3, 0]


def test_30_5_at_the_end_the_count_still_keeps_the_market():
    game = set_up_city(citizen(0, "market"), land=FARM, bag=()).play("place 1,0 0", "pass")
    assert game.over
    assert game.points == [0, 0]


def test_30_5_a_barn_brings_the_meeples_of_the_market_onto_its_farm():
    land = ["E 0,-1 180", "B 1,-1 0", "B 1,-2 0"]
    figures = ["0 meeple 0,-1/field"]
    game = set_up_city(citizen(1, "market"), count_at="castle", land=land, figures=figures, drawn="B", abbey_mayor=True)
    game.play("place 0,-2 0", "barn SE")
    assert game.menu("deploy", seat=1) == {"meeple", "remain"}
    game.play("1: deploy meeple")
    assert game.points == [3, 3]


def test_30_6_carcassonne_is_a_city_for_the_farms_at_its_wall_and_for_the_king():
    land = [*BLOCK, "E -1,-2 0"]
    farm = set_up_city(land=land, figures=["0 meeple -1,-2/field"], drawn="E", bag=(), start=START)
    assert farm.play("place -1,-3 180", "pass").points == [3 + 3, 0]
    king = set_up_city(land=land, drawn="E", bag=(), start=START, king_robber=True)
    assert king.play("place -1,-3 180", "pass").points == [1 + 1, 0]
    far = set_up_city(land=[*BLOCK, "B 5,5 0"], figures=["0 meeple 5,5/field"], drawn="B", bag=(), start=START)
    assert far.play("place 5,6 0", "pass").points == [0, 0]
