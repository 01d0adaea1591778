"""Letter settings, quiet hours and vacations of the person behind the link in the foot of a letter."""

from __future__ import annotations

import secrets
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace
from sqlalchemy import Connection, insert, select, update

from engine import catalogue
from engine.refusal import Refused
from service import links, timing
from service.app import App
from service.people import letter_settings, register, vacations
from service.people.letter_settings import LetterSettings, Mode, TableLetterSettings
from service.people.vacations import Span
from service.store import queries
from service.store.batch import Batch
from service.store.schema import people, seats, submissions
from service.tables import seat_changes
from service.tables.access import Unknown
from service.tables.locked_table import lock_table
from service.text.languages import LANGUAGES
from service.timing import Calendar


class Recipient(Struct, frozen=True):
    """A person who gets letters: his settings for all tables, and his calendar."""

    id: int
    language: str
    settings: LetterSettings
    calendar: Calendar
    bounced: bool = False


class TableOfRecipient(Struct, frozen=True):
    """A table where this person plays: its game, the other players, and his own settings there."""

    table: str
    game: str
    title: str
    names: tuple[str, ...]
    otherwise: TableLetterSettings


def reader(app: App, token: str) -> Recipient:
    """The person whose settings this token opens: `person.proof`."""
    (number,) = links.subject(token, 1)
    with app.store.reading() as connection:
        row = register.find(connection, number)
    gone = row is None or row.address == register.forgotten(row.id)
    if gone or not links.same(app.links.preferences(row.id), token.lower()):
        raise Unknown("This link belongs to nobody’s letters; please use the one in the foot of your newest letter.")
    found, calendar = letter_settings.read(row.wishes), timing.calendar(row.calendar)
    return Recipient(row.id, row.language, found, calendar, row.bounced_at is not None)


def seated(app: App, one: Recipient, table: str) -> TableOfRecipient | None:
    """The settings at this table; None where this person has no seat there."""
    with app.store.reading() as connection:
        row = queries.find_table(connection, table)
        rows = queries.list_seats(connection, table) if row is not None else ()
    own = [seat for seat in rows if seat.person == one.id]
    if row is None or not own:
        return None
    names = tuple(seat.name for seat in rows if seat.name and seat.person != one.id)
    return TableOfRecipient(
        table, row.game, catalogue.get_title(row.game), names, letter_settings.read_otherwise(own[0].wishes)
    )


def keep(app: App, one: Recipient, settings: LetterSettings, calendar: Calendar, language: str) -> None:
    """From now on this holds everywhere; deadlines and reminders that run are worked out anew."""
    if language not in LANGUAGES:
        raise Refused("Letters are written in {languages}.", languages=", ".join(LANGUAGES.values()))
    rest(app, one.id, calendar)
    _note(app, one, wishes=letter_settings.kept(settings), language=language, chose=True)


def speak(app: App, one: Recipient, language: str) -> None:
    """Write to this person in this language from now on."""
    if language not in LANGUAGES:
        raise Refused("Letters are written in {languages}.", languages=", ".join(LANGUAGES.values()))
    _note(app, one, language=language, chose=True)


def keep_at(app: App, one: Recipient, table: str, otherwise: TableLetterSettings) -> None:
    """From now on this holds at one table."""
    check_seated(app, one, table)
    with app.store.writing() as connection:
        letter_settings.keep_at(connection, table, one.id, otherwise)


def stop(app: App, one: Recipient, table: str = "") -> Mode:
    """Stop the letters of one table, or all; the result is the mode before, so that it can be undone."""
    before = _letters(app, one, table)
    set_letters(app, one, "none", table)
    return before


def set_letters(app: App, one: Recipient, mode: Mode, table: str = "") -> None:
    """Letters of this kind from one table, or from everywhere with no table left out."""
    if table:
        check_seated(app, one, table)
        with app.store.writing() as connection:
            letter_settings.choose(connection, table, one.id, mode)
        return
    _note(app, one, wishes=letter_settings.kept(replace(one.settings, letters=mode)))
    with app.store.writing() as connection:
        told = select(seats.c.table, seats.c.wishes).where(seats.c.person == one.id, seats.c.wishes != "")
        for seat in connection.execute(told).all():
            kept = letter_settings.read_otherwise(seat.wishes)
            letter_settings.keep_at(connection, seat.table, one.id, replace(kept, letters=UNSET))


def again(app: App, one: Recipient) -> None:
    """Write to this address again, though letters to it came back."""
    _note(app, one, bounced_at=None, bounce="")


def rest(app: App, person: int, calendar: Calendar) -> None:
    """From now on this person lives by that calendar, at all tables."""
    kept = timing.kept(timing.checked_calendar(calendar))
    own = select(seats.c.table, seats.c.seat).where(seats.c.person == person, seats.c.clock_from.is_not(None))
    with app.store.writing() as connection:
        connection.execute(update(people).where(people.c.id == person).values(calendar=kept))
    with app.store.reading() as connection:
        running = connection.execute(own.order_by(seats.c.table)).all()
    for seat in running:
        with app.store.writing() as connection:
            locked = lock_table(app, Batch(connection), seat.table)
            held, share = locked.seats[seat.seat], app.settings.reminder
            update_ = seat_changes.rested(held, locked.table, locked.clock, share, app.now())
            if update_ is not None:
                queries.update_seat(connection, seat.table, update_)


def away(app: App, one: Recipient) -> list[Span]:
    """The vacations of this reader that are not over yet."""
    with app.store.reading() as connection:
        return vacations.coming(connection, one.id, timing.today(one.calendar, app.now()))


def leave(app: App, one: Recipient, span: Span) -> None:
    """Go on vacation; every table where this reader plays is told."""
    today = timing.today(one.calendar, app.now())
    with app.store.writing() as connection:
        vacations.grant(connection, one.id, span, today, app.settings.vacation)
        _tell(app, connection, one, f"vacation {span[0]} {span[1]}")
    app.wakeups.wake("referee")


def come_home(app: App, one: Recipient) -> None:
    """End the vacation that runs, or call the next one off; every table is told."""
    with app.store.writing() as connection:
        first, last = vacations.end(connection, one.id, timing.today(one.calendar, app.now()))
        _tell(app, connection, one, f"home {first} {last}")
    app.wakeups.wake("referee")


def _tell(app: App, connection: Connection, one: Recipient, text: str) -> None:
    """Hand this in for every seat where the reader plays, to be judged in line like everything else."""
    for table, seat in vacations.elsewhere(connection, one.id, ""):
        key = f"wishes/{secrets.token_hex(8)}"
        row = {"source": "server", "key": key, "table": table, "seat": seat, "move": text, "at": app.now()}
        connection.execute(insert(submissions), row)


def _letters(app: App, one: Recipient, table: str) -> Mode:
    if not table:
        return one.settings.letters
    own = check_seated(app, one, table).otherwise.letters
    return one.settings.letters if own is UNSET else own


def check_seated(app: App, one: Recipient, table: str) -> TableOfRecipient:
    """The table where the reader sits, refused where he does not."""
    found = seated(app, one, table)
    if found is None:
        raise Unknown("You have no seat at this table, so no letters come from it.")
    return found


def _note(app: App, one: Recipient, **values: Any) -> None:
    with app.store.writing() as connection:
        connection.execute(update(people).where(people.c.id == one.id).values(**values))
