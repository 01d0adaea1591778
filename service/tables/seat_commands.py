"""Commands of a seat to the server: vacations, standing orders, and the choice of letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import cast, get_args

from engine.menu import Move
from engine.refusal import Refused
from service import timing
from service.people import letter_settings, vacations
from service.people.letter_settings import Mode
from service.people.vacations import Span
from service.store import queries
from service.store.rows import SeatRow
from service.store.schema import submissions
from service.tables import standing_orders
from service.tables.locked_table import LockedTable, append_command

Words = list[str]
MODES = get_args(Mode)


def carry_out(locked: LockedTable, seat: int, verb: str, words: Words) -> LockedTable:
    """Return the table after one of these commands; letters may be chosen before the game and after it, too."""
    if verb != "letters":
        refuse_closed(locked)
    return COMMANDS[verb](locked, seat, words)


def refuse_closed(locked: LockedTable) -> None:
    """Raise Refused before the game and after it."""
    if locked.table.phase == "over":
        raise Refused("The game is over; nothing can be moved any more.")
    if locked.table.phase != "playing" and not locked.table.waiting_command:
        raise Refused("The game has not begun yet; somebody still has to sit down.")


def announce_vacations(locked: LockedTable, seat: int) -> LockedTable:
    """Enter this player's coming vacations into the log of a game that begins or gets a new player."""
    row = locked.seats[seat]
    if row.person is not None:
        for span in vacations.list_coming_vacations(locked.flush(), row.person, _find_today(locked, row)):
            locked = _append_vacation(locked, seat, span)
    return locked


def take_vacation(locked: LockedTable, seat: int, words: Words) -> LockedTable:
    """Take these days off, here and at every other table of the same person."""
    span, row = vacations.parse_vacation(words), locked.seats[seat]
    person = _require_person(row)
    vacations.add_vacation(locked.flush(), person, span, _find_today(locked, row), locked.settings.vacation)
    if span in locked.table.seats[seat].vacations:
        return locked
    _submit_at_other_tables(locked, person, f"vacation {span[0]} {span[1]}")
    return _append_vacation(locked, seat, span)


def end_vacation(locked: LockedTable, seat: int, words: Words) -> LockedTable:
    """End a vacation early or call it off, at every table of the person.

    With two days the command comes from another table of the person, and only this table's log changes.
    """
    row = locked.seats[seat]
    person = _require_person(row)
    if words:
        first, last = vacations.parse_vacation(words)
        if dict(vacations.list_vacations(locked.flush(), person)).get(first, last) != last:
            raise Refused("To end a vacation early write only: home")
    else:
        first, last = vacations.end_vacation(locked.flush(), person, _find_today(locked, row))
        _submit_at_other_tables(locked, person, f"home {first} {last}")
    if last >= dict(locked.table.seats[seat].vacations).get(first, ""):
        return locked
    return append_command(locked, None, Move("home", (str(seat), first, last)))


def _append_vacation(locked: LockedTable, seat: int, span: Span) -> LockedTable:
    return append_command(locked, None, Move("vacation", (str(seat), *span)))


def _require_person(row: SeatRow) -> int:
    """Return the person in this seat; raise Refused for a bot."""
    if row.person is None:
        raise Refused("A bot needs no vacation.")
    return row.person


def _find_today(locked: LockedTable, row: SeatRow) -> date:
    return timing.local_date(timing.parse_calendar(row.calendar or ""), locked.now)


def _submit_at_other_tables(locked: LockedTable, person: int, text: str) -> None:
    """Submit the same command for this person's other seats; the referee judges it like every other submission."""
    for table, seat in vacations.list_other_tables(locked.flush(), person, locked.row.id):
        key = f"{locked.row.id}/{locked.table.length}/{text}"
        row = {"source": "server", "key": key, "table": table, "seat": seat, "move": text, "at": locked.now}
        queries.insert_new(locked.flush(), submissions, row)


def _order(locked: LockedTable, seat: int, words: Words) -> LockedTable:
    return standing_orders.add_order(locked, seat, " ".join(words))


def _choose_letters(locked: LockedTable, seat: int, words: Words) -> LockedTable:
    """Choose which kind of letters this table sends to the player."""
    if len(words) != 1 or words[0] not in MODES:
        raise Refused("Write which letters you want, such as: letters digest ({modes})", modes=", ".join(MODES))
    person = locked.seats[seat].person
    if person is not None:
        letter_settings.choose_mode(locked.flush(), locked.row.id, person, cast(Mode, words[0]))
    return locked


COMMANDS: Mapping[str, Callable[[LockedTable, int, Words], LockedTable]] = {
    "vacation": take_vacation,
    "home": end_vacation,
    "order": _order,
    "cancel": standing_orders.cancel,
    "letters": _choose_letters,
}
