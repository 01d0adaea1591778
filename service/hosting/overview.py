"""What the host sees of the house: tables and what they wait for, letters that did not leave, addresses, room.

Nothing here shows a hand, a draw, a link or a note.
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

MOST = 100
SETTLED = ("sent", "overtaken", "not wanted", "nobody there", "gathered")  # outcomes that need no host


class TableOverview(Struct, frozen=True):
    """A table as its host sees it."""

    id: str
    game: str
    phase: str
    moved_at: int
    waits_for: tuple[str, ...]
    due_at: int | None


class Overview(Struct, frozen=True):
    """The house at one moment."""

    version: str
    shape: str
    free: int | None  # megabytes
    phases: dict[str, int]
    tables: tuple[TableOverview, ...]
    owed: int
    stuck: Sequence[Any]
    bounced: Sequence[Any]


def look(app: App, wanted: str = "") -> Overview:
    """The house now; of the tables those that moved last, or the one that is asked for."""
    embedded = app.store.url.startswith("sqlite")
    free = shutil.disk_usage(app.settings.folder).free // 2**20 if embedded else None
    shape, version = app.store.revision(), metadata.version("depesche")
    with app.store.reading() as connection:
        phases = {row.phase: row.number for row in connection.execute(_phases()).all()}
        owed = int(connection.execute(select(func.count()).where(letters.c.sent_at.is_(None))).scalar_one())
        found = _tables(connection, wanted)
        return Overview(version, shape, free, phases, found, owed, _stuck(connection), _bounced(connection))


def _phases() -> Any:
    return select(tables.c.phase, func.count().label("number")).group_by(tables.c.phase)


def _tables(connection: Connection, wanted: str) -> tuple[TableOverview, ...]:
    chosen = tables.c.id == wanted if wanted else tables.c.phase != "over"
    rows = connection.execute(select(tables).where(chosen).order_by(tables.c.moved_at.desc()).limit(MOST)).all()
    sitting: dict[str, list[Any]] = {row.id: [] for row in rows}
    for seat in connection.execute(select(seats).where(seats.c.table.in_(sitting)).order_by(seats.c.seat)).all():
        sitting[seat.table].append(seat)
    return tuple(_row(row, sitting[row.id]) for row in rows)


def _row(row: Any, sitting: Sequence[Any]) -> TableOverview:
    if row.phase == "gathering":
        waits = [seat for seat in sitting if seat.status in ("invited", "open")]
    else:
        waits = [seat for seat in sitting if seat.open_since is not None]
    due = min((seat.due_at for seat in waits if seat.due_at is not None), default=None)
    return TableOverview(row.id, row.game, row.phase, row.moved_at, tuple(seat.name for seat in waits), due)


def _stuck(connection: Connection) -> Sequence[Any]:
    """Letters that were refused or given up, and those that were tried in vain and wait; the newest first."""
    addressed = letters.outerjoin(
        seats, (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat)
    ).outerjoin(people, people.c.id == func.coalesce(letters.c.person, seats.c.person))
    columns = (letters.c.id, letters.c.kind, letters.c.table, letters.c.sent_at, letters.c.tries, letters.c.outcome)
    refused = or_(letters.c.outcome.startswith("refused"), letters.c.outcome.startswith("given up"))
    waiting = letters.c.sent_at.is_(None) & (letters.c.tries > 0)
    query = select(*columns, people.c.address).select_from(addressed).where(or_(refused, waiting))
    return connection.execute(query.order_by(letters.c.id.desc()).limit(MOST)).all()


def _bounced(connection: Connection) -> Sequence[Any]:
    query = select(people.c.id, people.c.address, people.c.name, people.c.bounce, people.c.bounced_at)
    return connection.execute(
        query.where(people.c.bounced_at.is_not(None)).order_by(people.c.bounced_at.desc()).limit(MOST)
    ).all()
