"""The tables of one person: running ones by urgency, finished ones with places, a record, a calendar and a feed.

Calendar and feed have secret addresses, from which programs read deadlines and turns and can do nothing. No link that
acts for a seat leaves by them: a calendar is copied to other servers. Their links lead to “My tables”, where its owner
signs in.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, case, func, or_, select, update

from engine import catalogue
from service import links
from service.app import App
from service.notify import channels
from service.people import register
from service.people.proof import ProvenPerson
from service.store import queries
from service.store.schema import people, seats, tables
from service.tables import access, snapshots
from service.tables.access import Unknown
from service.text.feed_formats import CalendarEvent, Feed, FeedEntry, make_entry_id
from service.text.languages import Translator, format_moment, translate_in_game

PAGE_ROWS = 20  # tables or opponents on one page
REFRESH_S = 3_600  # how often a program should read the calendar again
IS_TURN = (seats.c.open_since.is_not(None), seats.c.status == "taken", tables.c.phase == "playing")


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
    at: int  # when it ended; of a running table, when it was opened
    place: int | None = None
    to_move_names: tuple[str, ...] = ()
    turn: int | None = None  # the entry with which this person's turn began


class Opponent(Struct, frozen=True):
    """Another player: the number of games together, and how many of them this person won or lost against the other."""

    name: str
    games: int
    ahead: int
    behind: int


class PlayerRecord(Struct, frozen=True):
    """A person's results: the number of times each place was reached, by game, and the opponents."""

    games: dict[str, dict[int, int]]
    opponents: tuple[Opponent, ...]


def list_running(app: App, db: Connection, person: int) -> list[MyTable]:
    """Return tables that have not ended; the most urgent first."""
    query = _select_tables(person).where(tables.c.phase != "over").order_by(tables.c.opened_at, tables.c.id)
    own = _load(app, db, db.execute(query).all())
    return sorted(own, key=lambda mine: (not mine.to_move, _rank_deadline(mine.due_at)))


def list_turns(app: App, db: Connection, person: int) -> list[MyTable]:
    """Return tables where this person is to move; the most urgent first."""
    rows = _load(app, db, db.execute(_select_tables(person).where(*IS_TURN)).all())
    return sorted(rows, key=lambda mine: (_rank_deadline(mine.due_at), mine.at))


def _rank_deadline(due_at: int | None) -> float:
    """Return a deadline as a number to sort by; a turn without one comes last."""
    return math.inf if due_at is None else due_at


def list_waiting_links(app: App, db: Connection, person: int, except_table: str) -> list[str]:
    """Return the links of this person's tables, except one, where it is the person's turn; the most urgent first."""
    rows = db.execute(_select_tables(person).where(*IS_TURN, tables.c.id != except_table)).all()
    by_urgency = sorted(rows, key=lambda row: (_rank_deadline(row.due_at), row.opened_at))
    return [access.make_seat_link(app, row) for row in by_urgency]


def find_link(app: App, db: Connection, person: int, table: str) -> str:
    """Return the link of this person's seat at a table; empty if there is none."""
    row = db.execute(_select_tables(person).where(tables.c.id == table)).first()
    return "" if row is None else access.make_seat_link(app, row)


def list_finished(app: App, db: Connection, person: int, page: int = 0) -> list[MyTable]:
    """Return one page of tables that have ended, the latest first, and one more table if there is a next page."""
    newest = _select_tables(person).where(tables.c.phase == "over").order_by(tables.c.ended_at.desc(), tables.c.id)
    return _load(app, db, db.execute(newest.limit(PAGE_ROWS + 1).offset(page * PAGE_ROWS)).all())


def load_record(db: Connection, person: int) -> PlayerRecord:
    """Return the person's record, counted by the database."""
    return PlayerRecord(_count_places(db, person), _list_opponents(db, person))


def _select_tables(person: int) -> Select[Any]:
    """Select the seats that are certainly this person's, at tables that are played here, with the tables."""
    columns = (*seats.c, tables.c.game, tables.c.phase, tables.c.opened_at, tables.c.ended_at)
    own = (seats.c.person == person, tables.c.moved_to == "", _is_certain())
    return select(*columns).select_from(seats.join(tables)).where(*own)


