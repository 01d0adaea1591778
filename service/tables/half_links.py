"""Half of a link that a log tells: such seats get another link, by letter.

In earlier versions a program that sat down without a word of its own for the dice gave half of its link as its word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from service.house import House
from service.links import hashed
from service.store import book, facts
from service.store.appending import Owed
from service.store.schema import entries, seats, tables
from service.tables import clerk, judging
from service.text.languages import Said

DONE = "half links"
FIRST = 32  # entries; everybody sits down among these
WHY = Said(
    "This seat has a new link, because half of the old one stands in the log of its table. "
    "The old link and the answers to earlier letters lead nowhere any more."
)


def renew(house: House) -> None:
    """Give every seat of a game that goes on, whose log tells half of its link, another one; once for a database."""
    with house.store.reading() as connection:
        known = facts.read(connection, [DONE])
        told = [] if known else list(_told(house, connection))
    for table, seat, number in told:
        _renew(house, table, seat, number)
    if not known:
        with house.store.writing() as connection:
            facts.note(connection, DONE, str(len(told)))


def _told(house: House, connection: Connection) -> Iterator[tuple[str, int, int]]:
    """The seats whose log tells half of their present link."""
    played = (tables.c.phase.in_(("gathering", "playing"))) & seats.c.person.is_not(None)
    joined = entries.join(tables, tables.c.id == entries.c.table).join(seats, seats.c.table == tables.c.id)
    sat = select(entries.c.body, seats.c.table, seats.c.seat, seats.c.link_number).select_from(joined)
    sat = sat.where(played, entries.c.seq < FIRST, entries.c.body.like('%"table.Sat"%'))
    for row in connection.execute(sat):
        words = {event["nonce"] for event in _seated(row.body) if event["seat"] == row.seat}
        if house.links.seat(row.table, row.seat, row.link_number)[:16] in words:
            yield row.table, row.seat, row.link_number


def _seated(body: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = msgspec.json.decode(body)["events"]
    return [event for event in found if event["type"] == "table.Sat"]


def _renew(house: House, table: str, seat: int, number: int) -> None:
    """A new link for this seat, and a letter that brings it; nothing where another process was quicker."""
    with judging.at_table(house, table) as work:
        held = book.seats_of(work.locked.connection, table)[seat]
        if held.link_number != number:
            return
        link = hashed(house.links.seat(table, seat, number + 1))
        work.locked = clerk.change_seat(work.locked, seat, link=link, link_number=number + 1)
        letter = Owed(seat, "seat/link", house.now())
        book.owe(work.locked.connection, table, work.locked.table.length - 1, letter, WHY)
