"""TurfMaster, paragraphs 6 and 7 of its book: riding and handicaps."""

from fractions import Fraction

from engine.games import turfmaster
from engine.games.turfmaster import ride
from engine.games.turfmaster.ride import MOST_POINTS, find_reach, find_rides
from engine.games.turfmaster.state import PaceSet, Played, Rode, Stayed
from tests.engine.games.turf import begin_round, ends, list_moves, play


def list_ends(start, points, *others):
    """Where a ride on a course without hedges can end."""
    return set(find_rides(find_reach(start, others, (), MOST_POINTS), points, "cards").ends)


def test_6_1_as_many_points_as_possible_must_be_used():
    assert list_ends((0, 0), 7, (0, 5)) == {"A8", "B8", "C8"}  # staying behind the other horse would use three only
    assert list_ends((0, 0), 3, (0, 5)) == {"A4", "B4"}


def test_6_1_points_that_cannot_be_used_lapse():
    state = begin_round((0, 5), (1, 10), (0, 10), (3, 2))
    state = play(play(state, 2, "play 9 stay").state, 1, "play 9 stay").state
    state, events = play(state, 0, "play 7 A9")
    assert events[1] == Rode(0, (0, 5), (0, 8), "A9", 3, lapsed=4)


def test_6_1_a_horse_that_cannot_stir_stays():
    assert list_ends((0, 5), 7, (0, 7), (1, 7)) == {"stay"}
    state = begin_round((0, 7), (1, 7), (0, 5), (3, 2))
    state = play(play(state, 0, "play 9 stay").state, 1, "play 9 stay").state
    assert play(state, 2, "play 7 stay").events == (Played(2, "7"), Stayed(2, "blocked"))


def test_6_1_a_ride_that_can_end_in_one_way_only_is_made_on_the_dice():
    state = begin_round((0, 7), (1, 7), (0, 3), (3, 2), round=1, roller=3, rig={"die": [2, 2]})
    state, events = play(state, 3, "pace 2")
    assert events == (PaceSet(3, "2"), Rode(0, (0, 7), (0, 9), "A10", 2))
    assert ends(state, 1, "ride") == {"B10", "C10"}
    assert ends(begin_round((0, 7), (1, 7), (0, 3), (3, 2), hands={0: ("7",)}), 0, "play", "7") == {"A15", "B15"}


def test_6_1_a_card_with_one_way_only_is_still_the_riders_to_play():
    state = begin_round((0, 7), (1, 7), (0, 3), (3, 2), hands={0: ("4",)}, rig={})
    assert list_moves(state, 0) == ["play 4 A12", "bonus"]


def test_6_2_the_first_stride_may_be_diagonal_the_next_five_not():
    assert list_ends((3, 0), 1) == {"C2", "D2", "E2"}
    assert list_ends((3, 0), 6) == {"C7", "D7", "E7"}


def test_6_2_one_more_diagonal_from_the_seventh_stride_on():
    assert list_ends((3, 0), 7) == {"B8", "C8", "D8", "E8", "F8"}
    assert list_ends((3, 0), 12) == {"B13", "C13", "D13", "E13", "F13"}


def test_6_2_the_later_diagonal_needs_no_first_one():
    assert list_ends((3, 0), 7, (2, 1), (4, 1)) == {"C8", "D8", "E8"}


def test_6_2_the_later_diagonal_may_come_at_any_stride_from_the_seventh():
    walls = [(2, 7), (2, 9), (4, 7), (4, 9), (2, 1), (4, 1)]  # neighbours free from the eleventh field only
    assert list_ends((3, 0), 10, *walls) == {"D11"}
    assert list_ends((3, 0), 11, *walls) == {"C12", "D12", "E12"}


def find_beside(lane, index, side):
    """The field that holds the middle of the next field of the lane, or ends there, in whole and broken numbers."""
    edges = [Fraction(0), *(Fraction(front, ride.UNIT) for front in ride.FRONTS[lane])]
    middle = (edges[index + 1] + edges[index + 2]) / 2
    return next(place for place, front in enumerate(ride.FRONTS[side]) if Fraction(front, ride.UNIT) >= middle)


def test_6_3_a_diagonal_leads_beside_the_middle_of_the_field_ahead():
    assert list_ends((1, 28), 1) == {"A30", "B30", "C30"}
    assert list_ends((1, 29), 1) == {"A30", "B31", "C31"}
    assert list_ends((0, 29), 1) == {"A31", "B32"}
    assert list_ends((0, 28), 1) == {"A30", "B30"}
    for (lane, index), sides in ride.FIELDS_BESIDE.items():
        neighbours = (side for side in (lane - 1, lane + 1) if 0 <= side < 8)
        assert sides == tuple((side, find_beside(lane, index, side)) for side in neighbours)


