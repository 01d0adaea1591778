"""TurfMaster, paragraph 8 of its book: the finish and the points."""

import pytest

from engine.games import turfmaster
from engine.games.turfmaster.state import Arrived, Fell
from tests.engine.games.turf import Options, begin_round, ends, find_events, horse, play, race, settle

PAST = 92  # the first field beyond the line on the inner lane


def test_8_1_the_round_is_played_out_and_the_farthest_arrives_first():
    state = begin_round((0, 90), (1, 90), (4, 30), (5, 30), hands={0: ("7",), 1: ("8",), 2: ("3",), 3: ("3",)})
    state, events = play(state, 0, "play 7 A18")
    assert not find_events(events, "Arrived")
    for seat, move in ((1, "play 8 B18"), (2, "play 3 E34")):
        state, events = play(state, seat, move)
        assert not find_events(events, "Arrived")
    assert find_events(play(state, 3, "play 3 F34").events, "Arrived") == [
        Arrived(0, 1, points=50),  # A98 and B99 of the course are level: the inner lane is first
        Arrived(1, 2, points=30),
    ]


def test_8_1_a_horse_past_the_line_can_still_be_overtaken():
    fields = ((2, PAST + 3), (3, PAST + 6), (4, 30), (5, 30))
    arrivals = find_events(settle(race(*fields))[1], "Arrived")
    assert [(event.seat, event.place) for event in arrivals] == [(1, 1), (0, 2)]


def test_8_2_beyond_the_line_a_horse_is_in_the_way_until_the_round_ends():
    state = begin_round((0, 91), (0, 89), (4, 30), (5, 30), hands={0: ("3",), 1: ("4",)})
    state = play(state, 0, "play 3 A15").state
    assert ends(state, 1, "play", "4") == {"B14"}
    again = begin_round((0, 94), (0, 89), (4, 30), (5, 30), hands={1: ("4",)})
    assert again.horses[0].field is None
    assert ends(again, 1, "play", "4") == {"A14", "B14"}


def test_8_3_the_last_horse_rides_on_until_it_arrives():
    state, events = settle(race(None, None, None, (3, 20), arrived=(0, 1, 2)))
    assert not find_events(events, "RaceEnded")
    assert turfmaster.menu(state, 3)
    arrived = settle(race(None, None, None, (3, 96), arrived=(0, 1, 2)))[1]
    assert find_events(arrived, "RaceEnded")[0].boxes == (0, 1, 2, 3)


def test_8_3_the_last_horse_can_still_fall():
    last = begin_round(None, None, None, (3, 22), hands={3: ("3",)}, arrived=(0, 1, 2), hedges=(2, 3, 4, 5, 6))
    events = play(last, 3, "play 3").events
    assert find_events(events, "Fell") == [Fell(3, "D23")]
    assert find_events(events, "RaceEnded")[0].boxes == (0, 1, 2, 3)


@pytest.mark.parametrize(("earlier", "points"), [(0, 50), (1, 30), (2, 20), (3, 10), (4, 0), (5, 0)])
def test_8_4_the_first_four_earn_points(earlier, points):
    fields = [None] * earlier + [(0, PAST)] + [(lane, 30) for lane in range(1, 6 - earlier)]
    state, events = settle(race(*fields, arrived=tuple(range(earlier))))
    assert find_events(events, "Arrived") == [Arrived(earlier, earlier + 1, points=points)]
    assert turfmaster.standing(state)[earlier].score == points


def score_game(*horses, **options):
    """How a game ends in which the horses have these points and places."""
    stable = [
        horse(seat, None, number=number, points=points, arrivals=arrivals) for seat, number, points, arrivals in horses
    ]
    over = race(horses=stable, race=3, options=Options(**options), arrived=tuple(range(len(stable))))
    return [(place.score, place.place) for place in turfmaster.standing(settle(over)[0])]


PAIRS = ((0, 1, 60, (2, 2)), (0, 2, 60, (2, 2)), (1, 1, 70, (1, 3)), (1, 2, 20, (3,)))


def test_8_5_the_player_of_the_best_horse_wins():
    assert score_game(*PAIRS) == [(60, 2), (70, 1)]


def test_8_5_equal_points_are_decided_by_better_places_or_shared():
    firsts = ((0, 0, 60, (2, 2, 5)), (1, 0, 60, (1, 4, 6)), (2, 0, 60, (2, 2, 7)), (3, 0, 10, (4,)))
    assert score_game(*firsts) == [(60, 2), (60, 1), (60, 2), (10, 4)]


def test_8_5_second_places_decide_before_third_ones():
    seconds = ((0, 0, 80, (1, 3, 4)), (1, 0, 80, (1, 2, 6)), (2, 0, 0, ()), (3, 0, 0, ()))
    assert score_game(*seconds) == [(80, 2), (80, 1), (0, 3), (0, 3)]


def test_8_6_all_horses_together_as_an_option():
    assert score_game(*PAIRS, team_score="sum") == [(120, 1), (90, 2)]


def test_8_6_ties_compare_the_places_of_all_horses():
    horses = ((0, 1, 50, (1,)), (0, 2, 50, (1,)), (1, 1, 80, (1, 2)), (1, 2, 20, (3,)))
    assert score_game(*horses, team_score="sum") == [(100, 1), (100, 2)]
