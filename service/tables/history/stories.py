"""The story of a finished game: its turning points and its luck.

A story takes seconds to compute and never changes, so it is a row: requested by a player, or needed by the last letter,
and computed once by a worker.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, delete, select, update

from engine import catalogue, record, story
from engine.canonical_json import make_decoder
from engine.refusal import Refused
from engine.story import Story
from service.app import App
from service.store import queries
from service.store.schema import stories
from service.tables import snapshots
from service.tables.access import Place
from service.tables.snapshots import Snapshot

InPool = Callable[..., Story]


class StoryRequest(Struct, frozen=True):
    """A requested story; None while a worker computes it."""

    story: Story | None


def ask(app: App, place: Place) -> None:
    """Request the story of a game that is over; further requests change nothing."""
    with app.store.writing() as db:
        table = snapshots.load_table(app, db, place.table)
        if not has_story(table):
            raise Refused("Where a game turned is told when it has been played to its end.")
        row = {"length": table.row.length, "at": app.now(), "body": ""}
        if queries.insert_new(db, stories, {"table": table.row.id, **row}) is None:
            other = (stories.c.table == table.row.id, stories.c.length != table.row.length)
            db.execute(update(stories).where(*other).values(row))
    app.wakeups.wake("bots")


def has_story(table: Snapshot) -> bool:
    """Return whether the game was played to its end, and not given up."""
    return table.table.phase == "over" and table.game.standing(table.table.state)[0].place is not None


def find(app: App, db: Connection, table: Snapshot) -> StoryRequest | None:
    """Return the story of a game; None if it was never requested."""
    cached: Story | None = app.caches.stories.get(_make_key(table))
    if cached is not None:
        return StoryRequest(cached)
    row = db.execute(select(stories).where(stories.c.table == table.row.id)).one_or_none()
    if row is None or row.length != table.row.length:
        return None
    return StoryRequest(_parse(app, table, row.body))


def list_requested(app: App) -> list[str]:
    """Return the tables whose story has still to be computed, in the order of their requests."""
    wanted = select(stories.c.table).where(stories.c.body == "").order_by(stories.c.at, stories.c.table)
    with app.store.reading() as db:
        return list(db.execute(wanted).scalars())


def answer(app: App, name: str, in_pool: InPool) -> None:
    """Compute the requested story of a table in the process pool, and store it."""
    with app.store.reading() as db:
        table = snapshots.load_table(app, db, name)
    load_or_compute(app, table, in_pool)


def forget(app: App, name: str) -> None:
    """Delete the request for a story that could not be computed, so that it is not tried again by itself."""
    with app.store.writing() as db:
        db.execute(delete(stories).where(stories.c.table == name, stories.c.body == ""))


def load_or_compute(app: App, table: Snapshot, in_pool: InPool) -> Story:
    """Return the story of a game that is over; compute it in the process pool and store it if there is none yet."""
    with app.store.reading() as db:
        request = find(app, db, table)
        if request and request.story:
            return request.story
        bodies = tuple(str(row.body) for row in queries.list_entries(db, table.row.id))
    made = in_pool(make_story, table.game.META.name, table.game.META.edition, bodies)
    _store(app, table, made)
    return made


def make_story(name: str, edition: int, bodies: tuple[str, ...]) -> Story:
    """Compute the story of these stored entries."""
    game = catalogue.find(name, edition)
    decode = record.make_entry_decoder(game).decode
    return story.make_story(game, [decode(body) for body in bodies])


def _store(app: App, table: Snapshot, made: Story) -> None:
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
