"""The view of a seat: all but the order of the stacks and the coins that lie face down."""

from __future__ import annotations

from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.kurier.board import SUPPLY, Coin, Kind
from engine.games.kurier.state import Dispatch, Event, Guests, Holdings, Reason, Rewarded, Robbed, State


class PublicHoldings(Struct, frozen=True):
    """A seat as all see it; `stack` counts also the couriers under it, and `hidden` the coins face down."""

    stack: int
    under: tuple[Kind, ...]
    reserve: tuple[Kind, ...]
    hidden: int
    secured: tuple[Coin, ...]
    dispatch: Dispatch


class View(Struct, frozen=True):
    """The table, the own purse, and how many coins of each sort this seat has not seen."""

    rules: str
    at_the_guard: str
    inns: dict[str, Guests]
    players: tuple[PublicHoldings, ...]
    purse: tuple[Coin, ...]
    palace: int
    unseen: dict[Coin, int]
    colours: int
    turn: int
    flipped: Kind | None
    owed: int | None
    turned: tuple[Coin, ...]
    last: tuple[tuple[str, Kind], ...]
    places: tuple[int, ...]
    reason: Reason | None


def view(state: State, seat: int | None) -> View:
    """Return all that a seat may know; a spectator sees no purse."""
    unseen = _list_unseen_coins(state, seat)
    return View(
        rules=state.options.rules,
        at_the_guard=state.options.at_the_guard,
        inns=state.inns,
        players=tuple(map(_show_player, state.players)),
        purse=() if seat is None else state.players[seat].purse,
        palace=len(state.palace),
        unseen={coin: unseen.count(coin) for coin in dict.fromkeys(SUPPLY) if coin in unseen},
        colours=state.colours,
        turn=state.turn,
        flipped=state.flipped,
        owed=state.owed,
        turned=state.turned,
        last=state.last,
        places=state.places,
        reason=state.reason,
    )


def _show_player(player: Holdings) -> PublicHoldings:
    """Return what all may know of a seat."""
    return PublicHoldings(
        stack=len(player.stack) + len(player.under),
        under=player.under,
        reserve=player.reserve,
        hidden=len(player.purse),
        secured=player.secured,
        dispatch=player.dispatch,
    )


def _list_unseen_coins(state: State, seat: int | None) -> tuple[Coin, ...]:
    """Return the coins that this seat has not seen: in the palace and in the purses of the others."""
    purses = (player.purse for other, player in enumerate(state.players) if other != seat)
    return (*state.palace, *chain.from_iterable(purses))


def hear(event: Event, seat: int | None) -> Event:
    """Return the event; a hidden coin is known only to those between whom it changes hands."""
    match event:
        case Rewarded(owner) if seat != owner:
            return replace(event, coin=None)
        case Robbed(robber, victim) if seat not in (robber, victim):
            return replace(event, coin=None)
    return event


def redeal(state: State, seat: int | None, chance: Chance) -> State:
    """Deal the unseen coins to the palace and the purses again, even a coin that was robbed from this seat."""
    # Sorted, so that the same draws deal the same coins wherever these really are.
    unseen = sorted(_list_unseen_coins(state, seat), key=SUPPLY.index)
    coins = list(chance.shuffle("unseen", unseen))
    players = tuple(
        player if other == seat else replace(player, purse=tuple(coins.pop() for _ in player.purse))
        for other, player in enumerate(state.players)
    )
    return replace(state, players=players, palace=tuple(coins))
