"""Kurier des Zaren, §1 to §6: the material, preparation, turns, deploying, handing over, travelling."""

from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace

from engine import catalogue, chance, options
from engine import game as games
from engine.games import kurier
from engine.games.kurier.board import (
    COLOURS,
    GUARD_PRICES,
    INN_NAMES,
    KINDS,
    LANDS,
    ORDER_BY_FREE_ROOM,
    VILLAGES,
    count_roubles,
)
from engine.games.kurier.state import (
    ColourOpened,
    Delivered,
    Departed,
    Deployed,
    Dispatch,
    Flipped,
    Options,
    Passed,
    Prepared,
    Refilled,
    SentOut,
    SetAside,
    Travelled,
    TurnBegan,
)
from engine.refusal import Refused
from tests.engine.games.kurier_table import (
    at_guard,
    begin,
    find_events,
    list_moves,
    play,
    state_after,
    table,
    verbs,
    with_player,
)

FULL = "officer 3, cossack 3, diplomat 3"


def test_1_1_the_road_leads_through_four_villages_the_forest_among_them():
    assert LANDS == ("swamp", "forest", "mountains", "grassland")
    assert [len(village) for village in VILLAGES] == [5, 4, 4, 5]
    state = table("Baikal-Bar: cossack 0, diplomat 1, lady 2")
    ends = {move.split()[-1] for move in list_moves(state, 0) if move.startswith("travel Baikal-Bar")}
    assert ends == set(VILLAGES[1])


def test_1_2_arrows_lead_clockwise_through_the_rooms():
    assert KINDS == ("officer", "cossack", "diplomat", "lady")
    assert ORDER_BY_FREE_ROOM["officer"] == ("cossack", "diplomat", "lady")
    assert ORDER_BY_FREE_ROOM["diplomat"] == ("lady", "officer", "cossack")


def test_1_2_a_courier_sleeps_only_in_the_room_of_its_kind():
    state = state_after(table(), 0, "deploy lady Baikal-Bar")
    assert state.inns["Baikal-Bar"] == {"lady": 0}


def test_1_3_everybody_has_twelve_couriers_and_a_dispatch():
    assert COLOURS == 5
    for player in begin().state.players:
        dispatch = player.dispatch
        assert Counter((*player.stack, *player.reserve, dispatch.kind)) == dict.fromkeys(KINDS, 3)


@pytest.mark.parametrize(
    ("rules", "blank_coins", "blanks"),
    [("basic", "as_printed", 3), ("revised", "as_printed", 0), ("basic", "out", 0), ("revised", "in", 3)],
)
def test_1_4_k2_blank_coins_belong_to_the_basic_rules(rules, blank_coins, blanks):
    palace = Counter(begin(rules=rules, blank_coins=blank_coins).state.palace)
    assert palace == Counter({"njet": 9, "1": 9, "2": 6, "3": 3, "blank": blanks})
    assert count_roubles(palace.elements()) == 30


def test_1_5_five_guards_ask_6_8_or_10():
    assert set(GUARD_PRICES) == set(VILLAGES[3])
    assert set(GUARD_PRICES.values()) == {6, 8, 10}
    assert GUARD_PRICES["Pawl-Hof"] == 8


@pytest.mark.parametrize(
    ("seats", "closed"),
    [
        (5, set()),
        (4, {"Datscha-Domizil", "Roman-Hof"}),
        (3, {"Datscha-Domizil", "Roman-Hof", "Nikolaj", "Katharina"}),
        (2, {"Datscha-Domizil", "Roman-Hof", "Nikolaj", "Katharina", "Kosaken-Klub", "Masl-Hof"}),
    ],
)
def test_2_1_fewer_players_close_inns(seats, closed):
    assert set(INN_NAMES) - set(begin(seats).state.inns) == closed


def test_2_1_k1_with_three_players_masl_hof_may_be_closed_in_place_of_roman_hof():
    inns = begin(3, closed_third="masl").state.inns
    assert "Masl-Hof" not in inns
    assert "Roman-Hof" in inns
    assert set(begin(4, closed_third="masl").state.inns) == set(begin(4).state.inns)


def test_2_1_a_closed_inn_lodges_no_courier():
    assert "deploy lady Datscha-Domizil" in list_moves(table(seats=5), 0)
    assert "deploy lady Datscha-Domizil" not in list_moves(table(seats=4), 0)


