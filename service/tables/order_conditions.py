"""Plans: orders that hold only as long as the game goes the way of a branch, as far as its player can tell."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from engine import record
from engine import table as tables
from engine.game import Game
from engine.log import Entry
from engine.menu import Menu, Move
from engine.reading import reader
from engine.record import Table

Heard = tuple[tuple[int, str | None], ...]
Status = Literal["waits", "now", "done", "left"]


class Plan(Struct, frozen=True, omit_defaults=True):
    """What has to be heard after the move of entry `since` before an order holds, and what is to be seen then.

    A move is None where its player's seat hears not all of it. `left` is what the game has gone another way than.
    """

    since: int
    heard: Heard
    sight: str
    left: bool = False


def read(text: str) -> Plan | None:
    """The plan an order belongs to; None for an order that always holds."""
    found: Plan | None = reader(Plan).decode(text) if text else None
    return found


def kept(plan: Plan) -> str:
    """A plan as text."""
    return msgspec.json.encode(plan).decode()


def sight(game: Game, state: Any, seat: int) -> str:
    """A short sign for all that a seat sees and may do."""
    for kind in (game.View, Menu):
        reader(kind)  # so that msgspec knows it, in whatever thread this is
    seen = msgspec.json.encode((game.view(state, seat), game.menu(state, seat)), order="deterministic")
    return hashlib.sha256(seen).hexdigest()


def heard(game: Game, table: Table, entries: Iterable[Entry[Any]], since: int, seat: int) -> Heard | None:
    """The moves that count since that entry, as this seat heard them; None where that one was taken back itself."""
    step, numbers = table.last, set[int]()
    while step and step.seq > since:
        numbers.add(step.seq)
        step = step.before
    if (step.seq if step else -1) != since:
        return None
    return tuple(_told(game, entry, seat) for entry in entries if entry.seq in numbers)


def status(plan: Plan, seat: int, move: str, so_far: Heard | None, now: str) -> Status:
    """How it stands with an order: its moment is still to come, is there, or has passed; or never will be."""
    both = min(len(plan.heard), len(so_far or ()))
    if so_far is None or so_far[:both] != plan.heard[:both]:
        return "left"
    if len(so_far) < len(plan.heard):
        return "waits"
    if len(so_far) == len(plan.heard):
        return "now" if now == plan.sight else "left"
    return "done" if so_far[both] == (seat, move) else "left"


def _told(game: Game, entry: Entry[Any], seat: int) -> tuple[int, str | None]:
    """A move in the log as this seat heard of it."""
    mover = record.mover(entry)
    assert mover is not None
    text = entry.move if entry.seat is not None else " ".join(Move.read(entry.move or "").args[1:])
    return mover, as_heard(game, mover, text or "", entry.events, seat)[1]


def as_heard(game: Game, mover: int, text: str, events: Iterable[Any], seat: int) -> tuple[int, str | None]:
    """A move as that seat hears of it: without its words, where something of what it brought is hidden."""
    whole = mover == seat or all(tables.hear(game, event, seat) == event for event in events)
    return mover, text if whole else None
