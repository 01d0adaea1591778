"""Signing in without a password, by a link in a letter that works once, within an hour."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, or_, select, update

from engine.refusal import Refused
from service import links
from service.app import App
from service.links import hash_token
from service.people import limits, register
from service.store import queries
from service.store.schema import letters, seats
from service.store.schema import people as people_table
from service.tables.access import Unknown
from service.text import numbers
from service.timing import HOUR_S


class Visit(Struct, frozen=True):
    """A signed-in session: it ends when the person's session number is raised above `sessions`."""

    person: int
    sessions: int


def send_link(app: App, text: str) -> None:
    """Owe a sign-in letter to this address; the caller does not learn whether the address is known."""
    address = register.clean_address(text)
    local, _, domain = address.rpartition("@")
    typed = {address, f"{local.lower()}@{domain}", f"{local.capitalize()}@{domain}"}
    with app.store.writing() as connection:
        by_address = select(people_table.c.id).where(people_table.c.address.in_(typed))
        for person in connection.execute(by_address).scalars().all():
            if limits.may_send_sign_in_letter(connection, person, app.now()):
                queries.owe_personal_letter(connection, person, f"enter/{app.now()}", app.now())
        _write_and_delete(connection, app.now())
    app.wakeups.wake("post")


def _write_and_delete(connection: Connection, at: int) -> None:
    """Write a row and delete it, so that an unknown address takes as long as a known one and cannot be probed."""
    made = connection.execute(insert(letters).returning(letters.c.id), {"kind": "enter/0", "due_at": at})
    connection.execute(delete(letters).where(letters.c.id == made.scalar_one()))


def find_person(app: App, token: str) -> Any:
    """Return the person whom this token signs in; raise Unknown if it is wrong, used or expired."""
    number, written = links.parse_subject(token, 2)
    with app.store.reading() as connection:
        person = register.find_person(connection, number)
    at = numbers.parse_int(written) or 0
    if person is None or not links.is_same(app.links.enter(person.id, person.sessions, at), token):
        raise _make_expired_error()
    if not at <= app.now() < at + HOUR_S or (person.signed_at is not None and person.signed_at >= at):
        raise _make_expired_error()
    return person


def sign_in(app: App, token: str) -> Visit:
    """Sign in: use up this token and all older ones, and record that the address is proven."""
    person = find_person(app, token)
    with app.store.writing() as connection:
        unused = or_(people_table.c.signed_at.is_(None), people_table.c.signed_at == person.signed_at)
        own = (people_table.c.id == person.id, people_table.c.sessions == person.sessions, unused)
        if not connection.execute(update(people_table).where(*own).values(signed_at=app.now())).rowcount:
            raise _make_expired_error()
        register.confirm_address(connection, person.id, app.now())
    app.wakeups.wake("post")
    return Visit(person.id, person.sessions)


def find_visitor(db: Connection, visit: Visit) -> Any:
    """Return the person of this session; None if it has ended."""
    own = select(people_table).where(people_table.c.id == visit.person, people_table.c.sessions == visit.sessions)
    return db.execute(own).one_or_none()


def sign_out_everywhere(app: App, person: int) -> None:
    """Sign out on every device, and make all unused sign-in letters worthless."""
    with app.store.writing() as connection:
        own = update(people_table).where(people_table.c.id == person)
        connection.execute(own.values(sessions=people_table.c.sessions + 1))


def renew_link(app: App, person: int, table: str, seat: int | None) -> None:
    """Give a seat of this person a new link; the old one stops working."""
    own = (seats.c.table == table, seats.c.seat == seat, seats.c.person == person)
    with app.store.writing() as connection:
        seat_row = connection.execute(select(seats).where(*own).with_for_update()).one_or_none()
        if seat_row is None:
            raise Refused("This seat is not yours; please look at your own tables.")
        number = seat_row.link_number + 1
        link = hash_token(app.links.seat(table, seat_row.seat, number))
        queries.change_seat(connection, seat_row.table, seat_row.seat, link=link, link_number=number)


def _make_expired_error() -> Unknown:
    return Unknown("This link is no longer good; please ask for a new letter under “My tables”.")
