"""Kaiser, König, Edelmann, paragraph by paragraph of its book."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from engine import chance, menu
from engine import game as games
from engine.games import kaiser
from engine.games.kaiser import board
from engine.games.kaiser.state import Captured, Fell, Moved, Options, RoundBegan, RoundDrawn, RoundWon, Scored, Stone
from engine.menu import Move
from engine.refusal import Refused

RANKS = {"E": "emperor", "K": "king", "N": "nobleman"}


def begun(seats=2, first=0, options=None, middle=1):
    rig = {"start player": [first], "middle corner": [middle]}
    return games.begin(kaiser, options or Options(), seats, chance.rigged(rig)).state


def position(stones, seats=2, **changes):
    """A position after everybody's first turn: `A17=E0` is the emperor of seat 0 on A17."""
    placed = {}
    for word in stones.split():
        place, (rank, seat) = word.split("=")
        placed[place] = Stone(int(seat), RANKS[rank])
    return replace(begun(seats), **{"stones": placed, "opened": (True,) * seats} | changes)


def targets(state, start, seat=0):
    return {move.args[1] for move in menu.moves(kaiser.menu(state, seat)) if move.args[0] == start}


def play(state, start, end, seat=0):
    return games.play(kaiser, state, seat, Move("move", (start, end)), chance.rigged({}))


def kinds(played):
    return [type(event).__name__ for event in played.events]


def only(played, kind):
    return [event for event in played.events if isinstance(event, kind)]


def points(played):
    return [standing.score for standing in kaiser.standing(played.state)]


def places(played):
    return [standing.place for standing in kaiser.standing(played.state)]


def test_1_1_sixty_eight_points_and_a_centre_in_four_equal_sectors():
    assert len(board.PLACES) == 69
    assert len(board.EDGES) == 96
    assert board.NEIGHBOURS["Z"] == ("A1", "B1", "C1", "D1")
    onward = str.maketrans("ABCD", "BCDA")
    turned = {frozenset(end.translate(onward) for end in edge) for edge in board.EDGES}
    assert turned == {frozenset(edge) for edge in board.EDGES}
    assert {len(near) for place, near in board.NEIGHBOURS.items()} == {2, 3, 4}


def test_1_1_every_point_is_within_reach():
    assert set(board.DISTANCE) == set(board.PLACES)
    assert max(board.DISTANCE.values()) == board.DISTANCE["A17"] == 9


def test_1_2_corners_of_two_and_of_four():
    assert begun(2).corners == ("A", "B")
    assert begun(2, options=Options(corners="opposite")).corners == ("A", "C")
    assert begun(4).corners == ("A", "B", "C", "D")


@pytest.mark.parametrize("seats", [3, 4])
def test_1_2_only_two_can_sit_opposite(seats):
    with pytest.raises(Refused, match="for two players"):
        begun(seats, options=Options(corners="opposite"))


@pytest.mark.parametrize(("middle", "corners"), [(0, "BCA"), (1, "ABC"), (2, "CAB")])
def test_1_3_chance_decides_who_of_three_sits_in_the_middle(middle, corners):
    assert "".join(begun(3, middle=middle).corners) == corners


def test_1_4_eight_figures_each():
    stones = begun(4).stones
    assert len(stones) == 32
    for seat, corner in enumerate("ABCD"):
        own = {place: stone.rank for place, stone in stones.items() if stone.seat == seat}
        assert own == {corner + str(place): "nobleman" for place in (10, 12, 15, 16)} | {
            corner + str(place): "king" for place in (11, 13, 14)
        } | {corner + "17": "emperor"}


@pytest.mark.parametrize("first", [0, 1, 2, 3])
def test_1_5_chance_decides_who_begins(first):
    state = begun(4, first)
    assert [bool(kaiser.menu(state, seat)) for seat in range(4)] == [seat == first for seat in range(4)]


@pytest.mark.parametrize(("rank", "ends"), [("E", {"A15", "A16"}), ("K", {"A13", "A14"}), ("N", {"A10", "A11", "A12"})])
def test_2_1_a_figure_moves_exactly_as_far_as_it_is_worth(rank, ends):
    assert targets(position(f"A17={rank}0 B17=E1 A4=E0"), "A17") == ends


