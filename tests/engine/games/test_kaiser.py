"""Kaiser, König, Edelmann, paragraph by paragraph of its book."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from engine import chance, menu
from engine import game as games
from engine.games import kaiser
from engine.games.kaiser import board
from engine.games.kaiser.board import Stone
from engine.games.kaiser.state import Captured, Fell, Moved, Options, RoundBegan, RoundDrawn, RoundWon, Scored
from engine.menu import Move
from engine.refusal import Refused

RANKS = {"E": "emperor", "K": "king", "N": "nobleman"}


def begin(seats=2, first=0, options=None, middle=1):
    rig = {"start player": [first], "middle corner": [middle]}
    return games.begin(kaiser, options or Options(), seats, chance.make_rigged(rig)).state


def position(stones, seats=2, **changes):
    """A position after everybody's first turn: `A17=E0` is the emperor of seat 0 on A17."""
    on_board = {}
    for word in stones.split():
        crossing, (rank, seat) = word.split("=")
        on_board[crossing] = Stone(int(seat), RANKS[rank])
    return replace(begin(seats), **{"stones": on_board, "opened": (True,) * seats} | changes)


def list_ends(state, start, seat=0):
    return {move.args[1] for move in menu.iter_moves(kaiser.menu(state, seat)) if move.args[0] == start}


def play(state, start, end, seat=0):
    return games.play(kaiser, state, seat, Move("move", (start, end)), chance.make_rigged({}))


def event_names(outcome):
    return [type(event).__name__ for event in outcome.events]


def find_events(outcome, kind):
    return [event for event in outcome.events if isinstance(event, kind)]


def list_points(outcome):
    return [standing.score for standing in kaiser.standing(outcome.state)]


def list_places(outcome):
    return [standing.place for standing in kaiser.standing(outcome.state)]


def test_1_1_sixty_eight_points_and_a_centre_in_four_equal_sectors():
    assert len(board.CROSSINGS) == 69
    assert len(board.LINES) == 96
    assert board.NEIGHBOURS["Z"] == ("A1", "B1", "C1", "D1")
    onward = str.maketrans("ABCD", "BCDA")
    rotated = {frozenset(end.translate(onward) for end in edge) for edge in board.LINES}
    assert rotated == {frozenset(edge) for edge in board.LINES}
    assert {len(near) for place, near in board.NEIGHBOURS.items()} == {2, 3, 4}


def test_1_1_every_point_is_within_reach():
    assert set(board.STEPS_TO_CENTRE) == set(board.CROSSINGS)
    assert max(board.STEPS_TO_CENTRE.values()) == board.STEPS_TO_CENTRE["A17"] == 9


def test_1_2_corners_of_two_and_of_four():
    assert begin(2).corners == ("A", "B")
    assert begin(2, options=Options(corners="opposite")).corners == ("A", "C")
    assert begin(4).corners == ("A", "B", "C", "D")


@pytest.mark.parametrize("seats", [3, 4])
def test_1_2_only_two_can_sit_opposite(seats):
    with pytest.raises(Refused, match="for two players"):
        begin(seats, options=Options(corners="opposite"))


@pytest.mark.parametrize(("middle", "corners"), [(0, "BCA"), (1, "ABC"), (2, "CAB")])
def test_1_3_chance_decides_which_of_three_players_sits_in_the_middle(middle, corners):
    assert "".join(begin(3, middle=middle).corners) == corners


def test_1_4_eight_stones_each():
    stones = begin(4).stones
    assert len(stones) == 32
    for seat, corner in enumerate("ABCD"):
        own = {place: stone.rank for place, stone in stones.items() if stone.seat == seat}
        assert own == {corner + str(place): "nobleman" for place in (10, 12, 15, 16)} | {
            corner + str(place): "king" for place in (11, 13, 14)
        } | {corner + "17": "emperor"}


@pytest.mark.parametrize("first", [0, 1, 2, 3])
def test_1_5_chance_decides_which_seat_begins(first):
    state = begin(4, first)
    assert [bool(kaiser.menu(state, seat)) for seat in range(4)] == [seat == first for seat in range(4)]


@pytest.mark.parametrize(("rank", "ends"), [("E", {"A15", "A16"}), ("K", {"A13", "A14"}), ("N", {"A10", "A11", "A12"})])
def test_2_1_a_stone_moves_exactly_as_far_as_it_is_worth(rank, ends):
    assert list_ends(position(f"A17={rank}0 B17=E1 A4=E0"), "A17") == ends


