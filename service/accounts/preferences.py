"""Letter settings, quiet hours and vacations, opened by the link at the foot of a letter."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace
from sqlalchemy import Connection, insert, select, update

from engine import catalogue
from engine.refusal import Refused
from service import links, timing
from service.app import App
from service.people import letter_settings, proof, register
from service.people.letter_settings import LetterSettings, Mode, Span, TableLetterSettings
from service.people.proof import ProvenPerson
from service.store import queries
from service.store.batch import Batch
from service.store.schema import people, seats, submissions
from service.tables import seat_commands
from service.tables.access import Unknown
from service.tables.locked_table import lock_table
from service.text.languages import LANGUAGES
from service.timing import Calendar


class Recipient(Struct, frozen=True):
    """A person who gets letters, with the settings for all tables and the calendar."""

    person: ProvenPerson
    language: str
    settings: LetterSettings
    calendar: Calendar
    bounced: bool = False

    @property
    def id(self) -> int:
        return self.person.id


class TableOfRecipient(Struct, frozen=True):
    """A table of a recipient: its game, the other players, and the recipient's settings there."""

    table: str
    game: str
    title: str
    names: tuple[str, ...]
    own_settings: TableLetterSettings


def find_recipient(app: App, token: str) -> Recipient:
    """Find the person whose settings this token opens, in a transaction of its own; raise Unknown if it is wrong."""
    with app.store.reading() as db:
        return load_recipient(app, db, token)


def load_recipient(app: App, db: Connection, token: str) -> Recipient:
    """Return the person whose settings this token opens; raise Unknown if the token is wrong."""
    (number,) = links.parse_token(token, 1)
    row = register.find_person(db, number)
    person = proof.check_settings_link(app.links, row, token)
    if person is None:
        raise Unknown("This link does not work; please use the one at the foot of your newest letter.")
    settings, calendar = letter_settings.parse_settings(row.letter_settings), timing.parse_calendar(row.calendar)
    return Recipient(person, row.language, settings, calendar, row.bounced_at is not None)


def find_table(db: Connection, recipient: Recipient, table: str) -> TableOfRecipient | None:
    """Return this table with its settings; None if the person has no seat there."""
    row = queries.find_table(db, table)
    if row is None:
        return None
    rows = queries.list_seats(db, table)
    own_seats = [seat for seat in rows if seat.person == recipient.id]
    if not own_seats:
        return None
    proven_seats = [seat for seat in own_seats if seat.proven]
    own_seat, *_others = proven_seats or own_seats  # a stranger may have typed the address at the others
    names = tuple(seat.name for seat in rows if seat.name and seat.person != recipient.id)
    own_settings = letter_settings.parse_table_settings(own_seat.letter_settings)
    return TableOfRecipient(table, row.game, catalogue.get_title(row.game), names, own_settings)


def store_preferences(
    app: App, recipient: Recipient, settings: LetterSettings, calendar: Calendar, language: str
) -> None:
    """Store preferences for all tables, and recompute running deadlines and reminders."""
    if language not in LANGUAGES:
        raise Refused("Letters are written in {languages}.", languages=", ".join(LANGUAGES.values()))
    changed = {"letter_settings": letter_settings.dump_settings(settings), "language": language, "chose": True}
    with app.store.writing() as db:
        running = change_calendar(db, recipient.person, calendar)
        db.execute(update(people).where(people.c.id == recipient.id).values(**changed))
        if not settings.presence:
            db.execute(update(seats).where(seats.c.person == recipient.id).values(seen_at=None))
    restart_deadlines(app, running)


def set_language(app: App, recipient: Recipient, language: str) -> None:
    """Store the language of letters to this person."""
    if language not in LANGUAGES:
        raise Refused("Letters are written in {languages}.", languages=", ".join(LANGUAGES.values()))
    _store(app, recipient, language=language, chose=True)


def change_table_settings(
    app: App, recipient: Recipient, table: str, *, letters: Mode | UnsetType, plain: bool | UnsetType
) -> None:
    """Change these settings of one table; UNSET means the person's general setting."""
    with app.store.writing() as db:
        before = require_table(db, recipient, table).own_settings
        after = replace(before, letters=letters, plain=plain)
        letter_settings.store_table_settings(db, table, recipient.id, after)


def stop_letters(db: Connection, recipient: Recipient, table: str = "") -> Mode:
    """Stop the letters of one table, or of all; return the mode before, so that it can be undone."""
    mode = recipient.settings.letters
    if table:
        own_mode = require_table(db, recipient, table).own_settings.letters
        if own_mode is not UNSET:
            mode = own_mode
    _store_mode(db, recipient, "none", table)
    return mode