def test_2_1_a_figure_may_go_back_to_where_it_came_from():
    state = position("A17=E0 B17=E1 C17=N1")
    state = play(state, "A17", "A15").state
    state = play(state, "B17", "B15", 1).state
    assert "A17" in targets(state, "A15")


def test_2_2_a_figure_does_not_turn_round_within_a_move():
    everywhere = position("A8=N0 A17=E0 C17=E1")
    assert targets(everywhere, "A8").isdisjoint({"A8", "A5", "A6", "A11"})
    for rank in board.RANKS:
        for start, ways in board.WAYS[rank].items():
            for ends, between in ways:
                way = (start, *between, ends[1])
                assert ends[0] == start
                assert len(set(way)) == len(way) == board.WORTH[rank] + 1
                assert all(there in board.NEIGHBOURS[here] for here, there in pairwise(way))


def test_2_2_there_are_no_shorter_moves():
    assert targets(position("A17=K0 A1=E0 B17=E1 A13=N0 A14=N0"), "A17") == set()


def test_2_3_nobody_jumps():
    assert targets(position("A17=N0 A15=K0 A16=K1 A1=E0 B17=E1"), "A17") == set()
    assert targets(position("A17=N0 A13=K1 A16=K1 A1=E0 B17=E1"), "A17") == set()


def test_2_3_one_free_way_is_enough():
    assert "A11" in targets(position("A17=N0 A15=K0 A1=E0 B17=E1"), "A17")
    assert "A11" not in targets(position("A17=N0 A15=K0 A14=K1 A1=E0 B17=E1"), "A17")


def test_2_4_only_an_emperor_steps_into_the_centre():
    assert "Z" in targets(position("A1=E0 B17=E1"), "A1")
    assert "Z" not in targets(position("A2=K0 A17=E0 B17=E1"), "A2")
    assert "Z" not in targets(position("A3=N0 A17=E0 B17=E1"), "A3")
    assert "Z" not in targets(position("A2=E0 B17=E1"), "A2")


def test_2_4_nobody_moves_through_the_centre():
    assert "C1" in targets(position("A1=K0 A17=E0 C17=E1"), "A1")
    assert "C1" not in targets(position("A1=K0 B1=N0 D1=N0 A17=E0 C17=E1"), "A1")


def test_3_1_the_turn_goes_round_clockwise():
    state = begun(4, first=2)
    order = []
    for _ in range(8):
        seat = next(seat for seat in range(4) if kaiser.menu(state, seat))
        order.append(seat)
        state = games.play(kaiser, state, seat, next(menu.moves(kaiser.menu(state, seat))), chance.rigged({})).state
    assert order == [2, 3, 0, 1, 2, 3, 0, 1]


def test_3_1_one_figure_moves_in_a_turn():
    played = play(begun(2), "A10", "A8")
    assert kinds(played) == ["Moved", "TurnBegan"]
    assert kaiser.menu(played.state, 0) == ()


WALLED = "B17=E1 B15=K1 B16=K1 B13=N0 B14=N0 A17=E0"


def test_3_2_who_can_move_must():
    assert {entry.verb for entry in kaiser.menu(begun(2), 0)} == {"move"}


def test_3_2_who_cannot_move_passes():
    played = play(position(WALLED), "A17", "A15")
    assert kinds(played) == ["Moved", "TurnBegan", "Passed", "TurnBegan"]
    assert played.state.turn == 0


def test_3_3_who_is_out_is_passed_over():
    state = position("A17=E0 B10=N1 C17=E2", 3, out=(False, True, False))
    assert play(state, "A17", "A15").state.turn == 2


def test_4_1_nothing_is_captured_in_ones_own_first_turn():
    state = begun(2)
    assert "B12" not in targets(state, "A10")
    state = play(play(state, "A11", "A5").state, "B11", "B5", 1).state
    assert "B12" in targets(state, "A10")


def test_4_1_from_the_second_turn_on_everything_may_be():
    stones = "A10=N0 A17=E0 B12=N1 B17=E1"
    assert "B12" not in targets(position(stones, opened=(False, True)), "A10")
    assert "B12" in targets(position(stones, opened=(True, False)), "A10")


def test_4_1_a_passed_first_turn_has_been_had():
    assert play(position(WALLED, opened=(True, False)), "A17", "A15").state.opened == (True, True)


