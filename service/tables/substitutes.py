"""Substitutes: a seat whose player stays away is offered by a link, and whoever has it may play on there."""

from __future__ import annotations

import hmac
from typing import Any

from sqlalchemy import Connection, delete, select, update

from engine.menu import Move
from engine.refusal import Refused
from service.links import hashed
from service.people import limits, register, vacations
from service.plans import branches
from service.store import book
from service.store.schema import orders, seats
from service.tables import clerk
from service.tables.clerk import Desktop
from service.tables.desk import Desk, Invited, Look, Unknown


def link(desk: Desk, seat: Any) -> str:
    """The token that offers this seat."""
    return desk.links.offer(seat.table, seat.seat, seat.link_number)


def offered(desk: Desk, token: str) -> tuple[Look, int]:
    """The table and seat that this token offers."""
    table, _, rest = token.partition(".")
    number, _, _ = rest.partition(".")
    look = desk.look(table)
    seat = int(number) if number.isdecimal() and len(number) < 4 else len(look.seats)
    if seat >= len(look.seats) or not hmac.compare_digest(link(desk, look.seats[seat]).encode(), token.encode()):
        raise Unknown("This seat has been taken, or was never offered.")
    if look.table.phase != "playing" or not look.table.seats[seat].offered:
        raise Unknown("This seat is no longer offered.")
    return look, seat


def take(desk: Desk, token: str, guest: Invited) -> str:
    """Sit down on an offered seat; the result is the link of the seat, and the old one leads nowhere any more."""
    look, seat = offered(desk, token)
    name, address = register.clean_name(guest.name), register.clean_address(guest.address)
    with desk.store.writing() as connection:
        desktop = clerk.take(connection, desk.shelf, look.row.id)
        assert desktop
        if not desktop.table.seats[seat].offered:
            raise Unknown("Somebody was quicker; this seat has been taken.")
        held = book.seats_of(connection, look.row.id)[seat]
        if held.link_number != look.seats[seat].link_number:
            raise Unknown("This seat is no longer offered.")
        person = register.person(connection, address, name, desk.now())
        _refuse_twice(connection, desktop, seat, person, name)
        limits.refuse_invitation(connection, desk.settings, person, desk.now())
        _change_hands(desk, connection, held, person, name)
        desktop = clerk.take(connection, desk.shelf, look.row.id)
        assert desktop
        substitute = Move("substitute", (str(seat),))
        desktop = clerk.enter(desktop, None, substitute, desk.now(), desk.settings)
        desktop = vacations.announce(desktop, seat, desk.now(), desk.settings)
        if desk.settings.confirms and not register.is_confirmed(connection, person):
            book.owe_person(connection, person, f"confirm/{look.row.id}", desk.now())
    desk.shelf.put(look.row.id, desktop.table)
    desk.bells.ring("post")
    return desk.links.seat(look.row.id, seat, look.seats[seat].link_number + 1)


def _refuse_twice(connection: Connection, desktop: Desktop, seat: int, person: int, name: str) -> None:
    """Nobody plays with two hands, and no two are called the same."""
    others = select(seats.c.name, seats.c.person, seats.c.status).where(
        seats.c.table == desktop.row.id, seats.c.seat != seat
    )
    for other in connection.execute(others):
        if other.person == person and other.status == "taken":
            raise Refused("You play at this table already.")
        if other.name.casefold() == name.casefold():
            raise Refused("Somebody at this table is called {name} already; please take another name.", name=name)


def _change_hands(desk: Desk, connection: Connection, seat: Any, person: int, name: str) -> None:
    number = seat.link_number + 1
    new = {"person": person, "name": name, "link": hashed(desk.links.seat(seat.table, seat.seat, number))}
    own = (seats.c.table == seat.table, seats.c.seat == seat.seat)
    fresh = {"link_number": number, "orders": 0, "wishes": "", "note": ""}
    connection.execute(update(seats).where(*own).values(**new, **fresh))
    connection.execute(delete(orders).where(orders.c.table == seat.table, orders.c.seat == seat.seat))
    branches.forget(connection, seat.table, seat.seat)
    if seat.person not in (None, person):
        book.owe_person(connection, seat.person, f"replaced/{seat.table}/{seat.seat}/{number}", desk.now())
