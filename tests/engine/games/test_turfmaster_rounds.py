"""TurfMaster, paragraphs 4 and 5 of its book: card rounds and dice rounds."""

from engine.games import turfmaster
from engine.games.turfmaster.state import PACK, PaceSet, Passed, Played, Revealed, Rode, Stayed
from tests.engine.games.turf import Options, begin_round, find_events, horse, list_moves, play, race, settle, verbs

FOUR = ((0, 5), (1, 4), (2, 3), (3, 2))
AT_ONCE = Options(simultaneous_cards=True)


def with_empty_hand(bonus, **changes):
    """The leader has no card left."""
    others = [horse(seat, FOUR[seat]) for seat in (1, 2, 3)]
    return race(horses=[horse(0, FOUR[0], (), bonus=bonus), *others], **changes)


def test_4_1_card_rounds_and_dice_rounds_alternate():
    assert [settle(race(*FOUR, round=done))[0].kind for done in range(4)] == ["cards", "dice", "cards", "dice"]


def test_4_1_the_order_stays_for_the_round():
    state = begin_round((0, 5), (1, 6), (2, 3), (3, 2))
    assert state.order == (1, 0, 2, 3)
    for seat, move in ((1, "play 9 stay"), (0, "play 8 A14")):
        state = play(state, seat, move).state
    assert state.horses[0].field[1] > state.horses[1].field[1]
    assert (state.order, verbs(state, 2)) == ((1, 0, 2, 3), ["play", "bonus"])


def test_4_2_a_card_is_played_and_its_points_are_ridden():
    state = begin_round(*FOUR)
    assert [bool(turfmaster.menu(state, seat)) for seat in range(4)] == [True, False, False, False]
    after, events = play(state, 0, "play 7 A13")
    assert events == (Played(0, "7"), Rode(0, (0, 5), (0, 12), "A13", 7))
    assert (after.horses[0].hand, after.horses[0].spent) == (("8", "9", "12", "J12"), ("7",))


def test_4_2_a_player_who_has_a_card_must_play_one():
    state = begin_round(*FOUR, hands={0: ("9", "12")})
    assert list_moves(state, 0) == ["play 9 stay", "play 12 stay", "bonus"]


def test_4_3_without_cards_a_horse_moves_on_the_dice_only():
    state, events = settle(with_empty_hand(bonus=1))
    assert events[1:] == [Stayed(0, "no card")]
    assert verbs(state, 1) == ["play", "bonus"]
    on_dice = settle(with_empty_hand(bonus=1, round=1), die=[2, 5])[0]
    assert play(play(on_dice, 0, "pace 5").state, 0, "ride A11").state.horses[0].field == (0, 10)


def test_4_4_without_cards_the_bonus_may_be_taken_or_not():
    state = settle(with_empty_hand(bonus=0))[0]
    assert list_moves(state, 0) == ["pass", "bonus"]
    passed = play(state, 0, "pass")
    assert passed.events == (Passed(0), Stayed(0, "no card"))
    assert verbs(passed.state, 1) == ["play", "bonus"]
    taken = play(state, 0, "bonus").state
    assert verbs(taken, 0) == ["play"]


def test_4_4_passing_is_for_the_horse_in_turn():
    pair = [horse(0, (0, 9), ("7",), number=1), horse(0, (1, 8), (), number=2)]
    state = settle(race(horses=[*pair, horse(1, (2, 3), number=1), horse(1, (3, 2), number=2)]))[0]
    state = play(state, 0, "play 7 A17").state
    assert play(state, 0, "pass").events == (Passed(0, 2), Stayed(0, "no card", 2))


def test_4_5_all_choose_before_any_card_is_turned_up():
    state = begin_round(*FOUR, options=AT_ONCE)
    assert [verbs(state, seat) for seat in range(4)] == [["choose", "bonus"]] * 4
    for seat, card in ((2, "7"), (0, "8"), (3, "12")):
        state, events = play(state, seat, f"choose {card}")
        assert not find_events(events, "Revealed")
        assert not turfmaster.menu(state, seat)
    state, events = play(state, 1, "choose 12")
    assert events[1] == Revealed(("8", "12", "7", "12"))
    assert [own.spent for own in state.horses] == [("8",), ("12",), ("7",), ("12",)]
    assert verbs(state, 0) == ["ride"]


