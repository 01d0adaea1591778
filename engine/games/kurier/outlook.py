"""Who is likely to win: how far the dispatches have come, who can carry them on, and what is in the purses."""

from __future__ import annotations

from math import log
from typing import NamedTuple

from engine.games.kurier.board import CLOCKWISE, KINDS, PRICES, VILLAGE_OF, VILLAGES, Kind, worth
from engine.games.kurier.events import Guests, Player, State
from engine.games.kurier.patience import turns
from engine.shares import Shares, from_points


class Road(NamedTuple):
    """What the road is worth by one of the rule sets."""

    villages: tuple[float, float, float, float]
    """The dispatch in each village."""
    alone: float
    """Less, if no other guest is in its inn."""
    filling: float
    """More, if two guests are there and either of the others would send it on."""
    palace: float
    """More, if it leaves the last village."""
    runner: float
    """Each own courier on the road."""
    beside: float
    """Each own courier in the inn of the dispatch, besides."""


ROADS = {
    "revised": Road((0.0, 0.55, 1.15, 1.85), alone=0.3, filling=0.0, palace=0.0, runner=0.11, beside=0.15),
    "basic": Road((0.0, 0.7, 1.3, 2.1), alone=0.2, filling=0.4, palace=0.7, runner=0.01, beside=0.0),
}
"""With the revised rules whoever is left behind earns his owner a coin; with the basic ones only the way counts."""
LEAVES, STAYS, COMPANY = 0.45, 0.25, 0.12
"""A dispatch in an inn that is full and will leave it, or be left behind; own couriers in its village."""
GUARD = 2.7
ARRIVED, WAIT, DOUBT = 7.7, 0.42, 0.76
"""Basic: the worth of a dispatch at its guard, and what each turn that it waits there takes from that."""
ROUBLE, RIVAL, SHORT, HAND, TURN = 0.16, 0.03, 0.22, 0.05, 0.1
"""A rouble in the purse, and how much more it is worth with each rival above one; a rouble missing at the guard."""
CERTAIN, LIKELY, FIRST, CHEAP = 6.0, 2.0, 0.2, 0.05
"""A price that can be paid now, or on one's next turn; the first who turned a coin; a guard who asks less."""


def outlook(state: State) -> Shares:
    """Each seat's share of the victory."""
    strengths = [_strength(state, seat, player) for seat, player in enumerate(state.players)]
    return from_points(strengths)


def _strength(state: State, seat: int, player: Player) -> float:
    basic, price = state.options.rules == "basic", player.dispatch.price
    strength = _in_hand(state, seat, player, basic) + _runners(state, seat)
    if not price:
        return strength + _on_the_road(state, seat, player) + (0.0 if basic else _saved(state, seat, player))
    if basic:
        return strength + _waiting(state, price - worth(player.secured), seat)
    return strength + _at_the_guard(state, price - _purse(state, seat, player), seat)


def _in_hand(state: State, seat: int, player: Player, basic: bool) -> float:
    turn = TURN if seat == state.turn and not state.done else 0.0
    first = FIRST if basic and seat == state.first_rouble else 0.0
    return turn + first + HAND * len(player.reserve)


def _runners(state: State, seat: int) -> float:
    """Couriers on the road are hands for the dispatch, and earn coins where they are left behind."""
    own = sum(owner == seat for guests in state.inns.values() for owner in guests.values())
    return ROADS[state.options.rules].runner * own


def _purse(state: State, seat: int, player: Player) -> int:
    return worth(player.purse + player.secured) + (worth(state.turned) if seat == state.turn else 0)


def _saved(state: State, seat: int, player: Player) -> float:
    return _rouble(state) * min(_purse(state, seat, player), 10)


def _rouble(state: State) -> float:
    return ROUBLE + RIVAL * (len(state.players) - 2)


def _at_the_guard(state: State, short: int, seat: int) -> float:
    """What is missing of the price decides how soon the dispatch goes on to the tsar."""
    there = GUARD + 10 * _rouble(state)
    if short <= 0:
        return there + (CERTAIN if seat == state.turn else LIKELY)
    return there - SHORT * short


def _waiting(state: State, short: int, seat: int) -> float:
    """With the basic rules nothing but coins that are turned helps the dispatch on."""
    turned = worth(state.turned) if seat == state.turn and not state.done else None
    waits = turns(state.palace, short, turned)
    return ARRIVED - WAIT * waits - DOUBT * log(waits + 0.5)


def _on_the_road(state: State, seat: int, player: Player) -> float:
    inn, kind = player.dispatch.inn, player.dispatch.kind
    assert kind
    road, village, guests = ROADS[state.options.rules], VILLAGE_OF[inn], state.inns[inn]
    strength = road.villages[village] + _in_the_inn(road, guests, kind)
    mates = sum(owner == seat for other in VILLAGES[village] for owner in state.inns.get(other, {}).values())
    strength += COMPANY * (mates - 1) + road.beside * (list(guests.values()).count(seat) - 1)
    if village == len(VILLAGES) - 1:
        strength += CHEAP * (10 - PRICES[inn]) + (road.palace if _full(guests) and kind in _leaving(guests) else 0.0)
    return strength


def _in_the_inn(road: Road, guests: Guests, kind: Kind) -> float:
    """How soon the guests beside it send the dispatch on."""
    if _full(guests):
        return LEAVES if kind in _leaving(guests) else -STAYS
    if len(guests) == 1:
        return -road.alone
    return road.filling * _ways_on(guests, kind) / 2


def _full(guests: Guests) -> bool:
    return len(guests) == len(KINDS) - 1


def _leaving(guests: Guests) -> tuple[Kind, ...]:
    """The two guests who leave a full inn."""
    return _sent_on(next(kind for kind in KINDS if kind not in guests))


def _ways_on(guests: Guests, kind: Kind) -> int:
    """Of the guests who could fill the inn, how many would send this one on."""
    return sum(kind in _sent_on(empty) for empty in KINDS if empty not in guests)


def _sent_on(empty: Kind) -> tuple[Kind, ...]:
    return CLOCKWISE[empty][:2]
