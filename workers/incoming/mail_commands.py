"""Parses one line of a mail: an answer to an invitation, a command to the server, a move, a remark, or talk.

A line with a command to the server begins with its word and holds nothing else, so that talk about vacations stays
talk. Other words of the mail may take a move back: doubt, a correction, or another move of the same kind.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import cast, get_args

from msgspec import Struct

from engine import menu as menus
from engine import table as tables
from engine.menu import Choice, Menu, Move
from engine.record import Table
from engine.refusal import Refused
from service.numbers import parse_int
from service.people.letter_settings import Mode
from service.tables.locked_table import LockedTable
from service.text.languages import Sentence
from service.text.move_words import Vocabulary
from workers.incoming.move_parser import (
    COMMAND_VERBS,
    TALK,
    Guess,
    Meaning,
    count_verb_words,
    find_verb,
    parse_move_line,
    remove_small_words,
    split_words,
)

MAX_VACATION_WORDS = 6  # two days, and the words between them
MAX_INVITATION_ANSWER_WORDS = 5  # a longer line is talk
STOP = "stop"  # in every language; but a game may use it as a move
NO_LETTERS = Move("letters", ("none",))
REMATCH, SIT = Move("again"), Move("sit")
RESIGN = Choice("resign", ((), ("yes",)))
MODES: tuple[Mode, ...] = get_args(Mode)
Command = Move | Refused
Values = dict[str, str | int]
SENTENCE_BREAK = re.compile(r"[.!?;…\n]+\s*|\s+[-–—]+\s+")
CLAUSE_BREAK = re.compile(r"[,:()]+\s*|" + SENTENCE_BREAK.pattern)
MAX_CLAUSES = 12  # of a line; a move is in one of the first
MAX_WORDS_BEFORE = 5  # before a move in its clause: “sorry, I rather mean”


def parse_line(
    table: Table, menu: Menu, line: str, load_guess: Callable[[], Move | None], words: Vocabulary
) -> Meaning:
    """Parse a line of a seat's mail; a line that only agrees means the move that the last letter offered as a guess.

    After the game a line may ask for a rematch, and before its first move answer the invitation.
    """
    phase = table.phase
    if phase == "over" and _is_rematch_request(line, words):
        return REMATCH
    if phase == "gathering" and (answer := _parse_invitation_answer(line, words)):
        return answer
    meaning: Meaning | None = parse_command(line, menu, words)
    if meaning is None and _is_consent(line, menu, words):
        meaning = load_guess()
    if meaning is None:
        meaning = parse_move_line(line, menu, words)
    no_move_yet = phase == "playing" and table.last is None
    if meaning == TALK and no_move_yet:
        answer = _parse_invitation_answer(line, words)  # of a player who has already sat down in another way
        return SIT if answer and answer.verb == SIT.verb else TALK
    return meaning


def list_options(locked: LockedTable, seat: int) -> Menu:
    """All that may be written in a mail: the seat's menu and the table's commands; resigning takes a second word."""
    menu = tables.menu(locked.game, locked.position, seat)
    commands = tables.list_commands(locked.position, seat)
    return (*menu, *(RESIGN if entry.verb == "resign" else entry for entry in commands))


def _parse_invitation_answer(line: str, words: Vocabulary) -> Move | None:
    """Parse a short line that takes the seat, by `sit` or `agree`, or gives it back; None for any other line.

    A word right behind `sit` is the player's word for the dice.
    """
    written = split_words(line)
    if len(written) > MAX_INVITATION_ANSWER_WORDS:
        return None
    is_denial = any(word.casefold() in words.table.never for word in written)
    for candidate in (written, remove_small_words(written, words)):
        verb = find_verb(candidate, ("sit", "agree", "refuse"), words)
        if verb == "refuse":
            return Move("refuse")
        if verb and not is_denial:
            has_nonce = len(candidate) > 1 and candidate[0].casefold() == SIT.verb
            return Move(SIT.verb, (candidate[1],) if has_nonce else ())
    return None


def _is_rematch_request(line: str, words: Vocabulary) -> bool:
    """Return whether a line only asks for another game, perhaps with small words such as “please” behind."""
    written = split_words(line)
    if find_verb(written, (REMATCH.verb,), words) is None:
        return False
    verb_length = count_verb_words(written, REMATCH.verb, words)
    return all(word.casefold() in words.table.small for word in written[verb_length:])


def _is_consent(line: str, menu: Menu, words: Vocabulary) -> bool:
    """Return whether a line only agrees, and the table has asked for no consent."""
    written = remove_small_words(split_words(line), words)
    is_agreement = len(written) == 1 and find_verb(written, ("agree",), words) is not None
    return is_agreement and not menus.allows(menu, Move("agree"))


def parse_command(line: str, menu: Menu, words: Vocabulary) -> Command | None:
    """Parse a command to the server, such as `vacation`, `order` or `letters`; None if the line is something else."""
    written = split_words(line)
    command = _parse_command_words(written, menu, words)
    meaningful = remove_small_words(written, words)
    if command is None and meaningful != written:
        command = _parse_command_words(meaningful, menu, words)
    return command


def _parse_command_words(written: list[str], menu: Menu, words: Vocabulary) -> Command | None:
    """Parse words as a command; None if they are no command.

    A word that the game has as a verb begins no command. The word `stop` alone means that no letters are wanted.
    """
    verb = find_verb(written, COMMAND_VERBS, words)
    if verb is None:
        is_stop = [word.casefold() for word in written] == [STOP] and not _is_game_verb(written, menu, words)
        return NO_LETTERS if is_stop else None
    size = count_verb_words(written, verb, words)
    if size == 1 and _is_game_verb(written[:1], menu, words):
        return None
    return _parse_arguments(verb, written[size:], menu, words)


def _is_game_verb(written: list[str], menu: Menu, words: Vocabulary) -> bool:
    """Return whether these words begin with a verb that the game has, now or at another time."""
    return find_verb(written, (*words.game.verbs, *(entry.verb for entry in menu)), words) is not None


def _parse_arguments(verb: str, rest: list[str], menu: Menu, words: Vocabulary) -> Command | None:
    """Parse the words behind the verb of a command; None if the verb takes no words like these: the line is talk."""
    match verb, rest:
        case "vacation", _:
            return _parse_vacation(rest)
        case (("home" | "cancel"), []):
            return Move(verb)
        case "cancel", [number] if parse_int(number) is not None:
            return Move(verb, (number,))
        case "order", []:
            return Refused("Write the move after the word order, such as: order pass")
        case "order", _ if _is_game_verb(rest, menu, words):
            return Move(verb, tuple(rest))
        case "letters", _:
            return _parse_letter_mode(rest, words)
        case "unsubscribe", []:
            return NO_LETTERS
    return None


def _parse_vacation(rest: list[str]) -> Command | None:
    """Return a vacation with its two days, or a refusal if there are not two; None if the words are talk about one."""
    days = [word for word in rest if any(letter.isdigit() for letter in word)]
    if len(rest) > MAX_VACATION_WORDS or (rest and not days):
        return None
    if len(days) != 2:
        return Refused("Write a vacation with its first and last day, such as: vacation 2027-07-01 2027-07-14")
    return Move("vacation", tuple(days))


def _parse_letter_mode(rest: list[str], words: Vocabulary) -> Command | None:
    """Return which letters are wanted, or a refusal if there is no word, or a single unknown one.

    None if several words name no letters: the line is talk.
    """
    name = menus.normalize_name(" ".join(rest))
    for mode in MODES:
        if name and name in map(menus.normalize_name, (mode, *words.table.tokens.get(mode, ()))):
            return Move("letters", (mode,))
    if len(rest) > 1:
        return None
    return Refused("Write which letters you want from this table: letters turn, digest, reminders, or none.")


def describe_result(move: Move, number: int | None) -> Sentence:
    """Describe what a command did if it made no entry; empty for any other. `number` is that of the newest order."""
    match move.verb, move.args:
        case "order", args if number is not None:
            values: Values = {"number": number, "move": " ".join(args)}
            return Sentence(
                "Noted as number {number}. As soon as it is possible in your turn, this is done: {move}", values
            )
        case "cancel", ():
            return Sentence("You have no orders any more.")
        case "cancel", (one,):
            return Sentence("Order {number} is forgotten.", {"number": one})
        case "letters", (mode,):
            return LETTER_MODES[cast(Mode, mode)]
    return Sentence()


LETTER_MODES: dict[Mode, Sentence] = {
    "turn": Sentence("From now on you get a letter from this table for every turn of yours."),
    "digest": Sentence("From now on the turns of this table come in the one letter of your day."),
    "reminders": Sentence(
        "From now on this table writes to you when your time runs short, and for no turn before that."
    ),
    "none": Sentence(
        "No more letters come from this table; your clock runs on. To have them again, write: letters turn"
    ),
}


class Doubt(Struct, frozen=True):
    """The words that take a move back, and the move that their sender may want."""

    remark: str
    move: Move

    def as_guess(self) -> Guess:
        """Return the question whether this move is wanted."""
        return Guess(Refused("Your answer also says “{doubt}”, so it was not played.", doubt=self.remark), self.move)


def find_doubt(line: str, later: Sequence[str], move: Move, menu: Menu, words: Vocabulary) -> Doubt | None:
    """Return the first words behind a move that take it back; None if there are none.

    They are words of doubt in the rest of its line or in the `later` lines: then the last other move that follows may
    be wanted, or this one if none follows. Otherwise they name another move in the rest of the line.
    """
    tail = _cut_behind_move(line, move, menu, words)
    for text in _iter_talk(tail, later, menu, words):
        remark = find_doubtful_words(text, words)
        if remark:
            others = [other for part in (tail, *later) for other in _list_moves_like(part, move, menu, words)]
            return Doubt(remark, others[-1] if others else move)
    for clause in filter(None, CLAUSE_BREAK.split(tail)):
        doubt = find_other_move(clause, move, menu, words)
        if doubt is not None:
            return doubt
    return None


def find_other_move(text: str, move: Move, menu: Menu, words: Vocabulary) -> Doubt | None:
    """Return as a doubt the first move of a text with the same verb as `move`, but not the same; None without one."""
    others = _list_moves_like(text, move, menu, words)
    return Doubt(text, others[0]) if others else None


def find_doubtful_words(text: str, words: Vocabulary) -> str:
    """Return the first sentence or clause of a text that expresses doubt; empty if there is none."""
    for sentence in filter(None, SENTENCE_BREAK.split(text)):
        written = _normalize(sentence)
        if any(f" {phrase} " in f" {written} " for phrase in _list_doubts(words)):
            return str(sentence).strip()
    for clause in CLAUSE_BREAK.split(text):
        if _is_denial(clause, words):
            return str(clause).strip()
    return ""


def _is_denial(clause: str, words: Vocabulary) -> bool:
    """Return whether a clause says only no or wait: “no wait”, but not “no hurry”."""
    written = set(_normalize(clause).split())
    denials = written & (words.table.never | words.table.hesitate)
    others = written - denials
    return bool(denials) and others <= words.table.filler | words.table.small


@functools.lru_cache(maxsize=64)
def _list_doubts(words: Vocabulary) -> tuple[str, ...]:
    return tuple(_normalize(phrase) for phrase in words.table.doubt)


def _normalize(text: str) -> str:
    """Return the words of a text in lower case, without the punctuation around them."""
    return " ".join(split_words(text.replace("’", "'"))).casefold()


def _cut_behind_move(line: str, move: Move, menu: Menu, words: Vocabulary) -> str:
    """Return what follows the shortest beginning of a line that is the move already; empty if there is none."""
    for gap in [*CLAUSE_BREAK.finditer(line)][:MAX_CLAUSES]:
        if parse_move_line(line[: gap.start()], menu, words) == move:
            return line[gap.end() :]
    return ""


def _iter_talk(tail: str, later: Sequence[str], menu: Menu, words: Vocabulary) -> Iterator[str]:
    """Yield what was not meant for the table or the server: the rest of the line, and later lines of talk."""
    yield tail
    yield from (line for line in later if _is_talk(line, menu, words))


def _is_talk(line: str, menu: Menu, words: Vocabulary) -> bool:
    """Return whether a line is talk or no clear move.

    A line that is a verb of the game alone, like “pas”, is neither, even if the menu does not have it now.
    """
    written = split_words(line)
    verb = find_verb(written, tuple(words.game.verbs), words)
    if verb is not None and count_verb_words(written, verb, words) == len(written):
        return False
    meaning = parse_move_line(line, menu, words)
    return meaning == TALK or isinstance(meaning, Refused | Guess)


def _list_moves_like(text: str, move: Move, menu: Menu, words: Vocabulary) -> list[Move]:
    """Return the moves of the same verb, but not the same, that end a text or one of its clauses: “I mean A14 A8”."""
    others: list[Move] = []
    for part in dict.fromkeys((text, *CLAUSE_BREAK.split(text)[:MAX_CLAUSES])):
        written = part.split()
        for start in range(min(len(written), MAX_WORDS_BEFORE)):
            meaning = parse_move_line(" ".join(written[start:]), menu, words)
            other = meaning.move if isinstance(meaning, Guess) else meaning
            if isinstance(other, Move) and other.verb == move.verb and other != move:
                others.append(other)
                break
    return others
