"""Parses one line of a mail: it is a move, something like a move that does not fit, a remark to the table, or talk."""

from __future__ import annotations

import difflib
import functools
import itertools
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
    """Something to be said at the table; without a text, what the mail before this one said."""

    text: str


class Guess(Struct, frozen=True):
    """A line that is no move, and the one move that it may have meant."""

    why: Refused
    move: Move


Meaning = Move | Refused | Guess | TalkLine | Literal["talk"]

TO_SERVER = ("status", "help", "hint", "pause")  # said to the house, not to the table
ASKED = ("vacation", "home", "order", "cancel", "letters", "unsubscribe")  # the same; see mail_commands.py
QUIETLY = ("agree", "refuse", "sit")  # everyday words, which mean something only where they are asked for
SENTENCE = 5  # words; a line of so many is talk unless two of its words belong to a move
SHORT = 3  # words: “My next move”; or a “no, not that” behind a move
ALIKE = 0.8  # of difflib; "ziehn" for "ziehen" has 0.91, "reise" for "reize" 0.8, "stay" for "start" 0.67
NEAR, NEAR_EACH = 0.75, 0.6  # on average over the words of a move, and for each: a slip of the pen, not another move
COMPARED = 400  # moves that a line is compared with, so that a large menu costs no more than a small one
LONGEST_VERB = 4  # words: "ik doe niet mee"
RARELY_MEANT = 3  # letters; a shorter word alone on its line is the beginning of nothing
LEAD_IN = re.compile(r"^([^:：]{1,30})(?::\s+|：\s*)(?=\S)")
ASIDE = re.compile(r"\s*\(([^()]{1,80})\)[\s.!]*$")
QUESTION = re.compile(r"[?？]\W*$")
LISTED = re.compile(r"^(?:\d{1,2}[.)]|[-*•])\s+(?=\S)")
SENTENCE_END = re.compile(r"(?<=[.!;…])\s+|\s+[-–—]{1,2}\s+(?=[^\W\d])")
JOINED = re.compile(r"(?<=\w)\s*(?:->|=>|→|–|—|-)\s*(?=\w)")


def understand(line: str, offered: Menu, words: Vocabulary) -> Meaning:
    """What this line means to a player who may do what is offered."""
    said = bits(line)
    if not said:
        return TALK
    other = _to_server(said, offered, words) or _remark(line, offered, words)
    if other:
        return other
    found = _first_move(_readings(line, offered, words), offered, words)
    if isinstance(found, Move):
        asks = QUESTION.search(line) and found.verb not in words.table.verbs
        return Guess(Refused("A question is not played."), found) if asks else found
    behind = _first_move(_behind_a_colon(line, offered, words), offered, words)
    if isinstance(behind, Move):
        return Guess(Refused("A move behind words that do not announce one is not played."), behind)
    return _no_move(line, found, offered, words)


def _first_move(readings: Iterator[str], offered: Menu, words: Vocabulary) -> Move | Refused | None:
    """The move of the first reading that is one; or else why the first is none."""
    why: Refused | None = None
    for reading in dict.fromkeys(readings):
        try:
            move = menus.parse_move(offered, reading, functools.partial(_forms_of, words))
        except Refused as refused:
            why = why or refused
            continue
        if _is_meant(move, bits(reading), words):
            return move
    return why


def _no_move(line: str, why: Refused | None, offered: Menu, words: Vocabulary) -> Meaning:
    """A line that is no move: one that did not fit, with what it may have meant, or talk."""
    if why is None or not _begins_like_a_move(bits(LISTED.sub("", line)), offered, words):
        return TALK
    near = _nearest(_without_courtesy(line, words), offered, words)
    return Guess(why, near) if near else why


def bits(line: str) -> list[str]:
    """The words of a line without the punctuation around them."""
    trimmed = (word.strip(menus.BEFORE_A_WORD + menus.AFTER_A_WORD) for word in line.split())
    return [bit for bit in trimmed if any(letter.isalnum() for letter in bit)]


def _to_server(said: list[str], offered: Menu, words: Vocabulary) -> Move | None:
    """A word to the house: alone on its line, but for small words."""
    verbs = tuple(verb for verb in TO_SERVER if all(entry.verb != verb for entry in offered))
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


def _readings(line: str, offered: Menu, words: Vocabulary) -> Iterator[str]:
    """The line as it is; then without what people write around a move; a later sentence where the first says little."""
    yield line
    first, *others = SENTENCE_END.split(LISTED.sub("", line.strip()))
    if any(len(other.split()) <= SHORT and _denies(other, words) for other in others):
        return
    yield from _cores(_without_courtesy(line, words), offered, words)
    if len(first.split()) <= SENTENCE and "?" not in first and not _denies(first, words):
        for later in others[:2]:
            yield from _cores(_without_courtesy(later, words), offered, words)


