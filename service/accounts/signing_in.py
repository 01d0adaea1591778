"""Links in letters that prove an address, to sign in or to let invitations leave; and addresses that bounced."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, or_, select, update

from engine.refusal import Refused
from service import links
from service import links as tokens
from service.app import App
from service.links import hash_token
from service.people import limits, register
from service.people.register import make_deleted_address
from service.store import queries
from service.store.batch import OwedLetter
from service.store.schema import letters, people, seats, tables
from service.store.schema import people as people_table
from service.tables import access, snapshots
from service.tables.access import Place, Unknown
from service.text import numbers
from service.timing import HOUR_S


def find_unproven_person(app: App, token: str) -> Any:
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
    person = find_unproven_person(app, token)
    with app.store.writing() as connection:
        waiting = register.list_held_tables(connection, person.id)
        for table in waiting:
            queries.cancel_own_invitation(connection, table)
        register.confirm_address(connection, person.id, app.now())
        register.release_tables(connection, waiting, app.now())
        own = select(seats).where(seats.c.person == person.id, seats.c.table.in_(waiting))
        links = [access.make_seat_link(app, seat) for seat in connection.execute(own)]
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
        if seat is None or seat != place.seat or row is None or not row.awaits_opener:
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


MAX_REASON_CHARS = 300


def record_bounce(connection: Connection, person: int, why: str, at: int) -> bool:
    """Record that letters to this person come back, and notify fellow players; False if it is recorded already."""
    person_row = (people.c.id == person, people.c.address != make_deleted_address(person))
    marked = update(people).where(*person_row, people.c.bounced_at.is_(None))
    reason = " ".join(why.split())[:MAX_REASON_CHARS]
    if not connection.execute(marked.values(bounced_at=at, bounce=reason)).rowcount:
        return False
    joined = seats.join(tables, tables.c.id == seats.c.table)
    query = select(seats.c.table, seats.c.seat, tables.c.length, tables.c.awaits_opener).select_from(joined)
    own = query.where(seats.c.person == person, seats.c.status != "resigned", tables.c.phase != "over")
    for place in connection.execute(own.order_by(seats.c.table, seats.c.seat)).all():
        _owe_letters(connection, place, person, at)
    return True


def _owe_letters(connection: Connection, place: Any, person: int, at: int) -> None:
    """Owe a letter to all other players at the table of this seat."""
    others = select(seats.c.seat).where(seats.c.table == place.table, seats.c.person != person)
    due = queries.NEVER_DUE if place.awaits_opener else at
    for seat in connection.execute(others.order_by(seats.c.seat)).scalars().all():
        queries.owe_letter(
            connection, place.table, place.length - 1, OwedLetter(seat, f"unreachable/{place.seat}", due)
        )


def list_bounced_seats(app: App, table: str) -> Collection[int]:
    """Return the seats of a table whose players' letters come back."""
    joined = seats.join(people, people.c.id == seats.c.person)
    bounced = select(seats.c.seat).select_from(joined).where(seats.c.table == table, people.c.bounced_at.is_not(None))
    with app.store.reading() as connection:
        return set(connection.execute(bounced).scalars())


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
    if person is None or not links.is_same(app.links.sign_in(person.id, person.sessions, at), token):
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
