"""Apply each event to the state."""

from __future__ import annotations

import functools
import hashlib
from typing import TypeVar

from msgspec.structs import replace

from engine.games.kaiser.board import FORMATION, STEPS_TO_CENTRE, Stone
from engine.games.kaiser.state import (
    Assembled,
    Captured,
    Event,
    Fell,
    GameEnded,
    Moved,
    Passed,
    RoundBegan,
    RoundDrawn,
    RoundWon,
    Scored,
    State,
    TurnBegan,
)

Item = TypeVar("Item")


def evolve(state: State, event: Event) -> State:
    match event:
        case Moved():
            return _move(state, event)
        case TurnBegan(seat):
            return replace(state, turn=seat, moved=False)
        case Captured(seat):
            return _capture(state, seat)
        case Fell(seat):
            return replace(state, out=_set_item(state.out, seat, True))
        case Passed(seat):
            return _pass(state, seat)
        case RoundWon(seat):
            victories = _set_item(state.victories, seat, state.victories[seat] + 1)
            return replace(state, decided=True, victor=seat, victories=victories)
        case RoundDrawn():
            return replace(state, decided=True)
        case Scored(seat, stones, bonus):
            points = _set_item(state.points, seat, state.points[seat] + stones + bonus)
            return replace(state, points=points, counted=(*state.counted, seat))
        case RoundBegan(number, first):
            return _begin_round(state, number, first)
        case Assembled(corners, options):
            zeros = (0,) * len(corners)
            return State(corners=corners, options=options, points=zeros, victories=zeros)
        case GameEnded(places):
            return replace(state, places=places)
    raise TypeError(f"no event of this game: {event!r}")


def _begin_round(state: State, number: int, first: int) -> State:
    """§1.4: set up the formation of every seat in its corner."""
    seats = range(len(state.corners))
    stones = {start: Stone(seat, rank) for seat in seats for start, rank in FORMATION[state.corners[seat]].items()}
    none = (False,) * len(seats)
    return State(
        corners=state.corners,
        options=state.options,
        round=number,
        first=first,
        turn=first,
        stones=stones,
        opened=none,
        out=none,
        nearest=tuple(_count_emperor_steps(state.corners[seat]) for seat in seats),
        points=state.points,
        victories=state.victories,
    )


def _count_emperor_steps(corner: str) -> int:
    return next(STEPS_TO_CENTRE[start] for start, rank in FORMATION[corner].items() if rank == "emperor")


def _move(state: State, event: Moved) -> State:
    """Move a stone; §5.3 count how often this position came up, §5.4 count the turns in which nothing happens."""
    stones = dict(state.stones)
    stone = stones.pop(event.start)
    victim = stones.get(event.end)
    stones[event.end] = stone
    mark = state.mark ^ _hash_stone(event.start, stone) ^ _hash_stone(event.end, stone)
    if victim:
        mark ^= _hash_stone(event.end, victim)
    position = _hash_position(mark, event.seat)
    repeated = state.seen.get(position, 0) + 1
    distance = STEPS_TO_CENTRE[event.end]
    nearer = event.rank == "emperor" and distance < state.nearest[event.seat]
    return replace(
        state,
        stones=stones,
        mark=mark,
        seen={**state.seen, position: repeated},
        repeated=repeated,
        moved=True,
        opened=_set_item(state.opened, event.seat, True),
        nearest=_set_item(state.nearest, event.seat, distance) if nearer else state.nearest,
        quiet=0 if nearer else state.quiet + 1,
        last=(event.start, event.end),
    )


def _capture(state: State, seat: int) -> State:
    """Start both counts again: no position before a capture can come up after it."""
    return replace(state, quiet=0, seen={_hash_position(state.mark, seat): 1}, repeated=1)


def _pass(state: State, seat: int) -> State:
    return replace(state, moved=True, opened=_set_item(state.opened, seat, True), quiet=state.quiet + 1)


def _hash_position(mark: int, seat: int) -> int:
    """Return a number for a position: the crossings of all stones, and the seat that has just moved."""
    return mark ^ _hash_stone("turn", Stone(seat, "emperor"))


@functools.cache
def _hash_stone(crossing: str, stone: Stone) -> int:
    """Return a number for a stone on a crossing (Zobrist hashing).

    The XOR of these numbers is the hash of a position, so that a move needs no look at the other stones.
    """
    return int.from_bytes(hashlib.sha256(f"{crossing} {stone.seat} {stone.rank}".encode()).digest()[:6], "big")


def _set_item(items: tuple[Item, ...], index: int, item: Item) -> tuple[Item, ...]:
    return (*items[:index], item, *items[index + 1 :])