def _cores(core: str, offered: Menu, words: Vocabulary) -> Iterator[str]:
    """A sentence; without greeting; after a colon; without small words and arrows; with the verb; from the verb on."""
    yield core
    yield _without_greeting(core, words)
    lead_in = LEAD_IN.match(core)
    if lead_in and _announces(lead_in[1], words):
        yield from _cores(core[lead_in.end() :], offered, words)
    plain = _without_small_words(core, offered, words)
    yield plain
    spaced = JOINED.sub(" ", plain)
    yield spaced
    games = [entry for entry in offered if entry.verb not in words.table.verbs]
    if len(games) == 1 and any(letter.isdigit() for letter in spaced):
        yield f"{games[0].verb} {spaced}"
    yield from _from_the_verb(core, offered, words)


def _from_the_verb(core: str, offered: Menu, words: Vocabulary) -> Iterator[str]:
    """What follows “ja,”, “ok” or “mein Zug ist”, where nothing before a verb says more than that."""
    said, verbs = core.split(), tuple(entry.verb for entry in offered)
    leading = words.table.lead | words.table.greet | words.small
    for place, word in enumerate(said[:SENTENCE]):
        if place and verb_of(bits(" ".join(said[place:])), verbs, words):
            yield " ".join(said[place:])
        if any(bit.casefold() not in leading for bit in bits(word)):
            return


def _announces(head: str, words: Vocabulary) -> bool:
    """Whether words before a colon say nothing but “my move”, in a language that is known."""
    table = words.table
    known = table.announce | table.lead | table.greet | table.small
    return not _says_other(head, words) and all(bit.casefold() in known or bit.isdecimal() for bit in bits(head))


def _says_other(head: str, words: Vocabulary) -> bool:
    """Whether words before a colon say “Bert thinks” or “not yet”."""
    names = {part.casefold() for name in words.names for part in name.split()}
    return not names.isdisjoint(bit.casefold() for bit in bits(head)) or _denies(head, words)


def _behind_a_colon(line: str, offered: Menu, words: Vocabulary) -> Iterator[str]:
    """What follows a few words that nobody knows: they may announce a move or take it back."""
    core = _without_courtesy(line, words)
    lead_in = LEAD_IN.match(core)
    if lead_in and len(bits(lead_in[1])) <= SHORT and not _says_other(lead_in[1], words):
        yield from _cores(core[lead_in.end() :], offered, words)


def _denies(sentence: str, words: Vocabulary) -> bool:
    return not words.table.never.isdisjoint(bit.casefold() for bit in bits(sentence))


def _without_small_words(core: str, offered: Menu, words: Vocabulary) -> str:
    """The words that mean something; one that is also a verb does so where it leads: “klar”, but not “ja, klar”."""
    verbs = {form.casefold() for entry in offered for form in (entry.verb, *_forms_of(words, entry.verb))}
    kept: list[str] = []
    for bit in bits(core):
        if bit.casefold() not in words.small or (not kept and bit.casefold() in verbs):
            kept.append(bit)
    return " ".join(kept)


def _without_courtesy(line: str, words: Vocabulary) -> str:
    """The first sentence of a line without the number before it and a remark or a wish after it: “good luck, Anna”."""
    core = SENTENCE_END.split(LISTED.sub("", line.strip()), maxsplit=1)[0]
    aside = ASIDE.search(core)
    if aside and not _denies(aside[1], words) and not any(letter.isdigit() for letter in aside[1]):
        core = core[: aside.start()]
    while True:
        trimmed = core.rstrip(" .,;:!?-–—…)").casefold()
        wish = max((wish for wish in _wishes(words) if trimmed.endswith(f" {wish}")), key=len, default="")
        if not wish:
            return core
        core = core[: len(trimmed) - len(wish)].rstrip(" ,;-–—")


@functools.lru_cache(maxsize=256)
def _wishes(words: Vocabulary) -> tuple[str, ...]:
    """What may end a line: a wish, and who signs with it."""
    names = {part.casefold() for name in words.names for part in (name, *name.split())}
    signed = (f"{wish}{comma} {name}" for wish in words.table.polite for comma in ("", ",") for name in names)
    return (*words.table.polite, *signed)


def _without_greeting(core: str, words: Vocabulary) -> str:
    """What follows “Hi all,” or “Dear Anna,” on the same line; of a name the table need not have heard."""
    head, comma, rest = core.partition(",")
    said = [bit.casefold() for bit in bits(head)]
    names = {part.casefold() for name in words.names for part in name.split()}
    greets = any(bit in words.table.greet for bit in said)
    unknown = [bit for bit in said if bit not in words.table.greet and bit not in words.small and bit not in names]
    return rest.strip() if comma and greets and len(unknown) <= 1 and not _denies(head, words) else core


def _nearest(line: str, offered: Menu, words: Vocabulary) -> Move | None:
    """The one move of the game that differs least from a line; None where none is near, or two are equally near."""
    said = [bit.casefold() for bit in bits(line) if bit.casefold() not in words.small]
    games = tuple(entry for entry in offered if entry.verb not in words.table.verbs)
    scored: list[tuple[float, Move]] = []
    for move in itertools.islice(menus.iter_moves(games), COMPARED):
        if len(move.args) + 1 == len(said):
            alike = list(map(_likeness, said, (move.verb, *move.args), itertools.repeat(words)))
            scored += [(sum(alike) / len(said), move)] if min(alike) >= NEAR_EACH else []
    best = sorted(scored, key=lambda one: -one[0])[:2]
    if not best or best[0][0] < NEAR or (len(best) == 2 and best[0][0] == best[1][0]):
        return None
    return best[0][1]


