"""The scores of a finished game: after each entry, where the lead changed, and from which sources they came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from engine import record, table_events
from engine.log import Entry
from service.app import App
from service.tables import snapshots
from service.tables.snapshots import Snapshot


class Mark(Struct, frozen=True):
    """The scores after an entry, and whether the lead changed hands with it."""

    seq: int
    scores: tuple[int, ...]
    lead: bool = False


def load_scores(app: App, db: Connection, table: Snapshot) -> tuple[Mark, ...]:
    """Every change of the score of a finished game; computed once and then cached."""
    marks: tuple[Mark, ...] | None = app.caches.courses.get(table.row.id)
    if marks is None:
        marks = tuple(_list_changes(table.game, snapshots.load_entries(db, table)))
        app.caches.courses.put(table.row.id, marks)
    return marks


def _list_changes(game: Any, entries: list[Entry[Any]]) -> Iterator[Mark]:
    scores: tuple[int, ...] = ()
    leader = frozenset[int]()
    for table in record.fold_each(game, entries):
        now = _scores(game, table)
        if now in (scores, ()):
            continue
        ahead = frozenset(seat for seat, score in enumerate(now) if score == max(now))
        alone = ahead if len(ahead) == 1 else leader
        yield Mark(table.length - 1, now, bool(leader) and alone != leader)
        scores, leader = now, alone


def _scores(game: Any, table: record.Table) -> tuple[int, ...]:
    if table.phase not in ("playing", "over"):
        return ()
    return tuple(standing.score for standing in game.standing(table.state))


def load_sources(app: App, db: Connection, table: Snapshot) -> tuple[dict[str, int], ...]:
    """For each seat how many points came from which source, if the game says; computed once and then cached."""
    if not hasattr(table.game, "sources"):
        return ()
    key = ("sources", table.row.id)
    totals: tuple[dict[str, int], ...] | None = app.caches.courses.get(key)
    if totals is None:
        totals = _add_sources(table.game, snapshots.load_entries(db, table), len(table.seats))
        app.caches.courses.put(key, totals)
    return totals


def _add_sources(game: Any, entries: list[Entry[Any]], seats: int) -> tuple[dict[str, int], ...]:
    """Add up the points of each seat by source; what was undone does not count."""
    totals = tuple(dict[str, int]() for _ in range(seats))
    before = list[tuple[tuple[dict[str, int], ...], Any]]()
    for entry, table in zip(entries, record.fold_each(game, entries), strict=False):
        state = game.State() if table.state is None else table.state
        before.append((tuple(map(dict, totals)), state))
        for event in entry.events:
            if isinstance(event, table_events.Undone):
                earlier, state = before[event.to]
                totals = tuple(map(dict, earlier))
            elif type(event) not in table_events.TABLE_EVENTS:
                after = game.evolve(state, event)
                _count(game, totals, event, state, after)
                state = after
    return totals


def _count(game: Any, totals: tuple[dict[str, int], ...], event: Any, before: Any, after: Any) -> None:
    """Count the points of one event; its last source gets what the others leave."""
    scores = [[one.score for one in game.standing(state)] for state in (before, after)]
    if len(scores[0]) != len(scores[1]):
        return
    for seat, (then, now) in enumerate(zip(*scores, strict=True)):
        left = now - then
        sources = game.sources(event, seat) if left else ()
        for number, (source, points) in enumerate(sources, 1):
            part = left if number == len(sources) else points
            totals[seat][source] = totals[seat].get(source, 0) + part
            left -= part
