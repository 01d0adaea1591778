"""Finds words that take a move back in the same mail: doubt, a correction, or another move of the same kind."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine.menu import Menu, Move
from engine.refusal import Refused
from service.text.words import Vocabulary
from workers.incoming.move_parser import TALK, Guess, count_verb_words, find_verb, parse_move_line, split_words

SENTENCE_BREAK = re.compile(r"[.!?;…\n]+\s*|\s+[-–—]+\s+")
CLAUSE_BREAK = re.compile(r"[,:()]+\s*|" + SENTENCE_BREAK.pattern)
MAX_CLAUSES = 12  # of a line; a move is in one of the first
MAX_WORDS_BEFORE = 5  # before a move in its clause: “sorry, I rather mean”


class Doubt(Struct, frozen=True):
    """The words that take a move back, and the move that their sender may want."""

    remark: str
    move: Move

    def as_guess(self) -> Guess:
        """Ask the sender instead of playing."""
        return Guess(Refused("Your answer also says “{doubt}”, so it was not played.", doubt=self.remark), self.move)


def find_doubt(line: str, later: Sequence[str], move: Move, menu: Menu, words: Vocabulary) -> Doubt | None:
    """Return the first words behind a move, in its line or in later ones, that take it back."""
    tail = _cut_behind_move(line, move, menu, words)
    for text in _iter_talk(tail, later, menu, words):
        remark = find_doubtful_words(text, words)
        if remark:
            others = [other for one in (tail, *later) for other in _iter_moves_like(one, move, menu, words)]
            return Doubt(remark, others[-1] if others else move)
    return next((Doubt(sentence, other) for sentence, other in _iter_other_moves(tail, move, menu, words)), None)


def find_other_move(line: str, move: Move, menu: Menu, words: Vocabulary) -> Doubt | None:
    """Return the move of a later line if it is one of the same kind, which could have been made instead."""
    return next((Doubt(line, other) for other in _iter_moves_like(line, move, menu, words)), None)


def find_doubtful_words(text: str, words: Vocabulary) -> str:
    """Return the first sentence or clause of a text that expresses doubt; empty if there is none."""
    for sentence in filter(None, SENTENCE_BREAK.split(text)):
        written = _normalize(sentence)
        if any(f" {phrase} " in f" {written} " for phrase in _list_doubts(words)):
            return str(sentence).strip()
    return next((str(clause).strip() for clause in CLAUSE_BREAK.split(text) if _is_denial(clause, words)), "")


def _is_denial(clause: str, words: Vocabulary) -> bool:
    """Return whether a clause says only no or wait: “no wait”, but not “no hurry”."""
    table = words.table
    written = set(_normalize(clause).split())
    denials = table.never | table.hesitate
    return not written.isdisjoint(denials) and written <= denials | table.filler | table.small


@functools.lru_cache(maxsize=64)
def _list_doubts(words: Vocabulary) -> tuple[str, ...]:
    return tuple(_normalize(phrase) for phrase in words.table.doubt)


def _normalize(text: str) -> str:
    return " ".join(split_words(text.replace("’", "'"))).casefold()


def _cut_behind_move(line: str, move: Move, menu: Menu, words: Vocabulary) -> str:
    """Return what follows the shortest beginning of a line that is the move already."""
    for clause in [*CLAUSE_BREAK.finditer(line)][:MAX_CLAUSES]:
        if parse_move_line(line[: clause.start()], menu, words) == move:
            return line[clause.end() :]
    return ""


def _iter_talk(tail: str, later: Sequence[str], menu: Menu, words: Vocabulary) -> Iterator[str]:
    """Yield what was not meant for the table or the server: the rest of the line, and later lines of talk."""
    yield tail
    yield from (line for line in later if _is_talk(line, menu, words))


def _is_talk(line: str, menu: Menu, words: Vocabulary) -> bool:
    """Return whether a line is no move, no command, and no verb that the game may have later, such as “pas”."""
    meaning = parse_move_line(line, menu, words)
    written = split_words(line)
    verb = find_verb(written, tuple(words.game.verbs), words)
    is_verb = verb is not None and count_verb_words(written, verb, words) == len(written)
    return not is_verb and (meaning == TALK or isinstance(meaning, Refused | Guess))


def _iter_other_moves(tail: str, move: Move, menu: Menu, words: Vocabulary) -> Iterator[tuple[str, Move]]:
    for sentence in filter(None, CLAUSE_BREAK.split(tail)):
        yield from ((sentence, other) for other in _iter_moves_like(sentence, move, menu, words))


def _iter_moves_like(text: str, move: Move, menu: Menu, words: Vocabulary) -> Iterator[Move]:
    """Yield the moves of the same kind, but not the same, that end a text or one of its clauses: “I mean A14 A8”."""
    for part in dict.fromkeys((text, *CLAUSE_BREAK.split(text)[:MAX_CLAUSES])):
        written = part.split()
        for start in range(min(len(written), MAX_WORDS_BEFORE)):
            meaning = parse_move_line(" ".join(written[start:]), menu, words)
            other = meaning.move if isinstance(meaning, Guess) else meaning
            if isinstance(other, Move) and other.verb == move.verb and other != move:
                yield other
                break
