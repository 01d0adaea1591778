"""Addresses of players: confirmed or refused by a letter, corrected, and marked when letters to them bounce."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, delete, select, update

from engine.refusal import Refused
from service import links
from service.accounts.signing_in import make_expired_error
from service.app import App
from service.people import limits, proof, register
from service.people.proof import ProvenPerson, SeatClaim
from service.people.register import make_deleted_address
from service.store import queries
from service.store.batch import OwedLetter
from service.store.rows import SeatRow
from service.store.schema import letters, people, seats, tables
from service.tables import access, joining, seat_commands
from service.tables.access import Place, Unknown
from service.tables.judging import at_table
from service.tables.locked_table import LockedTable, change_seat, lock_table

MAX_REASON_CHARS = 300  # of a bounce


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
        raise make_expired_error()
    return person, row.address


def confirm_seat(app: App, person: ProvenPerson, table: str, number: int) -> AnsweredClaim:
    """Record that this person holds a seat at this table, and send the letters that waited.

    No other seat changes: another player may have taken it with this address.
    """
    with at_table(app, table) as work:
        seat = _find_own_seat(work.locked, person, number)
        is_new_proof = not seat.proven
        proof.prove_seat(work.locked.flush(), person, table, seat.seat, app.now())
        work.locked = lock_table(app, work.locked.batch, table)  # with the new row of the seat
        # Without this proof, the person's quiet hours and vacations did not count at this table.
        if work.locked.position.phase == "playing" and is_new_proof:
            seat_commands.restart_deadline(work.locked, seat.seat)
            work.locked = seat_commands.announce_vacations(work.locked, seat.seat)
        unanswered = proof.list_claims(work.locked.flush(), person.id)
    return AnsweredClaim(access.make_seat_link(app, seat), unanswered)


def refuse_seat(app: App, person: ProvenPerson, table: str, number: int) -> AnsweredClaim:
    """Record that this person does not have this seat: no letter about it comes any more.

    The player who typed the address plays on without one. If that was the organiser, and the table still waits for the
    organiser's confirmation, all other seats lose their addresses too, and no invitation is sent. Else it was a guest
    who took a free seat.
    """
    with at_table(app, table) as work:
        seat = _find_own_seat(work.locked, person, number)
        if seat.proven:
            raise Refused("You have confirmed this table already; to leave the game, write: resign")
        is_organiser = seat.seat == queries.find_organiser(work.locked.seats)
        typed_by_organiser = is_organiser or seat.status == "invited"
        with_address = [one.seat for one in work.locked.seats if one.person is not None]
        refused = with_address if work.locked.row.awaits_confirmation and typed_by_organiser else [seat.seat]
        for one in refused:
            work.locked = change_seat(work.locked, one, person=None, released=False)  # not for the gallery
        db = work.locked.flush()
        db.execute(delete(letters).where(letters.c.table == table, letters.c.seat.in_(refused)))
        return AnsweredClaim(link="", unanswered=proof.list_claims(db, person.id))


def _find_own_seat(locked: LockedTable, person: ProvenPerson, number: int) -> SeatRow:
    """Return this seat; raise Unknown if it does not have this person's address."""
    for seat in locked.seats:
        if (seat.seat, seat.person) == (number, person.id):
            return seat
    raise Unknown("No seat at this table has your address any more.")


def prove_by_invitation(app: App, db: Connection, place: Place) -> None:
    """Record the proof of a player who takes a seat by the link in an invitation; any other link proves nothing."""
    if place.seat is None:  # the link of spectators
        return
    guest = proof.check_invitation(app.settings, queries.list_seats(db, place.table), place.seat)
    if guest is not None:
        proof.prove_seat(db, guest, place.table, place.seat, app.now())


