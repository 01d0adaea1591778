"""Tables that their organisers show in the lobby: with free seats, and to watch.

A table is in the lobby only if its organiser's address is proven, and only as long as something happens there.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, exists, select

from engine import catalogue
from service.app import App
from service.settings import DAY_S
from service.store.schema import seats, tables
from service.tables import snapshots
from service.tables.snapshots import Snapshot

MAX_TABLES = 8
FREE_SEATS_SHOWN_S = 30 * DAY_S  # after the table was opened
GAME_SHOWN_S = 14 * DAY_S  # after its last move


def list_open(app: App, db: Connection) -> list[Snapshot]:
    """Return tables with a free seat for anybody, the newest first."""
    free = exists().where(seats.c.table == tables.c.id, seats.c.status == "open")
    lately = tables.c.opened_at > app.now() - FREE_SEATS_SHOWN_S
    query = select(tables.c.id).where(tables.c.seeking, tables.c.phase == "gathering", free, lately, *_is_public())
    return _load(app, db, query.order_by(tables.c.opened_at.desc()))


def list_watched(app: App, db: Connection) -> list[Snapshot]:
    """Return running games that everybody may watch, those with the latest moves first."""
    lately = tables.c.moved_at > app.now() - GAME_SHOWN_S
    playing = tables.c.phase == "playing", tables.c.ended_at.is_(None)  # the second says so in the words of the index
    query = select(tables.c.id).where(tables.c.shown, tables.c.watched, *playing, lately, *_is_public())
    return _load(app, db, query.order_by(tables.c.moved_at.desc()))


def _is_public() -> tuple[ColumnElement[bool], ...]:
    return ~tables.c.awaits_confirmation, tables.c.moved_to == "", tables.c.game.in_(list(catalogue.find_all()))


def _load(app: App, db: Connection, query: Select[Any]) -> list[Snapshot]:
    names = db.execute(query.limit(MAX_TABLES)).scalars().all()
    return [snapshots.load_table(app, db, name) for name in names]
