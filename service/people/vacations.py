"""Vacations: so many days a year for each person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta

from sqlalchemy import Connection, delete, insert, select, update

from engine.refusal import Refused
from service.store.schema import people, seats, tables, vacations

Span = tuple[str, str]
LONGEST_AHEAD = 366


def read(words: list[str]) -> Span:
    """The first and the last day, as they were typed."""
    try:
        first, last = map(date.fromisoformat, words)
    except ValueError:
        raise Refused("Write a vacation with its first and last day, such as: vacation 2027-07-01 2027-07-14") from None
    return first.isoformat(), last.isoformat()


def of(connection: Connection, person: int) -> list[Span]:
    """All vacations of this person, in order."""
    wanted = select(vacations).where(vacations.c.person == person).order_by(vacations.c.first)
    return [(row.first, row.last) for row in connection.execute(wanted)]


def of_all(connection: Connection, persons: Iterable[int]) -> dict[int, tuple[Span, ...]]:
    """The vacations of each of these people who has any."""
    wanted = select(vacations).where(vacations.c.person.in_(set(persons))).order_by(vacations.c.first)
    found = defaultdict[int, tuple[Span, ...]](tuple)
    for row in connection.execute(wanted):
        found[row.person] += ((row.first, row.last),)
    return found


def coming(connection: Connection, person: int, today: date) -> list[Span]:
    """The vacations that are not over yet."""
    return [span for span in of(connection, person) if span[1] >= today.isoformat()]


def grant(connection: Connection, person: int, span: Span, today: date, allowance: int) -> None:
    """Note a vacation; one that is noted already stays as it is."""
    connection.execute(select(people.c.id).where(people.c.id == person).with_for_update())
    known = of(connection, person)
    if span in known:
        return
    _refuse_impossible(span, known, today)
    for year in range(int(span[0][:4]), int(span[1][:4]) + 1):
        left = allowance - sum(_days(one, year) for one in known)
        if _days(span, year) > left:
            raise Refused("Days of vacation that you have left in {year}: {left}.", left=max(left, 0), year=year)
    connection.execute(insert(vacations), {"person": person, "first": span[0], "last": span[1]})


def _refuse_impossible(span: Span, known: list[Span], today: date) -> None:
    first, last = span
    if last < first:
        raise Refused("A vacation ends after it has begun; write its first day first.")
    if first < today.isoformat():
        raise Refused("A vacation begins today or later.")
    if last > (today + timedelta(days=LONGEST_AHEAD)).isoformat():
        raise Refused("A vacation lies within a year from now.")
    for begin, end in known:
        if first <= end and begin <= last:
            raise Refused("You are away from {begin} to {end} already.", begin=begin, end=end)


def _days(span: Span, year: int) -> int:
    """How many days of a vacation lie in that year."""
    first = max(date.fromisoformat(span[0]), date(year, 1, 1))
    last = min(date.fromisoformat(span[1]), date(year, 12, 31))
    return max(0, (last - first).days + 1)


def end(connection: Connection, person: int, today: date) -> Span:
    """End the vacation that runs now, or call off the next one: its first day, and the last that counts.

    A day that has begun is used up, or a vacation of no days at all would give time again and again.
    """
    connection.execute(select(people.c.id).where(people.c.id == person).with_for_update())
    for first, last in coming(connection, person, today):
        until = max(first, _before(today.isoformat())) if first <= today.isoformat() else _before(first)
        if until < last:
            _note(connection, person, first, until)
            return first, until
    raise Refused("You have no vacation that could end earlier.")


def _note(connection: Connection, person: int, first: str, until: str) -> None:
    own = (vacations.c.person == person, vacations.c.first == first)
    if until < first:
        connection.execute(delete(vacations).where(*own))
    else:
        connection.execute(update(vacations).where(*own).values(last=until))


def _before(day: str) -> str:
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()


def elsewhere(connection: Connection, person: int, table: str) -> list[tuple[str, int]]:
    """The other tables where this person plays now, and in which seats."""
    joined = seats.join(tables, tables.c.id == seats.c.table)
    wanted = select(seats.c.table, seats.c.seat).select_from(joined)
    playing = wanted.where(seats.c.person == person, tables.c.phase == "playing", seats.c.table != table)
    return [(row.table, row.seat) for row in connection.execute(playing.order_by(seats.c.table, seats.c.seat))]
