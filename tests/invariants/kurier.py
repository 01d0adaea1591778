"""Invariants of every position of Kurier des Zaren."""

from collections import Counter

from engine.games.kurier.board import FULL_STACK, INN_NAMES, KINDS, SUPPLY, list_closed_inns


def check(state):
    check_inns(state)
    check_couriers(state)
    check_coins(state)
    check_dispatches(state)
    if not state.places:
        check_turn(state)


def check_inns(state):
    closed = list_closed_inns(len(state.players), state.options.closed_third)
    assert set(state.inns) == set(INN_NAMES) - closed
    assert all(len(guests) < len(KINDS) for guests in state.inns.values())


def check_couriers(state):
    """Every seat has complete colours, and no courier of them is missing or doubled."""
    opened = 0
    for seat, player in enumerate(state.players):
        flipped = [state.flipped] if state.flipped and seat == state.turn else []
        lodged = [kind for guests in state.inns.values() for kind, owner in guests.items() if owner == seat]
        couriers = Counter([*player.stack, *player.under, *player.reserve, *flipped, *lodged])
        sets = couriers["officer"] // FULL_STACK.count("officer")
        assert couriers == Counter(FULL_STACK * sets)
        opened += sets
    assert opened + state.colours == 5


def check_coins(state):
    """There are not more coins than in the supply; with the revised rules none is lost before a seat turns one."""
    coins = Counter(state.palace + state.turned)
    for player in state.players:
        coins.update(player.purse + player.secured)
    supply = Counter(SUPPLY)
    assert coins <= supply
    if state.first_rouble is None:
        assert supply - coins <= Counter(blank=3)
    if state.options.rules == "basic":
        assert not any(player.purse for player in state.players)


def check_dispatches(state):
    for seat, player in enumerate(state.players):
        dispatch = player.dispatch
        if dispatch.price:
            assert seat in state.arrivals
            assert dispatch.kind is None
        else:
            assert state.inns[dispatch.inn][dispatch.kind] == seat
    assert len(set(state.arrivals)) == len(state.arrivals)


def check_turn(state):
    """A seat that is not on turn has a reserve, as long as its stack or an unused colour can refill it."""
    for seat, player in enumerate(state.players):
        if seat != state.turn and not player.reserve:
            assert not player.stack
            assert not state.colours
