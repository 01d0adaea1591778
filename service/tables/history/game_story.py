"""The story of a finished game: its chances after each entry, where it turned, and the history of its score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, delete, select, update

from engine import catalogue, log, story, table_events
from engine.canonical_json import make_decoder
from engine.log import Entry
from engine.refusal import Refused
from engine.story import ChancePoint, Story
from service.app import App
from service.store import queries
from service.store.schema import stories
from service.tables import snapshots
from service.tables.access import Place
from service.tables.snapshots import Snapshot

WIDTH, HEIGHT = 600, 100  # of the drawing of the chances, in its own units
MAX_SWINGS = 4  # shown, of the chances
MIN_SWING = 0.1  # of a share, which is 1 for a sure win
MIN_STEPS = 6  # shown, of those that changed the score


class ChanceLine(Struct, frozen=True):
    """One seat's chances over the game, as a line to be drawn, and what they are in percent at one moment."""

    points: str
    now: int


class Swing(Struct, frozen=True):
    """An entry that changed the chances of a seat more than others did, in percent, and where it is in the drawing."""

    seq: int
    seat: int
    before: int
    after: int
    x: float


class ChanceHistory(Struct, frozen=True):
    """The chances of all seats, where in the drawing the moment is, and the entries at which the chances swung most."""

    lines: tuple[ChanceLine, ...]
    at: float
    swings: tuple[Swing, ...] = ()
    width: int = WIDTH
    height: int = HEIGHT


def load_chances(app: App, db: Connection, table: Snapshot, at: int) -> ChanceHistory | None:
    """Return the chances of a game that is over, to be drawn, and the moment of entry `at` among them.

    Return None while the game is played, or if there are fewer than two points to draw a line between.
    """
    points = _load_chance_history(app, db, table) if table.position.phase == "over" else ()
    if len(points) < 2:
        return None
    current = _find_current_point(points, at)
    point_width = WIDTH / (len(points) - 1)
    lines = tuple(_make_line(points, seat, current, point_width) for seat in range(len(table.seats)))
    return ChanceHistory(lines, round(current * point_width, 1), _find_swings(points, point_width))


def _find_current_point(points: Sequence[ChancePoint], at: int) -> int:
    """Return the number of the last point up to entry `at`; the first point if all are later."""
    current = 0
    for number, point in enumerate(points):
        if point.seq <= at:
            current = number
    return current


def _find_swings(points: Sequence[ChancePoint], point_width: float) -> tuple[Swing, ...]:
    """Return the greatest swings in the order of the game, each with the seat that gained most by it."""
    gain_by_swing = dict[Swing, float]()
    for number, (before, after) in enumerate(pairwise(points), 1):  # the number of the point `after`
        gains = [new - old for old, new in zip(before.shares, after.shares, strict=True)]
        gain = max(gains)
        if gain < MIN_SWING:
            continue
        seat = gains.index(gain)
        old_percent, new_percent = round(100 * before.shares[seat]), round(100 * after.shares[seat])
        swing = Swing(after.seq, seat, old_percent, new_percent, x=round(number * point_width, 1))
        gain_by_swing[swing] = gain
    greatest = sorted(gain_by_swing, key=lambda swing: -gain_by_swing[swing])[:MAX_SWINGS]
    return tuple(sorted(greatest, key=lambda swing: swing.seq))


def _make_line(points: Sequence[ChancePoint], seat: int, current: int, point_width: float) -> ChanceLine:
    """Draw the chances of a seat; `current` is the number of the point that is shown in percent."""
    shares = [point.shares[seat] for point in points]
    corners = " ".join(f"{number * point_width:.1f},{HEIGHT * (1 - share):.1f}" for number, share in enumerate(shares))
    return ChanceLine(corners, round(100 * shares[current]))


def _load_chance_history(app: App, db: Connection, table: Snapshot) -> tuple[ChancePoint, ...]:
    """Compute the chances after each entry once, then take them from the cache."""
    key = ("chances", table.row.id, table.row.length)  # the stories are in the same cache, each with the key "story"
    points: tuple[ChancePoint, ...] | None = app.caches.stories.get(key)
    if points is None:
        points = story.compute_chance_history(table.game, snapshots.load_entries(db, table))
        app.caches.stories.put(key, points)
    return points


