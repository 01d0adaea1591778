"""Apply each event to the state."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from engine.games.kurier.board import FULL_STACK, PALACE, Coin, Kind
from engine.games.kurier.state import (
    ColourOpened,
    Delivered,
    Departed,
    Deployed,
    Dispatch,
    Event,
    Flipped,
    Guests,
    Handed,
    Holdings,
    Lost,
    Passed,
    Prepared,
    Refilled,
    Rewarded,
    Robbed,
    SentOut,
    SetAside,
    Spared,
    State,
    Stopped,
    Travelled,
    TurnBegan,
    Turned,
    Won,
)

Item = TypeVar("Item")


def evolve(state: State, event: Event) -> State:
    """Return the state after an event; no rule is applied."""
    match event:
        case TurnBegan(seat):
            return replace(state, turn=seat, acted=False, done=False)
        case Travelled():
            return _travel(state, event)
        case Deployed():
            return _deploy(state, event)
        case Flipped(seat, kind):
            return replace(_draw_courier(state, seat, kind), flipped=kind)
        case Refilled(seat, kind):
            return _add_to_reserve(_draw_courier(state, seat, kind), seat, kind)
        case SetAside(seat, kind):
            return replace(_add_to_reserve(state, seat, kind), flipped=None, acted=True, last=())
        case ColourOpened(seat):
            return replace(_change_player(state, seat, stack=FULL_STACK), colours=state.colours - 1)
        case Handed(seat, start, giver, end, taker):
            state = _change_player(state, seat, dispatch=Dispatch(end, taker))
            return replace(state, acted=True, last=((start, giver), (end, taker)))
        case Departed(_, _, seat_left_behind, _, is_coin_due):
            return replace(state, acted=True, owed=seat_left_behind if is_coin_due else None, last=())
        case Delivered(seat, price, inn):
            state = _change_player(state, seat, dispatch=Dispatch(inn, price=price))
            return replace(state, arrivals=(*state.arrivals, seat))
        case Passed():
            return replace(state, done=True)
        case Prepared(options, seats, inns, palace, colours, first):
            empty_inns: dict[str, Guests] = {inn: {} for inn in inns}
            players = (Holdings(),) * seats
            return State(options, inns=empty_inns, players=players, palace=palace, colours=colours, turn=first)
        case SentOut(seat, kind, inn):
            state = _change_player(_draw_courier(state, seat, kind), seat, dispatch=Dispatch(inn, kind))
            return replace(state, inns=_check_in(state.inns, inn, kind, seat))
        case Won(_, reason, places):
            return replace(state, places=places, reason=reason)
    return _evolve_coins(state, event)


def _evolve_coins(state: State, event: Event) -> State:
    """Return the state after an event about coins."""
    match event:
        case Rewarded(seat, coin):
            return replace(_earn(_take_coin(state, coin), seat, coin), owed=None)
        case Robbed(seat, victim, coin):
            return replace(_earn(_take_coin(state, coin, victim), seat, coin), owed=None)
        case Spared():
            return replace(state, owed=None)
        case Turned(seat, coin, victim):
            first_seat = seat if state.first_rouble is None else state.first_rouble
            state = _take_coin(state, coin, victim)
            return replace(state, turned=(*state.turned, coin), first_rouble=first_seat, last=())
        case Lost():
            return replace(state, turned=(), done=True)
        case Stopped(seat, coins):
            state = _change_player(state, seat, secured=state.players[seat].secured + coins)
            return replace(state, turned=(), done=True)
    raise TypeError(f"no event of this game: {event!r}")


def _take_coin(state: State, coin: Coin | None, victim: int | None = None) -> State:
    """Take a coin out of the purse of a victim; without one, out of the palace."""
    assert coin is not None, "an event with a hidden coin cannot be replayed"
    if victim is None:
        return replace(state, palace=_remove(state.palace, coin))
    return _change_player(state, victim, purse=_remove(state.players[victim].purse, coin))


def _earn(state: State, seat: int, coin: Coin | None) -> State:
    """Put a coin into the purse of a seat."""
    assert coin is not None, "an event with a hidden coin cannot be replayed"
    return _change_player(state, seat, purse=(*state.players[seat].purse, coin))


def _draw_courier(state: State, seat: int, kind: Kind) -> State:
    """Take the top courier off the stack; those who came home are under all the others."""
    player = state.players[seat]
    if player.stack:
        return _change_player(state, seat, stack=_remove(player.stack, kind))
    return _change_player(state, seat, under=player.under[1:])


def _add_to_reserve(state: State, seat: int, kind: Kind) -> State:
    return _change_player(state, seat, reserve=(*state.players[seat].reserve, kind))


def _deploy(state: State, event: Deployed) -> State:
    """Move a courier into an inn: the flipped one if there is one, else one of the reserve."""
    seat, kind, inn = event.seat, event.kind, event.inn
    if state.flipped is None:
        state = _change_player(state, seat, reserve=_remove(state.players[seat].reserve, kind))
    inns = _check_in(state.inns, inn, kind, seat)
    return replace(state, inns=inns, flipped=None, acted=True, last=((inn, kind),))


def _travel(state: State, event: Travelled) -> State:
    """Move a courier, and its dispatch.

    One move sends two travellers, each by an event of its own: so each adds its rooms to `last`, which the event
    `Departed` before them has emptied.
    """
    seat, kind, end = event.seat, event.kind, event.end
    inns = _check_out(state.inns, event.start, kind)
    last = (*state.last, (event.start, kind), (end, kind))
    if end == PALACE:  # the courier comes home, under the stack
        state = _change_player(state, seat, under=(*state.players[seat].under, kind))
        return replace(state, inns=inns, last=last)
    state = replace(state, inns=_check_in(inns, end, kind, seat), last=last)
    return _change_player(state, seat, dispatch=Dispatch(end, kind)) if event.dispatch else state


def _check_in(inns: dict[str, Guests], inn: str, kind: Kind, seat: int) -> dict[str, Guests]:
    """Return the inns with one more guest in this one."""
    return inns | {inn: inns[inn] | {kind: seat}}


def _check_out(inns: dict[str, Guests], inn: str, kind: Kind) -> dict[str, Guests]:
    """Return the inns without the guest of this kind in this one."""
    staying = {other: seat for other, seat in inns[inn].items() if other != kind}
    return inns | {inn: staying}


def _change_player(state: State, seat: int, **parts: object) -> State:
    """Replace these parts of what a seat has."""
    player = replace(state.players[seat], **parts)
    return replace(state, players=(*state.players[:seat], player, *state.players[seat + 1 :]))


def _remove(items: tuple[Item, ...], item: Item) -> tuple[Item, ...]:
    """Return the items without `item`, or without the first of several equal ones."""
    index = items.index(item)
    return (*items[:index], *items[index + 1 :])
