"""A person's calendar and feed: secret addresses from which programs read deadlines and turns, and can do nothing.

No link that acts for a seat leaves by them: a calendar is copied to other servers. Their links lead to “My tables”,
where its owner signs in.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import Connection, select, update

from engine import catalogue
from service import links
from service.accounts import my_tables
from service.accounts.my_tables import MyTable
from service.app import App
from service.notify import channels
from service.people import register
from service.people.proof import ProvenPerson
from service.store import queries
from service.store.schema import people
from service.tables import snapshots
from service.tables.access import Unknown
from service.text.feed_formats import CalendarEvent, Feed, FeedEntry, make_entry_id
from service.text.languages import Translator, format_moment, translate_in_game

REFRESH_S = 3_600


class FeedReader(Struct, frozen=True):
    """The person whose calendar and feed an address opens."""

    person: int
    language: str
    since: int


def find_token(app: App, db: Connection, person: ProvenPerson) -> str:
    """Return the token of this person's calendar and feed; empty if they are closed."""
    row = db.execute(select(people.c.feeds_number, people.c.feeds_open).where(people.c.id == person.id)).one()
    return app.links.make_feeds_token(person.id, row.feeds_number) if row.feeds_open else ""


def open_feeds(app: App, person: ProvenPerson) -> None:
    """Give the calendar and the feed of this person new addresses, and owe a letter about it.

    The former addresses stop working.
    """
    with app.store.writing() as db:
        own = update(people).where(people.c.id == person.id)
        opened = own.values(feeds_number=people.c.feeds_number + 1, feeds_open=True).returning(people.c.feeds_number)
        channels.notify_owner(db, person, f"feeds/{db.execute(opened).scalar_one()}", app.now())
    app.wakeups.wake("post")


def close_feeds(app: App, person: ProvenPerson) -> None:
    """Close the addresses of this person's calendar and feed."""
    with app.store.writing() as db:
        db.execute(update(people).where(people.c.id == person.id).values(feeds_open=False))


def find_reader(app: App, db: Connection, token: str) -> FeedReader:
    """Return the person whose calendar and feed this token opens; raise Unknown if the token is wrong or closed."""
    (number,) = links.parse_subject(token, 1)
    row = register.find_person(db, number)
    if (
        row is None
        or not row.feeds_open
        or not links.is_same(app.links.make_feeds_token(row.id, row.feeds_number), token)
    ):
        raise Unknown("This address does not work any more; you find the new one in your settings.")
    return FeedReader(row.id, row.language, row.since)


def list_deadlines(app: App, db: Connection, reader: FeedReader) -> tuple[CalendarEvent, ...]:
    """Return an event for each deadline of this person, the next one first."""
    turns = [turn for turn in my_tables.list_turns(app, db, reader.person) if turn.due_at is not None]
    started = _load_beginnings(db, turns)
    return tuple(_make_event(app, reader, turn, started[turn.table]) for turn in turns)


def make_feed(app: App, db: Connection, reader: FeedReader, own_url: str) -> Feed:
    """Make the feed of the tables where it is this person's turn, the latest turn first."""
    turns = my_tables.list_turns(app, db, reader.person)
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
    """Return when each of these turns began, by table."""
    places = [(turn.table, turn.turn) for turn in turns if turn.turn is not None]
    return {row.table: snapshots.parse_moment(row.body) for row in queries.list_entries_at(db, places)}


def _make_event(app: App, reader: FeedReader, turn: MyTable, started_at: int) -> CalendarEvent:
    url = _make_url(app, turn)
    return CalendarEvent(
        id=f"{turn.table}.{turn.seat}.{turn.turn}@{app.settings.mail_host}",
        at=turn.due_at or 0,
        changed_at=started_at,
        title=_make_title(reader, turn),
        text=f"{_name_others(reader, turn)}\n{url}",
        url=url,
    )


def _make_entry(app: App, reader: FeedReader, turn: MyTable, started_at: int) -> FeedEntry:
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
    names = ", ".join(name for name in turn.others if name)
    return Translator(reader.language).gettext("with %(names)s", names=names)


def _make_url(app: App, turn: MyTable) -> str:
    return f"{app.settings.address}/my/table/{turn.table}"
