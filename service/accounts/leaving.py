"""What this house keeps about a person, to take along; and leaving it, while everybody's games stay whole."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, delete, select, update

from engine.menu import Move
from engine.refusal import Refused
from service import links
from service.app import App
from service.links import hashed
from service.people import register, vacations
from service.store.schema import branches, letters, mailbox, mails, seats, submissions, tables, talk
from service.store.schema import orders as order_table
from service.store.schema import people as people_table
from service.store.schema import vacations as vacation_table
from service.tables import access, sitting, standing_orders
from service.tables.judging import at_table
from service.tables.locked_table import LockedTable, append_command, change_seat


class SeatBelongings(Struct, frozen=True):
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
    tables: list[SeatBelongings]


def belongings(app: App, person: int) -> Belongings:
    """All of it, to be kept as a file."""
    with app.store.reading() as connection:
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
            [_of_seat(app, connection, seat) for seat in _seats(connection, person)],
        )


def _plain(text: str) -> Any:
    return msgspec.json.decode(text) if text else {}


def _seats(connection: Connection, person: int) -> list[Any]:
    joined = seats.join(tables)
    wanted = select(*seats.c, tables.c.game, tables.c.phase).select_from(joined).where(seats.c.person == person)
    return list(connection.execute(wanted.order_by(tables.c.opened_at, seats.c.table, seats.c.seat)))


def _of_seat(app: App, connection: Connection, seat: Any) -> SeatBelongings:
    link = f"{app.settings.address}/t/{access.link_of(app, seat)}"
    said = select(talk.c.text).where(talk.c.table == seat.table, talk.c.seat == seat.seat).order_by(talk.c.id)
    ordered = [order.move for order in standing_orders.of(connection, seat.table, seat.seat)]
    words = list(connection.execute(said).scalars())
    own = (seat.table, seat.game, seat.phase, seat.seat, seat.name, link, f"{link}/log.json", seat.place)
    return SeatBelongings(*own, seat.wishes, seat.note, ordered, words)


def leave(app: App, person: int, typed: str) -> None:
    """Forget this person: running seats are given up, and what stays of him is moves of a seat without a name."""
    with app.store.reading() as connection:
        row = connection.execute(select(people_table).where(people_table.c.id == person)).one()
        held = _seats(connection, person)
    if not links.same(typed.strip().casefold(), row.address.casefold()):
        raise Refused("This is not your address; nothing has been deleted.")
    while True:
        for seat in held:
            _give_up(app, person, seat.table, seat.seat)
        held = _forget(app, person, row.address)
        if not held:
            break
    app.store.scrub()
    app.wakeups.wake("post")


def _forget(app: App, person: int, address: str) -> list[Any]:
    """Delete a person without seats; the result is the seats taken in the meantime, if any."""
    with app.store.writing() as connection:
        connection.execute(select(people_table.c.id).where(people_table.c.id == person).with_for_update())
        if held := _seats(connection, person):
            return held
        for kept in (mails, vacation_table, letters):
            connection.execute(delete(kept).where(kept.c.person == person))
        connection.execute(delete(mailbox).where(mailbox.c.recipient == address))
        _unsay(connection, person)
        register.forget(connection, person)
        return []


def _unsay(connection: Connection, person: int) -> None:
    """Letters that others have got need no longer know what they said of this person."""
    name = connection.execute(select(people_table.c.name).where(people_table.c.id == person)).scalar_one()
    if name:
        written = msgspec.json.encode(name).decode()
        told = (letters.c.sent_at.is_not(None), letters.c.said.contains(written, autoescape=True))
        connection.execute(update(letters).where(*told).values(said=""))


def _give_up(app: App, person: int, table: str, seat: int) -> None:
    """Give one seat up: resigned in the log where it is played, without a person in the database."""
    with at_table(app, table) as work:
        connection = work.locked.flush()
        if work.locked.seats[seat].person != person:
            return  # another player has sat down there in the meantime
        own = {"table": table, "seat": seat}
        for kept in (order_table, letters, talk, branches, submissions):
            connection.execute(delete(kept).where(*(kept.c[name] == value for name, value in own.items())))
        mine = (seats.c.table == table, seats.c.seat == seat)
        row = connection.execute(select(seats).where(*mine)).one()
        work.locked = _resigned(change_seat(work.locked, seat, **_nobody(app, row)), seat)


def _resigned(locked: LockedTable, seat: int) -> LockedTable:
    """A bot plays on, or begins instead."""
    chair = locked.table.seats[seat]
    if locked.row.moved_to:
        return locked  # what is played elsewhere is given up there
    if locked.table.phase == "gathering" and chair.status in ("empty", "taken"):
        return sitting.seat_bot(locked, seat, chair.nonce or "bot")
    if locked.table.phase != "playing" or chair.status != "taken":
        return locked
    return standing_orders.follow(append_command(locked, seat, Move("resign")))


def _nobody(app: App, seat: Any) -> dict[str, Any]:
    number = seat.link_number + 1
    link = hashed(app.links.seat(seat.table, seat.seat, number))
    left = {"note": "", "wishes": "", "orders": 0, "released": False}
    return {"person": None, "name": f"Seat {seat.seat + 1}", "link": link, "link_number": number, **left}