def test_2_1_a_stone_may_go_back_to_where_it_came_from():
    state = position("A17=E0 B17=E1 C17=N1")
    state = play(state, "A17", "A15").state
    state = play(state, "B17", "B15", 1).state
    assert "A17" in list_ends(state, "A15")


def test_2_2_a_stone_does_not_turn_round_within_a_move():
    everywhere = position("A8=N0 A17=E0 C17=E1")
    assert list_ends(everywhere, "A8").isdisjoint({"A8", "A5", "A6", "A11"})
    for rank in board.RANKS:
        for start, ways in board.WAYS[rank].items():
            for ends, between in ways:
                way = (start, *between, ends[1])
                assert ends[0] == start
                assert len(set(way)) == len(way) == board.WORTH[rank] + 1
                assert all(there in board.NEIGHBOURS[here] for here, there in pairwise(way))


def test_2_2_there_are_no_shorter_moves():
    assert list_ends(position("A17=K0 A1=E0 B17=E1 A13=N0 A14=N0"), "A17") == set()


def test_2_3_no_stone_jumps_over_another():
    assert list_ends(position("A17=N0 A15=K0 A16=K1 A1=E0 B17=E1"), "A17") == set()
    assert list_ends(position("A17=N0 A13=K1 A16=K1 A1=E0 B17=E1"), "A17") == set()


def test_2_3_one_free_way_is_enough():
    assert "A11" in list_ends(position("A17=N0 A15=K0 A1=E0 B17=E1"), "A17")
    assert "A11" not in list_ends(position("A17=N0 A15=K0 A14=K1 A1=E0 B17=E1"), "A17")


def test_2_4_only_an_emperor_steps_into_the_centre():
    assert "Z" in list_ends(position("A1=E0 B17=E1"), "A1")
    assert "Z" not in list_ends(position("A2=K0 A17=E0 B17=E1"), "A2")
    assert "Z" not in list_ends(position("A3=N0 A17=E0 B17=E1"), "A3")
    assert "Z" not in list_ends(position("A2=E0 B17=E1"), "A2")


def test_2_4_no_stone_moves_through_the_centre():
    assert "C1" in list_ends(position("A1=K0 A17=E0 C17=E1"), "A1")
    assert "C1" not in list_ends(position("A1=K0 B1=N0 D1=N0 A17=E0 C17=E1"), "A1")


def test_3_1_the_turn_goes_round_clockwise():
    state = begin(4, first=2)
    order = []
    for _ in range(8):
        seat = next(seat for seat in range(4) if kaiser.menu(state, seat))
        order.append(seat)
        state = games.play(
            kaiser, state, seat, next(menu.iter_moves(kaiser.menu(state, seat))), chance.make_rigged({})
        ).state
    assert order == [2, 3, 0, 1, 2, 3, 0, 1]


def test_3_1_one_stone_moves_in_a_turn():
    outcome = play(begin(2), "A10", "A8")
    assert event_names(outcome) == ["Moved", "TurnBegan"]
    assert kaiser.menu(outcome.state, 0) == ()


WALLED = "B17=E1 B15=K1 B16=K1 B13=N0 B14=N0 A17=E0"


def test_3_2_a_player_who_can_move_must():
    assert {entry.verb for entry in kaiser.menu(begin(2), 0)} == {"move"}


def test_3_2_a_player_who_cannot_move_passes():
    outcome = play(position(WALLED), "A17", "A15")
    assert event_names(outcome) == ["Moved", "TurnBegan", "Passed", "TurnBegan"]
    assert outcome.state.turn == 0


def test_3_3_a_player_who_is_out_is_passed_over():
    state = position("A17=E0 B10=N1 C17=E2", 3, out=(False, True, False))
    assert play(state, "A17", "A15").state.turn == 2


def test_4_1_nothing_is_captured_in_the_own_first_turn():
    state = begin(2)
    assert "B12" not in list_ends(state, "A10")
    state = play(play(state, "A11", "A5").state, "B11", "B5", 1).state
    assert "B12" in list_ends(state, "A10")


def test_4_1_from_the_second_turn_on_every_stone_may_be_captured():
    stones = "A10=N0 A17=E0 B12=N1 B17=E1"
    assert "B12" not in list_ends(position(stones, opened=(False, True)), "A10")
    assert "B12" in list_ends(position(stones, opened=(True, False)), "A10")


def test_4_1_a_passed_first_turn_counts_as_the_first_turn():
    assert play(position(WALLED, opened=(True, False)), "A17", "A15").state.opened == (True, True)


