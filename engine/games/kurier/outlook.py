"""How likely each seat wins: how far its dispatch has come, which couriers can carry it on, and its coins.

The numbers in capitals are strengths: one more is a factor of e in the chances. They were tuned by matches.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import log
from typing import NamedTuple

from engine.games.kurier.board import (
    FULL_INN,
    GUARD_PRICES,
    KINDS,
    ORDER_BY_FREE_ROOM,
    VILLAGE_OF,
    VILLAGES,
    WORTH,
    Coin,
    Kind,
    count_roubles,
    order_departures,
)
from engine.games.kurier.state import Guests, Holdings, State
from engine.win_shares import Shares, from_points


class Road(NamedTuple):
    """The strengths of couriers and dispatches on the road, for one of the two rule sets."""

    villages: tuple[float, float, float, float]
    """The dispatch in each village."""
    alone: float
    """Subtracted where the dispatch's courier is the only guest of its inn."""
    filling: float
    """Added where two guests are in the inn, and the dispatch leaves whichever guest fills it."""
    palace: float
    """Added where the dispatch is about to leave the last village."""
    courier: float
    """Each own courier on the road."""
    beside: float
    """Each own courier in the inn of the dispatch, besides."""


ROADS = {
    "revised": Road((0.0, 0.55, 1.15, 1.85), alone=0.3, filling=0.0, palace=0.0, courier=0.11, beside=0.15),
    "basic": Road((0.0, 0.7, 1.3, 2.1), alone=0.2, filling=0.4, palace=0.7, courier=0.01, beside=0.0),
}
"""With the revised rules couriers left behind earn coins; with the basic ones only the way of the dispatch counts."""
LEAVES, STAYS = 0.45, -0.25
"""The dispatch is in a full inn, and will leave it, or be left behind."""
COMPANION = 0.12
"""Each other own courier in the village of the dispatch."""
CHEAP_GUARD = 0.05
"""In the last village, each rouble that the guard above the dispatch asks less than 10."""
AT_GUARD, MISSING_ROUBLE = 2.7, -0.22
"""Revised rules: the dispatch with its guard, and each rouble that is missing of the price."""
PAYS_NOW, PAYS_NEXT = 6.0, 2.0
"""Revised rules: the seat can pay the price on this turn, or on its next one."""
ROUBLE, ROUBLE_PER_RIVAL = 0.16, 0.03
"""Revised rules: each rouble in the purse, and what it is worth more for each rival above one."""
AT_GUARD_BASIC, WAITING_TURN, LOG_WAITING_TURNS = 7.7, -0.42, -0.76
"""Basic rules: the dispatch with its guard, each turn that it waits there, and besides the logarithm of those turns."""
LOG_OFFSET_TURNS = 0.5
"""Added to those turns before the logarithm is taken, because 0 has none."""
FIRST_TURNED = 0.2
"""Basic rules: the seat was the first to turn a coin (§7.6)."""
ON_TURN, RESERVE_COURIER = 0.1, 0.05
MOST_ROUBLES_NEEDED = 10
"""The highest price of a guard."""


def outlook(state: State) -> Shares:
    """Return each seat's share of the victory."""
    return from_points([_rate_seat(state, seat, holdings) for seat, holdings in enumerate(state.players)])


def _rate_seat(state: State, seat: int, holdings: Holdings) -> float:
    """Return the strength of a seat."""
    basic = state.options.rules == "basic"
    price = holdings.dispatch.price
    strength = _rate_extras(state, seat, holdings) + _rate_couriers(state, seat)
    if not price:
        savings = 0.0 if basic else _rate_savings(state, seat, holdings)
        return strength + _rate_on_road(state, seat, holdings) + savings
    if basic:
        return strength + _rate_wait(state, price - count_roubles(holdings.secured), seat)
    return strength + _rate_payment(state, price - _count_own_roubles(state, seat, holdings), seat)


