"""What this house keeps about a person, to take along; and leaving it, while everybody's games stay whole."""

from __future__ import annotations

import hmac
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, delete, select, update

from engine.menu import Move
from engine.refusal import Refused
from service.links import hashed
from service.people import register, vacations
from service.store.schema import branches, letters, mailbox, mails, seats, submissions, tables, talk
from service.store.schema import orders as order_table
from service.store.schema import people as people_table
from service.store.schema import vacations as vacation_table
from service.tables import clerk, sitting, standing_orders
from service.tables.clerk import Desktop
from service.tables.desk import Desk


class Kept(Struct, frozen=True):
    """A seat, and what its holder left there."""

    table: str
    game: str
    phase: str
    seat: int
    name: str
    link: str
    log: str
    place: int | None
    wishes: str
    note: str
    orders: list[str]
    talk: list[str]


class Belongings(Struct, frozen=True):
    """Everything this house knows about a person."""

    address: str
    name: str
    language: str
    since: int
    confirmed_at: int | None
    wishes: Any
    calendar: Any
    vacations: list[tuple[str, str]]
    tables: list[Kept]


def belongings(desk: Desk, person: int) -> Belongings:
    """All of it, to be kept as a file."""
    with desk.store.reading() as connection:
        row = connection.execute(select(people_table).where(people_table.c.id == person)).one()
        return Belongings(
            row.address,
            row.name,
            row.language,
            row.since,
            row.confirmed_at,
            _plain(row.wishes),
            _plain(row.calendar),
            vacations.of(connection, person),
            [_kept(desk, connection, seat) for seat in _seats(connection, person)],
        )


def _plain(text: str) -> Any:
    return msgspec.json.decode(text) if text else {}


def _seats(connection: Connection, person: int) -> list[Any]:
    joined = seats.join(tables)
    wanted = select(*seats.c, tables.c.game, tables.c.phase).select_from(joined).where(seats.c.person == person)
    return list(connection.execute(wanted.order_by(tables.c.opened_at, seats.c.table, seats.c.seat)))


def _kept(desk: Desk, connection: Connection, seat: Any) -> Kept:
    link = f"{desk.settings.address}/t/{desk.link_of(seat)}"
    said = select(talk.c.text).where(talk.c.table == seat.table, talk.c.seat == seat.seat).order_by(talk.c.id)
    ordered = [order.move for order in standing_orders.of(connection, seat.table, seat.seat)]
    words = list(connection.execute(said).scalars())
    own = (seat.table, seat.game, seat.phase, seat.seat, seat.name, link, f"{link}/log.json", seat.place)
    return Kept(*own, seat.wishes, seat.note, ordered, words)


def leave(desk: Desk, person: int, typed: str) -> None:
    """Forget this person: running seats are given up, and what stays of him is moves of a seat without a name."""
    with desk.store.reading() as connection:
        row = connection.execute(select(people_table).where(people_table.c.id == person)).one()
        held = _seats(connection, person)
    if not hmac.compare_digest(typed.strip().casefold().encode(), row.address.casefold().encode()):
        raise Refused("This is not your address; nothing has been deleted.")
    while True:
        for seat in held:
            _give_up(desk, person, seat.table, seat.seat)
        held = _forget(desk, person, row.address)
        if not held:
            break
    desk.bells.ring("post")
    desk.bells.ring("bots")


def _forget(desk: Desk, person: int, address: str) -> list[Any]:
    """Forget whoever has no seat any more; the result is what he has sat down on in the meantime, if anything."""
    with desk.store.writing() as connection:
        connection.execute(select(people_table.c.id).where(people_table.c.id == person).with_for_update())
        if held := _seats(connection, person):
            return held
        for kept in (mails, vacation_table, letters):
            connection.execute(delete(kept).where(kept.c.person == person))
        connection.execute(delete(mailbox).where(mailbox.c.recipient == address))
        register.forget(connection, person)
        return []


def _give_up(desk: Desk, person: int, table: str, seat: int) -> None:
    """One seat: given up in the log where it is played, and nobody's in the book."""
    with desk.store.writing() as connection:
        desktop = clerk.take(connection, desk.shelf, table)
        assert desktop
        if desktop.seats[seat].person != person:
            return  # somebody else has sat down there in the meantime
        own = {"table": table, "seat": seat}
        for kept in (order_table, letters, talk, branches, submissions):
            connection.execute(delete(kept).where(*(kept.c[name] == value for name, value in own.items())))
        mine = (seats.c.table == table, seats.c.seat == seat)
        row = connection.execute(select(seats).where(*mine)).one()
        connection.execute(update(seats).where(*mine).values(_nobody(desk, row)))
        desktop = clerk.take(connection, desk.shelf, table)
        assert desktop
        desktop = _resigned(desk, desktop, seat)
    desk.shelf.put(table, desktop.table)


def _resigned(desk: Desk, desktop: Desktop, seat: int) -> Desktop:
    """A bot plays on, or begins instead."""
    chair, at = desktop.table.seats[seat], desk.now()
    if desktop.table.phase == "gathering" and chair.status in ("empty", "taken"):
        return sitting.replaced(desktop, seat, chair.nonce or "bot", at, desk.settings)
    if desktop.table.phase != "playing" or chair.status != "taken":
        return desktop
    return standing_orders.follow(clerk.enter(desktop, seat, Move("resign"), at, desk.settings), at, desk.settings)


def _nobody(desk: Desk, seat: Any) -> dict[str, Any]:
    number = seat.link_number + 1
    link = hashed(desk.links.seat(seat.table, seat.seat, number))
    left = {"note": "", "wishes": "", "orders": 0, "released": False}
    return {"person": None, "name": f"Seat {seat.seat + 1}", "link": link, "link_number": number, **left}
