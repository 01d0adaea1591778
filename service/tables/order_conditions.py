"""Conditions of standing orders made from a branch: each holds as long as the game takes the branch’s course."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from engine import record
from engine.canonical_json import make_decoder
from engine.game import Game
from engine.log import Entry
from engine.menu import Menu, Move
from engine.record import Table
from engine.table_events import (
    RoundDrawn,
    RoundNamed,
    WentSealed,
)

Heard = tuple[tuple[int, str | None], ...]
Status = Literal["waits", "now", "done", "left"]


class Condition(Struct, frozen=True, omit_defaults=True):
    """The moves that must be made after entry `since` before an order holds, and the digest of the view it needs then.

    A move is None where the order's seat may not hear all of it. `left`: the game took another course.
    """

    since: int
    heard: Heard
    sight: str
    left: bool = False


def read(text: str) -> Condition | None:
    """The condition of an order; None for an order that always holds."""
    found: Condition | None = make_decoder(Condition).decode(text) if text else None
    return found


def kept(condition: Condition) -> str:
    """A condition as text."""
    return msgspec.json.encode(condition).decode()


def sight(game: Game, state: Any, seat: int) -> str:
    """A digest of all that a seat sees and may do."""
    for kind in (game.View, Menu):
        make_decoder(kind)  # so that msgspec knows it, in whatever thread this is
    seen = msgspec.json.encode((game.view(state, seat), game.menu(state, seat)), order="deterministic")
    return hashlib.sha256(seen).hexdigest()


def heard(game: Game, table: Table, entries: Iterable[Entry[Any]], since: int, seat: int) -> Heard | None:
    """The moves since that entry, as this seat heard them; None where that entry itself was taken back."""
    step, numbers = table.last, set[int]()
    while step and step.seq > since:
        numbers.add(step.seq)
        step = step.before
    if (step.seq if step else -1) != since:
        return None
    return tuple(_told(game, entry, said, seat) for entry, said in _with_commands(entries) if entry.seq in numbers)


def _with_commands(entries: Iterable[Entry[Any]]) -> Iterator[tuple[Entry[Any], Entry[Any]]]:
    """Each entry with the one that holds its command, which came earlier where its draws were waited for."""
    waiting: Entry[Any] | None = None
    for entry in entries:
        if isinstance(entry.events[0], RoundNamed):
            waiting = entry
        drawn = any(isinstance(event, RoundDrawn | WentSealed) for event in entry.events[:2])
        yield entry, (waiting or entry) if drawn else entry


def status(condition: Condition, seat: int, move: str, so_far: Heard | None, now: str) -> Status:
    """Whether the moment of an order is still to come, is now, has passed, or can never come."""
    both = min(len(condition.heard), len(so_far or ()))
    if so_far is None or so_far[:both] != condition.heard[:both]:
        return "left"
    if len(so_far) < len(condition.heard):
        return "waits"
    if len(so_far) == len(condition.heard):
        return "now" if now == condition.sight else "left"
    return "done" if so_far[both] == (seat, move) else "left"


def _told(game: Game, entry: Entry[Any], said: Entry[Any], seat: int) -> tuple[int, str | None]:
    """A move in the log as this seat heard of it."""
    mover = record.find_mover(entry)
    assert mover is not None
    text = said.move if said.seat is not None else " ".join(Move.parse(said.move or "").args[1:])
    return mover, as_heard(game, mover, text or "", entry.events, seat)[1]


def as_heard(game: Game, mover: int, text: str, events: Iterable[Any], seat: int) -> tuple[int, str | None]:
    """A move as that seat hears of it: without its words, where something of what it brought is hidden."""
    whole = mover == seat or all(record.hear(game, event, seat) == event for event in events)
    return mover, text if whole else None
