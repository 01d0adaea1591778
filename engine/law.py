"""The table's own law, as far as an audit needs it apart from the rules of a game.

What a table itself does (sitting down, starting, resigning, undo, pauses) never changes with a game. Where a log
differs there it was tampered with; where only the game decides otherwise, today's rules may be others.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from engine import table as tables
from engine.game import Game
from engine.log import Entry
from engine.menu import Move
from engine.record import Table
from engine.table_events import (
    TABLE_EVENTS,
    Ended,
    Opened,
    RoundDrawn,
    RoundNamed,
    UndoAsked,
    Undone,
    WentSealed,
)

ON_MENUS = frozenset(("expire", "miss"))  # commands of the house that need an open menu, so they hang on the game

DECIDING = frozenset((RoundDrawn, WentSealed))  # events that carry out what waited for its draws
DRAWING = frozenset(("start", "expire", "round", "sealed", "agree"))


def objection(now: Table, entry: Entry[Any], move: Move) -> str:
    """Why no rules of any game could allow this entry here; nothing where some could."""
    if str(move) != entry.move:
        return "its words are not parted by single blanks"
    if now.phase == "over":
        return "the table is over"
    if entry.seat is not None and (entry.seat >= len(now.seats) or not (now.phase == "playing" or now.awaited)):
        return "no seat can act there now"
    if entry.draws and move.verb not in DRAWING and is_own(entry, move):
        return "nothing is drawn for it"
    if entry.seat is None and move.verb == "open" and not _as_ordered(entry, move):
        return "the opening says something else than the command"
    return ""


def is_own(entry: Entry[Any], move: Move) -> bool:
    """Whether this is a command of the table itself and no move in the game."""
    return entry.seat is None or move.verb in tables.RESERVED


def hangs_on_rules(entry: Entry[Any], move: Move) -> bool:
    """Whether the rules of the game, and not the table's own law alone, can have refused this entry."""
    if not is_own(entry, move):
        return True
    if any(type(event) in DECIDING for event in entry.events[:2]):
        return True
    if entry.seat is not None:
        return False
    if move.verb == "start":
        return bool(entry.draws) or len(entry.events) > 1
    return move.verb in ON_MENUS or move.verb == "open"


def agree(entry: Entry[Any], events: tuple[Any, ...]) -> bool:
    """Whether the table's own events are those that the command has today, whatever the game makes of it."""
    then, now = _own(entry.events), _own(events)
    if _waits(entry.events) != _waits(events):  # whether a move draws, the game's rules decide
        return True
    if then and now and {type(then[0]), type(now[0])} == {UndoAsked, Undone}:  # whether it is free, menus decide
        return (then[0].seat, then[0].to) == (now[0].seat, now[0].to)
    return then == now and _leading(entry.events) == _leading(events)


def without_later_options(game: Game, entry: Entry[Any], events: tuple[Any, ...]) -> tuple[Any, ...]:
    """What an opening does today, but for options that came later and are as they would have been then."""
    match entry.events, events:
        case (Opened() as then,), (Opened() as now,):
            default = msgspec.to_builtins(game.META.options())
            kept = {
                name: value for name, value in now.options.items() if name in then.options or value != default.get(name)
            }
            return (replace(now, options=kept),)
    return events


def _own(events: tuple[Any, ...]) -> list[Any]:
    """The table's own events, but for the end: who has won is the game's matter."""
    return [event for event in events if type(event) in TABLE_EVENTS and type(event) is not Ended]


def _waits(events: tuple[Any, ...]) -> bool:
    """Whether a round of the beacon is named for it."""
    return type(events[0]) is RoundNamed


def _leading(events: tuple[Any, ...]) -> bool:
    """Whether the table's own event comes first."""
    return type(events[0]) in TABLE_EVENTS


def _as_ordered(entry: Entry[Any], move: Move) -> bool:
    """Whether the opening tells word for word what was ordered, each thing once."""
    match entry.events:
        case (Opened() as opened,):
            return sorted(move.args) == sorted(_words(opened))
    return False


def _words(opened: Opened) -> list[str]:
    words = [opened.game, str(opened.seats), opened.commitment]
    words += [f"{name}={tables.word(value)}" for name, value in opened.options.items()]
    words += [f"clock.{name}={value}" for name, value in opened.clock.items()]
    words += [f"beacon.{name}={value}" for name, value in opened.beacon.items()]
    return words + ([f"table.name={opened.table}"] if opened.table else [])
