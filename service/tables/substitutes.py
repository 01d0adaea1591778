"""Substitutes: a seat whose player stays away is offered by a link, and another person may play on there."""

from __future__ import annotations

from typing import Any

from engine.menu import Move
from service import links
from service.app import App
from service.links import hash_token
from service.people import limits, names, register
from service.store import queries
from service.tables import absences, seating, snapshots
from service.tables.access import Unknown
from service.tables.judging import at_table
from service.tables.locked_table import LockedTable, append_command, change_seat
from service.tables.opening import Invited
from service.tables.snapshots import Snapshot
from service.text import numbers
from service.text.languages import SOURCE


def link(app: App, seat: Any) -> str:
    """The token that offers this seat."""
    return app.links.offer(seat.table, seat.seat, seat.link_number)


def offered(app: App, token: str) -> tuple[Snapshot, int]:
    """The table and seat that this token offers."""
    table, number = links.parse_subject(token, 2)
    look = snapshots.look(app, table)
    seat = numbers.parse_int(number, len(look.seats) - 1)
    if seat is None or not links.is_same(link(app, look.seats[seat]), token):
        raise Unknown("This seat has been taken, or was never offered.")
    if look.table.phase != "playing" or not look.table.seats[seat].offered:
        raise Unknown("This seat is no longer offered.")
    return look, seat


def take(app: App, token: str, guest: Invited, language: str = SOURCE) -> str:
    """Sit down on an offered seat; the result is the new link of the seat, and the old one leads nowhere any more."""
    look, seat = offered(app, token)
    name, address = names.clean_name(guest.name), register.clean_address(guest.address)
    with at_table(app, look.row.id) as work:
        connection = work.locked.flush()
        if not work.locked.table.seats[seat].offered:
            raise Unknown("Somebody was quicker; this seat has been taken.")
        held = queries.list_seats(connection, look.row.id)[seat]
        if held.link_number != look.seats[seat].link_number:
            raise Unknown("This seat is no longer offered.")
        person = register.find_or_create_person(connection, address, name, app.now(), language)
        seating.refuse_twice(work.locked, seat, person, name)
        limits.refuse_invitation(connection, app.settings, person, app.now())
        locked = _change_hands(work.locked, held, person, name)
        locked = append_command(locked, None, Move("substitute", (str(seat),)))
        work.locked = absences.announce(locked, seat)
        if app.settings.confirms and not register.is_confirmed(connection, person):
            queries.owe_personal_letter(connection, person, f"confirm/{look.row.id}", app.now())
    return app.links.seat(look.row.id, seat, held.link_number + 1)


def _change_hands(locked: LockedTable, held: Any, person: int, name: str) -> LockedTable:
    """The seat with its new player, a new link, and nothing of what the last player kept there."""
    number = held.link_number + 1
    queries.clear_seat(locked.flush(), held.table, held.seat)
    if held.person not in (None, person):
        kind = f"replaced/{held.table}/{held.seat}/{number}"
        queries.owe_personal_letter(locked.flush(), held.person, kind, locked.now)
    link = hash_token(locked.app.links.seat(held.table, held.seat, number))
    return change_seat(locked, held.seat, person=person, name=name, link=link, link_number=number)
