"""What a seat asks besides moves: vacations, told at all its player's tables, standing orders, other letters."""

from __future__ import annotations

from datetime import date
from typing import cast

from sqlalchemy import insert, select

from engine.menu import Move
from engine.refusal import Refused
from service import timing
from service.accounts import preferences
from service.house import House
from service.people import vacations
from service.people.letter_settings import Mode
from service.people.vacations import Span
from service.store.schema import submissions
from service.tables import clerk, standing_orders
from service.tables.clerk import Desktop
from service.tables.seat_changes import Held


def vacation(here: House, desktop: Desktop, seat: int, words: list[str]) -> Desktop:
    """Take these days off, here and at all other tables of the same person."""
    span, held = vacations.read(words), desktop.seats[seat]
    person = _person(held)
    vacations.grant(desktop.connection, person, span, _today(here, held), here.settings.vacation)
    if span in desktop.table.seats[seat].away:
        return desktop
    _tell_elsewhere(here, desktop, person, f"vacation {span[0]} {span[1]}")
    return _announce(here, desktop, seat, span)


def home(here: House, desktop: Desktop, seat: int, words: list[str]) -> Desktop:
    """End one's vacation early or call it off, here and everywhere; with two days, note only what is so already."""
    held = desktop.seats[seat]
    person = _person(held)
    if words:
        first, last = vacations.read(words)
        if dict(vacations.of(desktop.connection, person)).get(first, last) != last:
            raise Refused("To end a vacation early write only: home")
    else:
        first, last = vacations.end(desktop.connection, person, _today(here, held))
        _tell_elsewhere(here, desktop, person, f"home {first} {last}")
    if last >= dict(desktop.table.seats[seat].away).get(first, ""):
        return desktop
    return clerk.enter(desktop, None, Move("home", (str(seat), first, last)), here.now(), here.settings)


def order(here: House, desktop: Desktop, seat: int, words: list[str]) -> Desktop:
    """Note what this seat wants done as soon as it may."""
    return standing_orders.give(desktop, seat, " ".join(words), here.now())


def cancel(here: House, desktop: Desktop, seat: int, words: list[str]) -> Desktop:  # noqa: ARG001 - errands are alike
    """Forget an order, or all."""
    return standing_orders.cancel(desktop, seat, words)


def letters(here: House, desktop: Desktop, seat: int, words: list[str]) -> Desktop:  # noqa: ARG001 - errands are alike
    """Write to whoever sits there in this manner from now on, of this table."""
    held = desktop.seats[seat]
    if held.person is not None:
        preferences.choose(desktop.connection, desktop.row.id, held.person, cast(Mode, words[0]))
    return desktop


def _announce(here: House, desktop: Desktop, seat: int, span: Span) -> Desktop:
    return clerk.enter(desktop, None, Move("vacation", (str(seat), *span)), here.now(), here.settings)


def _person(held: Held) -> int:
    if held.person is None:
        raise Refused("A bot needs no vacation.")
    return held.person


def _today(here: House, held: Held) -> date:
    return timing.today(timing.calendar(held.calendar or ""), here.now())


def _tell_elsewhere(here: House, desktop: Desktop, person: int, text: str) -> None:
    """Hand the same in for this person's other seats, to be judged in line like everything else."""
    for table, seat in vacations.elsewhere(desktop.connection, person, desktop.row.id):
        key = f"{table}/{seat}/{desktop.row.id}/{desktop.table.length}/{text}"
        if desktop.connection.execute(select(submissions.c.id).where(submissions.c.key == key)).first() is None:
            row = {"key": key, "table": table, "seat": seat, "move": text, "at": here.now()}
            desktop.connection.execute(insert(submissions), row)
