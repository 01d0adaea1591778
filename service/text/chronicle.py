"""What happened at a table, told to one reader: only what that seat, or a spectator, may hear."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from engine import record
from engine import table as tables
from engine.game import Game
from engine.log import Entry
from engine.record import Started
from service.text.drawing import Voice


class Chapter(Struct, frozen=True):
    """One entry in prose; the game begins with the one that is the `start`."""

    seq: int
    at: int
    sentences: tuple[str, ...]
    start: bool = False


def chapters(game: Game, entries: Iterable[Entry[Any]], voice: Voice, seat: int | None) -> Iterator[Chapter]:
    """The entries in prose, leaving out those that tell this reader nothing."""
    for entry in entries:
        heard = (tables.hear(game, event, seat) for event in entry.events)
        told = tuple(sentence for event in heard if event is not None and (sentence := voice.tell(event)))
        if told:
            yield Chapter(entry.seq, entry.at, told, _is_start(entry))


def since_own_move(entries: list[Entry[Any]], seat: int | None) -> list[Entry[Any]]:
    """The entries after this seat's last move in the game; for a seat without one, the last few since the start."""
    for place in range(len(entries) - 1, -1, -1):
        if seat is not None and entries[place].seat == seat == record.mover(entries[place]):
            return entries[place + 1 :]
    first = next((place for place, entry in enumerate(entries) if _is_start(entry)), 0)
    return entries[first:][-20:]


def _is_start(entry: Entry[Any]) -> bool:
    """Whether the game began with this entry."""
    return any(isinstance(event, Started) for event in entry.events)