def test_4_5_the_horses_ride_in_order_on_the_cards_chosen():
    state = begin_round(*FOUR, options=AT_ONCE)
    for seat, card in enumerate(("8", "12", "7", "12")):
        state = play(state, seat, f"choose {card}").state
    state, events = play(state, 0, "ride A14")
    assert events == (Rode(0, (0, 5), (0, 13), "A14", 8), Stayed(1, "over the limit"))
    state = play(state, 2, "ride C11").state
    assert state.horses[2].field == (2, 10)
    assert "ride D15" in list_moves(state, 3)


def test_4_5_a_player_who_cannot_choose_is_not_waited_for():
    state = settle(with_empty_hand(bonus=1, options=AT_ONCE))[0]
    assert [bool(turfmaster.menu(state, seat)) for seat in range(4)] == [False, True, True, True]
    state = settle(with_empty_hand(bonus=0, options=AT_ONCE))[0]
    assert list_moves(state, 0) == ["pass", "bonus"]
    assert not turfmaster.menu(play(state, 0, "pass").state, 0)


def test_4_5_with_several_horses_a_card_is_chosen_for_each():
    places = [(0, 1, (0, 9)), (0, 2, (1, 8)), (1, 1, (2, 3)), (1, 2, (3, 2))]
    state = begin_round(
        horses=[horse(seat, field, number=number) for seat, number, field in places],
        options=AT_ONCE,
    )
    assert turfmaster.view(state, 0).mine == 0
    state = play(state, 0, "choose 8").state
    assert (state.horses[0].chosen, turfmaster.view(state, 0).mine) == ("8", 1)
    assert play(state, 0, "choose 9").state.horses[1].chosen == "9"


def begin_dealing(boxes, **rig):
    """Everybody has ten cards; the first roller is to be found."""
    horses = [horse(seat, (boxes.index(seat), 0), PACK[:10]) for seat in range(4)]
    return settle(race(horses=horses, stage="dealing", served=4, boxes=boxes, roller=None), **rig)


def test_5_1_the_highest_roll_throws_first_and_equal_ones_roll_again():
    state, events = begin_dealing((2, 0, 1, 3), die=[6, 6, 1, 2, 6, 6, 3, 3, 1, 1, 1, 2])
    roller = find_events(events, "RollerFound")[0]
    assert [throw.seat for throw in roller.throws] == [2, 3, 0, 1, 2, 0]
    assert (roller.seat, state.roller) == (0, 0)


def test_5_2_the_throw_goes_round_and_passes_over_players_without_a_horse():
    assert begin_round(*FOUR, round=1, roller=2).thrower == 2
    assert begin_round(*FOUR, round=1, roller=2).roller == 3
    assert begin_round(*FOUR, round=1, roller=3).roller == 0
    assert begin_round(FOUR[0], FOUR[1], None, None, round=1, roller=2, arrived=(2, 3)).thrower == 0


def test_5_3_the_pace_is_one_die_or_the_other_or_both():
    state = begin_round(*FOUR, round=1, roller=3, rig={"die": [2, 5]})
    assert list_moves(state, 3) == ["pace 2", "pace 5", "pace both", "bonus"]
    assert [bool(turfmaster.menu(state, seat)) for seat in range(4)] == [False, False, False, True]
    equal = begin_round(*FOUR, round=1, roller=3, rig={"die": [4, 4]})
    assert list_moves(equal, 3) == ["pace 4", "pace both", "bonus"]


def test_5_4_every_horse_rides_the_pace_in_order():
    state = begin_round(*FOUR, round=1, roller=3, rig={"die": [2, 5]})
    state, events = play(state, 3, "pace both")
    assert events == (PaceSet(3, "both"),)
    for seat, move in ((0, "ride A13"), (1, "ride B12"), (2, "ride C11"), (3, "ride D10")):
        state = play(state, seat, move).state
    assert [own.field for own in state.horses] == [(0, 12), (1, 11), (2, 10), (3, 9)]
    assert state.kind == "cards"
