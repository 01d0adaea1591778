"""What somebody wants to be written, and when he rests: kept for whoever holds the link in the foot of his letters."""

from __future__ import annotations

import hmac
import secrets
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace
from sqlalchemy import Connection, insert, select, update

from engine import catalogue
from engine.refusal import Refused
from service import timing
from service.people import letter_settings, vacations
from service.people.letter_settings import Mode, Otherwise, Wishes
from service.people.register import forgotten
from service.people.vacations import Span
from service.store import book
from service.store.schema import people, seats, submissions
from service.tables import clerk, seat_changes
from service.tables.desk import Desk, Unknown
from service.text.languages import LANGUAGES
from service.timing import Calendar


class Reader(Struct, frozen=True):
    """Somebody letters go to: what is wished for everywhere, and how he lives."""

    id: int
    language: str
    wishes: Wishes
    calendar: Calendar
    bounced: bool = False


class Seated(Struct, frozen=True):
    """A table where this reader sits: its game, who plays, and what is wished for otherwise there."""

    table: str
    game: str
    title: str
    names: tuple[str, ...]
    otherwise: Otherwise


def reader(desk: Desk, token: str) -> Reader:
    """Whose wishes this token may change: `person.proof`."""
    number, _, _ = token.partition(".")
    person = int(number) if number.isascii() and number.isdecimal() and len(number) < 19 else 0
    known = (people.c.id == person, people.c.address != forgotten(person))
    with desk.store.reading() as connection:
        row = connection.execute(select(people).where(*known)).one_or_none()
    if row is None or not hmac.compare_digest(desk.links.wishes(person).encode(), token.lower().encode()):
        raise Unknown("This link belongs to nobody’s letters; please use the one in the foot of your newest letter.")
    found, calendar = letter_settings.read(row.wishes), timing.calendar(row.calendar)
    return Reader(row.id, row.language, found, calendar, row.bounced_at is not None)


def seated(desk: Desk, one: Reader, table: str) -> Seated | None:
    """What is wished for at this table, where the reader sits there."""
    with desk.store.reading() as connection:
        row = book.find(connection, table)
        rows = book.seats_of(connection, table) if row is not None else ()
    own = [seat for seat in rows if seat.person == one.id]
    if row is None or not own:
        return None
    game = catalogue.find(row.game).META
    names = tuple(seat.name for seat in rows if seat.name and seat.person != one.id)
    return Seated(table, game.name, game.title, names, letter_settings.read_otherwise(own[0].wishes))


def keep(desk: Desk, one: Reader, wished: Wishes, calendar: Calendar, language: str) -> None:
    """From now on this holds everywhere; deadlines and reminders that run are worked out anew."""
    if language not in LANGUAGES:
        raise Refused("Letters are written in {languages}.", languages=", ".join(LANGUAGES.values()))
    rest(desk, one.id, calendar)
    _note(desk, one, wishes=letter_settings.kept(wished), language=language)


def keep_at(desk: Desk, one: Reader, table: str, otherwise: Otherwise) -> None:
    """From now on this holds at one table."""
    check_seated(desk, one, table)
    with desk.store.writing() as connection:
        _note_at(connection, table, one.id, otherwise)


def stop(desk: Desk, one: Reader, table: str = "") -> Mode:
    """Write nothing more from one table, or from anywhere; what was wished for before, so that it can be undone."""
    before = _letters(desk, one, table)
    set_letters(desk, one, "none", table)
    return before


def set_letters(desk: Desk, one: Reader, mode: Mode, table: str = "") -> None:
    """Letters of this kind from one table, or from everywhere with no table left out."""
    if table:
        check_seated(desk, one, table)
        with desk.store.writing() as connection:
            choose(connection, table, one.id, mode)
        return
    _note(desk, one, wishes=letter_settings.kept(replace(one.wishes, letters=mode)))
    with desk.store.writing() as connection:
        told = select(seats.c.table, seats.c.wishes).where(seats.c.person == one.id, seats.c.wishes != "")
        for seat in connection.execute(told).all():
            kept = letter_settings.read_otherwise(seat.wishes)
            _note_at(connection, seat.table, one.id, replace(kept, letters=UNSET))


