"""Proving an address by the link in a letter to it; until then no letter leaves in its owner's name."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, select

from engine.refusal import Refused
from service import links as tokens
from service.app import App
from service.people import limits, register
from service.store import queries
from service.store.schema import letters, seats
from service.tables import access, snapshots
from service.tables.access import Place, Unknown


def asked(app: App, token: str) -> Any:
    """The person whose address this token would prove."""
    (number,) = tokens.subject(token, 1)
    with app.store.reading() as connection:
        person = register.find(connection, number)
    if person is None or not tokens.same(app.links.confirm(person.id, person.address), token):
        raise Unknown("This link confirms no address; please use the one in the newest letter you have from us.")
    return person


def confirm(app: App, token: str) -> list[str]:
    """The address is proven; the result is the links of the tables whose letters waited for that.

    Who says so opened these tables, sits there and is led there now, so no invitation goes to him.
    """
    person = asked(app, token)
    with app.store.writing() as connection:
        waiting = register.held(connection, person.id)
        for table in waiting:
            queries.cancel_own_invitation(connection, table)
        register.confirmed(connection, person.id, app.now())
        register.release(connection, waiting, app.now())
        own = select(seats).where(seats.c.person == person.id, seats.c.table.in_(waiting))
        links = [access.link_of(app, seat) for seat in connection.execute(own)]
    app.wakeups.wake("post")
    return links


def by_seat(app: App, place: Place) -> None:
    """A player who takes a seat that only a letter leads to has proven that address.

    A player who sits there already proves nothing: he may have come by the link of an open table, with any address.
    """
    look = snapshots.look(app, place.table)
    if not app.settings.confirms or place.seat is None or place.seat == queries.find_organiser(look.seats):
        return
    person = look.seats[place.seat].person if look.seats[place.seat].status == "invited" else None
    if person is not None:
        with app.store.writing() as connection:
            register.confirmed(connection, person, app.now())
        app.wakeups.wake("post")


def correct(app: App, place: Place, text: str) -> None:
    """The organiser mistyped his own address; the question goes to the right one, and the wrong one is forgotten.

    An address that got a letter already is remembered, so that this form cannot send letters again and again.
    """
    address = register.clean_address(text)
    with app.store.writing() as connection:
        row = queries.lock_table(connection, place.table)
        sitting = queries.list_seats(connection, place.table)
        seat = queries.find_organiser(sitting)
        if seat is None or seat != place.seat or row is None or not row.held:
            raise Refused("This address is confirmed already, or is not yours to change.")
        own = sitting[seat]
        person = register.person(connection, address, own.name, app.now())
        if any(other.person == person and other.seat != seat for other in sitting):
            raise Refused("Somebody else at this table has this address; please give your own.")
        limits.refuse(connection, app.settings, person, [], app.now(), proven=False)
        queries.change_seat(connection, place.table, seat, person=person)
        queries.owe_personal_letter(connection, person, f"confirm/{place.table}", app.now())
        _forget_mistyped(connection, own.person, person, f"confirm/{place.table}")
    app.wakeups.wake("post")


def _forget_mistyped(connection: Connection, old: int | None, new: int, kind: str) -> None:
    if old is None or old == new:
        return
    waiting = (letters.c.person == old, letters.c.sent_at.is_(None))
    connection.execute(delete(letters).where(*waiting, letters.c.kind == kind))
    seat = select(seats.c.seat).where(seats.c.person == old).limit(1)
    sent = select(letters.c.id).where(letters.c.person == old, letters.c.sent_at.is_not(None)).limit(1)
    if connection.execute(seat).first() is None and connection.execute(sent).first() is None:
        connection.execute(delete(letters).where(*waiting))
        register.forget(connection, old)
