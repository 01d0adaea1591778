"""The story of a finished game: its turning points and its luck.

It takes seconds to work out and stays the same, so it is a row: asked for here or needed by the last letter, worked out
by a worker, once.
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


class Asked(Struct, frozen=True):
    """A story that was asked for; none yet means that a bot is working it out."""

    told: Story | None


def ask(app: App, place: Place) -> None:
    """Ask for the story of a game that is over; asked again it is the same."""
    look = snapshots.look(app, place.table)
    if not is_to_be_told(look):
        raise Refused("Where a game turned is told when it has been played to its end.")
    with app.store.writing() as connection:
        row = {"length": look.row.length, "at": app.now(), "body": ""}
        if queries.insert_new(connection, stories, {"table": look.row.id, **row}) is None:
            other = (stories.c.table == look.row.id, stories.c.length != look.row.length)
            connection.execute(update(stories).where(*other).values(row))
    app.wakeups.wake("bots")


def is_to_be_told(look: Snapshot) -> bool:
    """Whether the game was played to its end, and not given up."""
    return look.table.phase == "over" and look.game.standing(look.table.state)[0].place is not None


def find(app: App, db: Connection, look: Snapshot) -> Asked | None:
    """Return the story of a game, if it was asked for."""
    kept: Story | None = app.caches.stories.get(_key(look))
    if kept is not None:
        return Asked(kept)
    row = db.execute(select(stories).where(stories.c.table == look.row.id)).one_or_none()
    return None if row is None or row.length != look.row.length else Asked(_read(app, look, row.body))


def waiting(app: App) -> list[str]:
    """The tables whose story a worker has still to work out, in the order in which they were asked for."""
    wanted = select(stories.c.table).where(stories.c.body == "").order_by(stories.c.at, stories.c.table)
    with app.store.reading() as connection:
        return list(connection.execute(wanted).scalars())


def answer(app: App, table: str, in_pool: InPool) -> None:
    """Work out the story of this table."""
    told(app, snapshots.look(app, table), in_pool)


def forget(app: App, table: str) -> None:
    """Nobody has asked for this story: it could not be worked out, and is not tried again by itself."""
    with app.store.writing() as connection:
        connection.execute(delete(stories).where(stories.c.table == table, stories.c.body == ""))


def told(app: App, look: Snapshot, in_pool: InPool) -> Story:
    """The story of a game that is over; worked out in the process pool where nobody has done so yet, and kept."""
    with app.store.reading() as connection:
        asked = find(app, connection, look)
        if asked and asked.told:
            return asked.told
        bodies = tuple(str(row.body) for row in queries.list_entries(connection, look.row.id))
    found = in_pool(tell, look.game.META.name, look.game.META.edition, bodies)
    _keep(app, look, found)
    return found


def tell(game: str, edition: int, bodies: tuple[str, ...]) -> Story:
    """The story of these entries."""
    played = catalogue.find(game, edition)
    read = record.make_entry_decoder(played).decode
    return story.make_story(played, [read(body) for body in bodies])


def _keep(app: App, look: Snapshot, found: Story) -> None:
    row = {"length": look.row.length, "at": app.now(), "body": msgspec.json.encode(found).decode()}
    with app.store.writing() as connection:
        if queries.insert_new(connection, stories, {"table": look.row.id, **row}) is None:
            connection.execute(update(stories).where(stories.c.table == look.row.id).values(row))
    app.caches.stories.put(_key(look), found)


def _read(app: App, look: Snapshot, body: str) -> Story | None:
    if not body:
        return None
    found = make_decoder(Story).decode(body)
    app.caches.stories.put(_key(look), found)
    return found


def _key(look: Snapshot) -> tuple[str, str, int]:
    return "story", look.row.id, look.row.length
