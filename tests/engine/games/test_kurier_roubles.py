"""Kurier des Zaren, §7 to §9: the guards, in the basic and in the revised rules, and the end."""

from random import Random

import pytest
from msgspec.structs import replace

from engine import chance
from engine.games import kurier
from engine.games.kurier.board import SUPPLY, VILLAGES
from engine.games.kurier.state import (
    Departed,
    Lost,
    Options,
    Rewarded,
    Robbed,
    Spared,
    Stopped,
    Travelled,
    TurnBegan,
    Turned,
    Won,
)
from tests.engine.games.kurier_table import (
    at_guard,
    begin,
    find_events,
    list_moves,
    list_places,
    play,
    state_after,
    table,
    verbs,
    with_player,
)

ARRIVING = "Pawl-Hof: officer 1, cossack 0*, diplomat 2"
ARRIVE = "travel Pawl-Hof cossack palace palace"
BAIKAL = "Baikal-Bar: cossack 0, diplomat 1, lady 2"
LEAVE = "travel Baikal-Bar cossack Wladimir Iwan"


def waiting(price=8, **parts):
    """A player whose dispatch is at a guard."""
    return {"dispatch": at_guard(price, "Pawl-Hof"), **parts}


def test_7_1_k13_a_player_who_arrives_on_the_own_turn_may_turn_coins_or_leave_it():
    arrived = state_after(table(ARRIVING, rules="basic"), 0, ARRIVE)
    assert arrived.turn == 0
    assert list_moves(arrived, 0) == {"turn", "stop"}
    left = play(arrived, 0, "stop")
    assert find_events(left, TurnBegan) == [TurnBegan(1)]
    assert left.state.palace == SUPPLY


def test_7_1_k27_only_the_mover_has_the_extra_action():
    both = table("Pawl-Hof: officer 1*, cossack 0*, diplomat 2", rules="basic")
    arrived = state_after(both, 0, ARRIVE)
    assert arrived.players[1].dispatch.price == 8
    assert not list_moves(arrived, 1)
    others = table("Pawl-Hof: officer 1*, cossack 0, diplomat 2", rules="basic")
    assert state_after(others, 0, ARRIVE).turn == 1


def test_7_2_k12_k13_later_a_coin_must_be_turned_and_nothing_else_can_be_done():
    state = table(BAIKAL, rules="basic", players={0: waiting()})
    assert list_moves(state, 0) == {"turn"}
    others = table("Pawl-Hof: officer 1*, cossack 0, diplomat 2", rules="basic")
    brought = state_after(others, 0, ARRIVE)
    assert brought.turn == 1
    assert list_moves(brought, 1) == {"turn"}


def test_7_2_k16_a_courier_without_a_dispatch_brings_no_coins():
    state = table("Pawl-Hof: officer 1, cossack 0, diplomat 2; Iwan: lady 0*", rules="basic")
    outcome = play(state, 0, ARRIVE)
    assert outcome.state.turn == 1
    assert outcome.state.palace == SUPPLY
    assert not find_events(outcome, Rewarded)


def test_7_3_k22_stopping_secures_the_coins_openly():
    state = table(rules="basic", players={0: waiting(secured=("1",))})
    turned = state_after(state_after(state, 0, "turn", {"rouble": ["2"]}), 0, "turn", {"rouble": ["blank"]})
    assert list_moves(turned, 0) == {"turn", "stop"}
    assert turned.turned == ("2", "blank")
    stopped = play(turned, 0, "stop")
    assert find_events(stopped, Stopped) == [Stopped(0, ("2", "blank"))]
    assert stopped.state.players[0].secured == ("1", "2", "blank")
    assert kurier.view(stopped.state, None).players[0].secured == ("1", "2", "blank")
    assert stopped.state.turn == 1


def test_7_4_k14_njet_takes_all_coins_of_the_turn_out_of_the_game():
    state = table(rules="basic", players={0: waiting(secured=("3",))})
    turned = state_after(state, 0, "turn", {"rouble": ["3"]})
    false = play(turned, 0, "turn", {"rouble": ["njet"]})
    assert find_events(false, Lost) == [Lost(0, ("3", "njet"))]
    assert false.state.players[0].secured == ("3",)
    assert false.state.turned == ()
    assert len(false.state.palace) == len(SUPPLY) - 2
    assert false.state.turn == 1


