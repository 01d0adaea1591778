"""The overview for the host: tables and the seats they wait for, letters that failed, bounced addresses, disk space.

It shows no hand, draw, link or note.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, func, or_, select

from service.app import App
from service.store.schema import letters, people, seats, tables

MAX_ROWS = 100
SETTLED_OUTCOMES = ("sent", "overtaken", "not wanted", "nobody there", "gathered")  # outcomes that need no host


class TableOverview(Struct, frozen=True):
    """A table as the host sees it."""

    id: str
    game: str
    phase: str
    moved_at: int
    waits_for: tuple[str, ...]
    due_at: int | None


class Overview(Struct, frozen=True):
    """The server at one moment."""

    version: str
    revision: str  # of the database's schema
    free_mb: int | None  # disk space, where the database is on this disk
    phases: dict[str, int]
    tables: tuple[TableOverview, ...]
    owed: int
    stuck: Sequence[Any]
    bounced: Sequence[Any]


def load_overview(app: App, table: str = "") -> Overview:
    """Load the overview, with the tables that moved last, or only this table."""
    embedded = app.store.url.startswith("sqlite")
    free = shutil.disk_usage(app.settings.folder).free // 2**20 if embedded else None
    revision, version = app.store.revision(), metadata.version("depesche")
    with app.store.reading() as connection:
        phases = {row.phase: row.number for row in connection.execute(_select_phases()).all()}
        owed = int(connection.execute(select(func.count()).where(letters.c.sent_at.is_(None))).scalar_one())
        rows = _list_tables(connection, table)
        stuck, bounced = _list_stuck_letters(connection), _list_bounced_people(connection)
        return Overview(version, revision, free, phases, rows, owed, stuck, bounced)


def _select_phases() -> Any:
    return select(tables.c.phase, func.count().label("number")).group_by(tables.c.phase)


def _list_tables(connection: Connection, table: str) -> tuple[TableOverview, ...]:
    chosen = tables.c.id == table if table else tables.c.phase != "over"
    rows = connection.execute(select(tables).where(chosen).order_by(tables.c.moved_at.desc()).limit(MAX_ROWS)).all()
    sitting: dict[str, list[Any]] = {row.id: [] for row in rows}
    for seat in connection.execute(select(seats).where(seats.c.table.in_(sitting)).order_by(seats.c.seat)).all():
        sitting[seat.table].append(seat)
    return tuple(_describe_table(row, sitting[row.id]) for row in rows)


def _describe_table(row: Any, sitting: Sequence[Any]) -> TableOverview:
    if row.phase == "gathering":
        waits = [seat for seat in sitting if seat.status in ("invited", "open")]
    else:
        waits = [seat for seat in sitting if seat.open_since is not None]
    due = min((seat.due_at for seat in waits if seat.due_at is not None), default=None)
    return TableOverview(row.id, row.game, row.phase, row.moved_at, tuple(seat.name for seat in waits), due)


def _list_stuck_letters(connection: Connection) -> Sequence[Any]:
    """Return letters that were refused or given up, or that failed and wait for another try; the newest first."""
    addressed = letters.outerjoin(
        seats, (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat)
    ).outerjoin(people, people.c.id == func.coalesce(letters.c.person, seats.c.person))
    columns = (letters.c.id, letters.c.kind, letters.c.table, letters.c.sent_at, letters.c.tries, letters.c.outcome)
    refused = or_(letters.c.outcome.startswith("refused"), letters.c.outcome.startswith("given up"))
    waiting = letters.c.sent_at.is_(None) & (letters.c.tries > 0)
    query = select(*columns, people.c.address).select_from(addressed).where(or_(refused, waiting))
    return connection.execute(query.order_by(letters.c.id.desc()).limit(MAX_ROWS)).all()


def _list_bounced_people(connection: Connection) -> Sequence[Any]:
    query = select(people.c.id, people.c.address, people.c.name, people.c.bounce, people.c.bounced_at)
    return connection.execute(
        query.where(people.c.bounced_at.is_not(None)).order_by(people.c.bounced_at.desc()).limit(MAX_ROWS)
    ).all()