InPool = Callable[..., Story]  # calls a function in the process pool, and returns its result


class StoryRequest(Struct, frozen=True):
    """A requested story; None while a worker computes it."""

    story: Story | None


def request_story(app: App, db: Connection, place: Place) -> None:
    """Request the story of a game that is over; the caller wakes the bots.

    A further request changes nothing, unless the log has grown since: then the story is computed again.
    """
    table = snapshots.load_table(app, db, place.table)
    if not has_story(table):
        raise Refused("The turning points of a game are shown when it is over.")
    row = {"length": table.row.length, "at": app.now(), "body": ""}
    if queries.insert_new(db, stories, {"table": table.row.id, **row}) is None:
        outdated = (stories.c.table == table.row.id, stories.c.length != table.row.length)
        db.execute(update(stories).where(*outdated).values(row))


def has_story(table: Snapshot) -> bool:
    """Return whether the game was played to its end, and not given up."""
    if table.position.phase != "over":
        return False
    first, *_ = table.game.standing(table.position.state)
    return first.place is not None  # a game has places only when its own rules have ended it


def find_request(app: App, db: Connection, table: Snapshot) -> StoryRequest | None:
    """Return the request for the story of a game, without a story while it is computed.

    Return None if there was no request since the log last grew.
    """
    cached: Story | None = app.caches.stories.get(_make_key(table))
    if cached is not None:
        return StoryRequest(cached)
    row = db.execute(select(stories).where(stories.c.table == table.row.id)).one_or_none()
    if row is None or row.length != table.row.length:
        return None
    return StoryRequest(_parse(app, table, row.body))


def list_requested(app: App) -> list[str]:
    """Return the tables whose story has still to be computed, in the order of their requests."""
    query = select(stories.c.table).where(stories.c.body == "").order_by(stories.c.at, stories.c.table)
    with app.store.reading() as db:
        return list(db.execute(query).scalars())


def answer(app: App, name: str, in_pool: InPool) -> None:
    """Compute the requested story of a table in the process pool, and store it."""
    with app.store.reading() as db:
        table = snapshots.load_table(app, db, name)
    load_or_compute(app, table, in_pool)


def delete_request(app: App, name: str) -> None:
    """Delete the request for a story that could not be computed, so that it is not tried again by itself.

    A request is a stored story with an empty body.
    """
    with app.store.writing() as db:
        db.execute(delete(stories).where(stories.c.table == name, stories.c.body == ""))


def load_or_compute(app: App, table: Snapshot, in_pool: InPool) -> Story:
    """Return the story of a game that is over; compute it in the process pool and store it if there is none yet."""
    with app.store.reading() as db:
        request = find_request(app, db, table)
        if request and request.story:
            return request.story
        bodies = tuple(str(row.body) for row in queries.list_entries(db, table.row.id))
    made = in_pool(make_story, table.game.META.name, table.game.META.edition, bodies)
    _store(app, table, made)
    return made


def make_story(name: str, edition: int, bodies: tuple[str, ...]) -> Story:
    """Compute the story of these stored entries."""
    game = catalogue.find(name, edition)
    decode = log.make_entry_decoder(game).decode
    return story.make_story(game, [decode(body) for body in bodies])


def _store(app: App, table: Snapshot, made: Story) -> None:
    """Store and cache a story; it replaces the request for it, or the story of a shorter log."""
    row = {"length": table.row.length, "at": app.now(), "body": msgspec.json.encode(made).decode()}
    with app.store.writing() as db:
        if queries.insert_new(db, stories, {"table": table.row.id, **row}) is None:
            db.execute(update(stories).where(stories.c.table == table.row.id).values(row))
    app.caches.stories.put(_make_key(table), made)


def _parse(app: App, table: Snapshot, body: str) -> Story | None:
    """Parse and cache a stored story; None if it is not computed yet."""
    if not body:
        return None
    stored = make_decoder(Story).decode(body)
    app.caches.stories.put(_make_key(table), stored)
    return stored


