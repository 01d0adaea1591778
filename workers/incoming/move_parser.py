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
from service.text.move_words import Vocabulary

TALK: Literal["talk"] = "talk"


class NewRemark(Struct, frozen=True):
    """A line that the other players read; without a text it repeats the lines of the sender's mail before."""

    text: str


class Guess(Struct, frozen=True):
    """A line that is no move, and the one move that its sender may have meant."""

    why: Refused
    move: Move


Meaning = Move | Refused | Guess | NewRemark | Literal["talk"]

SERVER_VERBS = ("status", "help", "hint", "pause")  # to the server, not to the table
COMMAND_VERBS = ("vacation", "home", "order", "cancel", "letters", "unsubscribe")  # also; see mail_commands.py
EVERYDAY_VERBS = ("agree", "refuse", "sit")  # everyday words, which count only if the table asks for them
MIN_SENTENCE_WORDS = 5  # a line of this number of words is talk unless two of them belong to a move
MAX_PREFACE_WORDS = 3  # “My next move”
MIN_VERB_LIKENESS = 0.8  # of difflib; "ziehn" for "ziehen" has 0.91, "reise" for "reize" 0.8, "stay" for "start" 0.67
MIN_MOVE_LIKENESS = 0.75  # on average over the words of a move: with less it is not a slip of the pen
MIN_WORD_LIKENESS = 0.6  # of each of its words
MAX_COMPARED_MOVES = 400  # with a line, so that a large menu costs no more than a small one
MAX_VERB_WORDS = 4  # "ik doe niet mee"
MAX_VERB_CHARS = 30  # a longer word is not compared
MIN_ABBREVIATION_CHARS = 3  # a shorter word alone on its line is no abbreviation
LEAD_IN = re.compile(r"^([^:：]{1,30})(?::\s+|：\s*)(?=\S)")
PARENTHESIS = re.compile(r"\s*\(([^()]{1,80})\)[\s.!]*$")
QUESTION = re.compile(r"[?？]\W*$")
LIST_MARK = re.compile(r"^(?:\d{1,2}[.)]|[-*•])\s+(?=\S)")
SENTENCE_END = re.compile(r"(?<=[.!;…])\s+|\s+[-–—]{1,2}\s+(?=[^\W\d])")
HYPHEN = re.compile("[\u2010-\u2012\u2212]")  # the non-breaking hyphen and the minus sign, too
SMILEY = re.compile(r"(?<!\S)(?:[:;=8x]['’]?-?[DPO()\[\]/\\|*3]+|\^\^|<3)(?!\S)", re.IGNORECASE)
ARROW = re.compile(r"(?<=\w)\s*(?:->|=>|→|–|—|-)\s*(?=\w)")


def parse_move_line(line: str, menu: Menu, words: Vocabulary) -> Meaning:
    """Parse a line of a player to whom this menu is offered.

    A move of the game that is only asked about, and any move behind words that do not announce one, is a Guess.
    """
    written = split_words(line)
    if not written:
        return TALK
    command = _parse_server_command(written, menu, words) or _parse_remark(line, menu, words)
    if command:
        return command
    line = SMILEY.sub("", HYPHEN.sub("-", line)).replace("…", ". ")
    result = _find_move_or_refusal(_iter_readings(line, menu, words), menu, words)
    if isinstance(result, Move):
        if QUESTION.search(line) and result.verb not in words.table.verbs:
            return Guess(Refused("A question is not played."), result)
        return result
    announced = _find_move_or_refusal(_iter_behind_colon(line, menu, words), menu, words)
    if isinstance(announced, Move):
        return Guess(Refused("A move behind words that do not announce one is not played."), announced)
    return _explain_no_move(line, result, menu, words)


