"""What the lobby shows of tables whose openers want that: seats for anybody, and games to look on at.

A table is in the lobby only when it is known who opened it, and only as long as something goes on there.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import ColumnElement, Connection, exists, select

from engine import catalogue
from service.app import App
from service.settings import DAY
from service.store.schema import seats, tables
from service.tables import snapshots
from service.tables.snapshots import Snapshot

MOST = 8
SEEKS = 30 * DAY  # how long a free seat is offered after the table was opened
PLAYS = 14 * DAY  # how long after its last move a game is shown


def seeking(app: App) -> list[Snapshot]:
    """Tables with a seat for anybody, the newest first."""
    free = exists().where(seats.c.table == tables.c.id, seats.c.status == "open")
    lately = tables.c.opened_at > app.now() - SEEKS
    wanted = select(tables.c.id).where(tables.c.seeking, tables.c.phase == "gathering", free, lately, *_open())
    with app.store.reading() as connection:
        found = connection.execute(wanted.order_by(tables.c.opened_at.desc()).limit(MOST)).scalars().all()
        return _looks(app, connection, found)


def shown(app: App) -> list[Snapshot]:
    """Games that go on and may be watched by all, those where something happened last first."""
    lately = tables.c.moved_at > app.now() - PLAYS
    playing = tables.c.phase == "playing", tables.c.ended_at.is_(None)  # the second says so in the words of the index
    wanted = select(tables.c.id).where(tables.c.shown, tables.c.watched, *playing, lately, *_open())
    with app.store.reading() as connection:
        found = connection.execute(wanted.order_by(tables.c.moved_at.desc()).limit(MOST)).scalars().all()
        return _looks(app, connection, found)


def _open() -> tuple[ColumnElement[bool], ...]:
    return ~tables.c.held, tables.c.moved_to == "", tables.c.game.in_(list(catalogue.find_all()))


def _looks(app: App, connection: Connection, found: Iterable[str]) -> list[Snapshot]:
    return [snapshots.load_table(app, connection, table) for table in found]