def test_2_1_k21_the_rules_are_revised_unless_a_table_wants_the_basic_ones():
    assert begin().state.options.rules == "revised"
    chosen = options.parse(catalogue.find("kurier").META.options, {"rules": "basic"})
    assert chosen.rules == "basic"


def test_2_2_k4_chance_decides_which_seat_begins_and_the_turn_passes_clockwise():
    rigged = chance.make_rigged({"start player": [2]}, chance.make_from_random(Random(1)).source)
    state = games.begin(kurier, Options(), 3, rigged).state
    assert state.turn == 2
    assert list_moves(state, 2)
    assert not list_moves(state, 0)
    assert not list_moves(state, 1)
    turned = play(state, 2, next(move for move in list_moves(state, 2) if move.startswith("deploy")))
    assert find_events(turned, TurnBegan) == [TurnBegan(0)]


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_2_3_k3_every_first_courier_has_an_inn_for_itself_and_the_dispatch(seats):
    start = begin(seats)
    (prepared,) = find_events(start, Prepared)
    sent = find_events(start, SentOut)
    assert [event.seat for event in sent] == [(prepared.first + place) % seats for place in range(seats)]
    assert len({event.inn for event in sent}) == seats
    assert {event.inn for event in sent} <= set(VILLAGES[0])
    for seat, kind, inn in ((event.seat, event.kind, event.inn) for event in sent):
        assert start.state.players[seat].dispatch == Dispatch(inn, kind)
        assert start.state.inns[inn] == {kind: seat}


def test_2_4_everybody_opens_a_reserve_of_one():
    start = begin(4)
    assert {event.seat for event in find_events(start, Refilled)} == {0, 1, 2, 3}
    assert all(len(player.reserve) == 1 and len(player.stack) == 10 for player in start.state.players)


def test_2_5_couriers_who_came_home_are_drawn_last_and_in_their_order():
    state = table(players={0: {"stack": ("lady",), "under": ("officer", "cossack"), "reserve": ()}})
    kinds = []
    for _ in range(3):
        outcome = play(replace(state, turn=0, acted=False), 0, "flip")
        kinds += [event.kind for event in find_events(outcome, Flipped)]
        state = replace(outcome.state, flipped=None)
    assert kinds == ["lady", "officer", "cossack"]


def test_3_1_one_of_three_actions_makes_a_turn():
    state = table("Baikal-Bar: officer 0*, cossack 1, lady 0; Iwan: lady 0", turn=0)
    assert verbs(state, 0) == {"deploy", "flip", "hand", "travel"}
    for move in ("deploy lady Kosaken-Klub", "hand Baikal-Bar lady", "travel Baikal-Bar lady Wladimir Boris"):
        assert state_after(state, 0, move).turn == 1
    with pytest.raises(Refused):
        play(state, 1, "flip")


def test_3_2_k7_only_a_player_who_can_do_nothing_passes():
    nothing = {"stack": (), "reserve": ("lady",)}
    closed = "; ".join(f"{inn}: lady 2" for inn in VILLAGES[0])
    state = table(closed, turn=0, players={1: nothing})
    outcome = play(state, 0, "flip", {"courier": ["lady"]})
    assert find_events(outcome, Passed) == [Passed(1)]
    assert outcome.state.turn == 2
    able = with_player(state, 1, stack=("officer",))
    assert not find_events(play(able, 0, "flip", {"courier": ["lady"]}), Passed)


def test_3_3_k6_an_empty_reserve_is_refilled_at_the_end_of_the_own_turn():
    outcome = play(table(), 0, "deploy lady Baikal-Bar", {"courier": ["cossack"]})
    assert find_events(outcome, Refilled) == [Refilled(0, "cossack")]
    assert outcome.state.players[0].reserve == ("cossack",)
    full = with_player(table(), 0, reserve=("lady", "officer"))
    assert not find_events(play(full, 0, "deploy lady Baikal-Bar"), Refilled)


def test_3_3_k27_the_reserve_is_refilled_also_after_turning_coins_and_after_passing():
    rich = {"reserve": (), "dispatch": at_guard(10)}
    state = table(rules="basic", players={0: rich})
    assert find_events(play(state, 0, "turn", {"rouble": ["njet"]}), Refilled)
    closed = "; ".join(f"{inn}: lady 2" for inn in VILLAGES[0])
    stuck = table(closed, turn=0, players={1: {"stack": (), "reserve": ("lady",)}})
    passing = play(stuck, 0, "flip", {"courier": ["lady"]})
    assert find_events(passing, Passed)
    assert all(player.reserve for player in passing.state.players)