def set_letters(app: App, recipient: Recipient, mode: Mode, table: str = "") -> None:
    """Choose the letters of one table; without a table, those of all tables without exception."""
    with app.store.writing() as db:
        if table:
            require_table(db, recipient, table)
        _store_mode(db, recipient, mode, table)


def _store_mode(db: Connection, recipient: Recipient, mode: Mode, table: str) -> None:
    """Store the mode for one table; without a table for all, and delete the exceptions."""
    if table:
        letter_settings.choose_mode(db, table, recipient.id, mode)
        return
    dumped = letter_settings.dump_settings(replace(recipient.settings, letters=mode))
    db.execute(update(people).where(people.c.id == recipient.id).values(letter_settings=dumped))
    exceptions = (seats.c.person == recipient.id, seats.c.letter_settings != "")
    for seat in db.execute(select(seats.c.table, seats.c.letter_settings).where(*exceptions)).all():
        own_settings = letter_settings.parse_table_settings(seat.letter_settings)
        letter_settings.store_table_settings(db, seat.table, recipient.id, replace(own_settings, letters=UNSET))


def resume_letters(app: App, recipient: Recipient) -> None:
    """Send letters to this address again, although earlier ones came back."""
    _store(app, recipient, bounced_at=None, bounce="")


def change_calendar(db: Connection, person: ProvenPerson, calendar: Calendar) -> list[tuple[str, int]]:
    """Store a person's calendar; return table and seat of each running clock, for `restart_deadlines`."""
    dumped = timing.dump_calendar(timing.check_calendar(calendar))
    db.execute(update(people).where(people.c.id == person.id).values(calendar=dumped))
    is_timed = (seats.c.person == person.id, seats.c.proven, seats.c.clock_from.is_not(None))
    running = select(seats.c.table, seats.c.seat).where(*is_timed).order_by(seats.c.table)
    return [(table, seat) for table, seat in db.execute(running)]


def restart_deadlines(app: App, running: Iterable[tuple[str, int]]) -> None:
    """Recompute the deadlines and reminders of these seats by the calendars of their players.

    Each table is a transaction of its own, so that none is locked while another one is waited for.
    """
    for table, seat in running:
        with app.store.writing() as db:
            seat_commands.restart_deadline(lock_table(app, Batch(db), table), seat)


def list_vacations(app: App, db: Connection, recipient: Recipient) -> list[Span]:
    """Return the vacations of this person that are not over yet."""
    today = timing.find_local_date(recipient.calendar, app.now())
    return letter_settings.list_coming_vacations(db, recipient.person, today)


def start_vacation(app: App, recipient: Recipient, span: Span) -> None:
    """Store a vacation, and submit it at every running table of this person."""
    today = timing.find_local_date(recipient.calendar, app.now())
    with app.store.writing() as connection:
        letter_settings.add_vacation(connection, recipient.person, span, today, app.settings.vacation)
        first, last = span
        _submit_at_all_tables(app, connection, recipient, f"vacation {first} {last}")
    app.wakeups.wake("referee")


def end_vacation(app: App, recipient: Recipient) -> None:
    """End the current vacation or cancel the next one, and submit this at every running table."""
    with app.store.writing() as connection:
        today = timing.find_local_date(recipient.calendar, app.now())
        first, last = letter_settings.end_vacation(connection, recipient.person, today)
        _submit_at_all_tables(app, connection, recipient, f"home {first} {last}")
    app.wakeups.wake("referee")


def _submit_at_all_tables(app: App, connection: Connection, recipient: Recipient, text: str) -> None:
    """Submit a command for every seat of this person; the referee judges it like any other."""
    for table, seat in letter_settings.list_running_tables(connection, recipient.person):
        key = f"vacation/{secrets.token_hex(8)}"  # random, so that each call makes a new submission
        row = {"source": "server", "key": key, "table": table, "seat": seat, "move": text, "at": app.now()}
        connection.execute(insert(submissions), row)


def require_table(db: Connection, recipient: Recipient, table: str) -> TableOfRecipient:
    """Return a table of this person; raise Unknown if the person has no seat there."""
    own_table = find_table(db, recipient, table)
    if own_table is None:
        raise Unknown("You have no seat at this table, so no letters come from it.")
    return own_table


def _store(app: App, recipient: Recipient, **values: Any) -> None:
    """Change columns of this person's row, in a transaction of its own."""
    with app.store.writing() as connection:
        connection.execute(update(people).where(people.c.id == recipient.id).values(**values))
