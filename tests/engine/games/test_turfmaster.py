"""TurfMaster, paragraphs 1 to 3 of its book: the horses, the boxes, the cards."""

from collections import Counter
from itertools import pairwise

import pytest

from engine import game as games
from engine.games import turfmaster
from engine.games.turfmaster import ride
from engine.games.turfmaster.state import JOKERS, PACK, BonusPaid, BonusTaken, Chose, Dealt, Discarded
from engine.menu import Subset
from engine.refusal import Refused
from tests.engine.games.turf import (
    Options,
    begin_round,
    chance,
    find_events,
    horse,
    list_moves,
    play,
    race,
    settle,
    verbs,
)

HORSES = {2: "234", 3: "2", 4: "12", 5: "1", 6: "1", 7: "1", 8: "1"}
USUAL = {2: 4, 3: 6, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8}


def open_game(seats, options=None, **rig):
    return games.begin(turfmaster, options or Options(), seats, chance(rig))


@pytest.mark.parametrize("seats", range(2, 9))
def test_1_1_four_to_eight_horses_run(seats):
    assert len(open_game(seats).state.horses) == USUAL[seats]
    for number in "1234":
        options = Options(horses=number)
        if number in HORSES[seats]:
            assert len(open_game(seats, options).state.horses) == int(number) * seats
        else:
            with pytest.raises(Refused, match=f"With {seats} players each can bring"):
                open_game(seats, options)


def test_1_1_a_game_is_three_races():
    last = race(horses=[horse(seat, None) for seat in range(4)], arrived=(0, 1, 2, 3))
    assert find_events(settle(last)[1], "RaceBegan")
    assert find_events(settle(race(horses=last.horses, arrived=(0, 1, 2, 3), race=2))[1], "RaceBegan")
    assert [type(event).__name__ for event in settle(race(horses=last.horses, arrived=(0, 1, 2, 3), race=3))[1]] == [
        "RaceEnded",
        "GameEnded",
    ]


def test_1_2_every_horse_has_the_same_32_cards():
    deck = Counter(PACK)
    assert deck.total() == 32
    assert {card: copies for card, copies in deck.items() if card in JOKERS} == {
        "J9": 1,
        "J10": 1,
        "J11": 1,
        "J12": 1,
    }
    assert {int(card): deck[card] for card in deck if card not in JOKERS} == {
        3: 2,
        4: 2,
        **dict.fromkeys(range(7, 13), 4),
    }
    for own in open_game(8).state.horses:
        assert Counter((*own.hand, *own.pack)) == deck


def test_1_3_each_lane_has_a_field_more_than_the_one_inside_it():
    assert ride.LAP_FIELDS == (80, 81, 82, 83, 84, 85, 86, 87)
    assert all(len(fronts) == lap + 24 for fronts, lap in zip(ride.FRONTS, ride.LAP_FIELDS, strict=True))
    assert all(after > before for fronts in ride.FRONTS for before, after in pairwise(fronts))


@pytest.mark.parametrize(("lane", "last"), [(0, 91), (3, 94), (7, 98)])
def test_1_3_only_the_field_beyond_the_line_is_past_it(lane, last):
    before = settle(race((lane, last), (1, 50), (2, 50), (3, 50)))[1]
    beyond = settle(race((lane, last + 1), (1, 50), (2, 50), (3, 50)))[1]
    assert not find_events(before, "Arrived")
    assert find_events(beyond, "Arrived")[0].place == 1


def test_1_4_ahead_is_the_horse_that_reaches_farther_then_the_inner_lane():
    assert begin_round((2, 10), (0, 10), (1, 11), (3, 10)).order == (2, 1, 0, 3)
    after_one_bend = begin_round((7, 64), (0, 60), (4, 3), (5, 3))  # lane H has four fields more there
    assert (after_one_bend.order, after_one_bend.limits[:2]) == ((1, 0, 2, 3), (8, 8))
    assert begin_round((7, 65), (0, 60), (4, 3), (5, 3)).order[0] == 0


