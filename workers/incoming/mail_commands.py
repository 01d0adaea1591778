"""Asking: what a mail may say to the house besides moves: days off, orders for later, which letters come.

Every line of this kind begins with its word and holds nothing else, so that talk about vacations stays talk.
"""

from __future__ import annotations

from typing import cast, get_args

from engine import menu as menus
from engine.menu import Menu, Move
from engine.refusal import Refused
from service import numbers
from service.people.letter_settings import Mode
from service.text.languages import Said
from service.text.words import Vocabulary
from workers.incoming.move_parser import ASKED, bits, length_of, verb_of

LONGEST_DAYS = 6  # words: two days, and what stands between them
STOP = "stop"  # in every language; but a game may know it as a move
STOPPED = Move("letters", ("none",))
MODES: tuple[Mode, ...] = get_args(Mode)
Asked = Move | Refused | None


def asked(line: str, offered: Menu, words: Vocabulary) -> Asked:
    """What this line asks of the house; None where it is something else."""
    said = bits(line)
    meant = [bit for bit in said if bit.casefold() not in words.small]
    for candidate in (said, meant):
        verb = verb_of(candidate, ASKED, words)
        size = length_of(candidate, verb, words) if verb else 1
        if size == 1 and _is_a_move(candidate[:1], offered, words):
            continue
        found = _reading(verb, candidate[size:], offered, words) if verb else None
        if found:
            return found
        if [bit.casefold() for bit in candidate] == [STOP]:
            return STOPPED
    return None


def _is_a_move(said: list[str], offered: Menu, words: Vocabulary) -> bool:
    """Whether this begins with a verb that the game has, now or at another time."""
    return verb_of(said, (*words.game.verbs, *(entry.verb for entry in offered)), words) is not None


def _reading(verb: str, rest: list[str], offered: Menu, words: Vocabulary) -> Asked:
    """What is asked by this word and what follows it."""
    match verb, rest:
        case "vacation", _:
            return _vacation(rest)
        case (("home" | "cancel"), []):
            return Move(verb)
        case "cancel", [number] if numbers.parse_int(number) is not None:
            return Move(verb, (number,))
        case "order", []:
            return Refused("Write the move after the word order, such as: order pass")
        case "order", _ if _is_a_move(rest, offered, words):
            return Move(verb, tuple(rest))
        case "letters", _:
            return _letters(rest, words)
        case "unsubscribe", []:
            return STOPPED
    return None


def _vacation(rest: list[str]) -> Asked:
    days = [bit for bit in rest if any(letter.isdigit() for letter in bit)]
    if len(rest) > LONGEST_DAYS or (rest and not days):
        return None
    if len(days) != 2:
        return Refused("Write a vacation with its first and last day, such as: vacation 2027-07-01 2027-07-14")
    return Move("vacation", tuple(days))


def _letters(rest: list[str], words: Vocabulary) -> Asked:
    wanted = menus.normalize_name(" ".join(rest))
    for mode in MODES:
        if wanted and wanted in map(menus.normalize_name, (mode, *words.table.tokens.get(mode, ()))):
            return Move("letters", (mode,))
    if len(rest) > 1:
        return None
    return Refused("Write which letters you want from this table: letters turn, digest, reminders, or none.")


def told(move: Move, number: int | None) -> Said:
    """What the answer says of something asked that makes no entry; an order has a number."""
    match move.verb, move.args:
        case "order", args if number is not None:
            words: dict[str, str | int] = {"number": number, "move": " ".join(args)}
            return Said("Noted as number {number}. As soon as it is possible in your turn, this is done: {move}", words)
        case "cancel", ():
            return Said("You have no orders any more.")
        case "cancel", (one,):
            return Said("Order {number} is forgotten.", {"number": one})
        case "letters", (mode,):
            return LETTERS[cast(Mode, mode)]
    return Said()


LETTERS: dict[Mode, Said] = {
    "turn": Said("From now on you get a letter from this table for every turn of yours."),
    "digest": Said("From now on the turns of this table come in the one letter of your day."),
    "reminders": Said("From now on this table writes to you when your time runs short, and for no turn before that."),
    "none": Said("No more letters come from this table; your clock runs on. To have them again, write: letters turn"),
}
