"""Taking a seat before the game begins; it begins when all seats are taken."""

from __future__ import annotations

from msgspec.structs import replace

from engine.menu import Move
from engine.refusal import Refused
from service.links import hash_token
from service.people import names
from service.store import queries
from service.store.batch import OwedLetter
from service.tables import seat_commands
from service.tables.locked_table import LockedTable, append_command, change_seat
from service.text.sentences import Sentence


def sit(locked: LockedTable, seat: int, nonce: str) -> LockedTable:
    """Let a player take a seat, and begin the game if it was the last free one."""
    if locked.table.phase != "gathering" or locked.table.seats[seat].status != "empty":
        raise Refused("You have sat down already.")
    return begin_if_full(append_command(locked, None, Move("sit", (str(seat), nonce))))


def seat_bot(locked: LockedTable, seat: int, nonce: str) -> LockedTable:
    """Let a bot take a seat, and begin the game if it was the last free one."""
    return begin_if_full(append_command(locked, None, Move("bot", (str(seat), nonce))))


def begin_if_full(locked: LockedTable) -> LockedTable:
    """Begin the game if no seat is empty."""
    if locked.table.waiting_command or any(seat.status == "empty" for seat in locked.table.seats):
        return locked
    return announce_vacations(append_command(locked, None, Move("start")))


def announce_vacations(locked: LockedTable) -> LockedTable:
    """Add the vacations of all players to a game that has just begun; change nothing if its first draws are awaited."""
    if locked.table.phase != "playing":
        return locked
    for seat in range(len(locked.seats)):
        locked = seat_commands.announce_vacations(locked, seat)
    return locked


def decline(locked: LockedTable, seat: int) -> LockedTable:
    """Decline an invitation: anyone with the table's link may take the seat now, and its opener gets a letter."""
    opener = queries.find_organiser(queries.list_seats(locked.flush(), locked.row.id))
    if seat == opener or locked.table.phase != "gathering" or locked.table.seats[seat].status != "empty":
        raise Refused("There is no invitation to decline here; to leave the game, write: resign")
    app, table = locked.app, locked.row.id
    row = next(one for one in queries.list_seats(locked.flush(), table) if one.seat == seat)
    number, link = row.link_number + 1, f"{app.settings.address}/join/{app.links.join(table)}"
    queries.clear_seat(locked.flush(), table, seat)
    new_link = {"link_number": number, "link": hash_token(app.links.seat(table, seat, number))}
    locked = change_seat(locked, seat, person=None, name="", status="open", **new_link)
    why = Sentence(
        "{who} does not play. The seat is free for the first who sits down here: {link}",
        {"who": row.name, "link": link},
    )
    at = queries.HELD if locked.row.held else locked.now
    if opener is not None:
        queries.owe_letter(
            locked.flush(), table, locked.table.length - 1, OwedLetter(opener, f"declined/{seat}.{number}", at), why
        )
    return replace(locked, urgent=True)


def refuse_second_seat(locked: LockedTable, seat: int, person: int, name: str) -> None:
    """Raise Refused if this person has another seat at the table, or another player has this name."""
    for other in queries.list_seats(locked.flush(), locked.row.id):
        if other.seat == seat:
            continue
        if other.person == person and other.status in ("taken", "invited"):
            raise Refused("You have a seat at this table already; its link is in the letter you have from it.")
        if names.fold_name(other.name) == names.fold_name(name):
            raise Refused("Somebody at this table is called {name} already; please take another name.", name=name)
