"""Settings of letters: those that a player wants, for all tables and for single ones, and vacations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace
from sqlalchemy import Connection, delete, insert, select, update

from engine.canonical_json import make_decoder
from engine.refusal import Refused
from service.people.proof import ProvenPerson
from service.store.schema import people, seats, tables, vacations

Mode = Literal["turn", "digest", "reminders", "none"]
Hour = Annotated[int, Meta(ge=0, le=23)]


class LetterSettings(Struct, frozen=True):
    """The letters a player gets: one for every turn, one a day at `hour`, only reminders, or none.

    `plain` letters have neither HTML nor picture; with `at_once` a page makes a move without asking again. With `talk`
    remarks of other players come in letters of their own, instead of in the next letter about the game. With
    `mail_waits` a letter about a turn leaves only if no other channel took the notice, or two hours after it did. With
    `presence` the other players of a table see when this one was last there.
    """

    letters: Mode = "turn"
    hour: Hour = 8
    plain: bool = False
    at_once: bool = False
    talk: bool = False
    mail_waits: bool = False
    presence: bool = True


class TableLetterSettings(Struct, frozen=True, omit_defaults=True):
    """Settings of one table; UNSET means the person's general setting."""

    letters: Mode | UnsetType = UNSET
    plain: bool | UnsetType = UNSET
    at_once: bool | UnsetType = UNSET
    presence: bool | UnsetType = UNSET


def parse_settings(text: str) -> LetterSettings:
    """Parse the stored settings of a person; where none are stored, return the default ones."""
    settings: LetterSettings = make_decoder(LetterSettings).decode(text) if text else LetterSettings()
    return settings


def parse_table_settings(text: str) -> TableLetterSettings:
    """Parse the stored settings of one table; where none are stored, all are UNSET."""
    settings: TableLetterSettings = make_decoder(TableLetterSettings).decode(text) if text else TableLetterSettings()
    return settings


def merge_settings(stored_for_all: str, stored_for_table: str) -> LetterSettings:
    """Return the settings for one table: its own, and those of the person for the rest."""
    merged, _ = parse_both(stored_for_all, stored_for_table)
    return merged


def parse_both(stored_for_all: str, stored_for_table: str) -> tuple[LetterSettings, TableLetterSettings]:
    """Return the settings for one table as they are merged, and those of the table alone."""
    at_table = parse_table_settings(stored_for_table)
    own = {name: value for name, value in msgspec.structs.asdict(at_table).items() if value is not UNSET}
    return replace(parse_settings(stored_for_all), **own), at_table


def dump_settings(settings: LetterSettings | TableLetterSettings) -> str:
    """Return the text to store for these settings."""
    return msgspec.json.encode(settings).decode()


def choose_mode(connection: Connection, table: str, person: int, mode: Mode) -> None:
    """Set the letters of one table; where the person's general setting is the same, the table follows that one."""
    joined = seats.join(people, people.c.id == seats.c.person)
    stored = select(people.c.letter_settings, seats.c.letter_settings).select_from(joined)
    row = connection.execute(stored.where(seats.c.table == table, people.c.id == person)).first()
    assert row
    for_all, for_table = row
    own_mode = UNSET if mode == parse_settings(for_all).letters else mode
    store_table_settings(connection, table, person, replace(parse_table_settings(for_table), letters=own_mode))


def store_table_settings(connection: Connection, table: str, person: int, settings: TableLetterSettings) -> None:
    """Store a person's settings of one table."""
    text = "" if settings == TableLetterSettings() else dump_settings(settings)
    own = (seats.c.table == table, seats.c.person == person)
    connection.execute(update(seats).where(*own).values(letter_settings=text))


Span = tuple[str, str]  # the first and the last day of a vacation, such as 2027-07-01; as texts they are ordered, too
MAX_DAYS_AHEAD = 366


def parse_vacation(words: list[str]) -> Span:
    """Parse the first and the last day; raise Refused unless the words are two dates."""
    try:
        first, last = map(date.fromisoformat, words)
    except ValueError:
        raise Refused("Write a vacation with its first and last day, such as: vacation 2027-07-01 2027-07-14") from None
    return first.isoformat(), last.isoformat()


def set_language(connection: Connection, person: ProvenPerson, language: str) -> None:
    """Store the language that this person has chosen."""
    connection.execute(update(people).where(people.c.id == person.id).values(language=language, chose=True))


def list_vacations(connection: Connection, person: ProvenPerson) -> list[Span]:
    """Return all vacations of this person, in order."""
    query = select(vacations).where(vacations.c.person == person.id).order_by(vacations.c.first)
    return [(row.first, row.last) for row in connection.execute(query)]