@pytest.mark.parametrize(("price", "wins"), [(5, True), (6, True), (7, False)])
def test_7_5_k14_reaching_the_price_wins_without_stopping(price, wins):
    state = table(rules="basic", players={0: waiting(price, secured=("3", "1"))})
    outcome = play(state, 0, "turn", {"rouble": ["2"]})
    assert bool(find_events(outcome, Won)) == wins
    if wins:
        assert find_events(outcome, Won) == [Won(0, "price", (1, 2, 2, 2, 2), ("3", "1", "2"))]


@pytest.mark.parametrize("last", ["1", "njet"])
def test_7_6_k15_with_the_last_coin_the_first_player_to_turn_one_wins(last):
    state = table(rules="basic", palace=[last], players={0: waiting(10), 1: waiting(10), 2: waiting(10)})
    state = replace(state, arrivals=(1, 0, 2), first_rouble=2)
    outcome = play(state, 0, "turn")
    assert find_events(outcome, Won)[0].seat == 2
    assert find_events(outcome, Won)[0].reason == "first rouble"


def test_7_6_k15_the_first_coin_ever_turned_counts_not_the_first_arrival():
    state = replace(table(rules="basic", players={0: waiting(), 1: waiting()}), arrivals=(1, 0))
    first = state_after(state, 0, "turn", {"rouble": ["1"]})
    assert first.first_rouble == 0
    second = state_after(state_after(first, 0, "stop"), 1, "turn", {"rouble": ["1"]})
    assert second.first_rouble == 0


def test_8_1_k10_the_owner_of_the_courier_left_behind_takes_one_coin():
    outcome = play(table(BAIKAL), 0, LEAVE, {"rouble": ["3"]})
    assert find_events(outcome, Rewarded) == [Rewarded(2, "3")]
    assert outcome.state.players[2].purse == ("3",)
    assert len(outcome.state.palace) == len(SUPPLY) - 1
    assert not find_events(play(table(BAIKAL, rules="basic"), 0, LEAVE), Rewarded)


def test_8_1_k10_it_is_one_coin_also_for_skipping_and_for_the_last_travel():
    officers = "; ".join(f"{inn}: cossack 3, diplomat 3" for inn in VILLAGES[1])
    skipping = play(table(f"{BAIKAL}; {officers}"), 0, "travel Baikal-Bar cossack Olga Natascha")
    assert [event.skipped for event in find_events(skipping, Travelled)] == [1, 1]
    assert [event.seat for event in find_events(skipping, Rewarded)] == [2]
    assert [event.seat for event in find_events(play(table(ARRIVING), 0, ARRIVE), Rewarded)] == [2]


def test_8_2_k22_coins_are_taken_unseen_but_their_number_is_public():
    state = table(players={0: {"purse": ("njet", "3")}})
    assert kurier.view(state, 0).purse == ("njet", "3")
    for other in (1, None):
        view = kurier.view(state, other)
        assert view.purse == ()
        assert view.players[0].hidden == 2
    assert kurier.hear(Rewarded(0, "3"), 0) == Rewarded(0, "3")
    assert kurier.hear(Rewarded(0, "3"), 1) == Rewarded(0)
    assert kurier.hear(Robbed(0, 1, "3"), 1) == Robbed(0, 1, "3")
    assert kurier.hear(Robbed(0, 1, "3"), 2) == kurier.hear(Robbed(0, 1, "3"), None) == Robbed(0, 1)


def test_8_2_redeal_changes_the_hidden_coins_and_keeps_the_known_ones():
    state = table(players={0: {"purse": ("njet", "3")}, 1: {"purse": ("1", "1", "2")}})
    dealt = {kurier.redeal(state, 0, chance.make_from_random(Random(number))).players[1].purse for number in range(20)}
    assert len(dealt) > 5
    imagined = kurier.redeal(state, 0, chance.make_from_random(Random(1)))
    assert imagined.players[0].purse == ("njet", "3")
    assert sorted(imagined.palace + imagined.players[1].purse) == sorted(state.palace + state.players[1].purse)


def test_8_2_k19_false_and_blank_coins_are_worth_nothing():
    poor = waiting(6, purse=("njet", "blank", "3", "2"))
    assert "pay" not in verbs(table(players={0: poor}), 0)
    assert "pay" in verbs(table(players={0: {**poor, "purse": (*poor["purse"], "1")}}), 0)


