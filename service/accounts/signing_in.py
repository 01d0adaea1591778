"""Signing in by a link in a letter, signing out, and renewing links that others may know."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from engine.refusal import Refused
from service import links
from service.app import App
from service.links import hash_token
from service.notify import channels, followers
from service.people import limits, proof, register
from service.people.proof import ProvenPerson
from service.settings import DAY_S
from service.store import queries
from service.store.schema import letters, people, seats, visits
from service.tables.access import Unknown

VISIT_AGE_S = 90 * DAY_S


def send_sign_in_letter(app: App, text: str) -> None:
    """Owe a sign-in letter to this address; not even the time that it takes tells whether the address is known."""
    address = register.clean_address(text)
    local, _, domain = address.rpartition("@")
    # Some keyboards begin a word with a capital, and some people write all in capitals.
    spellings = {address, f"{local.lower()}@{domain}", f"{local.capitalize()}@{domain}"}
    with app.store.writing() as connection:
        by_address = select(people.c.id).where(people.c.address.in_(spellings))
        for person in connection.execute(by_address).scalars().all():
            if limits.may_send_sign_in_letter(connection, person, app.now()):
                queries.owe_personal_letter(connection, person, f"enter/{app.now()}", app.now())
        _write_and_delete_letter(connection, app.now())  # so that it takes time even if no letter is owed
    app.wakeups.wake("post")


def _write_and_delete_letter(connection: Connection, at: int) -> None:
    """Write a letter and delete it, so that an unknown address takes as long as a known one and cannot be probed."""
    imitation = connection.execute(insert(letters).returning(letters.c.id), {"kind": "enter/0", "due_at": at})
    connection.execute(delete(letters).where(letters.c.id == imitation.scalar_one()))


def find_person(app: App, token: str) -> Any:
    """Return the person whom this token signs in; raise Unknown if it is wrong, used or expired."""
    number, _ = links.parse_token(token, 2)
    with app.store.reading() as db:
        row = register.find_person(db, number)
    if proof.check_sign_in_link(app.links, row, token, app.now()) is None:
        raise make_expired_error()
    return row


def sign_in(app: App, token: str) -> str:
    """Sign in, and return the key of the visit; this token and all that were made before are then used.

    Tables that wait for a confirmation still wait: a stranger may have opened them with this address.
    """
    person = find_person(app, token)
    proven = {"confirmed_at": app.now()} if person.confirmed_at is None else {}
    with app.store.writing() as connection:
        # Of two requests with one token the second finds that the first has changed `signed_at`.
        unused = people.c.signed_at.is_not_distinct_from(person.signed_at)
        own = (people.c.id == person.id, people.c.sessions == person.sessions, unused)
        if not connection.execute(update(people).where(*own).values(signed_at=app.now(), **proven)).rowcount:
            raise make_expired_error()
        register.clear_bounce(connection, person.id)
        key = secrets.token_urlsafe(24)
        old = (visits.c.person == person.id, visits.c.at <= app.now() - VISIT_AGE_S)
        connection.execute(delete(visits).where(*old))
        connection.execute(insert(visits), {"key": hash_token(key), "person": person.id, "at": app.now()})
    app.wakeups.wake("post")  # letters may have waited for this proof of the address
    return key


def sign_out(app: App, key: str) -> None:
    """Sign out on the device whose cookie holds this key: a copy of the cookie is worth nothing any more."""
    with app.store.writing() as connection:
        connection.execute(delete(visits).where(visits.c.key == hash_token(key)))


def sign_out_everywhere(app: App, person: ProvenPerson) -> None:
    """Sign out on every device, and make all unused sign-in letters worthless."""
    with app.store.writing() as connection:
        own = update(people).where(people.c.id == person.id)
        connection.execute(own.values(sessions=people.c.sessions + 1))
        connection.execute(delete(visits).where(visits.c.person == person.id))


def sign_out_everybody(app: App) -> int:
    """Sign out all people on every device, and make all unused sign-in letters worthless; return how many visits end.

    The cookie of a visit holds a random key, so that none of these keys is good any more.
    """
    with app.store.writing() as connection:
        connection.execute(update(people).values(sessions=people.c.sessions + 1))
        return int(connection.execute(delete(visits)).rowcount)


def renew_settings_link(db: Connection, person: ProvenPerson, keep: Collection[int], *, keep_feeds: bool) -> None:
    """Give a person a new link to the letter settings; the links in older letters stop working.

    Another person may have used the old link. So all channels but those to keep are removed, and calendar and feed are
    closed unless they are kept.
    """
    own = update(people).where(people.c.id == person.id)
    db.execute(own.values(settings_number=people.c.settings_number + 1))
    channels.remove_others(db, person, keep)
    if not keep_feeds:
        db.execute(own.values(feeds_open=False))


def renew_link(app: App, db: Connection, person: ProvenPerson, table: str, seat: int | None) -> None:
    """Give a seat of this person a new link; the old one stops working.

    Raise Refused if the seat is not this person's, or if none is named (`seat` is None). A seat that was taken with the
    person's address, but without proof, may be a stranger's.

    A stranger who knew the organiser's link may have let chats follow the table, so a new link for the organiser
    removes all followers.
    """
    own = (seats.c.table == table, seats.c.seat == seat, seats.c.person == person.id, ~_is_claim())
    seat_row = db.execute(select(seats).where(*own).with_for_update()).one_or_none()
    if seat_row is None:
        raise Refused("This seat is not yours; please look at your own tables.")
    number = seat_row.link_number + 1
    link = hash_token(app.links.make_seat_token(table, seat_row.seat, number))
    queries.change_seat(db, table, seat_row.seat, link=link, link_number=number)
    if seat_row.seat == queries.find_organiser(queries.list_seats(db, table)):
        followers.remove_of_table(db, table)


def _is_claim() -> ColumnElement[bool]:
    """The condition that a seat was taken with an address that is not proven."""
    return ~seats.c.proven & (seats.c.status != "invited")


def make_expired_error() -> Unknown:
    return Unknown("This link is no longer good; please ask for a new letter under “My tables”.")
