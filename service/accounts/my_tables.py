"""One person's tables: running ones by urgency, finished ones with places, and statistics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, case, func, or_, select

from engine import canonical_json
from service.app import App
from service.store import queries
from service.store.schema import seats, tables
from service.tables import access

PAGE = 20
UNRANKED = 100  # so many games from before places were noted are looked through at a time


class MyTable(Struct, frozen=True):
    """A table where this person has a seat."""

    table: str
    game: str
    seat: int
    link: str
    others: tuple[str, ...]
    phase: str
    to_move: bool
    due_at: int | None
    at: int
    place: int | None = None
    awaited: tuple[str, ...] = ()


class Opponent(Struct, frozen=True):
    """Another player: how many games together, and in how many this person was ahead or behind."""

    name: str
    games: int
    ahead: int
    behind: int


class PlayerRecord(Struct, frozen=True):
    """What has been played: for each game how often which place was reached, and against whom."""

    games: dict[str, dict[int, int]]
    opponents: tuple[Opponent, ...]


def running(app: App, person: int) -> list[MyTable]:
    """Tables that have not ended; the most urgent first."""
    with app.store.reading() as connection:
        wanted = _own(person).where(tables.c.phase != "over").order_by(tables.c.opened_at, tables.c.id)
        found = _told(app, connection, connection.execute(wanted).all())
    return sorted(found, key=lambda mine: (not mine.to_move, mine.due_at is None, mine.due_at or 0))


def waiting(app: App, person: int) -> list[MyTable]:
    """Tables where this person is to move; the most urgent first."""
    open_now = (seats.c.open_since.is_not(None), seats.c.status == "taken", tables.c.phase == "playing")
    with app.store.reading() as connection:
        found = _told(app, connection, connection.execute(_own(person).where(*open_now)).all())
    return sorted(found, key=lambda mine: (mine.due_at is None, mine.due_at or 0, mine.at))


def list_waiting_links(app: App, db: Connection, person: int, but: str) -> list[str]:
    """The links of this person's tables, except one, where it is the person's turn; the most urgent first."""
    open_now = (seats.c.open_since.is_not(None), seats.c.status == "taken", tables.c.phase == "playing")
    rows = db.execute(_own(person).where(*open_now, tables.c.id != but)).all()
    by_urgency = sorted(rows, key=lambda row: (row.due_at is None, row.due_at or 0, row.opened_at))
    return [access.link_of(app, row) for row in by_urgency]


def questioned(app: App, person: int) -> list[str]:
    """The games of tables that somebody opened with this address, and that are this person's once he says so."""
    own = (seats.c.person == person, tables.c.held, seats.c.seat == queries.organiser_of(seats.c.table))
    wanted = select(tables.c.game).select_from(seats.join(tables)).where(*own).order_by(tables.c.opened_at)
    with app.store.reading() as connection:
        return list(connection.execute(wanted).scalars())


def finished(app: App, person: int, page: int = 0) -> list[MyTable]:
    """Tables that have ended, the latest first, a page at a time and one more where there is a next page."""
    with app.store.reading() as connection:
        newest = _own(person).where(tables.c.phase == "over").order_by(tables.c.ended_at.desc(), tables.c.id)
        rows = connection.execute(newest.limit(PAGE + 1).offset(page * PAGE)).all()
        return _told(app, connection, rows)


def played(app: App, person: int) -> PlayerRecord:
    """The person's record, counted by the database."""
    _rank(app, person)
    with app.store.reading() as connection:
        return PlayerRecord(_places(connection, person), _opponents(connection, person))


def _own(person: int) -> Select[Any]:
    columns = (*seats.c, tables.c.game, tables.c.phase, tables.c.opened_at, tables.c.ended_at)
    own = (seats.c.person == person, tables.c.moved_to == "", _known())
    return select(*columns).select_from(seats.join(tables)).where(*own)


def _known() -> ColumnElement[bool]:
    """Where a seat is its person's beyond doubt: not if a stranger may have typed the address in opening the table."""
    sat_down = (seats.c.seat != queries.organiser_of(seats.c.table)) & (seats.c.status != "invited")
    return or_(~tables.c.held, sat_down)


def _told(app: App, connection: Connection, rows: Sequence[Any]) -> list[MyTable]:
    names, awaited = defaultdict[str, dict[int, str]](dict), defaultdict[str, list[str]](list)
    columns = (seats.c.table, seats.c.seat, seats.c.name, seats.c.open_since)
    sitting = select(*columns).where(seats.c.table.in_([row.table for row in rows]))
    for seat in connection.execute(sitting.order_by(seats.c.table, seats.c.seat)):
        names[seat.table][seat.seat] = seat.name
        if seat.open_since is not None:
            awaited[seat.table].append(seat.name)
    return [
        MyTable(
            row.table,
            row.game,
            row.seat,
            access.link_of(app, row),
            tuple(name for seat, name in names[row.table].items() if seat != row.seat),
            row.phase,
            row.open_since is not None and row.status == "taken",
            row.due_at,
            row.ended_at or row.opened_at,
            row.place,
            tuple(awaited[row.table]),
        )
        for row in rows
    ]


def _places(connection: Connection, person: int) -> dict[str, dict[int, int]]:
    counted = (
        select(tables.c.game, seats.c.place, func.count())
        .select_from(seats.join(tables))
        .where(seats.c.person == person, seats.c.place.is_not(None), _known())
        .group_by(tables.c.game, seats.c.place)
        .order_by(tables.c.game, seats.c.place)
    )
    found = defaultdict[str, dict[int, int]](dict)
    for game, place, count in connection.execute(counted):
        found[game][place] = count
    return dict(found)


def _opponents(connection: Connection, person: int) -> tuple[Opponent, ...]:
    other = seats.alias()
    met = (other.c.table == seats.c.table) & other.c.person.is_not(None) & (other.c.person != person)
    counted = (
        select(
            func.max(other.c.name),
            func.count(),
            func.sum(case((seats.c.place < other.c.place, 1), else_=0)),
            func.sum(case((seats.c.place > other.c.place, 1), else_=0)),
        )
        .select_from(seats.join(tables).join(other, met))
        .where(seats.c.person == person, seats.c.place.is_not(None), _known())
        .group_by(other.c.person)
        .order_by(func.count().desc(), func.max(other.c.name))
        .limit(PAGE)
    )
    return tuple(Opponent(*row) for row in connection.execute(counted))


def _rank(app: App, person: int) -> None:
    """Note the places of games that ended before they were noted at once; the last entry of a log tells them."""
    unranked = select(tables).select_from(seats.join(tables))
    wanted = unranked.where(seats.c.person == person, tables.c.phase == "over", seats.c.place.is_(None))
    with app.store.reading() as connection:
        rows = connection.execute(wanted.limit(UNRANKED)).all()
    for row in rows:
        with app.store.writing() as connection:
            (last,) = queries.list_entries(connection, row.id, row.length - 1, row.length)
            ended = next(
                event for event in canonical_json.decode_object(last.body)["events"] if event["type"] == "table.Ended"
            )
            queries.store_places(connection, row.id, tuple(ended["places"]))
