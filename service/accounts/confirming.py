"""Proving an address by the link in a letter to it; until then its owner's tables send no letters to others."""

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


def find_person(app: App, token: str) -> Any:
    """Return the person whose address this token proves; raise Unknown if the token is wrong."""
    (number,) = tokens.parse_subject(token, 1)
    with app.store.reading() as connection:
        person = register.find_person(connection, number)
    if person is None or not tokens.is_same(app.links.confirm(person.id, person.address), token):
        raise Unknown("This link confirms no address; please use the one in the newest letter you have from us.")
    return person


def confirm_address(app: App, token: str) -> list[str]:
    """Record that an address is proven, and send the letters that waited; return the links of their tables.

    The organiser's own invitations are cancelled: the page leads to those seats now.
    """
    person = find_person(app, token)
    with app.store.writing() as connection:
        waiting = register.list_held_tables(connection, person.id)
        for table in waiting:
            queries.cancel_own_invitation(connection, table)
        register.confirm_address(connection, person.id, app.now())
        register.release_tables(connection, waiting, app.now())
        own = select(seats).where(seats.c.person == person.id, seats.c.table.in_(waiting))
        links = [access.link_of(app, seat) for seat in connection.execute(own)]
    app.wakeups.wake("post")
    return links


def confirm_by_seat(app: App, place: Place) -> None:
    """Record a proven address for a player who takes a seat by the link in an invitation.

    A seat that is taken already proves nothing: the link of an open table works with any address.
    """
    with app.store.reading() as db:
        snapshot = snapshots.load_table(app, db, place.table)
    if not app.settings.confirms or place.seat is None or place.seat == queries.find_organiser(snapshot.seats):
        return
    person = snapshot.seats[place.seat].person if snapshot.seats[place.seat].status == "invited" else None
    if person is not None:
        with app.store.writing() as connection:
            register.confirm_address(connection, person, app.now())
        app.wakeups.wake("post")


def correct_address(app: App, place: Place, text: str) -> None:
    """Replace the organiser's mistyped address: send the confirmation to the new one and delete the old one.

    An address that got a letter stays stored, so that this form cannot send letters without limit.
    """
    address = register.clean_address(text)
    with app.store.writing() as connection:
        row = queries.lock_table(connection, place.table)
        sitting = queries.list_seats(connection, place.table)
        seat = queries.find_organiser(sitting)
        if seat is None or seat != place.seat or row is None or not row.held:
            raise Refused("This address is confirmed already, or is not yours to change.")
        own = sitting[seat]
        person = register.find_or_create_person(connection, address, own.name, app.now())
        if any(other.person == person and other.seat != seat for other in sitting):
            raise Refused("Somebody else at this table has this address; please give your own.")
        limits.refuse_table(connection, app.settings, person, [], app.now(), proven=False)
        queries.change_seat(connection, place.table, seat, person=person)
        queries.owe_personal_letter(connection, person, f"confirm/{place.table}", app.now())
        _delete_mistyped(connection, own.person, person, f"confirm/{place.table}")
    app.wakeups.wake("post")


def _delete_mistyped(connection: Connection, old: int | None, new: int, kind: str) -> None:
    if old is None or old == new:
        return
    waiting = (letters.c.person == old, letters.c.sent_at.is_(None))
    connection.execute(delete(letters).where(*waiting, letters.c.kind == kind))
    seat = select(seats.c.seat).where(seats.c.person == old).limit(1)
    sent = select(letters.c.id).where(letters.c.person == old, letters.c.sent_at.is_not(None)).limit(1)
    if connection.execute(seat).first() is None and connection.execute(sent).first() is None:
        connection.execute(delete(letters).where(*waiting))
        register.delete_person(connection, old)