@pytest.mark.parametrize(("rank", "start"), [("E", "B9"), ("K", "A7"), ("N", "A10")])
@pytest.mark.parametrize("victim", "KN")
def test_4_2_every_stone_captures_every_other_by_ending_on_it(rank, start, victim):
    outcome = play(position(f"{start}={rank}0 A4=E0 B12={victim}1 C17=E1"), start, "B12")
    assert outcome.events[:2] == (
        Moved(0, RANKS[rank], start, "B12"),
        Captured(0, "B12", 1, RANKS[victim]),
    )
    assert outcome.state.stones["B12"] == Stone(0, RANKS[rank])
    assert sum(stone.seat == 1 for stone in outcome.state.stones.values()) == 1


def test_4_2_no_player_has_to_capture():
    assert len(list_ends(position("A10=N0 A17=E0 B12=N1 B17=E1"), "A10")) > 1


def test_4_2_own_stones_are_never_captured():
    assert "B12" not in list_ends(position("A10=N0 A17=E0 B12=K0 B17=E1"), "A10")


def test_4_3_a_player_who_loses_the_emperor_is_out():
    outcome = play(position("A10=N0 A17=E0 B12=E1 B17=K1 C17=E2", 3), "A10", "B12")
    assert find_events(outcome, Fell) == [Fell(1)]
    assert [standing.out for standing in kaiser.standing(outcome.state)] == [False, True, False]
    assert outcome.state.turn == 2


LEFT_BEHIND = position("A10=N0 A17=E0 B12=N1 A16=K1 C17=E2", 3, out=(False, True, False))


def test_4_4_the_stones_left_behind_stand_in_the_way():
    assert list_ends(replace(LEFT_BEHIND, opened=(False,) * 3), "A17") == {"A15"}
    assert kaiser.menu(replace(LEFT_BEHIND, turn=2), 1) == ()


def test_4_4_the_stones_left_behind_may_be_captured():
    assert "B12" in list_ends(LEFT_BEHIND, "A10")
    assert "A16" in list_ends(LEFT_BEHIND, "A17")


def test_5_1_the_first_emperor_in_the_fortress_wins_at_once():
    outcome = play(position("A1=E0 A10=N0 B1=E1"), "A1", "Z")
    assert event_names(outcome) == ["Moved", "RoundWon", "Scored", "Scored", "GameEnded"]
    assert find_events(outcome, RoundWon) == [RoundWon(0, "fortress")]
    assert list_places(outcome) == [1, 2]


def test_5_1_the_fortress_wins_whatever_else_is_true():
    almost_drawn = position("A1=E0 B17=E1", quiet=119)
    assert find_events(play(almost_drawn, "A1", "Z"), RoundWon) == [RoundWon(0, "fortress")]


TAKING_THE_LAST = "A10=N0 A17=E0 B12=E1 B17=N1"


def test_5_2_the_last_emperor_wins_at_once():
    outcome = play(position(TAKING_THE_LAST), "A10", "B12")
    assert event_names(outcome) == ["Moved", "Captured", "Fell", "RoundWon", "Scored", "Scored", "GameEnded"]
    assert find_events(outcome, RoundWon) == [RoundWon(0, "last emperor")]


def test_5_2_or_the_last_emperor_still_has_to_enter():
    outcome = play(position(TAKING_THE_LAST, options=Options(last_emperor="must_enter")), "A10", "B12")
    assert not find_events(outcome, RoundWon)
    assert outcome.state.turn == 0
    assert "B17" in list_ends(outcome.state, "B12")
    at_the_gate = position("A1=E0 B17=N1", options=Options(last_emperor="must_enter"), out=(False, True))
    assert find_events(play(at_the_gate, "A1", "Z"), RoundWon) == [RoundWon(0, "fortress")]


def step_to_and_fro(state, moves):
    """Both emperors step to and fro, so many moves in all; the last of these moves."""
    ways = [("A17", "A15", 0), ("B17", "B15", 1), ("A15", "A17", 0), ("B15", "B17", 1)]
    for number in range(moves):
        outcome = play(state, *ways[number % 4])
        state = outcome.state
    return outcome


def test_5_3_the_third_time_the_same_position_is_a_draw():
    state = position("A17=E0 B17=E1 C17=K1", nearest=(0, 0))
    assert not find_events(step_to_and_fro(state, 8), RoundDrawn)
    third = step_to_and_fro(state, 9)
    assert find_events(third, RoundDrawn) == [RoundDrawn("repetition")]
    assert list_points(third) == [1, 3]


def test_5_3_a_capture_restarts_the_count():
    state = step_to_and_fro(position("A17=E0 B17=E1 A10=N0 B12=K1", nearest=(0, 0)), 8).state
    assert play(state, "A10", "B12").state.seen.keys().isdisjoint(state.seen)


