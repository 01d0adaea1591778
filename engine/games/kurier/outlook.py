"""Who is likely to win: how far the dispatches have come, who can carry them on, and what is in the purses."""

from __future__ import annotations

from math import log

from engine.games.kurier.board import CLOCKWISE, KINDS, PRICES, VILLAGE_OF, VILLAGES, worth
from engine.games.kurier.events import Guests, Player, State
from engine.games.kurier.patience import turns
from engine.shares import Shares, from_points

FAR = {"revised": (0.0, 0.55, 1.15, 1.85), "basic": (0.0, 0.87, 1.53, 1.68)}
"""The worth of a dispatch in each village."""
GUARD = 2.7
ARRIVED, WAIT, DOUBT = 7.7, 0.42, 0.76
"""Basic: the worth of a dispatch at its guard, and what each turn that it waits there takes from that."""
LEAVES, STAYS, COMPANY, RUNNER = 0.45, 0.25, 0.12, 0.06
"""A dispatch in an inn that is full and will leave it, or be left behind; own couriers beside it, and on the road."""
ROUBLE, SHORT, HAND, TURN = 0.16, 0.22, 0.05, 0.1
CERTAIN, FIRST = 6.0, 0.2


def outlook(state: State) -> Shares:
    """Each seat's share of the victory."""
    strengths = [_strength(state, seat, player) for seat, player in enumerate(state.players)]
    return from_points(strengths)


def _strength(state: State, seat: int, player: Player) -> float:
    purse = worth(player.purse + player.secured) + (worth(state.turned) if seat == state.turn else 0)
    turn = TURN if seat == state.turn and not state.done else 0.0
    turn += FIRST if seat == state.first_rouble and state.options.rules == "basic" else 0.0
    strength = turn + HAND * len(player.reserve) + _couriers(state, seat)
    if player.dispatch.price and state.options.rules == "basic":
        return strength + _waiting(state, player.dispatch.price - worth(player.secured), seat)
    if player.dispatch.price:
        return strength + _at_the_guard(state, player.dispatch.price - purse, seat)
    return strength + _on_the_road(state, seat, player) + _saved(state, purse)


def _saved(state: State, purse: int) -> float:
    return ROUBLE * min(purse, 10) if state.options.rules == "revised" else 0.0


def _at_the_guard(state: State, short: int, seat: int) -> float:
    """What is missing of the price decides how soon the dispatch goes on to the tsar."""
    if short <= 0:
        return GUARD + (CERTAIN if seat == state.turn else 2.0) + ROUBLE * 10
    return GUARD + ROUBLE * 10 - SHORT * short


def _waiting(state: State, short: int, seat: int) -> float:
    """With the basic rules nothing but coins that are turned helps the dispatch on."""
    turned = worth(state.turned) if seat == state.turn and not state.done else None
    waits = turns(state.palace, short, turned)
    return ARRIVED - WAIT * waits - DOUBT * log(waits + 0.5)


def _couriers(state: State, seat: int) -> float:
    """Couriers on the road are hands for the dispatch, and earn coins where they are left behind."""
    own = 0.0
    for guests in state.inns.values():
        for owner in guests.values():
            if owner == seat:
                own += RUNNER
    return own


def _on_the_road(state: State, seat: int, player: Player) -> float:
    inn, kind = player.dispatch.inn, player.dispatch.kind
    assert kind
    village, guests = VILLAGE_OF[inn], state.inns[inn]
    strength = FAR[state.options.rules][village]
    mates = sum(owner == seat for other in VILLAGES[village] for owner in state.inns.get(other, {}).values())
    strength += COMPANY * (mates - 1)
    if len(guests) == 3:
        strength += LEAVES if kind in _leaving(guests) else -STAYS
    if village == len(VILLAGES) - 1:
        strength += 0.05 * (10 - PRICES[inn])
    return strength


def _leaving(guests: Guests) -> tuple[str, ...]:
    """The two guests who leave a full inn."""
    return CLOCKWISE[next(kind for kind in KINDS if kind not in guests)][:2]
