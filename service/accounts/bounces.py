"""Bounces: letters that a mail server will never deliver. Nothing more is sent to that address; the tables are told."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, select, update

from service.app import App
from service.people.register import forgotten
from service.store import queries
from service.store.batch import OwedLetter
from service.store.schema import people, seats, tables

LONGEST_REASON = 300


def note(connection: Connection, person: int, why: str, at: int) -> bool:
    """Letters to this person come back; everybody he plays with is told. False where it was known already."""
    known = (people.c.id == person, people.c.address != forgotten(person))
    marked = update(people).where(*known, people.c.bounced_at.is_(None))
    reason = " ".join(why.split())[:LONGEST_REASON]
    if not connection.execute(marked.values(bounced_at=at, bounce=reason)).rowcount:
        return False
    joined = seats.join(tables, tables.c.id == seats.c.table)
    wanted = select(seats.c.table, seats.c.seat, tables.c.length, tables.c.held).select_from(joined)
    own = wanted.where(seats.c.person == person, seats.c.status != "resigned", tables.c.phase != "over")
    for place in connection.execute(own.order_by(seats.c.table, seats.c.seat)).all():
        _tell(connection, place, person, at)
    return True


def _tell(connection: Connection, place: Any, person: int, at: int) -> None:
    """Owe a letter to everybody else at that table."""
    others = select(seats.c.seat).where(seats.c.table == place.table, seats.c.person != person)
    due = queries.HELD if place.held else at
    for seat in connection.execute(others.order_by(seats.c.seat)).scalars().all():
        queries.owe_letter(
            connection, place.table, place.length - 1, OwedLetter(seat, f"unreachable/{place.seat}", due)
        )


def unreachable(app: App, table: str) -> Collection[int]:
    """The seats of a table whose holders' letters come back."""
    joined = seats.join(people, people.c.id == seats.c.person)
    bounced = select(seats.c.seat).select_from(joined).where(seats.c.table == table, people.c.bounced_at.is_not(None))
    with app.store.reading() as connection:
        return set(connection.execute(bounced).scalars())
