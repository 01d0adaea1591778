"""Table talk: what players say to each other at a table, before the game, during it and after it.

It is no part of the log: it says nothing about the game, and is deleted with the data of its author.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, func, insert, select, update

from engine.refusal import Refused
from service.people import letter_settings, register
from service.settings import DAY_S
from service.store import channel_queries, queries
from service.store.batch import OwedLetter
from service.store.schema import letters, people, seats, tables, talk
from service.tables.access import Place, require_seat
from service.timing import HOUR_S

TALK_LETTER = "talk"  # a kind of letters
TALK_DELAY_S = 60  # so that one letter has what is said in a minute
MAX_REMARK_CHARS = 1_000
MAX_REMARKS_AN_HOUR = 30  # remarks of one seat
MAX_CHARS_A_DAY = 10_000  # in the remarks of one seat
MAX_SHOWN = 50
MAX_IN_LETTER = 20


class Remark(Struct, frozen=True):
    """One remark of a seat, and its time."""

    id: int
    seat: int
    at: int
    text: str


def clean_remark(text: str) -> str:
    """Return the remark as it can be shown; raise Refused if it is empty or too long."""
    remark = register.clean_text(text)
    if not remark:
        raise Refused("Please write what you want to say; this was empty.")
    if len(remark) > MAX_REMARK_CHARS:
        raise Refused(
            "A remark can have at most {most} letters; this one has {length}, so please say it in two.",
            most=MAX_REMARK_CHARS,
            length=len(remark),
        )
    return remark


def say(db: Connection, place: Place, text: str, at: int) -> None:
    """Add a remark of a seat; the caller announces it to open pages after the commit."""
    add_remark(db, place.table, require_seat(place), text, at)


def add_remark(connection: Connection, table: str, seat: int, text: str, at: int) -> None:
    """Store a remark; raise Refused if this seat has made too many in an hour, or written too much in a day.

    Each other player who wants a letter about talk is owed one.
    """
    remark = clean_remark(text)
    own = (talk.c.table == table, talk.c.seat == seat)
    lately = select(func.count()).where(*own, talk.c.at > at - HOUR_S)
    if connection.execute(lately).scalar_one() >= MAX_REMARKS_AN_HOUR:
        raise Refused("You have said a great deal within an hour; please let the others have a word, and go on later.")
    today = select(func.coalesce(func.sum(func.length(talk.c.text)), 0)).where(*own, talk.c.at > at - DAY_S)
    if connection.execute(today).scalar_one() + len(remark) > MAX_CHARS_A_DAY:
        raise Refused("You have written a great deal at this table today; please go on tomorrow.")
    row = {"table": table, "seat": seat, "at": at, "text": remark}
    number = connection.execute(insert(talk).returning(talk.c.id), row).scalar_one()
    earlier = (tables.c.id == table, tables.c.last_remark < number)  # another remark may have been stored meanwhile
    connection.execute(update(tables).where(*earlier).values(last_remark=number))
    _owe_letters(connection, table, seat, number, at)


def _owe_letters(connection: Connection, table: str, speaker: int, number: int, at: int) -> None:
    """Owe a letter with a remark to each other player who wants one, by mail or another channel, and is owed none."""
    has_channel = channel_queries.wants_group(people.c.id, TALK_LETTER)
    listeners = (
        select(
            seats.c.seat,
            seats.c.letter_settings,
            people.c.letter_settings.label("player_letter_settings"),
            has_channel.label("has_channel"),
        )
        .select_from(seats.join(people, people.c.id == seats.c.person))
        .where(seats.c.table == table, seats.c.seat != speaker, seats.c.status == "taken")
    )
    unsent = select(letters.c.seat).where(
        letters.c.table == table, letters.c.kind.startswith(f"{TALK_LETTER}/"), letters.c.sent_at.is_(None)
    )
    owed = set(connection.execute(unsent).scalars())
    for row in connection.execute(listeners).all():
        by_mail = letter_settings.merge_settings(row.player_letter_settings, row.letter_settings).talk
        if row.seat not in owed and (by_mail or row.has_channel):
            letter = OwedLetter(row.seat, f"{TALK_LETTER}/{number}", due_at=at + TALK_DELAY_S)
            queries.owe_letter(connection, table, seq=0, letter=letter)  # a remark belongs to no entry


def list_newest(connection: Connection, table: str) -> list[Remark]:
    """Return the latest remarks, the newest at the end."""
    query = select(talk).where(talk.c.table == table).order_by(talk.c.id.desc()).limit(MAX_SHOWN)
    return _make_in_order(connection.execute(query).all())


def list_since(connection: Connection, table: str, seat: int, at: int) -> list[Remark]:
    """Return the latest remarks of others from this time on, as many as fit into a letter; the newest at the end."""
    others = select(talk).where(talk.c.table == table, talk.c.seat != seat, talk.c.at >= at)
    return _make_in_order(connection.execute(others.order_by(talk.c.id.desc()).limit(MAX_IN_LETTER)).all())


def list_unsent(connection: Connection, table: str, seat: int) -> list[Remark]:
    """Return the remarks of others since this seat's last letter, for the next one."""
    remarks = list_since(connection, table, seat, at=0)
    if not remarks:  # as at most tables, which spares them the second query
        return []
    own = (letters.c.table == table, letters.c.seat == seat, letters.c.outcome == "sent")
    last = connection.execute(select(func.max(letters.c.sent_at)).where(*own)).scalar_one() or 0
    return [remark for remark in remarks if remark.at >= last]


def _make_in_order(rows: Sequence[Any]) -> list[Remark]:
    return [Remark(row.id, row.seat, row.at, row.text) for row in reversed(rows)]