def test_3_4_k7_an_unused_colour_becomes_the_new_stack_and_the_old_one_comes_first():
    state = table(seats=4, players={0: {"stack": (), "under": ("officer",), "reserve": ()}})
    first = play(state, 0, "flip")
    assert not find_events(first, ColourOpened)
    deployed = play(first.state, 0, "deploy officer Baikal-Bar")
    assert find_events(deployed, ColourOpened) == [ColourOpened(0)]
    assert len(deployed.state.players[0].stack) == 11
    assert len(deployed.state.players[0].reserve) == 1
    assert deployed.state.colours == 0


def test_3_4_k7_a_flip_too_opens_a_colour_as_long_as_there_is_one():
    empty = {0: {"stack": (), "reserve": ("lady",)}}
    outcome = play(table(seats=4, players=empty), 0, "flip", {"courier": ["officer"]})
    assert find_events(outcome, ColourOpened)
    assert list_moves(outcome.state, 0) >= {"deploy officer Baikal-Bar"}
    assert verbs(table(seats=5, players=empty), 0) == {"deploy"}
    last = state_after(table(seats=5, players=empty), 0, "deploy lady Baikal-Bar")
    assert last.turn == 1
    assert last.players[0].reserve == ()


def test_4_1_a_courier_of_the_reserve_goes_to_a_free_room_in_the_swamp():
    state = table("Baikal-Bar: lady 1; Iwan: officer 0*")
    deploys = {move for move in list_moves(state, 0) if move.startswith("deploy")}
    assert deploys == {f"deploy lady {inn}" for inn in VILLAGES[0][1:]}
    outcome = play(state, 0, "deploy lady Kosaken-Klub")
    assert find_events(outcome, Deployed) == [Deployed(0, "lady", "Kosaken-Klub")]
    assert outcome.state.inns["Kosaken-Klub"] == {"lady": 0}


def test_4_2_a_full_inn_lodges_no_courier():
    state = table(f"Baikal-Bar: {FULL}; Kosaken-Klub: officer 3, cossack 3")
    assert "deploy lady Baikal-Bar" not in list_moves(state, 0)
    assert "deploy lady Kosaken-Klub" in list_moves(state, 0)
    travelling = table(f"Baikal-Bar: officer 0, cossack 0, lady 0; Iwan: {FULL}")
    assert not any("Iwan" in move for move in list_moves(travelling, 0))


def test_4_3_k5_a_flipped_courier_is_deployed_and_nothing_else():
    state = table("Baikal-Bar: officer 0*, cossack 1, lady 0")
    assert {"flip", "deploy lady Kosaken-Klub"} <= list_moves(state, 0)
    flipped = play(state, 0, "flip", {"courier": ["diplomat"]})
    assert flipped.events == (Flipped(0, "diplomat"),)
    assert flipped.state.turn == 0
    assert list_moves(flipped.state, 0) == {f"deploy diplomat {inn}" for inn in VILLAGES[0][1:]}
    deployed = play(flipped.state, 0, "deploy diplomat Kosaken-Klub").state
    assert deployed.turn == 1
    assert deployed.players[0].reserve == ("lady",)
    assert Counter(deployed.players[0].stack)["diplomat"] == 2


def test_4_4_k26_a_flipped_courier_without_room_joins_the_reserve_and_the_turn_is_over():
    taken = "; ".join(f"{inn}: officer 1" for inn in VILLAGES[0])
    outcome = play(table(taken), 0, "flip", {"courier": ["officer"]})
    assert find_events(outcome, SetAside) == [SetAside(0, "officer")]
    assert outcome.state.players[0].reserve == ("lady", "officer")
    assert outcome.state.turn == 1
    assert not any(outcome.state.inns[inn] for inn in VILLAGES[1])


def test_5_1_the_dispatch_goes_to_an_own_courier_in_the_same_village():
    state = table("Olga: diplomat 0*, lady 0; Natascha: officer 0, lady 1; Iwan: officer 0")
    hands = {move for move in list_moves(state, 0) if move.startswith("hand")}
    assert hands == {"hand Olga lady", "hand Natascha officer"}
    assert state_after(state, 0, "hand Natascha officer").players[0].dispatch == Dispatch("Natascha", "officer")
    assert "hand" not in verbs(table("Olga: diplomat 0*; Natascha: lady 1"), 0)