def test_1_4_in_a_bend_only_its_last_field_is_level_with_a_longer_lane():
    for inner, outer, bend in ((0, 1, range(24, 37)), (1, 2, range(65, 78))):
        inside = {ride.get_front((inner, index)) for index in bend[:-1]}
        outside = {ride.get_front((outer, index)) for index in bend}
        assert len(inside & outside) == 1
        assert max(outside) in inside


def test_2_1_the_highest_roll_has_the_innermost_box():
    state, events = open_game(4, die=[1, 2, 6, 6, 3, 4, 5, 5])
    assert find_events(events, "BoxesRolled")[0].order == (1, 3, 2, 0)
    assert [own.field for own in state.horses] == [(3, 0), (0, 0), (2, 0), (1, 0)]


def test_2_1_both_dice_are_added():
    assert open_game(4, die=[6, 1, 4, 4, 1, 1, 1, 2]).state.boxes == (1, 0, 3, 2)


def test_2_2_equal_rolls_are_rolled_again_among_the_equal():
    state, events = open_game(4, die=[6, 6, 1, 1, 6, 6, 2, 3, 1, 2, 2, 2])
    assert state.boxes == (2, 0, 3, 1)
    assert [throw.seat for throw in find_events(events, "BoxesRolled")[0].throws] == [0, 1, 2, 3, 0, 2]


def test_2_3_second_horses_roll_for_the_boxes_after_all_first_ones():
    state, events = open_game(2, die=[1, 2, 3, 4, 6, 6, 1, 1])
    assert [event.number for event in find_events(events, "BoxesRolled")] == [1, 2]
    assert [(state.horses[place].seat, state.horses[place].number) for place in state.boxes] == [
        (1, 1),
        (0, 1),
        (0, 2),
        (1, 2),
    ]


def test_2_4_the_next_boxes_follow_the_arrival_and_the_fallen_come_last():
    over = race(horses=[horse(seat, None) for seat in range(4)], arrived=(3, 1), fallen=(0, 2))
    state, events = settle(over)
    assert find_events(events, "RaceEnded")[0].boxes == (3, 1, 2, 0)
    assert [own.field for own in state.horses] == [(3, 0), (1, 0), (2, 0), (0, 0)]


def test_3_1_ten_cards_from_the_pack_and_spent_ones_never_come_back():
    state, events = open_game(5)
    assert [(len(own.hand), len(own.pack)) for own in state.horses] == [(10, 22)] * 5
    assert [event.count for event in find_events(events, "Dealt")] == [10] * 5
    spent = ("7", "7", "7", "7", "J9", "J10", "J11", "J12", "8", "8")
    after = settle(second_race([horse(seat, None, (), spent=spent) for seat in range(4)]))[0]
    assert all(len(own.hand) == 10 and not set(own.hand) & {"7", "J9", "J10", "J11", "J12"} for own in after.horses)


def second_race(horses, **changes):
    return race(horses=horses, arrived=tuple(range(len(horses))), **changes)


def test_3_2_others_see_what_was_played_and_how_many_are_held():
    state = begin_round((0, 0), (1, 0), (2, 0), (3, 0), options=Options(simultaneous_cards=True))
    state = play(state, 1, "choose 9").state
    mine, theirs = (turfmaster.view(state, seat).runners[1] for seat in (1, 0))
    assert (mine.hand, mine.chosen, len(mine.pack)) == (("7", "8", "9", "12", "J12"), "9", 27)
    assert (theirs.hand, theirs.chosen, theirs.pack) == ((), "", ())
    assert (theirs.held, theirs.has_chosen) == (5, True)
    for seat in (0, 2, 3):
        state = play(state, seat, "choose 8").state
    assert turfmaster.view(state, 0).runners[1].spent == ("9",)


@pytest.mark.parametrize("kind", [Dealt, BonusTaken, BonusPaid, Discarded])
def test_3_2_others_hear_how_many_cards_but_not_which(kind):
    event = kind(seat=1, count=2, cards=("7", "J9"))
    assert turfmaster.hear(event, 1) == event
    assert turfmaster.hear(event, 0) == turfmaster.hear(event, None) == kind(seat=1, count=2)
    assert turfmaster.hear(Chose(1, card="8"), 0) == Chose(1)


