"""What each event makes of the board."""

from __future__ import annotations

import functools
import hashlib
from typing import TypeVar

from msgspec.structs import replace

from engine.games.kaiser.board import DISTANCE, FORMATION
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
    Stone,
    TurnBegan,
)

Item = TypeVar("Item")


def evolve(state: State, event: Event) -> State:
    match event:
        case Moved():
            return _moved(state, event)
        case TurnBegan(seat):
            return replace(state, turn=seat, moved=False)
        case Captured(seat):
            return _captured(state, seat)
        case Fell(seat):
            return replace(state, out=_with(state.out, seat, True))
        case Passed(seat):
            return _passed(state, seat)
        case RoundWon(seat):
            return replace(
                state, decided=True, victor=seat, victories=_with(state.victories, seat, state.victories[seat] + 1)
            )
        case RoundDrawn():
            return replace(state, decided=True)
        case Scored(seat, stones, bonus):
            points = _with(state.points, seat, state.points[seat] + stones + bonus)
            return replace(state, points=points, counted=(*state.counted, seat))
        case RoundBegan(number, first):
            return _formed(state, number, first)
        case Assembled(corners, options):
            zeros = (0,) * len(corners)
            return State(corners=corners, options=options, points=zeros, victories=zeros)
        case GameEnded(places):
            return replace(state, places=places)
    raise TypeError(f"no event of this game: {event!r}")


def _formed(state: State, number: int, first: int) -> State:
    """§1.4: the whole formation of every seat, in its corner."""
    seats = range(len(state.corners))
    stones = {place: Stone(seat, rank) for seat in seats for place, rank in FORMATION[state.corners[seat]].items()}
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
        nearest=tuple(_emperor_distance(state.corners[seat]) for seat in seats),
        points=state.points,
        victories=state.victories,
    )


def _emperor_distance(corner: str) -> int:
    return next(DISTANCE[place] for place, rank in FORMATION[corner].items() if rank == "emperor")


def _moved(state: State, event: Moved) -> State:
    """§5.3 counts how often the same position came up, §5.4 for how long nothing has happened."""
    stones = dict(state.stones)
    stone = stones.pop(event.start)
    taken = stones.get(event.end)
    stones[event.end] = stone
    mark = state.mark ^ _mark(event.start, stone) ^ _mark(event.end, stone) ^ (_mark(event.end, taken) if taken else 0)
    position = _position(mark, event.seat)
    distance = DISTANCE[event.end]
    repeated = state.seen.get(position, 0) + 1
    nearer = event.rank == "emperor" and distance < state.nearest[event.seat]
    return replace(
        state,
        stones=stones,
        mark=mark,
        seen={**state.seen, position: repeated},
        repeated=repeated,
        moved=True,
        opened=_with(state.opened, event.seat, True),
        nearest=_with(state.nearest, event.seat, distance) if nearer else state.nearest,
        quiet=0 if nearer else state.quiet + 1,
        last=(event.start, event.end),
    )


def _captured(state: State, seat: int) -> State:
    """No position before a capture can come up again."""
    return replace(state, quiet=0, seen={_position(state.mark, seat): 1}, repeated=1)


def _position(mark: int, seat: int) -> int:
    """A position is where all stones stand, and who has just moved."""
    return mark ^ _mark("turn", Stone(seat, "emperor"))


def _passed(state: State, seat: int) -> State:
    return replace(state, moved=True, opened=_with(state.opened, seat, True), quiet=state.quiet + 1)


@functools.cache
def _mark(place: str, stone: Stone) -> int:
    """A number for a stone in a place; a position's mark is all of them combined, so that a move changes only two."""
    return int.from_bytes(hashlib.sha256(f"{place} {stone.seat} {stone.rank}".encode()).digest()[:6], "big")


def _with(items: tuple[Item, ...], place: int, item: Item) -> tuple[Item, ...]:
    return (*items[:place], item, *items[place + 1 :])