@pytest.mark.parametrize(("rank", "start"), [("E", "B9"), ("K", "A7"), ("N", "A10")])
@pytest.mark.parametrize("victim", "KN")
def test_4_2_every_figure_captures_every_other_by_ending_on_it(rank, start, victim):
    played = play(position(f"{start}={rank}0 A4=E0 B12={victim}1 C17=E1"), start, "B12")
    assert played.events[:2] == (
        Moved(0, RANKS[rank], start, "B12"),
        Captured(0, "B12", 1, RANKS[victim]),
    )
    assert played.state.stones["B12"] == Stone(0, RANKS[rank])
    assert sum(stone.seat == 1 for stone in played.state.stones.values()) == 1


def test_4_2_nobody_has_to_capture():
    assert len(targets(position("A10=N0 A17=E0 B12=N1 B17=E1"), "A10")) > 1


def test_4_2_ones_own_figures_are_never_captured():
    assert "B12" not in targets(position("A10=N0 A17=E0 B12=K0 B17=E1"), "A10")


def test_4_3_who_loses_the_emperor_is_out():
    played = play(position("A10=N0 A17=E0 B12=E1 B17=K1 C17=E2", 3), "A10", "B12")
    assert only(played, Fell) == [Fell(1)]
    assert [standing.out for standing in kaiser.standing(played.state)] == [False, True, False]
    assert played.state.turn == 2


LEFT_BEHIND = position("A10=N0 A17=E0 B12=N1 A16=K1 C17=E2", 3, out=(False, True, False))


def test_4_4_the_figures_left_behind_stand_in_the_way():
    assert targets(replace(LEFT_BEHIND, opened=(False,) * 3), "A17") == {"A15"}
    assert kaiser.menu(replace(LEFT_BEHIND, turn=2), 1) == ()


def test_4_4_the_figures_left_behind_may_be_captured():
    assert "B12" in targets(LEFT_BEHIND, "A10")
    assert "A16" in targets(LEFT_BEHIND, "A17")


def test_5_1_the_first_emperor_in_the_fortress_wins_at_once():
    played = play(position("A1=E0 A10=N0 B1=E1"), "A1", "Z")
    assert kinds(played) == ["Moved", "RoundWon", "Scored", "Scored", "GameEnded"]
    assert only(played, RoundWon) == [RoundWon(0, "fortress")]
    assert places(played) == [1, 2]


def test_5_1_the_fortress_wins_whatever_else_is_true():
    worn = position("A1=E0 B17=E1", quiet=119)
    assert only(play(worn, "A1", "Z"), RoundWon) == [RoundWon(0, "fortress")]


TAKING_THE_LAST = "A10=N0 A17=E0 B12=E1 B17=N1"


def test_5_2_the_last_emperor_wins_at_once():
    played = play(position(TAKING_THE_LAST), "A10", "B12")
    assert kinds(played) == ["Moved", "Captured", "Fell", "RoundWon", "Scored", "Scored", "GameEnded"]
    assert only(played, RoundWon) == [RoundWon(0, "last emperor")]


def test_5_2_or_he_still_has_to_enter():
    played = play(position(TAKING_THE_LAST, options=Options(last_emperor="must_enter")), "A10", "B12")
    assert not only(played, RoundWon)
    assert played.state.turn == 0
    assert "B17" in targets(played.state, "B12")
    nearly = position("A1=E0 B17=N1", options=Options(last_emperor="must_enter"), out=(False, True))
    assert only(play(nearly, "A1", "Z"), RoundWon) == [RoundWon(0, "fortress")]


def shuffled(state, moves):
    """Both emperors step to and fro, so many moves in all; the last of these moves."""
    ways = [("A17", "A15", 0), ("B17", "B15", 1), ("A15", "A17", 0), ("B15", "B17", 1)]
    for number in range(moves):
        played = play(state, *ways[number % 4])
        state = played.state
    return played


def test_5_3_the_third_time_the_same_position_is_a_draw():
    state = position("A17=E0 B17=E1 C17=K1", nearest=(0, 0))
    assert not only(shuffled(state, 8), RoundDrawn)
    drawn = shuffled(state, 9)
    assert only(drawn, RoundDrawn) == [RoundDrawn("repetition")]
    assert points(drawn) == [1, 3]


def test_5_3_a_capture_begins_the_count_anew():
    state = shuffled(position("A17=E0 B17=E1 A10=N0 B12=K1", nearest=(0, 0)), 8).state
    assert play(state, "A10", "B12").state.seen.keys().isdisjoint(state.seen)


