"""Proving an address: by the link in a letter to it, and until then no letter leaves in its owner's name."""

from __future__ import annotations

import hmac
from typing import Any

from sqlalchemy import Connection, delete, select, update

from engine.refusal import Refused
from service.people import limits, register
from service.store import book
from service.store.schema import letters, seats
from service.store.schema import people as people_table
from service.tables import clerk
from service.tables.desk import Desk, Look, Place, Unknown
from service.tables.joining import organiser


def asked(desk: Desk, token: str) -> Any:
    """The person whose address this token would prove."""
    number, _, _ = token.partition(".")
    with desk.store.reading() as connection:
        person = find(connection, number)
    if person is None or not hmac.compare_digest(
        desk.links.confirm(person.id, person.address).encode(), token.encode()
    ):
        raise Unknown("This link confirms no address; please use the one in the newest letter you have from us.")
    return person


def find(connection: Connection, number: str) -> Any:
    """The person of that number, as it stands in a token."""
    if not number.isascii() or not number.isdecimal() or len(number) > 18:
        return None
    return connection.execute(select(people_table).where(people_table.c.id == int(number))).one_or_none()


def confirm(desk: Desk, token: str) -> list[str]:
    """The address is proven; the result is the links of the tables whose letters waited for that."""
    person = asked(desk, token)
    with desk.store.writing() as connection:
        waiting = register.confirmed(connection, person.id, desk.now())
        own = select(seats).where(seats.c.person == person.id, seats.c.table.in_(waiting))
        links = [desk.link_of(seat) for seat in connection.execute(own)]
    desk.bells.ring("post")
    return links


def by_seat(desk: Desk, place: Place) -> None:
    """Whoever is about to take a seat that only a letter leads to has proven that address.

    Whoever sits there already proves nothing: he may have come by the link of an open table, with any address.
    """
    look = desk.look(place.table)
    if not desk.settings.confirms or place.seat is None or place.seat == organiser(look):
        return
    person = look.seats[place.seat].person if look.seats[place.seat].status == "invited" else None
    if person is not None:
        with desk.store.writing() as connection:
            register.confirmed(connection, person, desk.now())
        desk.bells.ring("post")


def awaited(desk: Desk, look: Look, seat: int | None) -> str:
    """The address of this seat's holder that is still to be proven; empty where none is."""
    person = None if seat is None else look.seats[seat].person
    if person is None or not desk.settings.confirms:
        return ""
    with desk.store.reading() as connection:
        unproven = select(people_table.c.address).where(
            people_table.c.id == person, people_table.c.confirmed_at.is_(None)
        )
        return str(connection.execute(unproven).scalar_one_or_none() or "")


def correct(desk: Desk, place: Place, text: str) -> None:
    """The organiser mistyped his own address; the question goes to the right one, and the wrong one is forgotten.

    Unless a letter went there already: that is remembered, so that nobody is written to in this way again and again.
    """
    address = register.clean_address(text)
    with desk.store.writing() as connection:
        desktop = clerk.take(connection, desk.shelf, place.table)
        assert desktop
        sitting = book.seats_of(connection, place.table)
        first = next((seat for seat in sitting if seat.person is not None), None)
        if first is None or first.seat != place.seat or not desktop.row.held:
            raise Refused("This address is confirmed already, or is not yours to change.")
        person = register.person(connection, address, first.name, desk.now())
        if any(seat.person == person and seat.seat != first.seat for seat in sitting):
            raise Refused("Somebody else at this table has this address; please give your own.")
        limits.refuse(connection, desk.settings, person, [], desk.now())
        own = (seats.c.table == place.table, seats.c.seat == first.seat)
        connection.execute(update(seats).where(*own).values(person=person))
        if register.is_confirmed(connection, person):
            register.confirmed(connection, person, desk.now())
        else:
            book.owe_person(connection, person, f"confirm/{place.table}", desk.now())
        _forget_mistyped(connection, first.person, person, f"confirm/{place.table}")
    desk.bells.ring("post")


def _forget_mistyped(connection: Connection, old: int, new: int, kind: str) -> None:
    if old == new:
        return
    waiting = (letters.c.person == old, letters.c.sent_at.is_(None))
    connection.execute(delete(letters).where(*waiting, letters.c.kind == kind))
    seat = select(seats.c.seat).where(seats.c.person == old).limit(1)
    sent = select(letters.c.id).where(letters.c.person == old, letters.c.sent_at.is_not(None)).limit(1)
    if connection.execute(seat).first() is None and connection.execute(sent).first() is None:
        connection.execute(delete(letters).where(*waiting))
        register.forget(connection, old)
