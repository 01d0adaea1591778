"""Tables that their organisers show in the lobby: with free seats, and to watch.

A table is in the lobby only if its organiser's address is proven, and only as long as something happens there.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import BigInteger, ColumnElement, Connection, Select, bindparam, exists, or_, select

from engine import catalogue
from service.app import App
from service.settings import DAY_S
from service.store import queries
from service.store.fingerprints import Fingerprint
from service.store.schema import seats, tables
from service.tables import snapshots
from service.tables.snapshots import Snapshot

MAX_TABLES = 8
FREE_SEATS_SHOWN_S = 30 * DAY_S  # after the table was opened
GAME_SHOWN_S = 14 * DAY_S  # after its last move

OPEN_TABLES: tuple[ColumnElement[bool], ...] = (
    tables.c.seeking,
    tables.c.phase == "gathering",
    exists().where(seats.c.table == tables.c.id, seats.c.status == "open"),
    tables.c.opened_at > bindparam("opened_after", 0, BigInteger),
)
WATCHED_TABLES: tuple[ColumnElement[bool], ...] = (
    tables.c.shown,
    tables.c.allows_spectators,
    tables.c.phase == "playing",
    tables.c.ended_at.is_(None),  # true of all that are played, but only with it the database uses the index
    tables.c.moved_at > bindparam("moved_after", 0, BigInteger),
)


def list_open(app: App, db: Connection) -> list[Snapshot]:
    """Return tables with a free seat for anybody, the newest first."""
    return _load(app, db, _select_ids(OPEN_TABLES, tables.c.opened_at))


def list_watched(app: App, db: Connection) -> list[Snapshot]:
    """Return running games that everybody may watch, those with the latest moves first."""
    return _load(app, db, _select_ids(WATCHED_TABLES, tables.c.moved_at))


class LobbyParts(Struct, frozen=True):
    """The parts that the page of the lobby is made of: the rows of the tables in both lists."""

    app: App

    def load(self, db: Connection) -> Fingerprint:
        """Load the rows of all tables in the lobby and of their seats."""
        return queries.fetch(db, _select_lobby_rows(tuple(catalogue.find_all())), _make_times(self.app))


@functools.cache
def _select_lobby_rows(games: tuple[str, ...]) -> Select[Any]:
    """Make the statement for what the lobby shows; it is cached for these games, which are those installed."""
    open_tables = _select_ids(OPEN_TABLES, tables.c.opened_at, games)
    watched_tables = _select_ids(WATCHED_TABLES, tables.c.moved_at, games)
    columns = (tables.c.id, tables.c.head, tables.c.pace, tables.c.moved_at, *seats.c)
    in_lobby = or_(tables.c.id.in_(open_tables), tables.c.id.in_(watched_tables))
    return select(*columns).select_from(tables.join(seats)).where(in_lobby).order_by(seats.c.table, seats.c.seat)


def _select_ids(
    conditions: Sequence[ColumnElement[bool]], time: ColumnElement[int], games: Sequence[str] = ()
) -> Select[Any]:
    """Select the tables that meet these conditions and may be shown to all, those with the latest time first.

    They are tables of these games, or without `games` of all that are installed.
    """
    public = (~tables.c.awaits_confirmation, tables.c.moved_to == "", tables.c.game.in_(games or catalogue.find_all()))
    return select(tables.c.id).where(*conditions, *public).order_by(time.desc(), tables.c.id).limit(MAX_TABLES)


def _make_times(app: App) -> dict[str, int]:
    return {"opened_after": app.now() - FREE_SEATS_SHOWN_S, "moved_after": app.now() - GAME_SHOWN_S}


def _load(app: App, db: Connection, query: Select[Any]) -> list[Snapshot]:
    """Load the tables whose names a query returns, in its order."""
    names = db.execute(query, _make_times(app)).scalars().all()
    return [snapshots.load_table(app, db, name) for name in names]