def test_5_4_sixty_quiet_rounds_are_a_draw():
    two = position("A17=E0 B17=E1", nearest=(0, 0), quiet=118)
    assert not only(play(two, "A17", "A15"), RoundDrawn)
    assert only(play(replace(two, quiet=119), "A17", "A15"), RoundDrawn) == [RoundDrawn("quiet")]


def test_5_4_who_is_out_has_no_turns_to_count():
    three = position("A17=E0 B12=N1 C17=E2", 3, nearest=(0, 0, 0), quiet=119, out=(False, True, False))
    assert only(play(three, "A17", "A15"), RoundDrawn)


def test_5_4_a_capture_or_a_nearer_emperor_begins_the_count_anew():
    worn = position("A17=E0 B17=E1 A10=N0 B12=K1", quiet=119)
    assert play(worn, "A17", "A15").state.quiet == 0
    assert play(worn, "A10", "B12").state.quiet == 0
    assert only(play(worn, "A10", "A8"), RoundDrawn)


def test_6_1_every_figure_scores_its_worth_and_the_winner_five_more():
    played = play(position("A1=E0 A10=N0 A11=K0 B17=E1 B10=N1 B12=N1 B11=K1 B13=K1"), "A1", "Z")
    assert only(played, Scored) == [Scored(0, 6, 5), Scored(1, 11)]
    assert points(played) == [11, 11]


def test_6_1_a_drawn_round_brings_no_bonus():
    played = play(position("A17=E0 A10=N0 B17=E1", nearest=(0, 0), quiet=119), "A17", "A15")
    assert only(played, Scored) == [Scored(0, 4), Scored(1, 1)]


@pytest.mark.parametrize(("counts", "left"), [(True, 3), (False, 0)])
def test_6_2_who_is_out_scores_the_figures_left_or_nothing(counts, left):
    options = Options(eliminated_score=counts)
    out = (False, True, False)
    won = play(position("A1=E0 B12=N1 C17=E2", 3, options=options, out=out), "A1", "Z")
    assert only(won, Scored) == [Scored(0, 1, 5), Scored(1, left), Scored(2, 1)]
    worn = position("A17=E0 B12=N1 C17=E2", 3, options=options, out=out, nearest=(0, 0, 0), quiet=119)
    assert only(play(worn, "A17", "A15"), Scored) == [Scored(0, 1), Scored(1, left), Scored(2, 1)]


def test_6_3_the_next_round_begins_with_the_next_player():
    played = play(position("A1=E0 B17=E1", options=Options(rounds=2)), "A1", "Z")
    assert played.events[-1] == RoundBegan(2, 1)
    assert played.state.stones == begun(2).stones
    assert played.state.opened == (False, False)
    assert points(played) == [6, 1]
    assert kaiser.menu(played.state, 1)


def test_6_3_points_add_up_and_the_last_round_ends_the_game():
    last = position("A1=E0 B17=E1", options=Options(rounds=2), round=2, points=(10, 20), victories=(0, 1))
    played = play(last, "A1", "Z")
    assert kinds(played)[-1] == "GameEnded"
    assert points(played) == [16, 21]


def test_6_4_a_single_round_goes_to_its_winner_whatever_the_points():
    played = play(position("A1=E0 B17=E1 B10=N1 B12=N1 C17=E2", 3), "A1", "Z")
    assert points(played) == [6, 7, 1]
    assert places(played) == [1, 2, 3]


def test_6_4_a_draw_is_ranked_by_points_and_places_are_shared():
    worn = position("A17=E0 B17=E1 C17=E2 C10=N2", 3, nearest=(0, 0, 0), quiet=179)
    assert places(play(worn, "A17", "A15")) == [2, 2, 1]


@pytest.mark.parametrize(
    ("before", "won", "ranked"), [((10, 20), (0, 1), [2, 1]), ((10, 15), (0, 0), [1, 2]), ((10, 15), (0, 1), [1, 1])]
)
def test_6_4_several_rounds_are_ranked_by_points_then_by_rounds_won(before, won, ranked):
    last = position("A1=E0 B17=E1", options=Options(rounds=2), round=2, points=before, victories=won)
    assert places(play(last, "A1", "Z")) == ranked
