"""Open tables: a seat for anybody who comes with the table's link, until all are taken."""

from __future__ import annotations

import itertools
import secrets

from sqlalchemy import Connection

from engine.refusal import Refused
from service import links
from service.app import App
from service.people import limits, names, register
from service.store import queries
from service.store.batch import OwedLetter
from service.tables import access, seating, sitting, snapshots
from service.tables.access import Place, Unknown
from service.tables.judging import at_table
from service.tables.locked_table import LockedTable, change_seat
from service.tables.opening import Invited
from service.tables.snapshots import Snapshot
from service.text.languages import SOURCE

FREE = "open"


def opened(app: App, token: str) -> Snapshot:
    """The open table that this token leads to."""
    (table,) = links.parse_subject(token, 1)
    if not links.is_same(app.links.join(table), token):
        raise Unknown("This link leads to no open table; please ask whoever sent it for the newest one.")
    look = snapshots.look(app, table)
    if not any(seat.status == FREE for seat in look.seats):
        raise Unknown("All seats at this table are taken.")
    return look


def join(app: App, token: str, guest: Invited, language: str = SOURCE) -> str:
    """Sit down on the next free seat; the result is its link."""
    table = opened(app, token).row.id
    name, address = names.clean_name(guest.name), register.clean_address(guest.address)
    with at_table(app, table) as work:
        connection = work.locked.flush()
        seat = next((one for one in queries.list_seats(connection, table) if one.status == FREE), None)
        if seat is None:
            raise Unknown("Somebody was quicker; all seats at this table are taken.")
        person = register.find_or_create_person(connection, address, name, app.now(), language)
        seating.refuse_twice(work.locked, seat.seat, person, name)
        limits.refuse_invitation(connection, app.settings, person, app.now())
        locked = change_seat(work.locked, seat.seat, person=person, name=name, status="invited")
        nonce = register.clean_nonce(guest.nonce, secrets.token_hex(8))
        work.locked = sitting.sit(locked, seat.seat, nonce)
        _write(work.locked, seat.seat, person)
    return access.link_of(app, seat)


def _write(locked: LockedTable, seat: int, person: int) -> None:
    """Owe a letter with the link; an unproven address gets only a question whether it is right."""
    if locked.settings.confirms and not register.is_confirmed(locked.flush(), person):
        queries.owe_personal_letter(locked.flush(), person, f"confirm/{locked.row.id}", locked.now)
    else:
        queries.owe_letter(locked.flush(), locked.row.id, 0, OwedLetter(seat, "invitation", locked.now))


def fill(app: App, place: Place) -> None:
    """Let bots take the seats that are still free; the organiser waits no longer."""
    look = snapshots.look(app, place.table)
    if place.seat is None or place.seat != queries.find_organiser(look.seats):
        raise Refused("Only the player who opened the table can let bots take its free seats.")
    with at_table(app, place.table) as work:
        for seat in [one for one in queries.list_seats(work.locked.flush(), place.table) if one.status == FREE]:
            name = _bot_name(work.locked.flush(), place.table)
            locked = change_seat(work.locked, seat.seat, name=name, status="bot")
            work.locked = sitting.seat_bot(locked, seat.seat, "bot")


def _bot_name(connection: Connection, table: str) -> str:
    """A name for a bot that no player at the table has."""
    names = {seat.name.casefold() for seat in queries.list_seats(connection, table)}
    return next(name for number in itertools.count(1) if (name := f"Bot {number}").casefold() not in names)
