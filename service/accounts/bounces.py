"""Bounces: a person whose letters come back is marked, and the fellow players get a letter about it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, update

from service.people.register import make_deleted_address
from service.store import queries
from service.store.batch import OwedLetter
from service.store.schema import people, seats, tables

MAX_REASON_CHARS = 300


def record_bounce(connection: Connection, person: int, why: str, at: int) -> bool:
    """Record that letters to this person come back, and notify fellow players.

    Return False if it is recorded already, or if the person is deleted.
    """
    person_row = (people.c.id == person, people.c.address != make_deleted_address(person))
    marked = update(people).where(*person_row, people.c.bounced_at.is_(None))
    reason = " ".join(why.split())[:MAX_REASON_CHARS]
    if not connection.execute(marked.values(bounced_at=at, bounce=reason)).rowcount:
        return False
    joined = seats.join(tables, tables.c.id == seats.c.table)
    query = select(seats.c.table, seats.c.seat, tables.c.length, tables.c.awaits_confirmation).select_from(joined)
    own = query.where(seats.c.person == person, seats.c.status != "resigned", tables.c.phase != "over")
    for place in connection.execute(own.order_by(seats.c.table, seats.c.seat)).all():
        _owe_unreachable_letters(connection, place, person, at)
    return True


def _owe_unreachable_letters(connection: Connection, place: Any, person: int, at: int) -> None:
    """Owe a letter to all other players at the table of this seat."""
    others = select(seats.c.seat).where(seats.c.table == place.table, seats.c.person != person)
    due = queries.NEVER_DUE if place.awaits_confirmation else at
    for seat in connection.execute(others.order_by(seats.c.seat)).scalars().all():
        queries.owe_letter(
            connection, place.table, place.length - 1, OwedLetter(seat, f"unreachable/{place.seat}", due)
        )
