"""How each event changes the table."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from engine.games.kurier.board import FULL_STACK, PALACE, Coin, Kind
from engine.games.kurier.events import (
    ColourOpened,
    Delivered,
    Departed,
    Deployed,
    Dispatch,
    Event,
    Flipped,
    Guests,
    Handed,
    Lost,
    Passed,
    Player,
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
    match event:
        case TurnBegan(seat):
            return replace(state, turn=seat, acted=False, done=False)
        case Travelled():
            return _travelled(state, event)
        case Deployed():
            return _deployed(state, event)
        case Flipped(seat, kind):
            return replace(_drawn(state, seat, kind), flipped=kind)
        case Refilled(seat, kind):
            return _set_aside(_drawn(state, seat, kind), seat, kind)
        case SetAside(seat, kind):
            return replace(_set_aside(state, seat, kind), flipped=None, acted=True, last=())
        case ColourOpened(seat):
            return replace(_changed(state, seat, stack=FULL_STACK), colours=state.colours - 1)
        case Handed(seat, start, giver, end, taker):
            handed = _changed(state, seat, dispatch=Dispatch(end, taker))
            return replace(handed, acted=True, last=((start, giver), (end, taker)))
        case Departed(_, _, left, _, owed):
            return replace(state, acted=True, owed=left if owed else None, last=())
        case Delivered(seat, price, inn):
            delivered = _changed(state, seat, dispatch=Dispatch(inn, None, price))
            return replace(delivered, arrivals=(*state.arrivals, seat))
        case Passed():
            return replace(state, done=True)
        case Prepared(options, seats, inns, palace, colours, first):
            return State(options, {inn: {} for inn in inns}, (Player(),) * seats, palace, colours, first)
        case SentOut(seat, kind, inn):
            sent = _changed(_drawn(state, seat, kind), seat, dispatch=Dispatch(inn, kind))
            return replace(sent, inns=_moved_in(state.inns, inn, kind, seat))
        case Won(_, reason, places):
            return replace(state, places=places, reason=reason)
    return _coins(state, event)


def _coins(state: State, event: Event) -> State:
    match event:
        case Rewarded(seat, coin):
            return replace(_taken(state, None, coin), players=_earned(state, seat, coin), owed=None)
        case Robbed(seat, victim, coin):
            robbed = _taken(state, victim, coin)
            return replace(robbed, players=_earned(robbed, seat, coin), owed=None)
        case Spared():
            return replace(state, owed=None)
        case Turned(seat, coin, victim):
            first = seat if state.first_rouble is None else state.first_rouble
            taken = _taken(state, victim, coin)
            return replace(taken, turned=(*state.turned, coin), first_rouble=first, last=())
        case Lost():
            return replace(state, turned=(), done=True)
        case Stopped(seat, coins):
            secured = _changed(state, seat, secured=state.players[seat].secured + coins)
            return replace(secured, turned=(), done=True)
    raise TypeError(f"no event of this game: {event!r}")


def _taken(state: State, victim: int | None, coin: Coin | None) -> State:
    """A coin left the palace, or the purse of a victim."""
    assert coin is not None, "what a listener was not told cannot be replayed"
    if victim is None:
        return replace(state, palace=_without(state.palace, coin))
    return _changed(state, victim, purse=_without(state.players[victim].purse, coin))


def _earned(state: State, seat: int, coin: Coin | None) -> tuple[Player, ...]:
    assert coin is not None, "what a listener was not told cannot be replayed"
    return _changed(state, seat, purse=(*state.players[seat].purse, coin)).players


def _drawn(state: State, seat: int, kind: Kind) -> State:
    """The top courier left the stack; those who came home lie under all the others."""
    player = state.players[seat]
    if player.stack:
        return _changed(state, seat, stack=_without(player.stack, kind))
    return _changed(state, seat, under=player.under[1:])


def _set_aside(state: State, seat: int, kind: Kind) -> State:
    return _changed(state, seat, reserve=(*state.players[seat].reserve, kind))


def _deployed(state: State, event: Deployed) -> State:
    """A courier moved in, the flipped one if there is one, else one from the reserve."""
    seat, kind, inn = event.seat, event.kind, event.inn
    if state.flipped is None:
        state = _changed(state, seat, reserve=_without(state.players[seat].reserve, kind))
    inns = _moved_in(state.inns, inn, kind, seat)
    return replace(state, inns=inns, flipped=None, acted=True, last=((inn, kind),))


def _travelled(state: State, event: Travelled) -> State:
    seat, kind, end = event.seat, event.kind, event.end
    inns = _moved_out(state.inns, event.start, kind)
    last = (*state.last, (event.start, kind), (end, kind))
    if end == PALACE:
        home = _changed(state, seat, under=(*state.players[seat].under, kind))
        return replace(home, inns=inns, last=last)
    lodged = replace(state, inns=_moved_in(inns, end, kind, seat), last=last)
    return _changed(lodged, seat, dispatch=Dispatch(end, kind)) if event.dispatch else lodged


def _moved_in(inns: dict[str, Guests], inn: str, kind: Kind, seat: int) -> dict[str, Guests]:
    return inns | {inn: inns[inn] | {kind: seat}}


def _moved_out(inns: dict[str, Guests], inn: str, kind: Kind) -> dict[str, Guests]:
    return inns | {inn: {other: seat for other, seat in inns[inn].items() if other != kind}}


def _changed(state: State, seat: int, **parts: object) -> State:
    return replace(state, players=_with(state.players, seat, replace(state.players[seat], **parts)))


def _without(items: tuple[Item, ...], item: Item) -> tuple[Item, ...]:
    place = items.index(item)
    return (*items[:place], *items[place + 1 :])


def _with(items: tuple[Item, ...], place: int, item: Item) -> tuple[Item, ...]:
    return (*items[:place], item, *items[place + 1 :])
