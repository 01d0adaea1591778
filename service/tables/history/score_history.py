"""The history of the score of a finished game: each change, where the points came from, and how they were counted."""

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

MIN_STEPS = 6  # of the counting; where the last entry has fewer, it begins earlier


class Mark(Struct, frozen=True):
    """The scores after an entry, and whether the lead changed hands with it."""

    seq: int
    scores: tuple[int, ...]
    lead: bool = False


class ScoringStep(Struct, frozen=True):
    """An event that changed the score, with the scores before and after it."""

    seq: int
    event: Any
    before: tuple[int, ...]
    after: tuple[int, ...]


class ScoreHistory(Struct, frozen=True):
    """Every change of the score, each seat's points by source if the game names sources, and the last scoring steps."""

    marks: tuple[Mark, ...]
    sources: tuple[dict[str, int], ...]
    steps: tuple[ScoringStep, ...]


def load_score_history(app: App, db: Connection, table: Snapshot) -> ScoreHistory:
    """Return the history of the score of a finished game; computed once and then cached."""
    history: ScoreHistory | None = app.caches.score_histories.get(table.row.id)
    if history is None:
        history = _make_history(table.game, snapshots.load_entries(db, table), len(table.seats))
        app.caches.score_histories.put(table.row.id, history)
    return history


def _make_history(game: Any, entries: list[Entry[Any]], seats: int) -> ScoreHistory:
    positions = tuple(record.fold_each(game, entries))
    steps = _list_steps(game, entries, positions)
    sources = _add_sources(game, steps, seats) if hasattr(game, "sources") else ()
    return ScoreHistory(tuple(_list_marks(game, positions)), sources, _select_last(steps))


def _list_marks(game: Any, positions: tuple[record.Table, ...]) -> Iterator[Mark]:
    """Yield a mark for each entry that changed the score; the lead changes hands when another seat leads alone."""
    scores_before: tuple[int, ...] = ()
    leader: int | None = None
    for table in positions:
        scores = _list_scores(game, table.state) if table.phase in ("playing", "over") else ()
        if scores in (scores_before, ()):
            continue
        new_leader = scores.index(max(scores)) if scores.count(max(scores)) == 1 else leader
        yield Mark(table.length - 1, scores, leader is not None and new_leader != leader)
        scores_before, leader = scores, new_leader


def _list_scores(game: Any, state: Any) -> tuple[int, ...]:
    return tuple(standing.score for standing in game.standing(state))


def _list_steps(game: Any, entries: list[Entry[Any]], positions: tuple[record.Table, ...]) -> list[ScoringStep]:
    """List the events that changed the score; what was undone does not count."""
    steps = list[ScoringStep]()
    for entry, position in zip(entries, positions, strict=False):
        state = position.state
        for event in entry.events:
            if isinstance(event, table_events.Undone):
                steps = [step for step in steps if step.seq < event.to]
                state = positions[event.to].state
            elif position.phase == "playing" and type(event) not in table_events.TABLE_EVENTS:
                after = game.evolve(state, event)
                scores = _list_scores(game, state), _list_scores(game, after)
                if scores[0] != scores[1]:
                    steps.append(ScoringStep(entry.seq, event, *scores))
                state = after
    return steps


def _add_sources(game: Any, steps: list[ScoringStep], seats: int) -> tuple[dict[str, int], ...]:
    """Add up the points of each seat by source; the last source of an event gets what its others leave."""
    totals = tuple(dict[str, int]() for _ in range(seats))
    for step in steps:
        for seat, (then, now) in enumerate(zip(step.before, step.after, strict=True)):
            left = now - then
            sources = game.sources(step.event, seat) if left else ()
            for number, (source, points) in enumerate(sources, 1):
                part = left if number == len(sources) else points
                totals[seat][source] = totals[seat].get(source, 0) + part
                left -= part
    return totals


def _select_last(steps: list[ScoringStep]) -> tuple[ScoringStep, ...]:
    """Return the steps of the last entry that changed the score, and earlier ones where these are few.

    One step alone explains itself: there is none to step through.
    """
    last = [step for step in steps if step.seq == steps[-1].seq]
    return tuple(steps[-max(len(last), MIN_STEPS) :]) if len(steps) > 1 else ()
