"""TurfMaster, paragraph 9 of its book: hedges."""

import pytest

from engine.games import turfmaster
from engine.games.turfmaster import ride
from engine.games.turfmaster.ride import MOST_POINTS, find_reach, find_rides
from engine.games.turfmaster.state import Fell, HedgePlaced, HedgeRemoved, Rode, Stayed
from tests.engine.games.turf import (
    Options,
    begin_round,
    ends,
    find_events,
    horse,
    list_moves,
    play,
    race,
    settle,
    verbs,
)

ALL = (1, 2, 3, 4, 5, 6)
UP = {"hedges": (2, 3, 4, 5, 6)}


def list_ends(start, points, *others, kind="cards"):
    """Where a ride between hedges can end."""
    return set(find_rides(find_reach(start, others, ALL, MOST_POINTS), points, kind).ends)


@pytest.mark.parametrize(("choice", "races"), [("none", ""), ("race3", "3"), ("all", "123")])
def test_9_1_the_option_says_in_which_races_hedges_are_put_up(choice, races):
    for number in (1, 2, 3):
        horses = [horse(seat, None, ()) for seat in range(4)]
        over = race(horses=horses, race=number - 1, stage="boxes", options=Options(grand_national=choice))
        events = settle(over)[1]
        assert find_events(events, "RaceBegan")[0].hedges == ((1, 2, 3, 4, 5) if str(number) in races else ())


def test_9_1_hedges_reach_across_all_lanes():
    for number, index in zip(ALL, (9, 23, 37, 50, 63, 80), strict=True):
        fields = ride.HEDGES[number]
        assert {lane for lane, _ in fields} == set(range(8))
        assert {ride.get_front(field) for field in fields} == {ride.get_front((0, index))}
    assert {ride.make_field_token(field)[1:] for field in ride.HEDGES[6]} == {"1"}  # the start boxes themselves


WITHOUT_SIXTH = (1, 2, 3, 4, 5)


def test_9_2_the_sixth_hedge_comes_when_all_have_left_their_boxes():
    waiting = settle(race((0, 5), (1, 4), (2, 1), (3, 0), hedges=WITHOUT_SIXTH))[0]
    assert waiting.hedges == WITHOUT_SIXTH
    state, events = settle(race((0, 5), (1, 4), (2, 1), (3, 1), hedges=WITHOUT_SIXTH))
    assert find_events(events, "HedgePlaced") == [HedgePlaced(6)]
    assert state.hedges == ALL


def test_9_2_the_first_hedge_goes_when_all_have_passed_it():
    waiting = settle(race((0, 30), (1, 30), (2, 10), (3, 8), hedges=ALL))[0]
    assert 1 in waiting.hedges
    state, events = settle(race((0, 30), (1, 30), (2, 10), (3, 10), hedges=ALL))
    assert find_events(events, "HedgeRemoved") == [HedgeRemoved(1)]
    assert state.hedges == (2, 3, 4, 5, 6)


def test_9_2_fallen_horses_are_not_waited_for():
    state = settle(race((0, 30), (1, 30), (2, 10), None, hedges=ALL, fallen=(3,)))[0]
    assert 1 not in state.hedges


def test_9_2_hedges_change_between_rounds_only():
    state = begin_round((0, 30), (1, 30), (2, 10), (3, 8), hedges=ALL)
    for seat, move in ((0, "play 9"), (1, "play 9"), (2, "play 12"), (3, "play 12 D19")):
        before = state.hedges
        state, events = play(state, seat, move)
    assert 1 in before
    assert [type(event).__name__ for event in events] == ["Played", "Rode", "HedgeRemoved", "RoundBegan", "DiceRolled"]


def test_9_3_a_jump_costs_four_points():
    assert list_ends((3, 20), 6) == {"C25", "D25", "E25"}  # two strides and the jump
    assert list_ends((3, 22), 4) == {"D25"}


def test_9_3_a_jump_goes_straight_from_the_field_before_to_the_field_behind():
    assert list_ends((3, 22), 5) == {"D26"}
    assert list_ends((3, 21), 5) == {"C25", "D25", "E25"}
    assert not {"C24", "D24", "E24"} & set().union(*(list_ends((3, 18), points) for points in range(1, 13)))


def test_9_3_a_jump_counts_as_two_strides_for_changing_lanes():
    walls = [(2, 21), (4, 21)]  # so that the first stride goes straight
    assert list_ends((3, 20), 8, *walls) == {"D27"}  # strides 1 and 2, the jump 3 and 4, then 5 and 6
    assert list_ends((3, 20), 9, *walls) == {"C28", "D28", "E28"}  # the seventh stride