@functools.lru_cache(maxsize=4096)
def _likeness(bit: str, token: str, words: Vocabulary) -> float:
    """How much a word looks like any form of a token, from 0 to 1."""
    forms = {form.casefold() for form in (token, *_forms_of(words, token))}
    return 1.0 if bit in forms else max(difflib.SequenceMatcher(None, bit, form).ratio() for form in forms)


@functools.lru_cache(maxsize=8192)
def _forms_of(words: Vocabulary, token: str) -> tuple[str, ...]:
    """Other ways to write a token; cached, because every line asks for every token of the menu."""
    return words(token)


@functools.lru_cache(maxsize=2048)
def _names_of(words: Vocabulary, verb: str) -> frozenset[str]:
    """Every name of a verb, folded as `menus.normalize_name` folds them."""
    forms = words.game.verbs.get(verb) or words.table.verbs.get(verb) or words(verb)
    return frozenset(name for form in (verb, *forms) if (name := menus.normalize_name(form)))


def _is_meant(move: Move, said: list[str], words: Vocabulary) -> bool:
    """Whether it was written out so far that it is no accident: initials under a letter are no moves."""
    if move.verb in words.table.verbs:
        return verb_of(said, (move.verb,), words) is not None
    if len(said) == 1:
        return len(said[0]) >= RARELY_MEANT or said[0] == move.verb
    return True


def verb_of(said: list[str], verbs: tuple[str, ...], words: Vocabulary) -> str | None:
    """The verb whose name, in any language, these words begin with."""
    for size in range(min(LONGEST_VERB, len(said)), 0, -1):
        wanted = menus.normalize_name(" ".join(said[:size]))
        for verb in verbs:
            if wanted in _names_of(words, verb):
                return verb
    return None


def length_of(said: list[str], verb: str, words: Vocabulary) -> int:
    """How many of these words are the name of the verb."""
    names = _names_of(words, verb)
    sizes = range(min(LONGEST_VERB, len(said)), 1, -1)
    return next((size for size in sizes if menus.normalize_name(" ".join(said[:size])) in names), 1)


def _begins_like_a_move(said: list[str], offered: Menu, words: Vocabulary) -> bool:
    """Whether a line that is no move was meant as one: then its sender has to know."""
    verbs = tuple(entry.verb for entry in offered)
    known = tuple(verb for verb in words.verbs if verb not in (*QUIETLY, *TO_SERVER, *ASKED))
    meant = [bit for bit in said if bit.casefold() not in words.small] or said
    verb = verb_of(said, (*verbs, *known), words) or verb_of(meant, (*verbs, *known), words)
    if verb is None and not (_started(meant, verbs, words) or _misspelt(meant, (*verbs, *known), words)):
        return False
    return len(said) < SENTENCE or any(_belongs(bit, offered, words) for bit in meant[1:])


def _started(said: list[str], verbs: tuple[str, ...], words: Vocabulary) -> bool:
    """Whether a short line begins with the beginning of a verb."""
    first = menus.normalize_name(said[0]) or ""
    short = len(first) >= RARELY_MEANT and len(said) < SENTENCE
    return short and any(form.startswith(first) for form in _names(verbs, words))


def _misspelt(said: list[str], verbs: tuple[str, ...], words: Vocabulary) -> bool:
    """Whether a short line begins with a slip of the pen."""
    first = menus.normalize_name(said[0]) or ""
    short = RARELY_MEANT < len(first) < 30 and len(said) < SENTENCE
    return short and any(_alike(first, form) for form in _names(verbs, words))


def _alike(one: str, other: str) -> bool:
    """Whether two words differ by letters that changed places, or by one or two letters in a long word."""
    return sorted(one) == sorted(other) or difflib.SequenceMatcher(None, one, other).ratio() >= ALIKE


def _names(verbs: tuple[str, ...], words: Vocabulary) -> set[str]:
    return {name for verb in verbs for name in _names_of(words, verb)}


def _belongs(bit: str, offered: Menu, words: Vocabulary) -> bool:
    """Whether this is a token of some move on offer, or has a number in it as many tokens have."""
    if any(letter.isdigit() for letter in bit):
        return True
    name = menus.normalize_name(bit)
    tokens = {token for entry in offered for token in _tokens(entry)}
    return name is not None and any(
        menus.normalize_name(form) == name for token in tokens for form in (token, *_forms_of(words, token))
    )


def _tokens(entry: menus.MenuEntry) -> Iterator[str]:
    match entry:
        case menus.Choice():
            yield from (token for args in entry.options for token in args)
        case menus.Subset():
            yield from entry.items
        case menus.Number():
            return