def test_5_4_sixty_quiet_rounds_are_a_draw():
    two = position("A17=E0 B17=E1", nearest=(0, 0), quiet=118)
    assert not find_events(play(two, "A17", "A15"), RoundDrawn)
    assert find_events(play(replace(two, quiet=119), "A17", "A15"), RoundDrawn) == [RoundDrawn("quiet")]


def test_5_4_a_player_who_is_out_has_no_turns_to_count():
    three = position("A17=E0 B12=N1 C17=E2", 3, nearest=(0, 0, 0), quiet=119, out=(False, True, False))
    assert find_events(play(three, "A17", "A15"), RoundDrawn)


def test_5_4_a_capture_or_a_nearer_emperor_restarts_the_count():
    almost_drawn = position("A17=E0 B17=E1 A10=N0 B12=K1", quiet=119)
    assert play(almost_drawn, "A17", "A15").state.quiet == 0
    assert play(almost_drawn, "A10", "B12").state.quiet == 0
    assert find_events(play(almost_drawn, "A10", "A8"), RoundDrawn)


def test_6_1_every_stone_scores_its_worth_and_the_winner_five_more():
    outcome = play(position("A1=E0 A10=N0 A11=K0 B17=E1 B10=N1 B12=N1 B11=K1 B13=K1"), "A1", "Z")
    assert find_events(outcome, Scored) == [Scored(0, 6, 5), Scored(1, 11)]
    assert list_points(outcome) == [11, 11]


def test_6_1_a_drawn_round_brings_no_bonus():
    outcome = play(position("A17=E0 A10=N0 B17=E1", nearest=(0, 0), quiet=119), "A17", "A15")
    assert find_events(outcome, Scored) == [Scored(0, 4), Scored(1, 1)]


@pytest.mark.parametrize(("counts", "left"), [(True, 3), (False, 0)])
def test_6_2_a_player_who_is_out_scores_the_stones_left_or_nothing(counts, left):
    options = Options(eliminated_score=counts)
    out = (False, True, False)
    won = play(position("A1=E0 B12=N1 C17=E2", 3, options=options, out=out), "A1", "Z")
    assert find_events(won, Scored) == [Scored(0, 1, 5), Scored(1, left), Scored(2, 1)]
    almost_drawn = position("A17=E0 B12=N1 C17=E2", 3, options=options, out=out, nearest=(0, 0, 0), quiet=119)
    assert find_events(play(almost_drawn, "A17", "A15"), Scored) == [Scored(0, 1), Scored(1, left), Scored(2, 1)]


def test_6_3_the_next_round_begins_with_the_next_player():
    outcome = play(position("A1=E0 B17=E1", options=Options(rounds=2)), "A1", "Z")
    assert outcome.events[-1] == RoundBegan(2, 1)
    assert outcome.state.stones == begin(2).stones
    assert outcome.state.opened == (False, False)
    assert list_points(outcome) == [6, 1]
    assert kaiser.menu(outcome.state, 1)


def test_6_3_points_add_up_and_the_last_round_ends_the_game():
    last = position("A1=E0 B17=E1", options=Options(rounds=2), round=2, points=(10, 20), victories=(0, 1))
    outcome = play(last, "A1", "Z")
    assert event_names(outcome)[-1] == "GameEnded"
    assert list_points(outcome) == [16, 21]


def test_6_4_a_single_round_goes_to_its_winner_whatever_the_points():
    outcome = play(position("A1=E0 B17=E1 B10=N1 B12=N1 C17=E2", 3), "A1", "Z")
    assert list_points(outcome) == [6, 7, 1]
    assert list_places(outcome) == [1, 2, 3]


def test_6_4_a_draw_is_ranked_by_points_and_places_are_shared():
    almost_drawn = position("A17=E0 B17=E1 C17=E2 C10=N2", 3, nearest=(0, 0, 0), quiet=179)
    assert list_places(play(almost_drawn, "A17", "A15")) == [2, 2, 1]


@pytest.mark.parametrize(
    ("before", "won", "ranked"), [((10, 20), (0, 1), [2, 1]), ((10, 15), (0, 0), [1, 2]), ((10, 15), (0, 1), [1, 1])]
)
def test_6_4_several_rounds_are_ranked_by_points_then_by_rounds_won(before, won, ranked):
    last = position("A1=E0 B17=E1", options=Options(rounds=2), round=2, points=before, victories=won)
    assert list_places(play(last, "A1", "Z")) == ranked
