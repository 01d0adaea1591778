"""The digest: one letter a day with all tables that wait for its reader."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, exists, select

from engine.catalogue import NotInstalled
from service import timing
from service.app import App
from service.people import letter_settings
from service.store import queries
from service.store.schema import letters, seats, tables
from service.tables import access, snapshots, talk
from service.tables.snapshots import Snapshot
from service.text import chronicle
from service.text.drawing import Voice
from service.text.languages import in_game
from service.timing import Calendar
from workers.jobs import log_missing_game

GATHERED = "gathered"
MOST = 30  # tables in one letter
LINES = 4  # of what happened, for each
RECENT = 200


class DigestTurn(Struct, frozen=True):
    """A table that waits for the reader, as the digest tells it.

    `sentences` are the last events, `talk` what the others said since the reader's last move.
    """

    title: str
    players: tuple[str, ...]
    due: datetime | None
    left: int
    sentences: tuple[str, ...]
    earlier: int
    talk: tuple[tuple[str, str], ...]
    link: str


def owe(connection: Connection, person: int, hour: int, calendar: Calendar, now: int) -> None:
    """Owe a person the next digest: today's, or tomorrow's where today's was sent already."""
    due = timing.daily(now, hour, calendar)
    while _left(connection, person, kind := _kind(calendar, due)):
        due = timing.daily(due, hour, calendar)
    queries.owe_personal_letter(connection, person, kind, due)


def _kind(calendar: Calendar, due: int) -> str:
    return f"digest/{timing.today(calendar, due).isoformat()}"


def _left(connection: Connection, person: int, kind: str) -> bool:
    left = select(letters.c.id).where(
        letters.c.person == person, letters.c.kind == kind, letters.c.sent_at.is_not(None)
    )
    return connection.execute(left).first() is not None


def waiting(app: App, person: Any) -> Sequence[Any]:
    """The seats where this person is on turn and no letter of its own said so, the most urgent first."""
    set_aside = exists().where(
        *(letters.c.table == seats.c.table, letters.c.seat == seats.c.seat, letters.c.seq == seats.c.open_since),
        *(letters.c.kind == "turn", letters.c.outcome == GATHERED),
    )
    wanted = (
        select(*seats.c, set_aside.label("gathered"))
        .select_from(seats.join(tables, tables.c.id == seats.c.table))
        .where(seats.c.person == person.id, seats.c.status == "taken", seats.c.open_since.is_not(None))
        .where(tables.c.phase == "playing", ~tables.c.held)
        .order_by(seats.c.due_at.is_(None), seats.c.due_at, seats.c.table)
    )
    with app.store.reading() as connection:
        found: Sequence[Any] = connection.execute(wanted).all()
    return [seat for seat in found if _wanted(person, seat)]


def _wanted(person: Any, seat: Any) -> bool:
    """Whether the digest tells this turn; one set aside for it stays in it when the reader changes his settings."""
    mode = letter_settings.at_table(person.wishes, seat.wishes).letters
    return mode == "digest" or (mode == "turn" and bool(seat.gathered))


def turn(app: App, seat: Any, person: Any, language: str) -> DigestTurn | None:
    """What the digest tells of a table; None while the table pauses, or waits for its game to be installed again."""
    try:
        look = snapshots.look(app, seat.table)
    except NotInstalled as missing:
        log_missing_game(seat.table, str(missing))
        return None
    if look.table.paused:
        return None
    known = snapshots.entries(app, look, max(0, look.row.length - RECENT))
    entries = chronicle.since_own_move(known, seat.seat)
    moved = known[-len(entries) - 1].at if len(entries) < len(known) else 0
    voice = Voice(look.game, look.names, language, seat.seat)
    told = [line for chapter in chronicle.chapters(look.game, entries, voice, seat.seat) for line in chapter.sentences]
    return DigestTurn(
        title=in_game(language, look.game.META.name, look.game.META.title),
        players=tuple(name for number, name in enumerate(look.names) if number != seat.seat),
        due=datetime.fromtimestamp(seat.due_at, timing.calendar(person.calendar).timezone) if seat.due_at else None,
        left=max(0, seat.due_at - app.now()) if seat.due_at else 0,
        sentences=tuple(told[-LINES:]),
        earlier=max(0, len(told) - LINES),
        talk=_talk(app, look, seat.seat, moved),
        link=f"{app.settings.address}/t/{access.link_of(app, seat)}",
    )


def _talk(app: App, look: Snapshot, seat: int, moved: int) -> tuple[tuple[str, str], ...]:
    with app.store.reading() as connection:
        return tuple((look.names[one.seat], one.text) for one in talk.since(connection, look.row.id, seat, moved))