def test_3_3_bonus_cards_are_taken_once_at_an_own_decision():
    state = begin_round((0, 5), (1, 4), (2, 3), (3, 2))
    assert [("bonus" in verbs(state, seat)) for seat in range(4)] == [True, False, False, False]
    after, events = play(state, 0, "bonus", bonus=["3", "J9"])
    assert events == (BonusTaken(0, 2, cards=("3", "J9")),)
    assert after.horses[0].hand == ("3", "7", "8", "9", "12", "J9", "J12")
    assert (len(after.horses[0].pack), verbs(after, 0)) == (25, ["play"])


def test_3_3_the_bonus_can_be_taken_on_the_dice_too():
    dice = begin_round((0, 5), (1, 4), (2, 3), (3, 2), round=1, rig={"die": [3, 4]})
    assert verbs(dice, 0) == ["pace", "bonus"]
    riding = play(dice, 0, "pace 4").state
    assert verbs(riding, 0) == ["ride", "bonus"]


def test_3_3_the_bonus_may_go_to_any_own_horse_still_running():
    pair = [
        horse(0, (0, 5), number=1),
        horse(0, (1, 4), number=2),
        horse(1, (2, 3), number=1),
        horse(1, None, number=2),
    ]
    state = begin_round(horses=pair, arrived=(3,))
    assert {offer for offer in list_moves(state, 0) if "bonus" in offer} == {"bonus horse1", "bonus horse2"}
    assert play(state, 0, "bonus horse2").state.horses[1].bonus == 1
    for move in ("play 7 A13", "play 7 B12"):
        state = play(state, state.horses[state.order[state.done]].seat, move).state
    assert {offer for offer in list_moves(state, 1) if "bonus" in offer} == {"bonus horse1"}


def test_3_4_twelve_cards_in_the_last_race_without_a_bonus_before():
    horses = [horse(seat, None, (), bonus=seat) for seat in range(3)]
    state = settle(second_race([*horses, horse(3, None, (), bonus=2)], race=2))[0]
    assert [len(own.hand) for own in state.horses] == [12, 10, 10, 10]
    assert not any("bonus" in verbs(state, seat) for seat in range(4))


def test_3_5_as_many_cards_are_put_away_as_were_left_over():
    left = [("7", "8", "9"), (), ("3",), ()]
    state, events = settle(second_race([horse(seat, None, left[seat]) for seat in range(4)]))
    assert [len(own.hand) for own in state.horses] == [13, 10, 11, 10]
    assert not find_events(events, "RollerFound")
    assert [bool(turfmaster.menu(state, seat)) for seat in range(4)] == [True, False, True, False]
    (entry,) = turfmaster.menu(state, 0)
    assert entry == Subset("discard", state.horses[0].hand, 3, 3, rule="3.5")
    for seat, count in ((0, 3), (2, 1)):
        state, events = play(state, seat, " ".join(("discard", *state.horses[seat].hand[:count])))
        assert len(events[0].cards) == len(state.horses[seat].gone) == count
    assert [len(own.hand) for own in state.horses] == [10] * 4
    assert find_events(events, "RollerFound")


def test_3_5_with_the_bonus_unused_twelve_are_kept_in_the_last_race():
    state = settle(second_race([horse(seat, None, ("7", "8")) for seat in range(4)], race=2))[0]
    assert len(state.horses[0].hand) == 14
    assert turfmaster.menu(state, 0)[0].least == 2


@pytest.mark.parametrize(("left", "lost"), [(("7", "8", "9"), 2), (("7",), 1), ((), 0)])
def test_3_6_two_left_over_cards_are_the_price_of_the_bonus(left, lost):
    spender = horse(0, None, left, bonus=1)
    state, events = settle(second_race([spender, *(horse(seat, None, ()) for seat in (1, 2, 3))]))
    assert sum(event.count for event in find_events(events, "BonusPaid")) == lost
    assert len(state.horses[0].gone) == lost
    assert len(state.horses[0].hand) == len(left) - lost + 10
    assert len(state.horses[0].pack) == len(spender.pack) - 10


def test_3_6_the_price_is_paid_once_and_after_the_race_of_the_bonus_only():
    horses = [horse(seat, None, ("7", "8", "9"), bonus=1) for seat in range(4)]
    assert not find_events(settle(second_race(horses, race=2))[1], "BonusPaid")
