"""Links in letters that prove an address, to sign in or to let invitations leave; and addresses that bounced."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, update

from engine.refusal import Refused
from service import links
from service.app import App
from service.links import hash_token
from service.notify import channels, followers
from service.people import limits, proof, register
from service.people.proof import ProvenPerson, SeatClaim
from service.people.register import make_deleted_address
from service.settings import DAY_S
from service.store import queries
from service.store.batch import OwedLetter
from service.store.rows import SeatRow
from service.store.schema import letters, people, seats, tables, visits
from service.tables import access, joining, seat_commands
from service.tables.access import Place, Unknown
from service.tables.judging import at_table
from service.tables.locked_table import LockedTable, change_seat, lock_table


class AnsweredClaim(Struct, frozen=True):
    """The link of a seat that was confirmed, empty if it was refused; and the claims that are still unanswered."""

    link: str
    unanswered: tuple[SeatClaim, ...]


def find_claimed_person(app: App, db: Connection, token: str) -> tuple[ProvenPerson, str]:
    """Return the person whose address this token proves, and the address; raise Unknown if it is wrong or expired."""
    (number,) = links.parse_token(token, 1)
    row = register.find_person(db, number)
    person = proof.check_confirm_link(app.links, db, row, token, app.now())
    if person is None:
        raise _make_expired_error()
    return person, row.address


def confirm_seat(app: App, person: ProvenPerson, table: str, number: int) -> AnsweredClaim:
    """Record that this person holds a seat at this table, and send the letters that waited.

    No other seat changes: another player may have taken it with this address.
    """
    with at_table(app, table) as work:
        seat = _find_own_seat(work.locked, person, number)
        proof.prove_seat(work.locked.flush(), person, table, seat.seat, app.now())
        work.locked = lock_table(app, work.locked.batch, table)  # with the new row of the seat
        if work.locked.position.phase == "playing" and not seat.proven:
            seat_commands.restart_deadline(work.locked, seat.seat)
            work.locked = seat_commands.announce_vacations(work.locked, seat.seat)
        unanswered = proof.list_claims(work.locked.flush(), person.id)
    return AnsweredClaim(access.make_seat_link(app, seat), unanswered)


def refuse_seat(app: App, person: ProvenPerson, table: str, number: int) -> AnsweredClaim:
    """Record that this person does not have this seat: no letter about it comes any more.

    The player who typed the address plays on without one. If that player opened the table, it invites no other.
    """
    with at_table(app, table) as work:
        seat = _find_own_seat(work.locked, person, number)
        if seat.proven:
            raise Refused("You have confirmed this table already; to leave the game, write: resign")
        waits = work.locked.row.awaits_confirmation
        with_address = [one.seat for one in work.locked.seats if one.person is not None]
        refused = with_address if waits else [seat.seat]
        for one in refused:
            work.locked = change_seat(work.locked, one, person=None, released=False)
        db = work.locked.flush()
        db.execute(delete(letters).where(letters.c.table == table, letters.c.seat.in_(refused)))
        return AnsweredClaim("", proof.list_claims(db, person.id))


def _find_own_seat(locked: LockedTable, person: ProvenPerson, number: int) -> SeatRow:
    """Return this seat; raise Unknown if it does not have this person's address."""
    own = next((seat for seat in locked.seats if (seat.seat, seat.person) == (number, person.id)), None)
    if own is None:
        raise Unknown("No seat at this table has your address any more.")
    return own


def prove_by_invitation(app: App, db: Connection, place: Place) -> None:
    """Record the proof of a player who takes a seat by the link in an invitation."""
    if place.seat is None:
        return
    guest = proof.check_invitation(app.settings, queries.list_seats(db, place.table), place.seat)
    if guest is not None:
        proof.prove_seat(db, guest, place.table, place.seat, app.now())


def correct_address(app: App, link: str, text: str) -> None:
    """Replace the organiser's mistyped address: send the confirmation to the new one and delete the old one.

    An address that got a letter stays stored, so that this form cannot send letters without limit.
    """
    with access.writing_at(app, link) as (connection, place):
        address = register.clean_address(text)
        row = queries.lock_table(connection, place.table)
        sitting = queries.list_seats(connection, place.table)
        seat = queries.find_organiser(sitting)
        if seat is None or seat != place.seat or row is None or not row.awaits_confirmation:
            raise Refused("This address is confirmed already, or is not yours to change.")
        own = sitting[seat]
        person = register.find_or_create_person(connection, address, own.name, app.now())
        if any(other.person == person and other.status == "invited" for other in sitting if other.seat != seat):
            raise Refused("You have invited this address to the table; please give your own.")
        limits.refuse_many_tables(connection, app.settings, person, app.now(), proven=False)
        queries.change_seat(connection, place.table, seat, person=person)
        queries.owe_personal_letter(connection, person, f"confirm/{place.table}", app.now())
        _delete_mistyped(connection, own.person, person, f"confirm/{place.table}")
    app.wakeups.wake("post")