def list_vacations_by_person(connection: Connection, persons: Iterable[int]) -> dict[int, tuple[Span, ...]]:
    """Return the vacations of these people, by person; people without one are left out."""
    query = select(vacations).where(vacations.c.person.in_(set(persons))).order_by(vacations.c.first)
    by_person = defaultdict[int, tuple[Span, ...]](tuple)
    for row in connection.execute(query):
        by_person[row.person] += ((row.first, row.last),)
    return by_person


def list_coming_vacations(connection: Connection, person: ProvenPerson, today: date) -> list[Span]:
    """Return the vacations that are not over yet."""
    return [(first, last) for first, last in list_vacations(connection, person) if last >= today.isoformat()]


def add_vacation(connection: Connection, person: ProvenPerson, span: Span, today: date, allowance: int) -> None:
    """Store a vacation; raise Refused if its days are taken or used up. Storing it again changes nothing.

    `allowance` is the number of days that a person has in a year.
    """
    _lock_person(connection, person)
    current = list_vacations(connection, person)
    if span in current:
        return
    _refuse_impossible(span, current, today)
    first, last = span
    for year in range(date.fromisoformat(first).year, date.fromisoformat(last).year + 1):
        left = allowance - sum(_count_days(one, year) for one in current)
        if _count_days(span, year) > left:
            raise Refused("Days of vacation that you have left in {year}: {left}.", left=max(left, 0), year=year)
    connection.execute(insert(vacations), {"person": person.id, "first": first, "last": last})


def _lock_person(connection: Connection, person: ProvenPerson) -> None:
    """Lock the row of a person, so that two requests cannot change the vacations at the same time."""
    connection.execute(select(people.c.id).where(people.c.id == person.id).with_for_update())


def _refuse_impossible(span: Span, current: list[Span], today: date) -> None:
    """Raise Refused unless a vacation begins today or later, ends within a year, and meets no other."""
    first, last = span
    if last < first:
        raise Refused("A vacation ends after it has begun; write its first day first.")
    if first < today.isoformat():
        raise Refused("A vacation begins today or later.")
    if last > (today + timedelta(days=MAX_DAYS_AHEAD)).isoformat():
        raise Refused("A vacation has to be within a year from now.")
    for begin, end in current:
        if first <= end and begin <= last:
            raise Refused("You are away from {begin} to {end} already.", begin=begin, end=end)


def _count_days(span: Span, year: int) -> int:
    """Count the days of a vacation in this year."""
    first_day, last_day = map(date.fromisoformat, span)
    first_in_year = max(first_day, date(year, 1, 1))
    last_in_year = min(last_day, date(year, 12, 31))
    return max(0, (last_in_year - first_in_year).days + 1)


def end_vacation(connection: Connection, person: ProvenPerson, today: date) -> Span:
    """End the current vacation, or cancel the next one; return its first day and its new last day.

    The current vacation ends with yesterday, but its first day stays: otherwise vacations that are ended at once would
    give time without limit. A cancelled vacation has no day left: its new last day is the one before its first.
    """
    _lock_person(connection, person)
    for first, last in list_coming_vacations(connection, person, today):
        if first <= today.isoformat():
            new_last = max(first, _find_previous_day(today.isoformat()))
        else:
            new_last = _find_previous_day(first)
        if new_last < last:
            _shorten(connection, person, first, new_last)
            return first, new_last
    raise Refused("You have no vacation that could end earlier.")


def _shorten(connection: Connection, person: ProvenPerson, first: str, new_last: str) -> None:
    """Let a vacation end on this day; delete it if no day is left."""
    own = (vacations.c.person == person.id, vacations.c.first == first)
    if new_last < first:
        connection.execute(delete(vacations).where(*own))
    else:
        connection.execute(update(vacations).where(*own).values(last=new_last))


def _find_previous_day(day: str) -> str:
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()


def list_running_tables(connection: Connection, person: ProvenPerson, except_table: str = "") -> list[tuple[str, int]]:
    """Return table and seat of each seat that this person has proven to hold, at running tables but `except_table`."""
    joined = seats.join(tables, tables.c.id == seats.c.table)
    own = (seats.c.person == person.id, seats.c.proven, tables.c.phase == "playing", seats.c.table != except_table)
    query = select(seats.c.table, seats.c.seat).select_from(joined).where(*own)
    return [(row.table, row.seat) for row in connection.execute(query.order_by(seats.c.table, seats.c.seat))]
