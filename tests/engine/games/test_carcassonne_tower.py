"""The tower, paragraph by paragraph of the book."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine import bots, options
from engine.games import carcassonne
from engine.games.carcassonne.boxes.tower import RansomPaid
from engine.games.carcassonne.state import count_points_of
from engine.games.carcassonne.tiles import count_tiles_of
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import count_tiles
from tests.engine.games.test_carcassonne_messages import set_up_messages
from tests.invariants import carcassonne as invariants

TOWER = {"tower": True}
LAND = ["TO02 0,1 0", "U 1,0 0", "B 1,1 0", "B 1,2 0", "B 0,3 0"]
"""A tower at 0,1 with a tile to its east, one two cells to the south beyond a gap, and one at a diagonal."""


def set_up_tower(meeples=(), tiles=LAND, **given):
    return set_up(tiles, meeples, **TOWER, **given)


def build(game, floors=1, cell="0,1"):
    """Let seat 0 put the last of so many floors on a tower."""
    game.state = replace(game.state, towers={cell: floors - 1})
    return game.play("place -1,0 0", f"tower {cell}")


def capture(*meeples, take, **given):
    return build(set_up_tower(meeples, **given)).play(f"capture {take}")


def prisoners(game):
    return [(one.captor, one.seat, one.kind) for one in game.state.prisoners]


def test_22_1_eighteen_tiles_more_and_fewer_floors_for_more_players():
    assert count_tiles(tower=True).total() == 72 + 18 == 72 + sum(count_tiles_of("tower").values())
    floors = {seats: set_up(seats=seats, inns_cathedrals=True, **TOWER).state.floors[0] for seats in range(2, 7)}
    assert floors == {2: 10, 3: 9, 4: 7, 5: 6, 6: 5}


def test_22_2_a_floor_goes_on_any_tower_on_the_table_instead_of_a_figure():
    game = set_up_tower(drawn="TO01").play("place 0,-1 180")
    assert game.menu("tower") == {"0,-1", "0,1"}
    game.play("tower 0,1")
    assert (game.state.towers, game.state.floors) == ({"0,1": 1}, (9, 10))
    assert game.state.turn == 1


@pytest.mark.parametrize(
    ("floors", "reach"),
    [(1, {"1,1/cloister"}), (2, {"1,1/cloister", "0,3/cloister"}), (3, {"1,1/cloister", "0,3/cloister"})],
)
def test_22_3_each_floor_reaches_one_cell_farther_over_gaps_and_never_at_a_diagonal(floors, reach):
    meeples = ["1 meeple 1,1/cloister", "1 meeple 0,3/cloister", "1 meeple 1,2/cloister"]
    assert build(set_up_tower(meeples), floors).menu("capture") == reach | {"nobody"}


def test_22_3_the_own_meeple_comes_home_and_another_one_becomes_a_prisoner():
    home = capture("0 meeple 1,1/cloister", take="1,1/cloister")
    assert (home.points, prisoners(home), home.state.supply[0]["meeple"]) == ([0, 0], [], 7)
    taken = capture("1 meeple 1,1/cloister", take="1,1/cloister")
    assert prisoners(taken) == [(0, 1, "meeple")]
    assert (taken.points, taken.state.supply[1]["meeple"]) == ([0, 0], 6)
    assert not carcassonne.view(taken.state, None).figures


def test_22_3_the_seat_may_take_none_and_is_not_asked_if_none_is_in_reach():
    game = capture("1 meeple 1,1/cloister", take="nobody")
    assert (prisoners(game), game.state.turn) == ([], 1)
    assert not build(set_up_tower(["1 meeple 1,2/cloister"])).find_events("CaptureOffered")


def test_22_3_builder_and_pig_stay_out_of_reach_and_go_home_when_they_are_alone():
    road = ["1 meeple 0,0/road", "1 builder 1,0/road", "1 pig 1,1/field"]
    game = build(set_up_tower(road, traders_builders=True))
    assert game.menu("capture") == {"0,0/road", "nobody"}
    game.play("capture 0,0/road")
    assert game.state.supply[1] == {"meeple": 6, "builder": 1, "pig": 0}
    two = capture(*road[:2], "1 meeple 1,0/road 2", take="0,0/road", traders_builders=True)
    assert two.state.supply[1]["builder"] == 0


def test_22_4_a_meeple_goes_on_a_tower_with_a_floor_and_closes_it_for_good():
    game = set_up_tower(drawn="U", bag=["U"] * 9).play("place -1,0 0")
    assert not any("tower" in option for option in game.menu("figure"))
    game.play("tower 0,1", "1: place 2,0 0", "1: figure meeple 0,1/tower", "place 3,0 0")
    assert "tower" not in game.menu()
    game.state = build(set_up_tower(["1 meeple 0,1/tower"], [*LAND, "TO02 -1,1 0"]), cell="-1,1").state
    game.play("capture 0,1/tower")
    assert prisoners(game) == [(0, 1, "meeple")]


def test_22_4_a_tower_stays_closed_when_its_meeple_is_taken():
    land = [*LAND, "TO02 -1,1 0"]
    game = build(set_up_tower(tiles=land)).play("1: place 2,0 0", "1: figure meeple 0,1/tower")
    game.play("place 3,0 0", "tower -1,1", "capture 0,1/tower", "1: place 4,0 0")
    assert game.menu("tower", 1) == {"-1,1"}


def test_22_4_abbot_mayor_and_wagon_do_not_go_on_a_tower():
    game = set_up_tower(abbot=True, abbey_mayor=True, inns_cathedrals=True, big_top=True)
    state = build(game).play("1: place 2,0 0").menu("figure", 1)
    assert {option.split()[0] for option in state if option.endswith("0,1/tower")} == {"meeple", "large", "ringmaster"}


def test_22_5_two_players_who_hold_each_other_s_meeple_exchange_at_once():
    game = capture("1 meeple 1,1/cloister", "0 meeple 0,3/cloister", take="1,1/cloister")
    game.play("1: place 2,0 0", "1: tower 0,1", "1: capture 0,3/cloister")
    assert prisoners(game) == []
    assert [supply["meeple"] for supply in game.state.supply] == [7, 7]


def test_22_5_of_different_meeples_the_captor_chooses_which_comes_home():
    meeples = ["0 meeple 1,1/cloister", "0 large 0,3/cloister", "1 meeple 1,0/road"]
    game = set_up_tower(meeples, [*LAND, "TO02 2,0 0"], inns_cathedrals=True, drawn="U")
    game.play("place -1,0 0", "pass", "1: place -2,0 0", "1: tower 0,1", "1: capture 1,1/cloister")
    game.play("place -3,0 0", "pass", "1: place -4,0 0", "1: tower 0,1", "1: capture 0,3/cloister")
    game.play("place -5,0 0", "tower 2,0", "capture 1,0/road")
    assert game.menu("exchange") == {"meeple", "large"}
    assert carcassonne.view(game.state, game.state.turn).message == 0  # the board once said “Message 1”
    game.play("exchange large")
    assert prisoners(game) == [(1, 0, "meeple")]
    assert game.state.supply == ({"meeple": 6, "large": 1}, {"meeple": 7, "large": 1})


def hold(track, **given):
    """Return a game in which seat 1 holds a meeple of seat 0, and seat 0 has so many points."""
    game = set_up_tower(["0 meeple 1,1/cloister"], track=track, **given)
    return game.play("place -1,0 0", "pass", "1: place 2,0 0", "1: tower 0,1", "1: capture 1,1/cloister")


def test_22_6_the_ransom_is_three_points_to_the_captor_and_the_meeple_is_back_at_once():
    game = hold(((7,), (4,)))
    assert game.menu() == ["place", "ransom"]
    game.play("ransom meeple-2")
    assert (game.points, game.state.supply[0]["meeple"], prisoners(game)) == ([4, 7], 7, [])
    assert game.menu() == ["place"]
    later = hold(((7,), (4,))).play("place -2,0 0", "ransom meeple-2", "figure meeple road")
    assert later.points == [4, 7]


def test_22_6_once_a_turn_and_not_with_fewer_than_three_points():
    assert hold(((2,), (4,))).menu() == ["place"]
    game = set_up_tower(["0 meeple 1,1/cloister", "0 meeple 0,0/road"], track=((9,), (0,)))
    game.play("place -1,0 0", "pass", "1: place 2,0 0", "1: tower 0,1", "1: capture 1,1/cloister")
    game.play("place -2,0 0", "pass", "1: place 3,0 0", "1: tower 0,1", "1: capture 0,0/road")
    game.play("ransom meeple-2")
    assert game.menu() == ["place"]
    assert game.play("place -3,0 0", "pass", "1: place 4,0 0", "1: pass").menu() == ["place", "ransom"]


def test_22_6_a_double_turn_is_one_turn():
    road = ["0 meeple 0,0/road", "0 builder 1,0/road", "0 meeple 1,1/cloister", "0 meeple 0,3/cloister"]
    game = set_up_tower(road, track=((9,), (0,)), traders_builders=True)
    game.play("place -1,0 0", "pass", "builder rest", "1: place 2,0 0", "1: tower 0,1", "1: capture 1,1/cloister")
    game.play("place -2,0 0", "pass", "builder rest", "1: place 3,0 0", "1: tower 0,1", "1: capture 0,3/cloister")
    game.play("ransom meeple-2", "place -3,0 0", "pass", "builder build")
    assert game.menu() == ["place"]


def test_22_6_one_scoring_figure_pays_the_whole_and_no_message_is_drawn():
    game = set_up_messages(LAND, ["0 meeple 1,1/cloister"], track=((8, 2), (7, 0)), **TOWER)
    game.play("place -1,0 0", "pass", "1: place 2,0 0", "1: tower 0,1", "1: capture 1,1/cloister", "ransom meeple-2")
    game.play("score meeple", "1: score meeple")
    assert game.state.track == ((5, 2), (10, 0))
    assert not game.find_events("MessageDrawn")
    below = set_up_messages(LAND, ["0 meeple 1,1/cloister"], track=((2, 2), (7, 0)), **TOWER)
    below.play("place -1,0 0", "pass", "1: place 2,0 0", "1: tower 0,1", "1: capture 1,1/cloister", "ransom meeple-2")
    assert below.play("score woman", "1: score meeple").state.track == ((2, -1), (10, 0))


def test_22_7_towers_and_prisoners_bring_nothing_at_the_end_and_message_8_nothing_either():
    meeples = ["0 meeple 0,1/tower"]
    assert set_up_tower(meeples, bag=(), fairy=True).play("place -1,0 0", "pass").points == [0, 0]
    game = set_up_messages(LAND, meeples, drawn="E", track=((1, 3), (0, 0)), message=[8], **TOWER)
    game.play("place 0,-1 180", "figure meeple city", "score meeple", "message perform 0,1/tower")
    assert game.find_events("MessagePerformed")[0].points == 0


@given(st.integers(0, 5000), st.integers(2, 4))
@settings(max_examples=12, deadline=None)
def test_22_6_ransoms_balance_and_no_floor_is_lost(seed, seats):
    chosen = options.parse(carcassonne.META.options, TOWER | {"messages": bool(seed % 2), "inns_cathedrals": True})
    before = carcassonne.State()
    for _, _, state, events in bots.play_out(carcassonne, chosen, seats, b"ransom %d" % seed):
        if state.tiles:
            invariants.check_towers(state)
        for event in events:
            if isinstance(event, RansomPaid):
                payer, captor = event.awards
                assert (payer.points, captor.points) == (-3, 3)
                assert (payer.seat, captor.seat) == (event.prisoner.seat, event.prisoner.captor)
                assert count_points_of(before, payer.seat) >= 3
            before = carcassonne.evolve(before, event)
        assert before == state