def _make_key(table: Snapshot) -> tuple[str, str, int]:
    return "story", table.row.id, table.row.length


class Mark(Struct, frozen=True):
    """The scores after an entry, and whether the lead changed hands with it."""

    seq: int
    scores: tuple[int, ...]
    is_lead_change: bool = False


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
    """Make the history of the scores; with the sources of points if the game tells them."""
    scores, steps = _list_scores(game, entries)
    sources = _add_sources(game, steps, seats) if hasattr(game, "sources") else ()
    return ScoreHistory(tuple(_list_marks(entries, scores)), sources, _select_last(steps))


def _list_scores(game: Any, entries: list[Entry[Any]]) -> tuple[list[tuple[int, ...]], list[ScoringStep]]:
    """Return the score after each entry, empty before the game, and the events that changed it unless they were undone.

    This applies only events that change the game's state, which takes half as long as to compute each position.
    """
    state: Any = None
    scores: tuple[int, ...] = ()
    steps = list[ScoringStep]()
    before_entries = list[tuple[Any, tuple[int, ...]]]()  # state and scores, to which an undo leads back
    scores_after = list[tuple[int, ...]]()
    for entry in entries:
        before_entries.append((state, scores))
        was_running = state is not None  # the entry that begins the game sets it up too, which is no scoring
        for event in entry.events:
            if isinstance(event, table_events.Started):
                state = game.State()
            elif isinstance(event, table_events.Undone):
                state, scores = before_entries[event.to]
                steps = [step for step in steps if step.seq < event.to]
            elif type(event) not in table_events.TABLE_EVENTS:
                state = game.evolve(state, event)
                if not was_running:
                    continue
                new_scores = _get_scores(game, state)
                if new_scores != scores:
                    steps.append(ScoringStep(entry.seq, event, before=scores, after=new_scores))
                    scores = new_scores
        if state is not None and not was_running:
            scores = _get_scores(game, state)
        scores_after.append(scores)
    return scores_after, steps


def _list_marks(entries: Iterable[Entry[Any]], scores_after: Iterable[tuple[int, ...]]) -> Iterator[Mark]:
    """Yield a mark for each entry that changed the score; the lead changes hands when another seat leads alone."""
    scores_before: tuple[int, ...] = ()
    leader: int | None = None
    for entry, scores in zip(entries, scores_after, strict=True):
        if not scores or scores == scores_before:  # before the game there are none
            continue
        best = max(scores)
        leads_alone = scores.count(best) == 1
        new_leader = scores.index(best) if leads_alone else leader
        yield Mark(entry.seq, scores, is_lead_change=leader is not None and new_leader != leader)
        scores_before, leader = scores, new_leader


def _get_scores(game: Any, state: Any) -> tuple[int, ...]:
    return tuple([standing.score for standing in game.standing(state)])


def _add_sources(game: Any, steps: list[ScoringStep], seats: int) -> tuple[dict[str, int], ...]:
    """Add up the points of each seat by source.

    The last source of an event gets what its other sources leave of the change in score, so that no point is missing.
    """
    totals = tuple(dict[str, int]() for _ in range(seats))
    for step in steps:
        for seat, (before, after) in enumerate(zip(step.before, step.after, strict=True)):
            points_left = after - before
            sources = game.sources(step.event, seat) if points_left else ()
            for number, (source, points) in enumerate(sources, 1):
                is_last = number == len(sources)
                part = points_left if is_last else points
                totals[seat][source] = totals[seat].get(source, 0) + part
                points_left -= part
    return totals


def _select_last(steps: list[ScoringStep]) -> tuple[ScoringStep, ...]:
    """Return the steps of the last entry that changed the score, and earlier ones where these are few.

    A single step explains itself: none is returned.
    """
    if len(steps) < 2:
        return ()
    in_last_entry = sum(step.seq == steps[-1].seq for step in steps)
    return tuple(steps[-max(in_last_entry, MIN_STEPS) :])
