"""The outlook of Kurier des Zaren: how long a dispatch waits at its guard, and who is ahead."""

from itertools import pairwise
from math import isclose

import pytest
from msgspec.structs import replace

from engine.games import kurier
from engine.games.kurier.board import SUPPLY
from engine.games.kurier.outlook import expect_turns
from engine.games.kurier.state import Dispatch
from tests.engine.games.kurier_table import begin, lodge, table, with_player


@pytest.mark.parametrize(
    ("palace", "short", "wanted"),
    [
        (("1",), 1, 1),
        (("njet", "1"), 1, 2),
        (("njet", "blank", "1"), 1, 2),
        (("njet", "3", "3", "3"), 3, 4 / 3),
        (("njet", "njet", "njet", "1"), 1, 4),
        (("njet", "1", "njet", "1"), 2, 4),
        (("njet",), 1, 40),
        ((), 1, 40),
        (SUPPLY, 0, 0),
    ],
)
def test_expect_turns_at_the_guard(palace, short, wanted):
    """If every other coin is false, 2 roubles take 4 turns, by stopping after the first coin as well as by going on."""
    assert isclose(expect_turns(palace, short), wanted, abs_tol=0.1)


def test_a_higher_price_takes_longer_and_coins_already_turned_save_time():
    waits = [expect_turns(SUPPLY, short) for short in range(11)]
    assert waits == sorted(waits)
    assert all(one < other for one, other in pairwise(waits))
    on_turn = [expect_turns(SUPPLY, 8, turned) for turned in range(9)]
    assert on_turn == sorted(on_turn, reverse=True)
    assert on_turn[-1] == 0


def test_with_false_coins_about_one_stops_sooner():
    """Without false coins the next coin is turned; with most coins false, two roubles of three are secured first."""
    safe, risky = ("1",) * 9, ("njet",) * 8 + ("1",) * 2
    assert expect_turns(safe, 3, 2) == 0
    assert expect_turns(risky, 3, 2) == expect_turns(risky, 1)


@pytest.mark.parametrize("rules", ["basic", "revised"])
def test_a_dispatch_at_its_guard_is_worth_more_than_one_on_the_road(rules):
    state = begin(rules=rules).state
    at_guard = replace(state.players[0], dispatch=Dispatch("Pawl-Hof", None, 8))
    ahead = replace(state, players=(at_guard, *state.players[1:]))
    assert kurier.outlook(ahead)[0] > kurier.outlook(state)[0] + 0.2


def test_a_coin_more_brings_the_tsar_nearer():
    state = begin(rules="basic").state
    chances = []
    for coins in ((), ("1",), ("1", "2"), ("1", "2", "3")):
        own = replace(state.players[1], dispatch=Dispatch("Pawl-Hof", None, 8), secured=coins)
        chances.append(kurier.outlook(replace(state, players=(state.players[0], own)))[1])
    assert chances == sorted(set(chances))


OTHERS = "Iwan: lady 1*; Wladimir: lady 2*; "


@pytest.mark.parametrize("rules", ["basic", "revised"])
def test_a_dispatch_that_guests_send_on_is_worth_more_than_one_alone(rules):
    lodgings = [
        "Olga: officer 0*",
        "Olga: officer 0*, cossack 1",
        "Olga: officer 0*, cossack 1, diplomat 2",
    ]
    chances = [kurier.outlook(table(OTHERS + lodging, seats=3, rules=rules))[0] for lodging in lodgings]
    assert chances == sorted(set(chances))


@pytest.mark.parametrize("rules", ["basic", "revised"])
def test_in_a_full_inn_it_counts_whether_the_dispatch_leaves(rules):
    """The officer leaves when the lady's room is the empty one, and stays when the Cossack's is."""
    leaves = table(OTHERS + "Olga: officer 0*, cossack 1, diplomat 2", seats=3, rules=rules)
    stays = table(OTHERS + "Olga: officer 0*, diplomat 1, lady 2", seats=3, rules=rules)
    assert kurier.outlook(leaves)[0] > kurier.outlook(stays)[0] + 0.05


@pytest.mark.parametrize(("rules", "more"), [("basic", False), ("revised", True)])
def test_a_courier_beside_ones_dispatch_earns_coins_only_by_the_revised_rules(rules, more):
    beside = table(OTHERS + "Olga: officer 0*, lady 0; Natascha: diplomat 1", seats=3, rules=rules)
    elsewhere = table(OTHERS + "Olga: officer 0*, lady 1; Natascha: diplomat 0", seats=3, rules=rules)
    assert (kurier.outlook(beside)[0] > kurier.outlook(elsewhere)[0] + 0.01) is more


def test_by_the_revised_rules_roubles_count_for_more_among_many():
    gains = []
    for seats in (2, 5):
        level = table(seats=seats)
        for seat, inn in zip(range(seats), level.inns, strict=False):
            level = lodge(level, inn, "lady", f"{seat}*")
        rich = with_player(level, 1, purse=("3",))
        gains.append(_odds(kurier.outlook(rich)) / _odds(kurier.outlook(level)))
    assert gains[1] > gains[0] > 1


def _odds(shares):
    """The second seat's chances against the first one's."""
    return shares[1] / shares[0]
