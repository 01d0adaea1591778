"""What a player asks of the house besides moves: days off, standing orders, and which letters come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast, get_args

from engine.refusal import Refused
from service.people import letter_settings
from service.people.letter_settings import Mode
from service.tables import absences, standing_orders
from service.tables.locked_table import LockedTable

Words = list[str]
MODES = get_args(Mode)


def carry_out(locked: LockedTable, seat: int, verb: str, words: Words) -> LockedTable:
    """The table after such a command; letters may be chosen before the game and after it, too."""
    if verb != "letters":
        refuse_closed(locked)
    return COMMANDS[verb](locked, seat, words)


def refuse_closed(locked: LockedTable) -> None:
    """Before the game and after it nothing can be moved."""
    if locked.table.phase == "over":
        raise Refused("The game is over; nothing can be moved any more.")
    if locked.table.phase != "playing" and not locked.table.waiting_command:
        raise Refused("The game has not begun yet; somebody still has to sit down.")


def _order(locked: LockedTable, seat: int, words: Words) -> LockedTable:
    return standing_orders.give(locked, seat, " ".join(words))


def _letters(locked: LockedTable, seat: int, words: Words) -> LockedTable:
    """From now on letters of this kind come from this table."""
    if len(words) != 1 or words[0] not in MODES:
        raise Refused("Write which letters you want, such as: letters digest ({modes})", modes=", ".join(MODES))
    person = locked.seats[seat].person
    if person is not None:
        letter_settings.choose_mode(locked.flush(), locked.row.id, person, cast(Mode, words[0]))
    return locked


COMMANDS: Mapping[str, Callable[[LockedTable, int, Words], LockedTable]] = {
    "vacation": absences.go_away,
    "home": absences.come_home,
    "order": _order,
    "cancel": standing_orders.cancel,
    "letters": _letters,
}
