"""Vacations at the tables: announced where a person plays, and ended everywhere at once."""

from __future__ import annotations

from datetime import date

from engine.menu import Move
from engine.refusal import Refused
from service import timing
from service.people import vacations
from service.people.vacations import Span
from service.store import queries
from service.store.rows import SeatRow
from service.store.schema import submissions
from service.tables.locked_table import LockedTable, append_command


def announce(locked: LockedTable, seat: int) -> LockedTable:
    """Tell a table that begins, or that gets a new player, which days this seat will be away."""
    row = locked.seats[seat]
    if row.person is not None:
        for span in vacations.list_coming_vacations(locked.flush(), row.person, _today(locked, row)):
            locked = _entered(locked, seat, span)
    return locked


def go_away(locked: LockedTable, seat: int, words: list[str]) -> LockedTable:
    """Take these days off, here and at all other tables of the same person."""
    span, row = vacations.parse_vacation(words), locked.seats[seat]
    person = _person(row)
    vacations.add_vacation(locked.flush(), person, span, _today(locked, row), locked.settings.vacation)
    if span in locked.table.seats[seat].vacations:
        return locked
    _tell_elsewhere(locked, person, f"vacation {span[0]} {span[1]}")
    return _entered(locked, seat, span)


def come_home(locked: LockedTable, seat: int, words: list[str]) -> LockedTable:
    """End a vacation early or call it off, at all tables.

    With two days this table only notes what the person's other table has told already.
    """
    row = locked.seats[seat]
    person = _person(row)
    if words:
        first, last = vacations.parse_vacation(words)
        if dict(vacations.list_vacations(locked.flush(), person)).get(first, last) != last:
            raise Refused("To end a vacation early write only: home")
    else:
        first, last = vacations.end_vacation(locked.flush(), person, _today(locked, row))
        _tell_elsewhere(locked, person, f"home {first} {last}")
    if last >= dict(locked.table.seats[seat].vacations).get(first, ""):
        return locked
    return append_command(locked, None, Move("home", (str(seat), first, last)))


def _entered(locked: LockedTable, seat: int, span: Span) -> LockedTable:
    return append_command(locked, None, Move("vacation", (str(seat), *span)))


def _person(row: SeatRow) -> int:
    if row.person is None:
        raise Refused("A bot needs no vacation.")
    return row.person


def _today(locked: LockedTable, row: SeatRow) -> date:
    return timing.local_date(timing.parse_calendar(row.calendar or ""), locked.now)


def _tell_elsewhere(locked: LockedTable, person: int, text: str) -> None:
    """Submit the same for this person's other seats, to be judged in line like everything else."""
    for table, seat in vacations.list_other_tables(locked.flush(), person, locked.row.id):
        key = f"{locked.row.id}/{locked.table.length}/{text}"
        row = {"source": "server", "key": key, "table": table, "seat": seat, "move": text, "at": locked.now}
        queries.insert_new(locked.flush(), submissions, row)
