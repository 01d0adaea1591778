"""What the guards ask for, §7 to §9: turning coins, hidden purses, robbing, paying, and who has won."""

from __future__ import annotations

from engine.chance import Chance
from engine.games.kurier.board import PRICES, Coin, worth
from engine.games.kurier.events import Reason, State, Won
from engine.menu import Choice, Menu


def turns_coins(state: State, seat: int) -> bool:
    """§7.2, §8.6: whether this seat's dispatch is at a guard, and only coins that are left to turn can help it on."""
    options = state.options
    pushing = options.rules == "basic" or options.at_the_guard == "roubles"
    return pushing and state.players[seat].dispatch.price > 0 and bool(state.turned or turn_coin(state, seat))


def turn_coin(state: State, seat: int) -> Menu:
    """§7.3: a coin of the palace; §8.6: once there is none, a hidden one of somebody else."""
    if state.palace:
        return (Choice("turn", rule="7.3"),)
    others = victims(state, seat)
    return (Choice("turn", others, rule="8.6"),) if others else ()


def basic_end(state: State) -> Won | None:
    """§7.5, §7.6: the price is together, or the palace is empty."""
    seat = state.turn
    price = state.players[seat].dispatch.price
    if price and worth(_coins_of(state, seat)) >= price:
        return won(state, seat, "price")
    if not state.palace and state.first_rouble is not None:
        return won(state, state.first_rouble, "first rouble")
    return None


def is_owed(state: State, owner: int) -> bool:
    """§8.1, §8.8: one coin for the courier left behind, as long as there is one to be had."""
    return state.options.rules == "revised" and bool(state.palace or victims(state, owner))


def purse(seat: int) -> str:
    """A seat's purse as it is written in a move."""
    return f"purse{seat + 1}"


def victims(state: State, seat: int) -> tuple[tuple[str], ...]:
    """§8.7: the purses of the others that hold a hidden coin."""
    if not state.options.robbing:
        return ()
    return tuple((purse(other),) for other, player in enumerate(state.players) if other != seat and player.purse)


def robbery(state: State) -> Menu:
    assert state.owed is not None
    return (Choice("rob", victims(state, state.owed), rule="8.7"), Choice("decline", rule="8.7"))


def taken_from(state: State, token: str, chance: Chance) -> tuple[int, Coin]:
    """The seat a purse belongs to, and a coin taken out of it blindly."""
    victim = int(token.removeprefix("purse")) - 1
    return victim, chance.pick("robbed rouble", state.players[victim].purse)


def pay(state: State, seat: int) -> Menu:
    """§8.3: with the revised rules, on one's own turn, exactly or more."""
    price = state.players[seat].dispatch.price
    if state.options.rules == "basic" or not price or worth(_coins_of(state, seat)) < price:
        return ()
    return (Choice("pay", rule="8.3"),)


def _coins_of(state: State, seat: int) -> tuple[Coin, ...]:
    """All that this seat can pay with: its own coins, and on its turn those it has turned."""
    player = state.players[seat]
    return player.purse + player.secured + (state.turned if seat == state.turn else ())


def hopeless(state: State) -> Won | None:
    """§8.9: the palace is empty, and nobody could ever come by the price."""
    if state.palace or not state.arrivals:
        return None
    if any(_within_reach(state, seat) for seat in range(len(state.players))):
        return None
    return won(state, state.arrivals[0], "first dispatch")


def _within_reach(state: State, seat: int) -> bool:
    player = state.players[seat]
    price = player.dispatch.price or min(price for inn, price in PRICES.items() if inn in state.inns)
    others = [other.purse for other in state.players if other is not player] if state.options.robbing else []
    return worth(player.purse + player.secured) + sum(map(worth, others)) >= price


def won(state: State, seat: int, reason: Reason) -> Won:
    """§9.1: there is one winner; the others share the place behind."""
    places = tuple(1 if other == seat else 2 for other in range(len(state.players)))
    return Won(seat, reason, places, _coins_of(state, seat))
