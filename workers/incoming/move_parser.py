"""Understanding: what one line of a mail means at a table: a move, something like a move that does not fit, or talk."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from engine import menu as menus
from engine.menu import Menu, Move
from engine.refusal import Refused
from service.text.words import Vocabulary

TALK: Literal["talk"] = "talk"


class TalkLine(Struct, frozen=True):
    """Something to be said at the table."""

    text: str


Meaning = Move | Refused | TalkLine | Literal["talk"]

ASIDE = ("status", "help", "pause")  # said to the house, not to the table
ASKED = ("vacation", "home", "order", "cancel", "letters", "unsubscribe")  # the same; see asking.py
QUIETLY = ("agree", "refuse", "sit")  # everyday words, which mean something only where they are asked for
SENTENCE = 5  # words; so many of which none but the first belongs to a move are talk
ALIKE = 0.8
RARELY_MEANT = 3  # letters; a shorter word alone on its line is the beginning of nothing
LEAD_IN = re.compile(r"^[^:]{1,30}:\s+(?=\S)")
JOINED = re.compile(r"(?<=\w)\s*(?:->|=>|→|–|—|-)\s*(?=\w)")


def understand(line: str, offered: Menu, words: Vocabulary) -> Meaning:
    """What this line means to somebody who may do what is offered."""
    said = bits(line)
    if not said:
        return TALK
    aside = _aside(said, offered, words) or _remark(line, offered, words)
    if aside:
        return aside
    why: Refused | None = None
    for reading in dict.fromkeys(_readings(line, said, offered, words)):
        try:
            move = menus.from_text(offered, reading, words)
        except Refused as refused:
            why = why or refused
            continue
        if _is_meant(move, bits(reading), words):
            return move
    return why if why and _begins_like_a_move(said, offered, words) else TALK


def bits(line: str) -> list[str]:
    """The words of a line without the punctuation around them."""
    trimmed = (word.strip(menus.BEFORE_A_WORD + menus.AFTER_A_WORD) for word in line.split())
    return [bit for bit in trimmed if any(letter.isalnum() for letter in bit)]


def _aside(said: list[str], offered: Menu, words: Vocabulary) -> Move | None:
    """A word to the house: alone on its line, but for small words."""
    verbs = tuple(verb for verb in ASIDE if all(entry.verb != verb for entry in offered))
    meant = [bit for bit in said if bit.casefold() not in words.small]
    for candidate in (said, meant):
        verb = verb_of(candidate, verbs, words)
        if verb and length_of(candidate, verb, words) == len(candidate):
            return Move(verb)
    return None


def _remark(line: str, offered: Menu, words: Vocabulary) -> TalkLine | None:
    """What follows the word that begins such a line, as it was written; where the game has that word, it is a move."""
    for size in (2, 1):
        told = line.split(maxsplit=size)
        begun = " ".join(bits(" ".join(told[:size]))).casefold()
        if begun in words.table.say and verb_of([begun], tuple(entry.verb for entry in offered), words) is None:
            return TalkLine(told[size].lstrip(":-–— ") if len(told) > size else "")
    return None


def _readings(line: str, said: list[str], offered: Menu, words: Vocabulary) -> Iterator[str]:
    """The line as it is; then what follows a colon; then without small words and arrows; then with the only verb."""
    yield line
    lead_in = LEAD_IN.match(line)
    if lead_in:
        yield line[lead_in.end() :]
    verbs = {form.casefold() for entry in offered for form in (entry.verb, *words(entry.verb))}
    plain = [bit for bit in said if bit.casefold() not in words.small or bit.casefold() in verbs]
    yield " ".join(plain)
    apart = JOINED.sub(" ", " ".join(plain))
    yield apart
    games = [entry for entry in offered if entry.verb not in words.table.verbs]
    if len(games) == 1 and any(letter.isdigit() for letter in apart):
        yield f"{games[0].verb} {apart}"


def _is_meant(move: Move, said: list[str], words: Vocabulary) -> bool:
    """Whether it was written out so far that it is no accident: initials under a letter are no moves."""
    if move.verb in words.table.verbs:
        return verb_of(said, (move.verb,), words) is not None
    if len(said) == 1:
        return len(said[0]) >= RARELY_MEANT or said[0] == move.verb
    return True


def verb_of(said: list[str], verbs: tuple[str, ...], words: Vocabulary) -> str | None:
    """The verb whose name, in any language, these words begin with."""
    for size in (3, 2, 1):
        wanted = menus.as_name(" ".join(said[:size])) if len(said) >= size else None
        for verb in verbs:
            if wanted and any(menus.as_name(form) == wanted for form in (verb, *words(verb))):
                return verb
    return None


def length_of(said: list[str], verb: str, words: Vocabulary) -> int:
    """How many of these words are the name of the verb."""
    names = _names((verb,), words)
    sizes = range(min(3, len(said)), 1, -1)
    return next((size for size in sizes if menus.as_name(" ".join(said[:size])) in names), 1)


def _begins_like_a_move(said: list[str], offered: Menu, words: Vocabulary) -> bool:
    """Whether a line that is no move was meant as one: then its sender has to know."""
    verbs = tuple(entry.verb for entry in offered)
    known = tuple(verb for verb in words.verbs if verb not in (*QUIETLY, *ASIDE, *ASKED))
    meant = [bit for bit in said if bit.casefold() not in words.small] or said
    verb = verb_of(said, (*verbs, *known), words) or verb_of(meant, (*verbs, *known), words)
    if verb is None and not (_started(meant, verbs, words) or _misspelt(meant, (*verbs, *known), words)):
        return False
    return len(said) < SENTENCE or any(_belongs(bit, offered, words) for bit in meant[1:])


def _started(said: list[str], verbs: tuple[str, ...], words: Vocabulary) -> bool:
    """Whether a short line begins with the beginning of a verb."""
    first = menus.as_name(said[0]) or ""
    short = len(first) >= RARELY_MEANT and len(said) < SENTENCE
    return short and any(form.startswith(first) for form in _names(verbs, words))


def _misspelt(said: list[str], verbs: tuple[str, ...], words: Vocabulary) -> bool:
    """Whether a short line begins with a slip of the pen."""
    first = menus.as_name(said[0]) or ""
    short = RARELY_MEANT < len(first) < 30 and len(said) < SENTENCE
    return short and any(_alike(first, form) for form in _names(verbs, words))


def _alike(one: str, other: str) -> bool:
    """Whether two words differ by letters that changed places, or by one or two letters in a long word."""
    return sorted(one) == sorted(other) or difflib.SequenceMatcher(None, one, other).ratio() >= ALIKE


def _names(verbs: tuple[str, ...], words: Vocabulary) -> set[str]:
    return {name for verb in verbs for form in (verb, *words(verb)) if (name := menus.as_name(form))}


def _belongs(bit: str, offered: Menu, words: Vocabulary) -> bool:
    """Whether this is a token of some move on offer, or has a number in it as many tokens have."""
    if any(letter.isdigit() for letter in bit):
        return True
    name = menus.as_name(bit)
    tokens = {token for entry in offered for token in _tokens(entry)}
    return name is not None and any(menus.as_name(form) == name for token in tokens for form in (token, *words(token)))


def _tokens(entry: menus.Entry) -> Iterator[str]:
    match entry:
        case menus.Choice():
            yield from (token for args in entry.options for token in args)
        case menus.Subset():
            yield from entry.items
        case menus.Number():
            return
