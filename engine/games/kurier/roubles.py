"""Coins, §7 to §9: turning them, robbing them, paying the guard with them, and the end of the game."""

from __future__ import annotations

from engine.chance import Chance
from engine.games.kurier.board import GUARD_PRICES, PURSE, Coin, count_roubles, find_purse_owner
from engine.games.kurier.state import Reason, State, Won
from engine.menu import Choice, Menu


def may_only_turn_coins(state: State, seat: int) -> bool:
    """§7.2, §8.6: whether turning coins is all that this seat may do, since its dispatch is with a guard."""
    has_to_turn = state.options.rules == "basic" or state.options.at_the_guard == "roubles"
    is_at_guard = state.players[seat].dispatch.price > 0
    return has_to_turn and is_at_guard and bool(state.turned or offer_turn(state, seat))


def offer_turn(state: State, seat: int) -> Menu:
    """§7.3: turn a coin of the palace; §8.6: once it is empty, a hidden coin of another player."""
    if state.palace:
        return (Choice("turn", rule="7.3"),)
    purses = list_other_purses(state, seat)
    return (Choice("turn", purses, rule="8.6"),) if purses else ()


def end_basic_game(state: State) -> Won | None:
    """Return how the game ends by the basic rules, or None.

    §7.5: the seat on turn wins as soon as its coins reach the price. §7.6: if none does, and the palace is empty, the
    first seat that turned a coin wins.
    """
    seat = state.turn
    price = state.players[seat].dispatch.price  # 0 until its dispatch is with a guard
    if price and count_roubles(_list_own_coins(state, seat)) >= price:
        return win(state, seat, "price")
    if not state.palace and state.first_rouble is not None:
        return win(state, state.first_rouble, "first rouble")
    return None


def is_coin_due(state: State, owner: int) -> bool:
    """§8.1, §8.8: whether the owner of a courier left behind gets a coin, from the palace or by robbing."""
    return state.options.rules == "revised" and bool(state.palace or list_other_purses(state, owner))


def list_other_purses(state: State, seat: int) -> tuple[tuple[str], ...]:
    """§8.7: the purses of other players that hold a coin, as they are written in a move; none if no one robs."""
    if not state.options.robbing:
        return ()
    purses = list[tuple[str]]()
    for other, player in enumerate(state.players):
        if other != seat and player.purse:
            purses.append((f"{PURSE}{other + 1}",))
    return tuple(purses)


def offer_robbery(state: State) -> Menu:
    """§8.7: rob another player, or decline."""
    assert state.owed is not None
    return (Choice("rob", list_other_purses(state, state.owed), rule="8.7"), Choice("decline", rule="8.7"))


def draw_from_purse(state: State, token: str, chance: Chance) -> tuple[int, Coin]:
    """Draw a coin blindly from the purse of this token; return its owner and the coin."""
    victim = find_purse_owner(token)
    return victim, chance.pick("robbed rouble", state.players[victim].purse)


def offer_pay(state: State, seat: int) -> Menu:
    """§8.3: with the revised rules, pay the price exactly or more."""
    price = state.players[seat].dispatch.price
    if state.options.rules == "basic" or not price or count_roubles(_list_own_coins(state, seat)) < price:
        return ()
    return (Choice("pay", rule="8.3"),)


def _list_own_coins(state: State, seat: int) -> tuple[Coin, ...]:
    """Return all coins that this seat can pay with, also those that it has turned in this turn."""
    player = state.players[seat]
    return player.purse + player.secured + (state.turned if seat == state.turn else ())


def end_unpayable_game(state: State) -> Won | None:
    """§8.9: once no player can come by a price any more, the first dispatch at a guard wins.

    None as long as coins are left in the palace, and while no dispatch has come to a guard.
    """
    if state.palace or not state.arrivals:
        return None
    if any(_may_come_by_price(state, seat) for seat in range(len(state.players))):
        return None
    return win(state, state.arrivals[0], "first dispatch")


def _may_come_by_price(state: State, seat: int) -> bool:
    """Whether a seat could pay its guard, or else the cheapest one, with its own coins and all that it could rob."""
    player = state.players[seat]
    price = player.dispatch.price
    if not price:  # the dispatch is still on the road
        price = min(GUARD_PRICES[inn] for inn in GUARD_PRICES if inn in state.inns)
    purses = [other.purse for other in state.players] if state.options.robbing else [player.purse]
    return count_roubles(player.secured) + sum(map(count_roubles, purses)) >= price


def win(state: State, seat: int, reason: Reason) -> Won:
    """§9.1: there is one winner; the others share the place behind."""
    places = tuple(1 if other == seat else 2 for other in range(len(state.players)))
    return Won(seat, reason, places, _list_own_coins(state, seat))
