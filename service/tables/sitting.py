"""Sitting down: a seat is taken with a word for the dice, and when all are, the game begins."""

from __future__ import annotations

from engine.menu import Move
from engine.refusal import Refused
from service.people import vacations
from service.settings import Settings
from service.tables import clerk
from service.tables.clerk import Desktop


def sat(desktop: Desktop, seat: int, nonce: str, at: int, settings: Settings) -> Desktop:
    """Somebody took a seat; when it was the last one, the game begins."""
    if desktop.table.phase != "gathering" or desktop.table.seats[seat].status != "empty":
        raise Refused("You have sat down already.")
    return begun(clerk.enter(desktop, None, Move("sit", (str(seat), nonce)), at, settings), at, settings)


def replaced(desktop: Desktop, seat: int, nonce: str, at: int, settings: Settings) -> Desktop:
    """A bot takes a seat before the game has begun."""
    return begun(clerk.enter(desktop, None, Move("bot", (str(seat), nonce)), at, settings), at, settings)


def begun(desktop: Desktop, at: int, settings: Settings) -> Desktop:
    """The game begins where nobody is waited for any more."""
    if any(chair.status == "empty" for chair in desktop.table.seats):
        return desktop
    desktop = clerk.enter(desktop, None, Move("start"), at, settings)
    for seat in range(len(desktop.seats)):
        desktop = vacations.announce(desktop, seat, at, settings)
    return desktop