def correct_address(app: App, link: str, text: str) -> None:
    """Replace the organiser's mistyped address, and owe the new one the letter to confirm the table.

    The person of the old address is deleted, unless that address has another seat or was sent a letter: what was sent
    counts for the limits, so that this form cannot send letters without limit.
    """
    with access.writing_at(app, link) as (connection, place):
        address = register.clean_address(text)
        row = queries.lock_table(connection, place.table)
        sitting = queries.list_seats(connection, place.table)
        seat = queries.find_organiser(sitting)
        if seat is None or seat != place.seat or row is None or not row.awaits_confirmation:
            raise Refused("This address is confirmed already, or is not yours to change.")
        own = sitting[seat]
        others = [one for one in sitting if one.seat != seat]
        person = register.find_or_create_person(connection, address, own.name, app.now())
        if any(other.person == person and other.status == "invited" for other in others):
            raise Refused("You have invited this address to the table; please give your own.")
        limits.refuse_many_tables(connection, app.settings, person, app.now(), proven=False)
        queries.change_seat(connection, place.table, seat, person=person)
        queries.owe_personal_letter(connection, person, f"confirm/{place.table}", app.now())
        _delete_mistyped(connection, f"confirm/{place.table}", old=own.person, new=person)
    app.wakeups.wake("post")


def add_address(locked: LockedTable, number: int, text: str, visit: str = "") -> LockedTable:
    """Give a seat an address, or another one while its address is not proven; it gets letters once it is.

    It is proven at once if `visit` is the key of a visit by the person of this address.
    """
    address = register.clean_address(text)
    seat = locked.seats[number]
    if seat.status != "taken" or not _may_change_address(locked, seat):
        raise Refused("This seat has an address already, or is not yours.")
    db = locked.flush()
    person = register.find_or_create_person(db, address, seat.name, locked.now)
    proven = joining.is_proven(locked.app, db, person, visit)
    seat_commands.refuse_second_seat(locked, number, person if proven else None, seat.name)
    locked = change_seat(locked, number, person=person, proven=proven)
    _delete_mistyped(locked.flush(), f"confirm/{locked.row.id}", old=seat.person, new=person)
    joining.owe_first_letter(locked, number, person)
    _owe_turn_letter(locked, locked.seats[number])
    return locked


def _owe_turn_letter(locked: LockedTable, seat: SeatRow) -> None:
    """Owe the letter about a turn that began while the seat had no address."""
    if seat.open_since is not None:
        at = queries.NEVER_DUE if locked.row.awaits_confirmation else locked.now
        queries.owe_letter(locked.flush(), locked.row.id, seat.open_since, OwedLetter(seat.seat, "turn", at))


def _may_change_address(locked: LockedTable, seat: SeatRow) -> bool:
    """Return whether `add_address` may change the address of a seat: it is not proven.

    While a table waits for its organiser's confirmation, `correct_address` changes the organiser's address instead.
    """
    if seat.proven:
        return False
    is_organiser = seat.seat == queries.find_organiser(locked.seats)
    return not (is_organiser and locked.row.awaits_confirmation)


def _delete_mistyped(connection: Connection, kind: str, *, old: int | None, new: int) -> None:
    """Delete the unsent letters of this kind to the person `old`, whose address was corrected to that of `new`.

    Delete the old person too, with all unsent letters, if it has no seat and was never sent a letter. Do nothing if the
    seat had no address before (`old` is None), or if the address is the same.
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
    """Owe all other players at the table of this seat a letter that this player cannot be reached.

    While the table still waits for its organiser's confirmation, the letter is not due yet.
    """
    others = select(seats.c.seat).where(seats.c.table == place.table, seats.c.person != person)
    due_at = queries.NEVER_DUE if place.awaits_confirmation else at
    last_entry = place.length - 1
    for seat in connection.execute(others.order_by(seats.c.seat)).scalars().all():
        letter = OwedLetter(seat, f"unreachable/{place.seat}", due_at)
        queries.owe_letter(connection, place.table, last_entry, letter)
