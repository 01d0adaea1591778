"""What happened at a table, told to one reader: only what that seat, or a spectator, may hear."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from engine import record
from engine.game import Game
from engine.log import Entry
from engine.table_events import (
    Started,
)
from service.text.drawing import Narrator

WHERE = ("cell", "start", "end", "inn")  # what games call the places of their events


class Chapter(Struct, frozen=True):
    """One entry in prose; the game begins with the one that is the `start`."""

    seq: int
    at: int
    sentences: tuple[str, ...]
    start: bool = False
    places: tuple[str, ...] = ()


def chapters(game: Game, entries: Iterable[Entry[Any]], narrator: Narrator, seat: int | None) -> Iterator[Chapter]:
    """The entries in prose, leaving out those that tell this reader nothing."""
    for entry in entries:
        heard = [event for event in (record.hear(game, one, seat) for one in entry.events) if event is not None]
        told = tuple(sentence for event in heard if (sentence := narrator.describe(event)))
        if told:
            places = tuple(dict.fromkeys(place for event in heard for place in _places(event)))
            yield Chapter(entry.seq, entry.at, told, _is_start(entry), places)


def since_own_move(entries: list[Entry[Any]], seat: int | None) -> list[Entry[Any]]:
    """The entries after this seat's last move in the game; for a seat without one, the last few since the start."""
    for place in range(len(entries) - 1, -1, -1):
        if seat is not None and record.find_player(entries[place]) == seat:
            return entries[place + 1 :]
    first = next((place for place, entry in enumerate(entries) if _is_start(entry)), 0)
    return entries[first:][-20:]


def own_last_turn(entries: list[Entry[Any]], seat: int | None) -> list[Entry[Any]]:
    """The moves of this seat's last turn; nothing where it has not moved."""
    turn = list[Entry[Any]]()
    for entry in reversed(entries):
        mover = record.find_mover(entry)
        if mover is None:
            continue
        if mover == seat:
            turn.append(entry)
        elif turn:
            break
    return turn[::-1]


def _places(event: Any) -> Iterator[str]:
    """The places of the board that an event names, so that a page can show where it happened."""
    for name in WHERE:
        place = getattr(event, name, None)
        if isinstance(place, str) and place:
            yield place.partition("/")[0]
    if hasattr(event, "figure"):
        yield from _places(event.figure)


def _is_start(entry: Entry[Any]) -> bool:
    """Whether the game began with this entry."""
    return any(isinstance(event, Started) for event in entry.events)