def _find_move_or_refusal(readings: Iterator[str], menu: Menu, words: Vocabulary) -> Move | Refused | None:
    """Return the first intended move among these texts, or else the first refusal; None if there is neither."""
    why: Refused | None = None
    for reading in dict.fromkeys(readings):
        try:
            move = menus.parse_move(menu, reading, functools.partial(_list_forms, words))
        except Refused as refused:
            why = why or refused
            continue
        if _is_intended(move, split_words(reading), words):
            return move
    return why


def _explain_no_move(line: str, why: Refused | None, menu: Menu, words: Vocabulary) -> Meaning:
    """Decide whether a line without a move is talk, or a refused move, with a guess of what was meant."""
    written = split_words(LIST_MARK.sub("", line))
    if why is None or not written or not _looks_like_move(written, menu, words):
        return TALK
    near = _find_nearest(_strip_courtesy(line, words), menu, words)
    return Guess(why, near) if near else why


def split_words(line: str) -> list[str]:
    """Split a line into words without the punctuation around them."""
    trimmed = (part.strip(menus.BEFORE_A_WORD + menus.AFTER_A_WORD) for part in line.split())
    return [word for word in trimmed if any(letter.isalnum() for letter in word)]


def remove_small_words(written: list[str], words: Vocabulary) -> list[str]:
    """Remove words such as “the” or “please”, which mean nothing in a move."""
    return [word for word in written if word.casefold() not in words.table.small]


def _parse_server_command(written: list[str], menu: Menu, words: Vocabulary) -> Move | None:
    """Parse a command to the server without arguments; None if other words than small ones are around it.

    A verb that the menu has, too, is a move.
    """
    menu_verbs = {entry.verb for entry in menu}
    verbs = tuple(verb for verb in SERVER_VERBS if verb not in menu_verbs)
    for candidate in (written, remove_small_words(written, words)):
        verb = find_verb(candidate, verbs, words)
        if verb and count_verb_words(candidate, verb, words) == len(candidate):
            return Move(verb)
    return None


def _parse_remark(line: str, menu: Menu, words: Vocabulary) -> NewRemark | None:
    """Parse a remark: what follows the word `say`, as it was written; None if the line does not begin so.

    If the game has that word, it is a move.
    """
    menu_verbs = tuple(entry.verb for entry in menu)
    for size in (2, 1):  # how many words mean `say` in some language
        parts = line.split(maxsplit=size)
        start = split_words(" ".join(parts[:size]))
        name = " ".join(start).casefold()
        means_say = len(start) == size and name in words.table.say
        if means_say and find_verb([name], menu_verbs, words) is None:
            text = parts[size] if len(parts) > size else ""
            return NewRemark(text.lstrip(":-–—… "))
    return None


def _iter_readings(line: str, menu: Menu, words: Vocabulary) -> Iterator[str]:
    """Yield every text that may be the move: the line, its first sentence, and the two sentences after that.

    Each sentence is without courtesies, and followed by its shorter forms. Later ones count only if the first has at
    most MIN_SENTENCE_WORDS words, and neither asks nor denies.
    """
    yield line
    first, *others = SENTENCE_END.split(LIST_MARK.sub("", line.strip()))
    yield from _iter_shorter_forms(_strip_courtesy(line, words), menu, words)  # keeps only the first sentence
    if len(first.split()) <= MIN_SENTENCE_WORDS and "?" not in first and not _has_negation(first, words):
        for later in others[:2]:
            yield from _iter_shorter_forms(_strip_courtesy(later, words), menu, words)


def _iter_shorter_forms(sentence: str, menu: Menu, words: Vocabulary) -> Iterator[str]:
    """Yield a sentence, and then shorter forms of it; what follows “my move:” has shorter forms of its own."""
    yield sentence
    yield _strip_greeting(sentence, words)
    lead_in = LEAD_IN.match(sentence)
    if lead_in and _is_announcement(lead_in[1], words):
        yield from _iter_shorter_forms(sentence[lead_in.end() :], menu, words)
    shortened = _join_meaningful_words(sentence, menu, words)
    yield shortened
    spaced = ARROW.sub(" ", _strip_lead(shortened, words))  # “A14 A8” for “ok A14-A8”
    yield spaced
    game_entries = [entry for entry in menu if entry.verb not in words.table.verbs]
    if len(game_entries) == 1 and any(letter.isdigit() for letter in spaced):  # its only verb may be left out
        yield f"{game_entries[0].verb} {spaced}"
    yield from _iter_from_verb(sentence, menu, words)