def choose(connection: Connection, table: str, person: int, mode: Mode) -> None:
    """Letters of this kind from one table; where all tables do so anyway, it is not kept as something other."""
    joined = seats.join(people, people.c.id == seats.c.person)
    wanted = select(seats.c.wishes, people.c.wishes.label("everywhere")).select_from(joined)
    kept = connection.execute(wanted.where(seats.c.table == table, people.c.id == person)).first()
    assert kept
    other = UNSET if mode == letter_settings.read(kept.everywhere).letters else mode
    _note_at(connection, table, person, replace(letter_settings.read_otherwise(kept.wishes), letters=other))


def again(desk: Desk, one: Reader) -> None:
    """Write to this address again, though letters to it came back."""
    _note(desk, one, bounced_at=None, bounce="")


def rest(desk: Desk, person: int, calendar: Calendar) -> None:
    """From now on this person lives by that calendar, at all tables."""
    kept = timing.kept(timing.checked_calendar(calendar))
    own = select(seats.c.table, seats.c.seat).where(seats.c.person == person, seats.c.clock_from.is_not(None))
    with desk.store.writing() as connection:
        connection.execute(update(people).where(people.c.id == person).values(calendar=kept))
    with desk.store.reading() as connection:
        running = connection.execute(own.order_by(seats.c.table)).all()
    for seat in running:
        with desk.store.writing() as connection:
            desktop = clerk.take(connection, desk.shelf, seat.table)
            assert desktop
            held, share = desktop.seats[seat.seat], desk.settings.reminder
            chair = seat_changes.rested(held, desktop.table, desktop.clock, share, desk.now())
            if chair is not None:
                book.sit(connection, seat.table, chair)


def away(desk: Desk, one: Reader) -> list[Span]:
    """The vacations of this reader that are not over yet."""
    with desk.store.reading() as connection:
        return vacations.coming(connection, one.id, timing.today(one.calendar, desk.now()))


def leave(desk: Desk, one: Reader, span: Span) -> None:
    """Go on vacation; every table where this reader plays is told."""
    today = timing.today(one.calendar, desk.now())
    with desk.store.writing() as connection:
        vacations.grant(connection, one.id, span, today, desk.settings.vacation)
        _tell(desk, connection, one, f"vacation {span[0]} {span[1]}")
    desk.bells.ring("referee")


def come_home(desk: Desk, one: Reader) -> None:
    """End the vacation that runs, or call the next one off; every table is told."""
    with desk.store.writing() as connection:
        first, last = vacations.end(connection, one.id, timing.today(one.calendar, desk.now()))
        _tell(desk, connection, one, f"home {first} {last}")
    desk.bells.ring("referee")


def _tell(desk: Desk, connection: Connection, one: Reader, text: str) -> None:
    """Hand this in for every seat where the reader plays, to be judged in line like everything else."""
    for table, seat in vacations.elsewhere(connection, one.id, ""):
        key = f"{table}/{seat}/wishes/{secrets.token_hex(8)}"
        row = {"key": key, "table": table, "seat": seat, "move": text, "at": desk.now()}
        connection.execute(insert(submissions), row)


def _letters(desk: Desk, one: Reader, table: str) -> Mode:
    if not table:
        return one.wishes.letters
    own = check_seated(desk, one, table).otherwise.letters
    return one.wishes.letters if own is UNSET else own


def check_seated(desk: Desk, one: Reader, table: str) -> Seated:
    """The table where the reader sits, refused where he does not."""
    found = seated(desk, one, table)
    if found is None:
        raise Unknown("You have no seat at this table, so no letters come from it.")
    return found


def _note(desk: Desk, one: Reader, **values: Any) -> None:
    with desk.store.writing() as connection:
        connection.execute(update(people).where(people.c.id == one.id).values(**values))


def _note_at(connection: Connection, table: str, person: int, otherwise: Otherwise) -> None:
    kept = "" if otherwise == Otherwise() else letter_settings.kept(otherwise)
    own = (seats.c.table == table, seats.c.person == person)
    connection.execute(update(seats).where(*own).values(wishes=kept))