def test_9_4_from_right_before_a_hedge_only_the_eighth_stride_may_turn():
    assert list_ends((3, 22), 9) == {"D30"}
    assert list_ends((3, 22), 10) == {"C31", "D31", "E31"}


def test_9_5_too_few_points_for_the_hedge_are_a_fall():
    for points in (1, 2, 3):
        assert list_ends((3, 22), points) == {"fall"}
    assert list_ends((3, 20), 5) == {"fall"}
    state = begin_round((3, 22), (0, 9), (1, 9), (2, 9), hands={0: ("3",)}, **UP)
    after, events = play(state, 0, "play 3 fall")
    assert events[1] == Fell(0, "D23")
    assert (after.horses[0].field, after.fallen, after.horses[0].spent) == (None, (0,), ("3",))


def test_9_5_a_horse_behind_the_hedge_is_a_fall():
    for other in ((3, 24), (3, 25)):
        assert list_ends((3, 22), 8, other) == {"fall"}
    assert list_ends((3, 22), 8, (3, 26)) == {"D25"}


def test_9_5_with_no_point_left_a_horse_stops_before_the_hedge():
    assert list_ends((3, 20), 2) == {"C23", "D23", "E23"}


def test_9_6_on_the_dice_it_stops_before_the_hedge():
    assert list_ends((3, 20), 4, kind="dice") == {"C23", "D23", "E23"}
    assert list_ends((3, 22), 3, kind="dice") == {"stay"}
    assert list_ends((3, 20), 8, (2, 24), (3, 24), (4, 24), kind="dice") == {"C23", "D23", "E23"}
    state = begin_round((3, 20), (0, 9), (1, 9), (2, 9), round=1, roller=0, rig={"die": [4, 6]}, **UP)
    state = play(state, 0, "pace 4").state
    assert play(state, 0, "ride D23").events[0] == Rode(0, (3, 20), (3, 22), "D23", 2, lapsed=2)


def test_9_7_a_longer_ride_avoids_the_fall():
    assert list_ends((3, 21), 8, (3, 24)) == {"C28", "E28"}  # the other two lanes can be jumped


def test_9_7_a_shorter_ride_does_not_avoid_the_fall():
    walls = [(2, 22), (4, 22)]  # no way to leave the lane
    assert list_ends((3, 20), 4, *walls) == {"fall"}
    assert list_ends((3, 20), 2, *walls) == {"D23"}


def test_9_7_between_rides_of_equal_length_the_rider_chooses(monkeypatch):
    monkeypatch.setitem(ride.HEDGES, 7, frozenset({(3, 23)}))  # across all lanes it would never come to that
    reach = find_reach((3, 21), ((2, 24), (4, 23)), (7,), MOST_POINTS)
    assert set(find_rides(reach, 3, "cards").ends) == {"fall", "C23"}


@pytest.mark.parametrize("hand", [("12",), ()])
def test_9_8_without_a_ride_there_is_no_fall(hand):
    reach = [horse(0, (3, 22), hand, bonus=1), *(horse(seat, (seat, 9)) for seat in (1, 2, 3))]
    state, events = settle(race(horses=reach, **UP))
    if hand:
        assert ends(state, 0, "play", "12") == {"stay"}
        state, events = play(state, 0, "play 12")
    assert find_events(events, "Stayed") == [Stayed(0, "over the limit" if hand else "no card")]
    assert state.horses[0].field == (3, 22)


def test_9_9_a_fallen_horse_is_in_no_ones_way():
    state = begin_round((3, 22), (3, 20), (1, 9), (2, 9), hands={0: ("3", "12"), 1: ("8",)}, **UP)
    assert ends(play(state, 0, "play 12").state, 1, "play", "8") == {"C27", "E27"}
    assert ends(play(state, 0, "play 3").state, 1, "play", "8") == {"C27", "D27", "E27"}


def test_9_9_fallen_horses_take_no_place():
    state = race((0, 95), None, (2, 30), (3, 30), fallen=(1,), **UP)
    state, events = settle(state)
    assert find_events(events, "Arrived")[0].place == 1
    assert turfmaster.standing(state)[1].score == 0
    assert turfmaster.view(state, None).runners[1].fallen


def test_9_9_the_first_to_fall_in_a_round_gets_the_later_box():
    state = begin_round((3, 22), (4, 22), (1, 9), (2, 9), hands={0: ("3",), 1: ("3",)}, **UP)
    for seat in state.order[:2]:
        state = play(state, seat, "play 3").state
    assert state.fallen == (0, 1)
    assert verbs(state, 2) == ["play", "bonus"]
    assert list_moves(state, 0) == []