def test_5_2_a_dispatch_with_a_guard_is_not_handed_over():
    state = table("Pawl-Hof: officer 0, lady 0", players={0: {"dispatch": at_guard(8, "Pawl-Hof")}})
    assert verbs(state, 0) == {"deploy", "flip"}


def test_6_1_a_full_inn_with_an_own_courier_may_be_left():
    full = "Baikal-Bar: cossack 0, diplomat 1, lady 2"
    assert "travel" in verbs(table(full), 0)
    assert "travel" not in verbs(table(full, turn=3), 3)
    assert "travel" not in verbs(table("Baikal-Bar: cossack 0, diplomat 1"), 0)


def test_6_1_k9_the_own_courier_may_be_the_one_who_stays_unless_the_option_forbids_it():
    staying = "Baikal-Bar: cossack 1, diplomat 1, lady 0"
    assert "travel" in verbs(table(staying), 0)
    assert "travel" not in verbs(table(staying, own_traveller=True), 0)
    leaving = "Baikal-Bar: cossack 1, diplomat 0, lady 1"
    assert "travel" in verbs(table(leaving, own_traveller=True), 0)


@pytest.mark.parametrize("empty", range(4))
def test_6_2_the_arrow_of_the_empty_room_says_which_guests_leave(empty):
    order = [KINDS[(empty + step) % 4] for step in (1, 2, 3)]
    state = table("Baikal-Bar: " + ", ".join(f"{kind} 0" for kind in order))
    outcome = play(state, 0, f"travel Baikal-Bar {order[0]} Iwan Boris")
    assert [event.kind for event in find_events(outcome, Travelled)] == order[:2]
    (departed,) = find_events(outcome, Departed)
    assert (departed.left, departed.kind) == (0, order[2])
    assert outcome.state.inns["Baikal-Bar"] == {order[2]: 0}


def test_6_3_k27_the_mover_chooses_the_order_and_both_inns():
    state = table("Baikal-Bar: cossack 0, diplomat 1, lady 2; Iwan: cossack 3; Boris: officer 3")
    travels = {move for move in list_moves(state, 0) if move.startswith("travel")}
    cossack, diplomat = {"Wladimir", "Nikolaj", "Boris"}, {"Iwan", "Wladimir", "Nikolaj", "Boris"}
    ways = {(one, two) for one in cossack for two in diplomat if one != two}
    assert travels == {f"travel Baikal-Bar cossack {one} {two}" for one, two in ways} | {
        f"travel Baikal-Bar diplomat {two} {one}" for one, two in ways
    }
    moved = state_after(state, 0, "travel Baikal-Bar diplomat Iwan Boris")
    assert moved.inns["Iwan"] == {"cossack": 3, "diplomat": 1}
    assert moved.inns["Boris"] == {"officer": 3, "cossack": 0}


def test_6_4_k11_a_dispatch_goes_along_with_its_courier_also_when_another_player_moves_him():
    state = table("Baikal-Bar: cossack 1*, diplomat 1, lady 0")
    moved = state_after(state, 0, "travel Baikal-Bar cossack Wladimir Iwan")
    assert moved.players[1].dispatch == Dispatch("Wladimir", "cossack")
    staying = table("Baikal-Bar: cossack 1, diplomat 1, lady 1*", turn=1)
    unmoved = state_after(staying, 1, "travel Baikal-Bar cossack Wladimir Iwan")
    assert unmoved.players[1].dispatch == Dispatch("Baikal-Bar", "lady")


def test_6_5_k8_a_traveller_skips_a_village_only_when_it_has_no_room_and_then_must():
    officers = "; ".join(f"{inn}: officer 3" for inn in VILLAGES[1])
    state = table(f"Baikal-Bar: officer 0, cossack 0, lady 0; {officers}")
    firsts = {move.split()[3] for move in list_moves(state, 0) if move.startswith("travel Baikal-Bar officer")}
    assert firsts == set(VILLAGES[2])
    roomy = list_moves(table("Baikal-Bar: officer 0, cossack 0, lady 0"), 0)
    assert {move.split()[3] for move in roomy if move.startswith("travel")} == set(VILLAGES[1])
    skipped = play(state, 0, "travel Baikal-Bar officer Olga Iwan")
    assert [event.skipped for event in find_events(skipped, Travelled)] == [1, 0]