def _iter_from_verb(sentence: str, menu: Menu, words: Vocabulary) -> Iterator[str]:
    """Yield a sentence from its verb on, if only a few words such as “ja”, “ok” or “mein Zug ist” are before it."""
    written = sentence.split()
    verbs = tuple(entry.verb for entry in menu)
    leading = words.table.lead | words.table.greet | words.table.small
    for start in range(1, min(MIN_SENTENCE_WORDS, len(written))):  # as many words are before it
        before, rest = " ".join(written[:start]), " ".join(written[start:])
        if any(word.casefold() not in leading for word in split_words(before)):
            return
        if find_verb(split_words(rest), verbs, words):
            yield rest


def _strip_lead(sentence: str, words: Vocabulary) -> str:
    """Remove words such as “ok” or “doe maar” at the beginning."""
    leading = words.table.lead | words.table.greet | words.table.small
    return " ".join(itertools.dropwhile(lambda word: word.casefold() in leading, sentence.split()))


def _is_announcement(head: str, words: Vocabulary) -> bool:
    """Return whether words before a colon only say “my move”, in a language of Depesche."""
    if _is_about_other(head, words):
        return False
    preface = words.table.announce | words.table.lead | words.table.greet | words.table.small
    return all(word.casefold() in preface or word.isdecimal() for word in split_words(head))


def _is_about_other(head: str, words: Vocabulary) -> bool:
    """Return whether words before a colon name a player or deny the move: “Bert thinks”, “not yet”."""
    names = {part.casefold() for name in words.names for part in name.split()}
    return any(word.casefold() in names for word in split_words(head)) or _has_negation(head, words)


def _iter_behind_colon(line: str, menu: Menu, words: Vocabulary) -> Iterator[str]:
    """Yield what follows a few unknown words and a colon: they may announce a move or take it back."""
    sentence = _strip_courtesy(line, words)
    lead_in = LEAD_IN.match(sentence)
    if lead_in and len(split_words(lead_in[1])) <= MAX_PREFACE_WORDS and not _is_about_other(lead_in[1], words):
        yield from _iter_shorter_forms(sentence[lead_in.end() :], menu, words)


def _has_negation(sentence: str, words: Vocabulary) -> bool:
    return any(word.casefold() in words.table.never for word in split_words(sentence))


def _join_meaningful_words(sentence: str, menu: Menu, words: Vocabulary) -> str:
    """Remove small words, but not the first that is a verb of the menu, such as “klar”."""
    verbs = {form.casefold() for entry in menu for form in (entry.verb, *_list_forms(words, entry.verb))}
    meaningful: list[str] = []
    for word in split_words(sentence):
        if word.casefold() not in words.table.small or (not meaningful and word.casefold() in verbs):
            meaningful.append(word)
    return " ".join(meaningful)


def _strip_courtesy(line: str, words: Vocabulary) -> str:
    """Return the first sentence of a line, without a number before it or a wish after it: “good luck, Anna”.

    Words in parentheses at its end go, too, unless they deny the move or have a digit.
    """
    sentence = SENTENCE_END.split(LIST_MARK.sub("", line.strip()), maxsplit=1)[0]
    parenthesis = PARENTHESIS.search(sentence)
    if parenthesis and not _has_negation(parenthesis[1], words) and not any(map(str.isdigit, parenthesis[1])):
        sentence = sentence[: parenthesis.start()]
    while True:
        trimmed = sentence.rstrip(" .,;:!?-–—…)")
        wishes = [wish for wish in _list_wishes(words) if trimmed.casefold().endswith(f" {wish}")]
        if not wishes:
            return sentence
        word_count = len(max(wishes, key=len).split())  # words, because `casefold` changes the number of letters
        sentence = " ".join(trimmed.split()[:-word_count]).rstrip(" ,;-–—")