def _rate_extras(state: State, seat: int, holdings: Holdings) -> float:
    """Rate the turn, the first turned coin, and the couriers in the reserve."""
    on_turn = ON_TURN if seat == state.turn and not state.done else 0.0
    first = FIRST_TURNED if state.options.rules == "basic" and seat == state.first_rouble else 0.0
    return on_turn + first + RESERVE_COURIER * len(holdings.reserve)


def _rate_couriers(state: State, seat: int) -> float:
    """Rate the couriers of a seat that are in an inn."""
    count = sum(owner == seat for guests in state.inns.values() for owner in guests.values())
    return ROADS[state.options.rules].courier * count


def _count_own_roubles(state: State, seat: int, holdings: Holdings) -> int:
    """Return the roubles that a seat has, also those that it has turned in this turn."""
    turned = count_roubles(state.turned) if seat == state.turn else 0
    return count_roubles(holdings.purse + holdings.secured) + turned


def _rate_savings(state: State, seat: int, holdings: Holdings) -> float:
    """Rate the roubles of a seat whose dispatch is on the road; more than any guard asks are worth nothing."""
    return _rate_rouble(state) * min(_count_own_roubles(state, seat, holdings), MOST_ROUBLES_NEEDED)


def _rate_rouble(state: State) -> float:
    """Rate one rouble: the more rivals a seat has, the higher."""
    return ROUBLE + ROUBLE_PER_RIVAL * (len(state.players) - 2)


def _rate_payment(state: State, missing: int, seat: int) -> float:
    """Rate a dispatch at its guard, with the revised rules: by the roubles that are missing of the price."""
    # More than on the road, where `_rate_savings` rates up to so many roubles; those that are missing take it down.
    strength = AT_GUARD + MOST_ROUBLES_NEEDED * _rate_rouble(state)
    if missing <= 0:
        return strength + (PAYS_NOW if seat == state.turn else PAYS_NEXT)
    return strength + MISSING_ROUBLE * missing


def _rate_wait(state: State, missing: int, seat: int) -> float:
    """Rate a dispatch at its guard, with the basic rules: by how long it has to wait until the price is reached.

    `missing` are the roubles of the price that the seat has not secured.
    """
    is_on_turn = seat == state.turn and not state.done
    face_up_roubles = count_roubles(state.turned) if is_on_turn else None
    waiting_turns = expect_turns(state.palace, missing, face_up_roubles)
    return AT_GUARD_BASIC + WAITING_TURN * waiting_turns + LOG_WAITING_TURNS * log(waiting_turns + LOG_OFFSET_TURNS)


def _rate_on_road(state: State, seat: int, holdings: Holdings) -> float:
    """Rate a dispatch on the road: its village, its inn, and the own couriers near it."""
    inn, kind = holdings.dispatch.inn, holdings.dispatch.kind
    assert kind
    road, village, guests = ROADS[state.options.rules], VILLAGE_OF[inn], state.inns[inn]
    strength = road.villages[village] + _rate_inn(road, guests, kind)
    couriers_in_village = sum(
        owner == seat for other in VILLAGES[village] for owner in state.inns.get(other, {}).values()
    )
    couriers_in_inn = list(guests.values()).count(seat)
    # Both numbers include the courier with the dispatch.
    strength += COMPANION * (couriers_in_village - 1) + road.beside * (couriers_in_inn - 1)
    is_last_village = village == len(VILLAGES) - 1
    if is_last_village:
        about_to_leave = len(guests) == FULL_INN and kind in order_departures(guests)[:2]
        cheaper = MOST_ROUBLES_NEEDED - GUARD_PRICES[inn]
        strength += CHEAP_GUARD * cheaper + (road.palace if about_to_leave else 0.0)
    return strength


