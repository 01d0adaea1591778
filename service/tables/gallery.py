"""The gallery: finished games that all their players show to the public until one of them takes that back.

A name is shown only where its owner agrees: every person with a seat has to release the game, also after a bot played
on. Bots and deleted players count as agreed.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, select, update

from engine import catalogue
from engine.refusal import Refused
from service.store.schema import seats, tables

PAGE = 20
PREFIX = "gallery."


def link(table: str) -> str:
    """Where a game of the gallery is looked at: no secret, and it leads nowhere when the game is taken down."""
    return PREFIX + table


def table_of(connection: Connection, token: str) -> str | None:
    """The table behind such a link, if it hangs in the gallery."""
    if not token.startswith(PREFIX):
        return None
    wanted = select(tables.c.id).where(tables.c.id == token.removeprefix(PREFIX), _released())
    return connection.execute(wanted).scalar_one_or_none()


def hung(connection: Connection, page: int) -> tuple[list[str], bool]:
    """The tables on one page of the gallery, those that ended last first, and whether there are more."""
    drawable = tables.c.game.in_(catalogue.find_all())
    newest = select(tables.c.id).where(_released() & drawable).order_by(tables.c.ended_at.desc(), tables.c.id)
    found = connection.execute(newest.offset(page * PAGE).limit(PAGE + 1)).scalars().all()
    return list(found[:PAGE]), len(found) > PAGE


def _released() -> ColumnElement[bool]:
    """The table is over, and every person who plays there has released it."""
    shown = select(seats.c.table).where(seats.c.released)
    held_back = exists().where(seats.c.table == tables.c.id, seats.c.person.is_not(None), ~seats.c.released)
    return tables.c.id.in_(shown) & (tables.c.phase == "over") & ~held_back


def release(connection: Connection, row: Any, seat: int, agreed: bool) -> None:
    """Note whether this seat's player shows the game to everybody."""
    if row.phase != "over":
        raise Refused("The game is not over yet; it can be shown in the gallery when it is.")
    own = update(seats).where(seats.c.table == row.id, seats.c.seat == seat)
    connection.execute(own.values(released=agreed))