@functools.lru_cache(maxsize=256)
def _list_wishes(words: Vocabulary) -> tuple[str, ...]:
    """List what may end a line: a wish, with and without the name of a player."""
    names = {part.casefold() for name in words.names for part in (name, *name.split())}
    signed = (f"{wish}{comma} {name}" for wish in words.table.polite for comma in ("", ",") for name in names)
    return (*words.table.polite, *signed)


def _strip_greeting(sentence: str, words: Vocabulary) -> str:
    """Remove “Hi all,” or “Dear Anna,” at the beginning of a line; the name may be unknown."""
    head, comma, rest = sentence.partition(",")
    written = [word.casefold() for word in split_words(head)]
    names = {part.casefold() for name in words.names for part in name.split()}
    greets = any(word in words.table.greet for word in written)
    unknown = [word for word in written if word not in words.table.greet | words.table.small | names]
    is_greeting = comma and greets and len(unknown) <= 1 and not _has_negation(head, words)
    return rest.strip() if is_greeting else sentence


def _find_nearest(line: str, menu: Menu, words: Vocabulary) -> Move | None:
    """Return the move of the game that is most like a line; None if no move is near, or two are equally near."""
    written = [word.casefold() for word in split_words(line) if word.casefold() not in words.table.small]
    game_entries = tuple(entry for entry in menu if entry.verb not in words.table.verbs)
    moves = itertools.islice(menus.iter_moves(game_entries), MAX_COMPARED_MOVES)
    compared = [(_compare_move(written, move, words), move) for move in moves]
    best = max((likeness for likeness, _ in compared), default=0.0)
    nearest = [move for likeness, move in compared if likeness == best]
    return nearest[0] if best >= MIN_MOVE_LIKENESS and len(nearest) == 1 else None


def _compare_move(written: list[str], move: Move, words: Vocabulary) -> float:
    """Measure how much words look like a move on average, from 0 to 1; 0 if one does not, or the number differs."""
    tokens = (move.verb, *move.args)
    if len(tokens) != len(written):
        return 0.0
    likenesses = [_measure_likeness(word, token, words) for word, token in zip(written, tokens, strict=True)]
    return sum(likenesses) / len(likenesses) if min(likenesses) >= MIN_WORD_LIKENESS else 0.0


@functools.lru_cache(maxsize=4096)
def _measure_likeness(word: str, token: str, words: Vocabulary) -> float:
    """Measure how much a word looks like any form of a token, from 0 to 1."""
    forms = {form.casefold() for form in (token, *_list_forms(words, token))}
    if word in forms:
        return 1.0
    return max(difflib.SequenceMatcher(None, word, form).ratio() for form in forms)


@functools.lru_cache(maxsize=8192)
def _list_forms(words: Vocabulary, token: str) -> tuple[str, ...]:
    """The other ways to write a token; cached, because each line is compared with each token of the menu."""
    return words(token)


@functools.lru_cache(maxsize=2048)
def _list_verb_names(words: Vocabulary, verb: str) -> frozenset[str]:
    """Every name of a verb, normalized."""
    forms = words.game.verbs.get(verb) or words.table.verbs.get(verb) or words(verb)
    return frozenset(filter(None, map(menus.normalize_name, (verb, *forms))))


def _is_intended(move: Move, written: list[str], words: Vocabulary) -> bool:
    """Return whether a move was written out far enough to be no accident: initials under a mail are no moves."""
    if move.verb in words.table.verbs:
        return find_verb(written, (move.verb,), words) is not None
    if len(written) == 1:
        return len(written[0]) >= MIN_ABBREVIATION_CHARS or written[0] == move.verb
    return True


