"""Fingerprints of pages: the rows that a page is made of. While they are the same, the page is the same.

Each is read by one statement; see `queries.fetch`.
"""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct
from sqlalchemy import Connection, Select, bindparam, func, select

from service.store.queries import Rows, fetch
from service.store.schema import orders, people, row_number, seats, stories, tables, visits

Fingerprint = Rows

PERSON = (
    people.c.address,
    people.c.calendar,
    people.c.letter_settings,
    people.c.confirmed_at,
    people.c.bounced_at,
    people.c.settings_number,
)
LAST_ORDER = select(func.max(orders.c.id)).where(orders.c.table == tables.c.id).correlate(tables).scalar_subquery()
STORY_LENGTH = (
    select(func.length(stories.c.body)).where(stories.c.table == tables.c.id).correlate(tables).scalar_subquery()
)
TABLE: Select[Any] = (
    select(*(column for column in tables.c if column is not tables.c.seed), *seats.c, *PERSON, LAST_ORDER)
    .add_columns(STORY_LENGTH)
    .select_from(tables.join(seats).outerjoin(people, people.c.id == seats.c.person))
    .where(tables.c.id == bindparam("key_table", ""))
    .order_by(seats.c.seat)
)
VISIT: Select[Any] = (
    select(people.c.id, people.c.name, *PERSON)
    .select_from(visits.join(people))
    .where(visits.c.key == bindparam("key_visit", ""))
)
OPEN_SEATS: Select[Any] = (
    select(*(seats.c[name] for name in ("table", "seat", "link_number", "open_since", "due_at", "status", "proven")))
    .add_columns(tables.c.phase, tables.c.moved_to, tables.c.awaits_confirmation)
    .select_from(seats.join(tables))
    .where(seats.c.person == bindparam("key_person", 0, row_number), seats.c.open_since.is_not(None))
    .order_by(seats.c.table, seats.c.seat)
)


class Parts(Protocol):
    """The parts that a page is made of. Pages of equal parts have the same fingerprint."""

    def load(self, db: Connection) -> Fingerprint:
        """Load the rows that the page is made of now."""

    def __hash__(self) -> int: ...


class TableParts(Struct, frozen=True):
    """The parts of the page of a table; `visit` is the hash of the visitor's key, if signed in."""

    table: str
    visit: str = ""

    def load(self, db: Connection) -> Fingerprint:
        """Load the rows of the table, and of a visitor who is signed in, with the open turns of that person."""
        rows = fetch(db, TABLE, {"key_table": self.table})
        if self.visit:
            visitors = fetch(db, VISIT, {"key_visit": self.visit})  # one, or none if the visit has ended
            rows += visitors
            for person, *_ in visitors:
                rows += fetch(db, OPEN_SEATS, {"key_person": person})
        return rows
