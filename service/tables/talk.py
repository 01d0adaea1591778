"""Table talk: what players say to each other at a table, before the game, during it and after it.

It is no part of the log: it says nothing about the game, and it goes when whoever said it wants to be forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, func, insert, select

from engine.refusal import Refused
from service.app import App
from service.people import register
from service.store.schema import letters, talk
from service.tables.access import Place, player

LONGEST = 1_000
AN_HOUR = 30  # remarks of one seat
SHOWN = 50
IN_A_LETTER = 20


class Remark(Struct, frozen=True):
    """What a seat said, and when."""

    id: int
    seat: int
    at: int
    text: str


def clean(text: str) -> str:
    """A remark as it can be shown."""
    said = register.clean_text(text)
    if not said:
        raise Refused("Please write what you want to say; this was empty.")
    if len(said) > LONGEST:
        raise Refused(
            "A remark can have at most {most} letters; this one has {length}, so please say it in two.",
            most=LONGEST,
            length=len(said),
        )
    return said


def say(app: App, place: Place, text: str) -> None:
    """Say something at the table."""
    seat = player(place)
    with app.store.writing() as connection:
        note(connection, place.table, seat, text, app.now())
    app.wakeups.announce(place.table, topic="talk")


def note(connection: Connection, table: str, seat: int, text: str, at: int) -> None:
    """Add a remark, unless this seat has said a great deal within the last hour."""
    said = clean(text)
    lately = select(func.count()).where(talk.c.table == table, talk.c.seat == seat, talk.c.at > at - 3_600)
    if connection.execute(lately).scalar_one() >= AN_HOUR:
        raise Refused("You have said a great deal within an hour; please let the others have a word, and go on later.")
    connection.execute(insert(talk), {"table": table, "seat": seat, "at": at, "text": said})


def newest(connection: Connection, table: str) -> list[Remark]:
    """What was said last, the newest at the end."""
    wanted = select(talk).where(talk.c.table == table).order_by(talk.c.id.desc()).limit(SHOWN)
    return _remarks(connection.execute(wanted).all())


def number(connection: Connection, table: str) -> int:
    """A number that grows with every remark."""
    return connection.execute(select(func.max(talk.c.id)).where(talk.c.table == table)).scalar_one() or 0


def since(connection: Connection, table: str, seat: int, at: int) -> list[Remark]:
    """What others said from this moment on, as much of it as fits into a letter."""
    others = select(talk).where(talk.c.table == table, talk.c.seat != seat, talk.c.at >= at)
    return _remarks(connection.execute(others.order_by(talk.c.id.desc()).limit(IN_A_LETTER)).all())


def untold(connection: Connection, table: str, seat: int) -> list[Remark]:
    """What others said since this seat's last letter: what the next one has to bring along."""
    said = since(connection, table, seat, 0)
    if not said:
        return []
    own = (letters.c.table == table, letters.c.seat == seat, letters.c.outcome == "sent")
    last = connection.execute(select(func.max(letters.c.sent_at)).where(*own)).scalar_one() or 0
    return [remark for remark in said if remark.at >= last]


def _remarks(rows: Sequence[Any]) -> list[Remark]:
    return [Remark(row.id, row.seat, row.at, row.text) for row in reversed(rows)]