def test_6_3_between_two_fields_it_leads_to_the_rear_one():
    on_an_edge = [
        (lane, index, side)
        for lane in range(8)
        for side in (lane - 1, lane + 1)
        for index in range(len(ride.FRONTS[lane]) - 1)
        if 0 <= side < 8 and sum(ride.FRONTS[lane][index : index + 2]) / 2 in ride.FRONTS[side]
    ]
    assert len(on_an_edge) == 7
    for lane, index, side in on_an_edge:
        ahead = sum(ride.FRONTS[lane][index : index + 2]) / 2
        assert (side, ride.FRONTS[side].index(ahead)) in ride.FIELDS_BESIDE[lane, index]


def test_6_4_the_fields_before_and_behind_a_horse_are_closed():
    assert list_ends((0, 0), 2, (1, 2)) == {"A3"}  # neither B2 nor B3
    assert list_ends((0, 0), 1, (1, 0)) == {"A2"}  # B2 lies right before a horse
    assert list_ends((0, 0), 6, (0, 5), (1, 6)) == {"B5"}
    assert list_ends((0, 2), 1, (1, 1), (1, 5)) == {"A4", "B4"}


def test_6_4_closed_fields_cannot_be_passed_through():
    assert list_ends((0, 0), 12, (0, 8), (1, 8), (2, 8)) == {"A7", "B7"}


def test_6_4_between_neighbouring_lanes_a_horse_may_squeeze_through():
    assert "B2" in list_ends((0, 0), 1, (0, 2), (2, 1))


def test_6_4_a_horse_a_lap_behind_is_not_in_the_way():
    assert list_ends((0, 80), 6, (0, 5), (1, 4)) == {"A7", "B7"}


LEADERS = ((0, 9), (1, 8), (2, 7), (3, 6))


def test_7_1_the_first_three_are_limited():
    assert begin_round(*LEADERS).limits == (8, 9, 10, 12)
    assert ends(begin_round(*LEADERS, hands={0: ("8",)}), 0, "play", "8") != {"stay"}
    assert begin_round(*LEADERS, round=1).limits == (8, 9, 10, 12)


def test_7_1_a_handicap_stays_for_the_round():
    state = begin_round(*LEADERS, hands={3: ("12",)})
    for seat in range(3):
        state = play(state, seat, "play 12 stay").state
    assert ends(state, 3, "play", "12") != {"stay"}
    overtaken = begin_round((0, 6), (1, 5), (2, 4), (3, 3), hands={0: ("9",), 1: ("8",), 2: ("11",)})
    overtaken = play(play(overtaken, 0, "play 9 stay").state, 1, "play 8 B14").state
    assert ends(overtaken, 2, "play", "11") == {"stay"}  # third when the round began


def test_7_2_level_horses_share_a_handicap_and_all_count():
    assert begin_round((0, 9), (1, 9), (2, 9), (3, 8)).limits == (8, 8, 8, 12)
    assert begin_round((0, 9), (1, 8), (2, 8), (3, 7)).limits == (8, 9, 9, 12)
    assert begin_round((0, 9), (1, 9), (2, 8), (3, 8)).limits == (8, 8, 10, 10)


def test_7_2_at_the_start_all_are_first():
    assert begin_round(*((lane, 0) for lane in range(8))).limits == (8,) * 8


def test_7_3_arrived_horses_count_as_ahead():
    assert begin_round(None, (1, 8), (2, 7), (3, 6), arrived=(0,)).limits == (9, 10, 12)


def test_7_3_fallen_horses_do_not_count():
    assert begin_round(None, (1, 8), (2, 7), (3, 6), fallen=(0,)).limits == (8, 9, 10)


def test_7_4_too_high_a_card_is_spent_and_the_horse_stays():
    state = begin_round(*LEADERS)
    assert ends(state, 0, "play", "9") == {"stay"}
    after, events = play(state, 0, "play 9")
    assert events == (Played(0, "9"), Stayed(0, "over the limit"))
    assert (after.horses[0].field, after.horses[0].spent) == ((0, 9), ("9",))
    assert not turfmaster.menu(after, 0)
    assert ends(after, 1, "play", "9") != {"stay"}


def test_7_5_a_joker_knows_no_handicap():
    state = begin_round(*LEADERS)
    assert "play J12 A22" in list_moves(state, 0)
    assert play(state, 0, "play J12 A22").events[1] == Rode(0, (0, 9), (0, 21), "A22", 12)


def test_7_6_too_high_a_pace_leaves_the_rider_one_die_to_pick():
    state = begin_round(*LEADERS, round=1, roller=3, rig={"die": [4, 5]})
    state = play(state, 3, "pace both").state
    assert {offer.split()[1] for offer in list_moves(state, 0) if offer.startswith("ride")} == {"4", "5"}
    state = play(state, 0, "ride 5 A15").state
    assert state.horses[0].field == (0, 14)
    assert "ride B18" in list_moves(state, 1)  # nine points for the second


def test_7_6_a_single_die_is_never_too_high():
    state = begin_round(*LEADERS, round=1, roller=3, rig={"die": [6, 6]})
    single = play(state, 3, "pace 6").state
    assert "ride A16" in list_moves(single, 0)
    both = play(state, 3, "pace both").state
    assert "ride 6 A16" not in list_moves(both, 0)  # both dice are alike: nothing to pick
    assert "ride A16" in list_moves(both, 0)