def find_verb(written: list[str], verbs: tuple[str, ...], words: Vocabulary) -> str | None:
    """Return the verb that these words begin with, in any language, the longest name first; None if there is none."""
    for size in range(min(MAX_VERB_WORDS, len(written)), 0, -1):
        name = menus.normalize_name(" ".join(written[:size]))
        for verb in verbs:
            if name in _list_verb_names(words, verb):
                return verb
    return None


def count_verb_words(written: list[str], verb: str, words: Vocabulary) -> int:
    """Return how many words of a line that begins with a verb name it; 1 unless they are a name of several words."""
    names = _list_verb_names(words, verb)
    for size in range(min(MAX_VERB_WORDS, len(written)), 1, -1):
        if menus.normalize_name(" ".join(written[:size])) in names:
            return size
    return 1


def _looks_like_move(written: list[str], menu: Menu, words: Vocabulary) -> bool:
    """Return whether a line was meant as a move: it begins like a verb, and is short or has a token behind it."""
    menu_verbs = [entry.verb for entry in menu]
    talk_words = (*EVERYDAY_VERBS, *SERVER_VERBS, *COMMAND_VERBS)  # verbs only if the menu has them
    other_verbs = (verb for verb in words.verbs if verb not in talk_words)
    verbs = (*menu_verbs, *other_verbs)
    game_verbs = tuple(verb for verb in menu_verbs if verb not in words.table.verbs)  # which may be abbreviated
    meaningful = remove_small_words(written, words) or written
    verb = find_verb(written, verbs, words) or find_verb(meaningful, verbs, words)  # one may begin with a small word
    if verb is None and not _is_like_verb(meaningful, verbs, game_verbs, words):
        return False
    is_short = len(written) < MIN_SENTENCE_WORDS
    return is_short or any(_is_token(word, menu, words) for word in meaningful[1:])


def _is_like_verb(written: list[str], verbs: tuple[str, ...], game_verbs: tuple[str, ...], words: Vocabulary) -> bool:
    """Return whether a short line begins with the first letters of a verb of the game, or with any verb misspelt."""
    first = menus.normalize_name(written[0]) or ""
    if len(written) >= MIN_SENTENCE_WORDS or len(first) < MIN_ABBREVIATION_CHARS:
        return False
    if any(name.startswith(first) for name in _list_names(game_verbs, words)):
        return True
    is_comparable = MIN_ABBREVIATION_CHARS < len(first) < MAX_VERB_CHARS
    return is_comparable and any(_is_alike(first, name) for name in _list_names(verbs, words))


def _is_alike(one: str, other: str) -> bool:
    """Return whether two words differ only by the order of letters, or by one or two letters in a long word."""
    return sorted(one) == sorted(other) or difflib.SequenceMatcher(None, one, other).ratio() >= MIN_VERB_LIKENESS


def _list_names(verbs: tuple[str, ...], words: Vocabulary) -> set[str]:
    """Every name of each of these verbs, normalized."""
    return {name for verb in verbs for name in _list_verb_names(words, verb)}


def _is_token(word: str, menu: Menu, words: Vocabulary) -> bool:
    """Return whether a word is a token of a move in the menu, or contains a digit as many tokens do."""
    if any(letter.isdigit() for letter in word):
        return True
    name = menus.normalize_name(word)
    if name is None:
        return False
    tokens = {token for entry in menu for token in _iter_tokens(entry)}
    forms = (form for token in tokens for form in (token, *_list_forms(words, token)))
    return any(menus.normalize_name(form) == name for form in forms)


def _iter_tokens(entry: menus.MenuEntry) -> Iterator[str]:
    """Yield the tokens that a menu entry offers."""
    match entry:
        case menus.Choice():
            yield from (token for args in entry.options for token in args)
        case menus.Subset():
            yield from entry.items
        case menus.Number():
            return
