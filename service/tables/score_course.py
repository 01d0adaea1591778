"""How the scores of a finished game came about: after each entry, where the lead changed, and from which sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

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


def of(app: App, look: Snapshot) -> tuple[Mark, ...]:
    """Every change of the score of a finished game; worked out once and then cached."""
    found: tuple[Mark, ...] | None = app.caches.courses.get(look.row.id)
    if found is None:
        found = tuple(_changes(app, look))
        app.caches.courses.put(look.row.id, found)
    return found


def _changes(app: App, look: Snapshot) -> Iterator[Mark]:
    scores: tuple[int, ...] = ()
    leader = frozenset[int]()
    for table in record.fold_each(look.game, snapshots.entries(app, look)):
        now = _scores(look.game, table)
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


def sources(app: App, look: Snapshot) -> tuple[dict[str, int], ...]:
    """For each seat how many points came from where, where its game tells that; worked out once and then cached."""
    if not hasattr(look.game, "sources"):
        return ()
    key = ("sources", look.row.id)
    found: tuple[dict[str, int], ...] | None = app.caches.courses.get(key)
    if found is None:
        found = _sources(look.game, snapshots.entries(app, look), len(look.seats))
        app.caches.courses.put(key, found)
    return found


def _sources(game: Any, entries: list[Entry[Any]], seats: int) -> tuple[dict[str, int], ...]:
    """What was taken back counts for nothing."""
    totals = tuple(dict[str, int]() for _ in range(seats))
    before = list[tuple[tuple[dict[str, int], ...], Any]]()
    for entry, table in zip(entries, record.fold_each(game, entries), strict=False):
        state = game.State() if table.state is None else table.state
        before.append((tuple(map(dict, totals)), state))
        for event in entry.events:
            if isinstance(event, table_events.Undone):
                known, state = before[event.to]
                totals = tuple(map(dict, known))
            elif type(event) not in table_events.TABLE_EVENTS:
                after = game.evolve(state, event)
                _count(game, totals, event, state, after)
                state = after
    return totals


def _count(game: Any, totals: tuple[dict[str, int], ...], event: Any, before: Any, after: Any) -> None:
    """What an event has changed; its last source takes what the others leave."""
    scores = [[one.score for one in game.standing(state)] for state in (before, after)]
    if len(scores[0]) != len(scores[1]):
        return
    for seat, (then, now) in enumerate(zip(*scores, strict=True)):
        left = now - then
        told = game.sources(event, seat) if left else ()
        for number, (source, points) in enumerate(told, 1):
            part = left if number == len(told) else points
            totals[seat][source] = totals[seat].get(source, 0) + part
            left -= part
