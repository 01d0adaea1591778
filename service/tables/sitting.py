"""Sitting down: a seat is taken with a word for the dice, and the game begins when all seats are."""

from __future__ import annotations

from engine.menu import Move
from engine.refusal import Refused
from service.tables import absences, clerk
from service.tables.clerk import LockedTable


def sit(locked: LockedTable, seat: int, nonce: str) -> LockedTable:
    """A player takes a seat; after the last one the game begins."""
    if locked.table.phase != "gathering" or locked.table.seats[seat].status != "empty":
        raise Refused("You have sat down already.")
    return begin(clerk.enter(locked, None, Move("sit", (str(seat), nonce))))


def seat_bot(locked: LockedTable, seat: int, nonce: str) -> LockedTable:
    """A bot takes a seat before the game has begun."""
    return begin(clerk.enter(locked, None, Move("bot", (str(seat), nonce))))


def begin(locked: LockedTable) -> LockedTable:
    """The game begins where no seat is empty."""
    if any(seat.status == "empty" for seat in locked.table.seats):
        return locked
    locked = clerk.enter(locked, None, Move("start"))
    for seat in range(len(locked.seats)):
        locked = absences.announce(locked, seat)
    return locked
