"""What a player keeps at the edge of the table: a note of his own, how he wants to move, and who may look on."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from sqlalchemy import select, update

from engine.refusal import Refused
from service.people import letter_settings, register
from service.store import book
from service.store.schema import people as people_table
from service.store.schema import seats, tables
from service.tables import gallery
from service.tables.desk import Desk, Look, Place

LONGEST_NOTE = 4_000
ORGANISER = 0


def write(desk: Desk, place: Place, text: str) -> None:
    """Keep a note that nobody else sees; an empty one is none."""
    if place.seat is None:
        raise Refused("This link is for looking on; only players can keep notes.")
    note = register.clean_text(text)
    if len(note) > LONGEST_NOTE:
        raise Refused(
            "A note can have at most {most} letters; this one has {length}.", most=LONGEST_NOTE, length=len(note)
        )
    _keep(desk, place, {"note": note})


def move_at_once(desk: Desk, place: Place, wanted: bool) -> None:
    """From now on a move that was put together on this table's board is made without asking, or asked for again."""
    if place.seat is None:
        raise Refused("This link is for looking on; only players can move.")
    with desk.store.reading() as connection:
        kept = letter_settings.read_otherwise(book.seats_of(connection, place.table)[place.seat].wishes)
    _keep(desk, place, {"wishes": letter_settings.kept(replace(kept, at_once=wanted))})


def moves_at_once(desk: Desk, place: Place, look: Look) -> bool:
    """Whether whoever sits here wants to move without being asked again."""
    if place.seat is None or look.seats[place.seat].person is None:
        return False
    seat = look.seats[place.seat]
    with desk.store.reading() as connection:
        own = connection.execute(
            select(people_table.c.wishes).where(people_table.c.id == seat.person)
        ).scalar_one_or_none()
    return letter_settings.at_table(own or "", seat.wishes).at_once


def let_look_on(desk: Desk, place: Place, allowed: bool) -> None:
    """Whoever opened the table says whether others may look on."""
    if place.seat != ORGANISER:
        raise Refused("Only whoever opened this table can say who may look on.")
    with desk.store.writing() as connection:
        connection.execute(update(tables).where(tables.c.id == place.table).values(watched=allowed))


def release(desk: Desk, place: Place, agreed: bool) -> None:
    """Show a finished game to everybody, as far as this player is concerned, or not any more."""
    with desk.store.writing() as connection:
        row = book.lock(connection, place.table)
        gallery.release(connection, row, place.seat, agreed)


def _keep(desk: Desk, place: Place, changed: dict[str, Any]) -> None:
    own = update(seats).where(seats.c.table == place.table, seats.c.seat == place.seat)
    with desk.store.writing() as connection:
        connection.execute(own.values(**changed))