def _rate_inn(road: Road, guests: Guests, kind: Kind) -> float:
    """Rate how soon the guests of its inn send on the dispatch that is with this kind."""
    if len(guests) == FULL_INN:
        return LEAVES if kind in order_departures(guests)[:2] else STAYS
    if len(guests) == 1:
        return -road.alone
    free_rooms = [room for room in KINDS if room not in guests]  # two: a guest fills one, and the other stays free
    fillings_to_leave = sum(kind in ORDER_BY_FREE_ROOM[room][:2] for room in free_rooms)
    return road.filling * fillings_to_leave / 2


COINS = tuple(WORTH)
LONGEST_WAIT_TURNS, MOST_REFINEMENTS, TOLERANCE_TURNS = 40.0, 3, 1e-3


def expect_turns(palace: Sequence[Coin], missing: int, turned: int | None = None) -> float:
    """Return how many turns of the seat it takes on average to turn up coins worth `missing` (§7.3).

    The seat ends each turn when that is best for it. Between turns `turned` is None. In the seat's own turn `turned`
    are the roubles turned up so far, and only the turns after this one are counted. The palace is taken to keep the
    coins that are in it now.
    """
    if turned is not None and turned >= missing:
        return 0.0
    if count_roubles(palace) + (turned or 0) < missing:
        return LONGEST_WAIT_TURNS
    counts = tuple(palace.count(coin) for coin in COINS)
    if turned is None:
        return _compute_turns_by_missing(counts, missing)[missing]
    return _compute_turns_by_turned(counts, missing, _compute_turns_by_missing(counts, missing))[turned]


@functools.lru_cache(maxsize=16384)
def _compute_turns_by_missing(counts: tuple[int, ...], missing: int) -> tuple[float, ...]:
    """Return the turns that it takes to turn 0, 1, 2, ... up to `missing` roubles.

    The last one depends on itself, because “njet” starts the turn over: refine a guess by Aitken's method.
    """
    if missing <= 0:
        return (0.0,)
    fewer = _compute_turns_by_missing(counts, missing - 1)
    guess = fewer[-1] + 1
    for _ in range(MOST_REFINEMENTS):
        once = _compute_turns(counts, missing, (*fewer, guess))
        twice = _compute_turns(counts, missing, (*fewer, once))
        if abs(once - guess) < TOLERANCE_TURNS:
            break
        change, next_change = once - guess, twice - once
        decrease = 2 * once - guess - twice  # from the first change to the next
        all_later_changes = next_change * change / decrease  # each is smaller by the same factor than the one before
        guess = min(once + all_later_changes, LONGEST_WAIT_TURNS)
    return (*fewer, guess)


def _compute_turns(counts: tuple[int, ...], missing: int, turns_by_missing: Sequence[float]) -> float:
    """Return the turns that it takes, the next one included, in which nothing is turned yet."""
    return 1 + _compute_turns_by_turned(counts, missing, turns_by_missing)[0]


def _compute_turns_by_turned(counts: tuple[int, ...], missing: int, turns_by_missing: Sequence[float]) -> list[float]:
    """Return, for each sum turned so far in a turn, how many further turns are expected.

    `missing` are the roubles that are missing when the turn begins. `turns_by_missing` has the turns that are expected
    after it, by the roubles that are missing then. A njet ends the turn, and what was turned is lost.
    """
    njet, blank, *good = (counts[COINS.index(coin)] for coin in ("njet", "blank", "1", "2", "3"))
    not_blank = sum(counts) - blank  # a blank coin changes nothing but the number of coins
    turns = [0.0] * (missing + len(good))  # none once nothing is missing
    for turned in reversed(range(missing)):
        going_on = LONGEST_WAIT_TURNS
        if not_blank:  # the average of what follows each coin
            after_good = sum(count * turns[turned + roubles] for roubles, count in enumerate(good, 1))
            going_on = (after_good + njet * turns_by_missing[missing]) / not_blank
        turns[turned] = going_on
        if turned > 0:  # a first coin has to be turned, then the turn may be ended
            turns[turned] = min(going_on, turns_by_missing[missing - turned])
    return turns