@pytest.mark.parametrize(("purse", "may"), [(("3", "2"), False), (("3", "3"), True), (("3", "3", "2"), True)])
def test_8_3_k18_the_price_is_paid_exactly_or_more_before_the_action(purse, may):
    state = table(players={0: waiting(6, purse=purse)})
    assert ("pay" in verbs(state, 0)) == may
    assert verbs(state, 0) >= {"deploy", "flip"}
    if may:
        assert find_events(play(state, 0, "pay"), Won) == [Won(0, "price", (1, 2, 2, 2, 2), purse)]


def test_8_3_k18_paying_is_possible_after_the_coin_of_the_turn_and_only_an_offer():
    own = "Baikal-Bar: cossack 1, diplomat 1, lady 0"
    state = table(own, players={0: waiting(6, purse=("3",))})
    assert "pay" not in verbs(state, 0)
    earned = state_after(state, 0, LEAVE, {"rouble": ["3"]})
    assert list_moves(earned, 0) == {"pay", "stop"}
    assert state_after(earned, 0, "stop").turn == 1
    assert state_after(state, 0, LEAVE, {"rouble": ["2"]}).turn == 1


def test_8_3_k18_the_robbed_coin_too_comes_before_paying():
    own = "Baikal-Bar: cossack 1, diplomat 1, lady 0"
    state = table(own, palace=(), players={0: waiting(6, purse=("3",)), 1: {"purse": ("3",)}})
    robbing = state_after(state, 0, LEAVE)
    assert list_moves(robbing, 0) == {"rob purse2", "decline"}
    assert list_moves(state_after(robbing, 0, "rob purse2"), 0) == {"pay", "stop"}


def test_8_4_k18_a_player_brought_to_the_guard_by_another_waits_for_the_own_turn():
    rich = {1: {"purse": ("3", "3", "2")}}
    state = table("Pawl-Hof: officer 1*, cossack 0, diplomat 2", turn=0, players=rich)
    brought = state_after(state, 0, ARRIVE)
    assert brought.places == ()
    assert brought.turn == 1
    assert "pay" in verbs(brought, 1)
    early = replace(brought, turn=0)
    assert "pay" not in verbs(early, 1)


def test_8_5_k17_a_player_who_is_too_poor_goes_on_deploying_and_travelling():
    arrived = state_after(table(f"{ARRIVING}; Baikal-Bar: cossack 2, diplomat 0, lady 2; Iwan: lady 0"), 0, ARRIVE)
    assert arrived.turn == 1
    assert verbs(replace(arrived, turn=0), 0) == {"deploy", "flip", "travel"}


def test_8_6_k17_with_the_option_a_player_who_is_too_poor_turns_coins():
    arrived = state_after(table(f"{ARRIVING}; {BAIKAL}", at_the_guard="roubles"), 0, ARRIVE)
    assert list_moves(arrived, 0) == {"turn", "stop"}
    later = replace(state_after(arrived, 0, "stop"), turn=0)
    assert list_moves(later, 0) == {"turn"}
    lost = play(state_after(later, 0, "turn", {"rouble": ["2"]}), 0, "turn", {"rouble": ["njet"]})
    assert find_events(lost, Lost) == [Lost(0, ("2", "njet"))]


def test_8_6_hidden_secured_and_turned_coins_count_together():
    rich = waiting(6, purse=("2",), secured=("2",))
    state = table(at_the_guard="roubles", players={0: rich})
    turned = state_after(state, 0, "turn", {"rouble": ["1"]})
    assert "pay" not in verbs(turned, 0)
    enough = state_after(turned, 0, "turn", {"rouble": ["1"]})
    assert list_moves(enough, 0) == {"pay", "turn", "stop"}
    assert find_events(play(enough, 0, "pay"), Won)[0].coins == ("2", "2", "1", "1")


def test_8_6_k17_once_the_palace_is_empty_hidden_coins_of_others_are_turned():
    purses = {0: waiting(8), 1: {"purse": ("1",)}, 2: {"purse": ("njet",), "secured": ("3",)}, 3: {"secured": ("3",)}}
    state = table(at_the_guard="roubles", palace=(), players=purses)
    assert list_moves(state, 0) == {"turn purse2", "turn purse3"}
    one = play(state, 0, "turn purse2")
    assert find_events(one, Turned) == [Turned(0, "1", 1)]
    assert one.state.players[1].purse == ()
    two = play(one.state, 0, "turn purse3")
    assert find_events(two, Lost) == [Lost(0, ("1", "njet"))]
    assert two.state.players[2].purse == ()


