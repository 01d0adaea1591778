"""Open tables: a seat for anybody who comes with the table's link, until all are taken."""

from __future__ import annotations

import hmac
import itertools
import secrets
from typing import Any

from sqlalchemy import Connection, update

from engine.refusal import Refused
from service.people import limits, register
from service.store import book
from service.store.book import Owed
from service.store.schema import seats
from service.tables import clerk, sitting
from service.tables.clerk import Desktop
from service.tables.desk import Desk, Invited, Look, Place, Unknown
from service.text.languages import SOURCE

FREE = "open"


def organiser(look: Look) -> int | None:
    """The seat of whoever opened this table, as far as he has an address."""
    return next((seat.seat for seat in look.seats if seat.person is not None), None)


def opened(desk: Desk, token: str) -> Look:
    """The open table that this token leads to."""
    table, _, _ = token.partition(".")
    if not hmac.compare_digest(desk.links.join(table).encode(), token.encode()):
        raise Unknown("This link leads to no open table; please ask whoever sent it for the newest one.")
    look = desk.look(table)
    if not any(seat.status == FREE for seat in look.seats):
        raise Unknown("All seats at this table are taken.")
    return look


def join(desk: Desk, token: str, guest: Invited, language: str = SOURCE) -> str:
    """Sit down on the next free seat; the result is its link."""
    table = opened(desk, token).row.id
    name, address = register.clean_name(guest.name), register.clean_address(guest.address)
    with desk.store.writing() as connection:
        desktop = clerk.take(connection, desk.shelf, table)
        assert desktop
        sitting = book.seats_of(connection, table)
        seat = next((one for one in sitting if one.status == FREE), None)
        if seat is None:
            raise Unknown("Somebody was quicker; all seats at this table are taken.")
        person = register.person(connection, address, name, desk.now(), language)
        _refuse_twice(sitting, person, name)
        limits.refuse_invitation(connection, desk.settings, person, desk.now())
        desktop = _seated(desk, connection, seat, guest, person, name)
        _write(desk, connection, desktop, seat.seat, person)
    _settled(desk, desktop)
    return desk.link_of(seat)


def _seated(desk: Desk, connection: Connection, seat: Any, guest: Invited, person: int, name: str) -> Desktop:
    own = (seats.c.table == seat.table, seats.c.seat == seat.seat)
    connection.execute(update(seats).where(*own).values(person=person, name=name, status="invited"))
    desktop = clerk.take(connection, desk.shelf, seat.table)
    assert desktop
    nonce = register.clean_nonce(guest.nonce, secrets.token_hex(8))
    return sitting.sat(desktop, seat.seat, nonce, desk.now(), desk.settings)


def _write(desk: Desk, connection: Connection, desktop: Desktop, seat: int, person: int) -> None:
    """The link by letter too; to an address that nobody has proven, only a question whether it is right."""
    if desk.settings.confirms and not register.is_confirmed(connection, person):
        book.owe_person(connection, person, f"confirm/{desktop.row.id}", desk.now())
    else:
        book.owe(connection, desktop.row.id, 0, Owed(seat, "invitation", desk.now()))


def _refuse_twice(sitting: Any, person: int, name: str) -> None:
    """Nobody plays with two hands, and no two are called the same."""
    if any(seat.person == person for seat in sitting):
        raise Refused("You have a seat at this table already; its link is in the letter you have from it.")
    if any(seat.name.casefold() == name.casefold() for seat in sitting):
        raise Refused("Somebody at this table is called {name} already; please take another name.", name=name)


def fill(desk: Desk, place: Place) -> None:
    """The organiser waits no longer: bots take the seats that are still free."""
    look = desk.look(place.table)
    if place.seat is None or place.seat != organiser(look):
        raise Refused("Only whoever opened the table can let bots take its free seats.")
    with desk.store.writing() as connection:
        desktop = clerk.take(connection, desk.shelf, place.table)
        assert desktop
        for seat in [one for one in book.seats_of(connection, place.table) if one.status == FREE]:
            own = (seats.c.table == place.table, seats.c.seat == seat.seat)
            connection.execute(
                update(seats).where(*own).values(name=_bot(desktop.connection, place.table), status="bot")
            )
            desktop = sitting.replaced(desktop, seat.seat, "bot", desk.now(), desk.settings)
    _settled(desk, desktop)


def _bot(connection: Connection, table: str) -> str:
    """A name for a bot that nobody at the table has."""
    names = {seat.name.casefold() for seat in book.seats_of(connection, table)}
    return next(name for number in itertools.count(1) if (name := f"Bot {number}").casefold() not in names)


def _settled(desk: Desk, desktop: Desktop) -> None:
    """What follows once all that is in the book for good."""
    desk.shelf.put(desktop.row.id, desktop.table)
    desk.bells.ring("post")
    desk.bells.ring("bots")
