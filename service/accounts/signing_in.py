"""Signing in: no password, but a letter with a link that is good once and for an hour."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, or_, select, update

from engine.refusal import Refused
from service import links, numbers
from service.app import App
from service.links import hashed
from service.people import limits, register
from service.store import queries
from service.store.schema import letters, seats
from service.store.schema import people as people_table
from service.tables.access import Unknown
from service.timing import HOUR


class Visit(Struct, frozen=True):
    """A signed-in session: the person, and the session number that a higher one ends."""

    person: int
    sessions: int


def send_link(app: App, text: str) -> None:
    """Owe a sign-in letter to this address; the answer does not tell whether anybody has it."""
    address = register.clean_address(text)
    local, _, domain = address.rpartition("@")
    typed = {address, f"{local.lower()}@{domain}", f"{local.capitalize()}@{domain}"}
    with app.store.writing() as connection:
        known = select(people_table.c.id).where(people_table.c.address.in_(typed))
        for person in connection.execute(known).scalars().all():
            if limits.may_be_written(connection, person, app.now()):
                queries.owe_personal_letter(connection, person, f"enter/{app.now()}", app.now())
        _write_in_vain(connection, app.now())
    app.wakeups.wake("post")


def _write_in_vain(connection: Connection, at: int) -> None:
    """Constant time: an unknown address costs a write too, so that addresses cannot be probed."""
    made = connection.execute(insert(letters).returning(letters.c.id), {"kind": "enter/0", "due_at": at})
    connection.execute(delete(letters).where(letters.c.id == made.scalar_one()))


def invited(app: App, token: str) -> Any:
    """The person whom this token lets in."""
    number, written = links.subject(token, 2)
    with app.store.reading() as connection:
        person = register.find(connection, number)
    at = numbers.parse_int(written) or 0
    if person is None or not links.same(app.links.enter(person.id, person.sessions, at), token):
        raise _too_old()
    if not at <= app.now() < at + HOUR or (person.signed_at is not None and person.signed_at >= at):
        raise _too_old()
    return person


def enter(app: App, token: str) -> Visit:
    """Sign in; the token, and every older one, is used up, and the address is proven."""
    person = invited(app, token)
    with app.store.writing() as connection:
        unused = or_(people_table.c.signed_at.is_(None), people_table.c.signed_at == person.signed_at)
        own = (people_table.c.id == person.id, people_table.c.sessions == person.sessions, unused)
        if not connection.execute(update(people_table).where(*own).values(signed_at=app.now())).rowcount:
            raise _too_old()
        register.confirmed(connection, person.id, app.now())
    app.wakeups.wake("post")
    return Visit(person.id, person.sessions)


def find_visitor(db: Connection, visit: Visit) -> Any:
    """The person who has signed in; None if signed out since."""
    own = select(people_table).where(people_table.c.id == visit.person, people_table.c.sessions == visit.sessions)
    return db.execute(own).one_or_none()


def leave_everywhere(app: App, person: int) -> None:
    """Sign out on every device, and make every letter that would sign in worthless."""
    with app.store.writing() as connection:
        own = update(people_table).where(people_table.c.id == person)
        connection.execute(own.values(sessions=people_table.c.sessions + 1))


def renew(app: App, person: int, table: str, seat: int | None) -> None:
    """Give a seat of this person's a new link; the old one leads nowhere any more."""
    own = (seats.c.table == table, seats.c.seat == seat, seats.c.person == person)
    with app.store.writing() as connection:
        held = connection.execute(select(seats).where(*own).with_for_update()).one_or_none()
        if held is None:
            raise Refused("This seat is not yours; please look at your own tables.")
        number = held.link_number + 1
        link = hashed(app.links.seat(table, held.seat, number))
        queries.change_seat(connection, held.table, held.seat, link=link, link_number=number)


def _too_old() -> Unknown:
    return Unknown("This link is no longer good; please ask for a new letter under “My tables”.")
