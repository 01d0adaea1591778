"""The gallery: finished games that all their players show to the public, until one of them takes that back.

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


def make_link(table: str) -> str:
    """Return the public link of a game in the gallery; it leads nowhere once the game is taken down."""
    return PREFIX + table


def find_table(db: Connection, token: str) -> str | None:
    """Return the table of a public link; None if the gallery does not show it."""
    if not token.startswith(PREFIX):
        return None
    wanted = select(tables.c.id).where(tables.c.id == token.removeprefix(PREFIX), _is_released())
    return db.execute(wanted).scalar_one_or_none()


def list_released(db: Connection, page: int) -> tuple[list[str], bool]:
    """Return the tables on one page of the gallery, those that ended last first, and whether there are more."""
    drawable = tables.c.game.in_(catalogue.find_all())
    newest = select(tables.c.id).where(_is_released() & drawable).order_by(tables.c.ended_at.desc(), tables.c.id)
    names = db.execute(newest.offset(page * PAGE).limit(PAGE + 1)).scalars().all()
    return list(names[:PAGE]), len(names) > PAGE


def _is_released() -> ColumnElement[bool]:
    """The condition that a table is over, and every person with a seat has released it."""
    shown = select(seats.c.table).where(seats.c.released)
    held_back = exists().where(seats.c.table == tables.c.id, seats.c.person.is_not(None), ~seats.c.released)
    return tables.c.id.in_(shown) & (tables.c.phase == "over") & ~held_back


def set_released(db: Connection, row: Any, seat: int, agreed: bool) -> None:
    """Store whether this seat's player agrees to show the game in the gallery."""
    if row.phase != "over":
        raise Refused("The game is not over yet; it can be shown in the gallery when it is.")
    own = update(seats).where(seats.c.table == row.id, seats.c.seat == seat)
    db.execute(own.values(released=agreed))