def test_6_5_k8_several_villages_may_be_skipped_one_after_the_other():
    officers = "; ".join(f"{inn}: officer 3" for village in VILLAGES[1:3] for inn in village)
    state = table(f"Baikal-Bar: officer 0, cossack 0, lady 0; {officers}")
    ends = {move.split()[3] for move in list_moves(state, 0) if move.startswith("travel Baikal-Bar officer")}
    assert ends == set(VILLAGES[3])


def test_6_6_k8_two_travellers_never_share_an_inn():
    state = table("Iwan: cossack 0, diplomat 1, lady 2")
    assert not any(move.split()[3] == move.split()[4] for move in list_moves(state, 0) if move.startswith("travel"))


def test_6_6_k8_an_inn_barred_by_the_first_traveller_makes_the_second_one_skip():
    cossacks = "Anastasia: cossack 3; Natascha: cossack 3; Olga: cossack 3"
    state = table(f"Iwan: cossack 0, diplomat 1, lady 2; {cossacks}")
    into_katharina = {move for move in list_moves(state, 0) if move.startswith("travel Iwan diplomat Katharina")}
    assert into_katharina == {f"travel Iwan diplomat Katharina {hof}" for hof in VILLAGES[3]}
    elsewhere = {move for move in list_moves(state, 0) if move.startswith("travel Iwan diplomat Olga")}
    assert elsewhere == {"travel Iwan diplomat Olga Katharina"}


def test_6_6_k8_after_skipping_the_other_inns_rule_still_holds():
    full = "; ".join(f"{inn}: {FULL}" for inn in VILLAGES[2])
    state = table(f"Iwan: cossack 0, diplomat 1, lady 2; {full}")
    ends = {tuple(move.split()[3:]) for move in list_moves(state, 0) if move.startswith("travel Iwan cossack")}
    assert ends == {(one, two) for one in VILLAGES[3] for two in VILLAGES[3] if one != two}


def test_6_7_k11_couriers_come_home_under_the_stack_of_their_owner():
    state = table("Pawl-Hof: officer 1, cossack 0, diplomat 2", players={0: {"under": ("lady",)}})
    home = state_after(state, 0, "travel Pawl-Hof cossack palace palace")
    assert home.players[0].under == ("lady", "cossack")
    assert home.players[1].under == ("officer",)
    assert home.inns["Pawl-Hof"] == {"diplomat": 2}


@pytest.mark.parametrize("order", [("diplomat", "lady"), ("lady", "diplomat")])
def test_6_7_k27_two_couriers_of_one_owner_come_home_in_the_order_of_travelling(order):
    state = table("Pawl-Hof: diplomat 0, lady 0, officer 1")
    assert state_after(state, 0, f"travel Pawl-Hof {order[0]} palace palace").players[0].under == order


def test_6_8_k23_dispatches_go_to_the_guard_above_the_inn_even_several():
    state = table("Pawl-Hof: officer 0*, cossack 1*, diplomat 2", players={2: {"dispatch": at_guard(8, "Pawl-Hof")}})
    outcome = play(state, 0, "travel Pawl-Hof officer palace palace")
    assert find_events(outcome, Delivered) == [Delivered(0, 8, "Pawl-Hof"), Delivered(1, 8, "Pawl-Hof")]
    assert [player.dispatch for player in outcome.state.players[:3]] == [at_guard(8, "Pawl-Hof")] * 3
    roman = state_after(
        table("Roman-Hof: officer 0*, cossack 1, diplomat 2"), 0, "travel Roman-Hof officer palace palace"
    )
    assert roman.players[0].dispatch == at_guard(GUARD_PRICES["Roman-Hof"], "Roman-Hof")


def test_6_9_k24_k27_a_courier_who_skips_the_grassland_meets_a_guard_of_ten():
    cossacks = "Pawl-Hof: cossack 1; Rachmann-Hof: cossack 1; Rehr-Hof: cossack 1"
    state = table(f"Olga: cossack 0*, diplomat 1, lady 1; {cossacks}", seats=2)
    assert "Masl-Hof" not in state.inns
    outcome = play(state, 0, "travel Olga cossack palace Pawl-Hof")
    assert find_events(outcome, Delivered) == [Delivered(0, 10, "")]
    assert outcome.state.players[0].dispatch == at_guard(10)