def test_8_6_a_player_who_has_turned_all_there_is_keeps_it_and_the_turn_ends():
    state = table(at_the_guard="roubles", palace=("1",), players={0: waiting(8)})
    outcome = play(state, 0, "turn")
    assert find_events(outcome, Stopped) == [Stopped(0, ("1",))]


def test_8_6_where_there_is_nothing_to_turn_the_usual_actions_go_on():
    state = table(BAIKAL, at_the_guard="roubles", palace=(), players={0: waiting(6, purse=("3", "3"))})
    assert verbs(state, 0) == {"pay", "deploy", "flip", "travel"}
    assert verbs(with_player(state, 1, purse=("1",)), 0) == {"pay", "turn"}


def test_8_7_k20_a_player_who_is_due_a_coin_robs_where_the_palace_is_empty():
    state = table(BAIKAL, palace=(), players={1: {"purse": ("1", "3")}, 2: {"purse": ("2",)}, 3: {"secured": ("3",)}})
    left = state_after(state, 0, LEAVE)
    assert left.turn == 0
    assert not list_moves(left, 0)
    assert list_moves(left, 2) == {"rob purse2", "decline"}
    robbed = play(left, 2, "rob purse2", {"robbed rouble": ["3"]})
    assert robbed.events[0] == Robbed(2, 1, "3")
    assert robbed.state.players[1].purse == ("1",)
    assert robbed.state.players[2].purse == ("2", "3")
    assert robbed.state.turn == 1
    declined = play(left, 2, "decline")
    assert declined.events[0] == Spared(2)
    assert declined.state.players == left.players
    assert declined.state.turn == 1


def test_8_7_as_long_as_the_palace_has_coins_no_player_is_robbed():
    state = table(BAIKAL, palace=("1",), players={1: {"purse": ("1", "3")}})
    assert find_events(play(state, 0, LEAVE), Rewarded) == [Rewarded(2, "1")]


def test_8_8_k20_where_there_is_no_coin_none_is_taken():
    only_own = table(BAIKAL, palace=(), players={2: {"purse": ("3", "3")}})
    outcome = play(only_own, 0, LEAVE)
    assert find_events(outcome, Departed)[0].owed is False
    assert outcome.state.turn == 1
    others = {1: {"purse": ("3", "3")}}
    assert state_after(table(BAIKAL, palace=(), players=others), 0, LEAVE).turn == 0
    assert state_after(table(BAIKAL, palace=(), players=others, robbing=False), 0, LEAVE).turn == 1


def test_8_8_without_robbing_no_coins_are_turned_out_of_purses():
    purses = {0: waiting(8), 1: {"purse": ("3", "3", "3")}}
    assert "turn" in verbs(table(at_the_guard="roubles", palace=(), players=purses), 0)
    assert "turn" not in verbs(table(at_the_guard="roubles", palace=(), players=purses, robbing=False), 0)


def test_8_9_k28_when_no_player_can_come_by_the_price_the_first_at_a_guard_wins():
    poor = {0: waiting(10, purse=("3", "3")), 1: waiting(8, purse=("3", "3")), 2: {"purse": ("3", "2")}}
    state = replace(table(palace=(), players=poor, robbing=False), arrivals=(1, 0))
    outcome = play(state, 0, "deploy lady Baikal-Bar")
    assert find_events(outcome, Won)[0].seat == 1
    assert find_events(outcome, Won)[0].reason == "first dispatch"
    enough = with_player(state, 2, purse=("3", "3"))
    assert not find_events(play(enough, 0, "deploy lady Baikal-Bar"), Won)
    robbing = replace(state, options=Options())
    assert not find_events(play(robbing, 0, "deploy lady Baikal-Bar"), Won)


def test_9_1_there_is_one_winner_and_the_others_share_the_place_behind():
    state = table("Iwan: lady 1*; Olga: officer 2*", seats=3, players={0: waiting(6, purse=("3", "3"))})
    assert [standing.score for standing in kurier.standing(state)] == [5, 2, 3]
    assert list_places(state) == [None, None, None]
    won = state_after(state, 0, "pay")
    assert list_places(won) == [1, 2, 2]
    assert [standing.score for standing in kurier.standing(won)] == [6, 2, 3]
    assert not any(kurier.menu(won, seat) for seat in range(3))


@pytest.mark.parametrize("rules", ["basic", "revised"])
def test_9_1_scores_tell_how_far_the_dispatches_have_come(rules):
    assert [standing.score for standing in kurier.standing(begin(rules=rules).state)] == [1] * 5