def _is_certain() -> ColumnElement[bool]:
    """The condition that a seat certainly belongs to its person: it is proven, or a confirmed organiser invited them.

    Else a stranger may have typed the person's address, to take the seat or to open the table.
    """
    return or_(seats.c.proven, (seats.c.status == "invited") & ~tables.c.awaits_confirmation)


def _load(app: App, db: Connection, rows: Sequence[Any]) -> list[MyTable]:
    """Describe the tables of these seats of one person, with the names of all players there."""
    columns = (seats.c.table, seats.c.seat, seats.c.name, seats.c.open_since)
    query = select(*columns).where(seats.c.table.in_([row.table for row in rows]))
    sitting = defaultdict[str, list[Any]](list)
    for seat in db.execute(query.order_by(seats.c.table, seats.c.seat)):
        sitting[seat.table].append(seat)
    return [_make_my_table(app, row, sitting[row.table]) for row in rows]


def _make_my_table(app: App, row: Any, sitting: Sequence[Any]) -> MyTable:
    """Describe a table to the player of the seat in `row`; `sitting` are all its seats."""
    return MyTable(
        table=row.table,
        game=row.game,
        seat=row.seat,
        link=access.make_seat_link(app, row),
        others=tuple(seat.name for seat in sitting if seat.seat != row.seat),
        phase=row.phase,
        to_move=row.open_since is not None and row.status == "taken",
        due_at=row.due_at,
        at=row.ended_at or row.opened_at,
        place=row.place,
        to_move_names=tuple(seat.name for seat in sitting if seat.open_since is not None),
        turn=row.open_since,
    )


def _count_places(connection: Connection, person: int) -> dict[str, dict[int, int]]:
    """Count how often a person reached each place, by game."""
    counted = (
        select(tables.c.game, seats.c.place, func.count())
        .select_from(seats.join(tables))
        .where(seats.c.person == person, seats.c.place.is_not(None), _is_certain())
        .group_by(tables.c.game, seats.c.place)
        .order_by(tables.c.game, seats.c.place)
    )
    rows = defaultdict[str, dict[int, int]](dict)
    for game, place, count in connection.execute(counted):
        rows[game][place] = count
    return dict(rows)


def _list_opponents(connection: Connection, person: int) -> tuple[Opponent, ...]:
    """Return the players with whom a person has finished the most games."""
    other = seats.alias()
    met = (other.c.table == seats.c.table) & other.c.proven & (other.c.person != person)
    counted = (
        select(
            func.max(other.c.name),  # one of the names, if there were several
            func.count(),
            func.sum(case((seats.c.place < other.c.place, 1), else_=0)),
            func.sum(case((seats.c.place > other.c.place, 1), else_=0)),
        )
        .select_from(seats.join(tables).join(other, met))
        .where(seats.c.person == person, seats.c.place.is_not(None), _is_certain())
        .group_by(other.c.person)
        .order_by(func.count().desc(), func.max(other.c.name))
        .limit(PAGE_ROWS)
    )
    rows = connection.execute(counted)
    return tuple(Opponent(name, games, ahead, behind) for name, games, ahead, behind in rows)


class FeedReader(Struct, frozen=True):
    """The person whose calendar and feed an address opens."""

    person: int
    language: str
    since: int  # when Depesche first got to know the person


def find_token(app: App, db: Connection, person: ProvenPerson) -> str:
    """Return the token of this person's calendar and feed; empty if they are closed."""
    row = db.execute(select(people.c.feeds_number, people.c.feeds_open).where(people.c.id == person.id)).one()
    return app.links.make_feeds_token(person.id, row.feeds_number) if row.feeds_open else ""


def open_feeds(db: Connection, person: ProvenPerson, at: int) -> None:
    """Give the calendar and the feed of this person new addresses, and owe a letter about it.

    The former addresses stop working. The caller wakes the worker that sends letters after the commit.
    """
    own = update(people).where(people.c.id == person.id)
    opened = own.values(feeds_number=people.c.feeds_number + 1, feeds_open=True).returning(people.c.feeds_number)
    new_number = db.execute(opened).scalar_one()
    channels.notify_owner(db, person, f"feeds/{new_number}", at)