def add_address(locked: LockedTable, number: int, text: str, visit: str = "") -> LockedTable:
    """Give a seat an address, or another one while its address is not proven; letters come when it is.

    It is proven at once if `visit` is the key of a visit by the person of this address.
    """
    address, seat = register.clean_address(text), locked.seats[number]
    if seat.status != "taken" or not _may_change_address(locked, seat):
        raise Refused("This seat has an address already, or is not yours.")
    db = locked.flush()
    person = register.find_or_create_person(db, address, seat.name, locked.now)
    proven = joining.is_proven(locked.app, db, person, visit)
    seat_commands.refuse_second_seat(locked, number, person if proven else None, seat.name)
    locked = change_seat(locked, number, person=person, proven=proven)
    _delete_mistyped(locked.flush(), seat.person, person, f"confirm/{locked.row.id}")
    joining.owe_first_letter(locked, number, person)
    _owe_turn_letter(locked, seat)
    return locked


def _owe_turn_letter(locked: LockedTable, seat: SeatRow) -> None:
    """Owe the letter about a turn that began while the seat had no address."""
    if seat.open_since is not None:
        at = queries.NEVER_DUE if locked.row.awaits_confirmation else locked.now
        queries.owe_letter(locked.flush(), locked.row.id, seat.open_since, OwedLetter(seat.seat, "turn", at))


def _may_change_address(locked: LockedTable, seat: SeatRow) -> bool:
    """Return whether the address of a seat is not proven; an organiser's has a form of its own before it is."""
    waits = locked.row.awaits_confirmation and seat.seat == queries.find_organiser(locked.seats)
    return not seat.proven and not waits


def _delete_mistyped(connection: Connection, old: int | None, new: int, kind: str) -> None:
    """Delete the unsent letters of this kind to an address that was corrected.

    Delete the person of the address too, with all that waits for it, if it has no seat and was never sent a letter.
    """
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
VISIT_AGE_S = 90 * DAY_S


def record_bounce(connection: Connection, person: int, why: str, at: int) -> bool:
    """Record that letters to this person come back, and notify fellow players; False if it is recorded already."""
    person_row = (people.c.id == person, people.c.address != make_deleted_address(person))
    marked = update(people).where(*person_row, people.c.bounced_at.is_(None))
    reason = " ".join(why.split())[:MAX_REASON_CHARS]
    if not connection.execute(marked.values(bounced_at=at, bounce=reason)).rowcount:
        return False
    joined = seats.join(tables, tables.c.id == seats.c.table)
    query = select(seats.c.table, seats.c.seat, tables.c.length, tables.c.awaits_confirmation).select_from(joined)
    own = query.where(seats.c.person == person, seats.c.status != "resigned", tables.c.phase != "over")
    for place in connection.execute(own.order_by(seats.c.table, seats.c.seat)).all():
        _owe_letters(connection, place, person, at)
    return True


def _owe_letters(connection: Connection, place: Any, person: int, at: int) -> None:
    """Owe a letter to all other players at the table of this seat."""
    others = select(seats.c.seat).where(seats.c.table == place.table, seats.c.person != person)
    due = queries.NEVER_DUE if place.awaits_confirmation else at
    for seat in connection.execute(others.order_by(seats.c.seat)).scalars().all():
        queries.owe_letter(
            connection, place.table, place.length - 1, OwedLetter(seat, f"unreachable/{place.seat}", due)
        )


def send_sign_in_letter(app: App, text: str) -> None:
    """Owe a sign-in letter to this address; the caller does not learn whether the address is known."""
    address = register.clean_address(text)
    local, _, domain = address.rpartition("@")
    spellings = {address, f"{local.lower()}@{domain}", f"{local.capitalize()}@{domain}"}
    with app.store.writing() as connection:
        by_address = select(people.c.id).where(people.c.address.in_(spellings))
        for person in connection.execute(by_address).scalars().all():
            if limits.may_send_sign_in_letter(connection, person, app.now()):
                queries.owe_personal_letter(connection, person, f"enter/{app.now()}", app.now())
        _write_and_delete_letter(connection, app.now())
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
        raise _make_expired_error()
    return row


def sign_in(app: App, token: str) -> str:
    """Sign in: use up this token and all older ones; return the key of the visit. No table is confirmed by it."""
    person = find_person(app, token)
    proven = {"confirmed_at": app.now()} if person.confirmed_at is None else {}
    with app.store.writing() as connection:
        unused = or_(people.c.signed_at.is_(None), people.c.signed_at == person.signed_at)
        own = (people.c.id == person.id, people.c.sessions == person.sessions, unused)
        if not connection.execute(update(people).where(*own).values(signed_at=app.now(), **proven)).rowcount:
            raise _make_expired_error()
        register.clear_bounce(connection, person.id)
        key = secrets.token_urlsafe(24)
        old = (visits.c.person == person.id, visits.c.at <= app.now() - VISIT_AGE_S)
        connection.execute(delete(visits).where(*old))
        connection.execute(insert(visits), {"key": hash_token(key), "person": person.id, "at": app.now()})
    app.wakeups.wake("post")
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
    """Give a seat of this person a new link; the old one stops working, and the chats end that it could have added."""
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


def _make_expired_error() -> Unknown:
    return Unknown("This link is no longer good; please ask for a new letter under “My tables”.")
