"""Sitting down: a seat is taken with a word for the dice, and the game begins when all seats are."""

from __future__ import annotations

from msgspec.structs import replace

from engine.menu import Move
from engine.refusal import Refused
from service.links import hash_token
from service.store import queries
from service.store.batch import OwedLetter
from service.tables import absences
from service.tables.locked_table import LockedTable, append_command, change_seat
from service.text.sentences import Sentence


def sit(locked: LockedTable, seat: int, nonce: str) -> LockedTable:
    """A player takes a seat; after the last one the game begins."""
    if locked.table.phase != "gathering" or locked.table.seats[seat].status != "empty":
        raise Refused("You have sat down already.")
    return begin(append_command(locked, None, Move("sit", (str(seat), nonce))))


def decline(locked: LockedTable, seat: int) -> LockedTable:
    """An invited player does not come: the seat is free for anybody with the table's link, and the opener hears it."""
    opener = queries.find_organiser(queries.list_seats(locked.flush(), locked.row.id))
    if seat == opener or locked.table.phase != "gathering" or locked.table.seats[seat].status != "empty":
        raise Refused("There is no invitation to decline here; to leave the game, write: resign")
    app, table = locked.app, locked.row.id
    held = next(one for one in queries.list_seats(locked.flush(), table) if one.seat == seat)
    number, link = held.link_number + 1, f"{app.settings.address}/join/{app.links.join(table)}"
    queries.clear_seat(locked.flush(), table, seat)
    fresh = {"link_number": number, "link": hash_token(app.links.seat(table, seat, number))}
    locked = change_seat(locked, seat, person=None, name="", status="open", **fresh)
    why = Sentence(
        "{who} does not play. The seat is free for the first who sits down here: {link}",
        {"who": held.name, "link": link},
    )
    at = queries.HELD if locked.row.held else locked.now
    if opener is not None:
        queries.owe_letter(
            locked.flush(), table, locked.table.length - 1, OwedLetter(opener, f"declined/{seat}.{number}", at), why
        )
    return replace(locked, urgent=True)


def seat_bot(locked: LockedTable, seat: int, nonce: str) -> LockedTable:
    """A bot takes a seat before the game has begun."""
    return begin(append_command(locked, None, Move("bot", (str(seat), nonce))))


def begin(locked: LockedTable) -> LockedTable:
    """The game begins where no seat is empty."""
    if locked.table.waiting_command or any(seat.status == "empty" for seat in locked.table.seats):
        return locked
    return begun(append_command(locked, None, Move("start")))


def begun(locked: LockedTable) -> LockedTable:
    """What follows the beginning of the game, once its first draws are there: vacations are announced."""
    if locked.table.phase != "playing":
        return locked
    for seat in range(len(locked.seats)):
        locked = absences.announce(locked, seat)
    return locked