def close_feeds(db: Connection, person: ProvenPerson) -> None:
    """Close the addresses of this person's calendar and feed."""
    db.execute(update(people).where(people.c.id == person.id).values(feeds_open=False))


def find_reader(app: App, db: Connection, token: str) -> FeedReader:
    """Return the person whose calendar and feed this token opens; raise Unknown if the token is wrong or closed."""
    (number,) = links.parse_token(token, 1)
    row = register.find_person(db, number)
    if (
        row is None
        or not row.feeds_open
        or not links.is_same_secret(app.links.make_feeds_token(row.id, row.feeds_number), token)
    ):
        raise Unknown("This address does not work any more; you find the new one in your settings.")
    return FeedReader(row.id, row.language, row.since)


def list_deadlines(app: App, db: Connection, reader: FeedReader) -> tuple[CalendarEvent, ...]:
    """Return an event for each deadline of this person, the next one first."""
    turns = [turn for turn in list_turns(app, db, reader.person) if turn.due_at is not None]
    started = _load_beginnings(db, turns)
    return tuple(_make_event(app, reader, turn, started[turn.table]) for turn in turns)


def make_feed(app: App, db: Connection, reader: FeedReader, own_url: str) -> Feed:
    """Make the feed of the tables where it is this person's turn, the latest turn first."""
    turns = list_turns(app, db, reader.person)
    started = _load_beginnings(db, turns)
    _ = Translator(reader.language).gettext
    newest = sorted(turns, key=lambda turn: started[turn.table], reverse=True)
    return Feed(
        id=make_entry_id(app.settings.mail_host, reader.since, f"turns/{reader.person}"),
        title=_("My turns on Depesche"),
        author=app.settings.sender_name,
        language=reader.language,
        url=f"{app.settings.address}/my",
        own_url=own_url,
        changed_at=max(started.values(), default=reader.since),
        entries=tuple(_make_entry(app, reader, turn, started[turn.table]) for turn in newest),
    )


def _load_beginnings(db: Connection, turns: Sequence[MyTable]) -> dict[str, int]:
    """Return when each of these turns began, by table: the time of the entry that began it."""
    places = [(turn.table, turn.turn) for turn in turns if turn.turn is not None]
    return {row.table: snapshots.parse_entry_time(row.body) for row in queries.list_entries_at(db, places)}


def _make_event(app: App, reader: FeedReader, turn: MyTable, started_at: int) -> CalendarEvent:
    """Make the calendar's event of a turn with a deadline: it is at the deadline; the turn began at `started_at`."""
    assert turn.due_at is not None
    url = _make_url(app, turn)
    return CalendarEvent(
        id=f"{turn.table}.{turn.seat}.{turn.turn}@{app.settings.mail_host}",
        at=turn.due_at,
        changed_at=started_at,
        title=_make_title(reader, turn),
        text=f"{_name_others(reader, turn)}\n{url}",
        url=url,
    )


def _make_entry(app: App, reader: FeedReader, turn: MyTable, started_at: int) -> FeedEntry:
    """Make the entry of a turn in the reader's feed, with its deadline if it has one."""
    _ = Translator(reader.language).gettext
    text = _name_others(reader, turn)
    if turn.due_at is not None:
        until = _("Until %(when)s UTC", when=format_moment(reader.language, turn.due_at))
        text = f"{text}\n{until}"
    path = f"{turn.table}/{turn.seat}/{turn.turn}"
    return FeedEntry(
        id=make_entry_id(app.settings.mail_host, reader.since, path),
        title=_make_title(reader, turn),
        text=text,
        url=_make_url(app, turn),
        at=started_at,
    )


def _make_title(reader: FeedReader, turn: MyTable) -> str:
    title = translate_in_game(reader.language, turn.game, catalogue.get_title(turn.game))
    return Translator(reader.language).gettext("%(game)s: it is your turn", game=title)


def _name_others(reader: FeedReader, turn: MyTable) -> str:
    """Return the sentence that names the other players."""
    names = ", ".join(name for name in turn.others if name)
    return Translator(reader.language).gettext("with %(names)s", names=names)


def _make_url(app: App, turn: MyTable) -> str:
    return f"{app.settings.address}/my/table/{turn.table}"
