"""Menus: all legal moves of a seat as data, and the one text form of a move.

A menu is the only statement of what is legal. The page, the letter, the parser, the referee, the bots and the
fuzzer all use it; nothing else decides whether a move may be made.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from engine.refusal import Refused

TOKEN = re.compile(r"[^\s\x00-\x1f\x7f]{1,40}")
CANONICAL_INT = re.compile(r"0|-?[1-9][0-9]{0,8}")  # the one form of a number in a move
MAX_TEXT_CHARS, MAX_WORD_CHARS = 10_000, 80
MAX_WEIGHT = 1_000  # a random choice among entries counts no entry as more moves than this
BEFORE_A_WORD = "\"'“”„‚‘’«»([<>→=.;:!?"
AFTER_A_WORD = "\"'“”‘’«»)]<>.;:!?,"
NAME = re.compile(r"[^\W\d_]+(?:[\s_'’-][^\W\d_]+)*[\s_-]?\d*")  # words of letters, and perhaps a number
MARKS = re.compile(r"(?<!\d)[^\w\s,+-](?!\d)|(?<=[^\W\d])[-_'’.,](?=[^\W\d])")  # beside no digit, or between letters

RandomBelow = Callable[[int], int]
"""Returns a random number from 0 to n - 1."""


class Move(Struct, frozen=True):
    """A verb and its arguments; `str(move)` is the form used in letters, pages, logs and scenarios."""

    verb: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.verb, *self.args))

    @classmethod
    def parse(cls, text: str) -> Move:
        """Return the move exactly as it is written, whether it is legal or not."""
        words = text.split()
        if not words:
            raise Refused("There is no move in an empty line.")
        return cls(words[0], tuple(words[1:]))


class Choice(Struct, frozen=True, tag="choice"):
    """A verb with every legal sequence of arguments; a verb without arguments has the empty sequence."""

    verb: str
    options: tuple[tuple[str, ...], ...] = ((),)
    rule: str = ""  # the paragraph of the game's book that refusals cite, as in the other kinds of entries

    def allows(self, args: tuple[str, ...]) -> bool:
        return args in self.options

    def count(self) -> int:
        return len(self.options)

    def iter_moves(self) -> Iterator[Move]:
        return (Move(self.verb, args) for args in self.options)

    def pick(self, random_below: RandomBelow) -> Move:
        return Move(self.verb, self.options[random_below(len(self.options))])

    def format_syntax(self) -> str:
        return "; ".join(_format_stems(self.verb, self.options))


class Subset(Struct, frozen=True, tag="subset"):
    """A choice of `least` to `most` of these items, in any order; an item that is listed twice may be chosen twice."""

    verb: str
    items: tuple[str, ...]
    least: int
    most: int
    rule: str = ""

    def allows(self, args: tuple[str, ...]) -> bool:
        return self.least <= len(args) <= self.most and Counter(args) <= Counter(self.items)

    def count(self) -> int:
        """Return the number of moves, or more: items that are equal are counted as if they were different."""
        return sum(math.comb(len(self.items), size) for size in range(self.least, self.most + 1))

    def iter_moves(self) -> Iterator[Move]:
        sizes = range(self.least, self.most + 1)
        return (Move(self.verb, args) for size in sizes for args in _iter_combinations(self.items, size))

    def pick(self, random_below: RandomBelow) -> Move:
        """Return a random choice: first how many items, then which; they are in the order of the menu."""
        places, chosen_places = list(range(len(self.items))), list[int]()
        for _ in range(self.least + random_below(self.most - self.least + 1)):
            chosen_places.append(places.pop(random_below(len(places))))
        return Move(self.verb, tuple(self.items[place] for place in sorted(chosen_places)))

    def format_syntax(self) -> str:
        size = str(self.least) if self.least == self.most else f"{self.least}-{self.most}"
        return f"{self.verb} ({size} of: {' '.join(self.items)})"


class Number(Struct, frozen=True, tag="number"):
    """One whole number from `least` to `most`."""

    verb: str
    least: int
    most: int
    rule: str = ""

    def allows(self, args: tuple[str, ...]) -> bool:
        is_number = len(args) == 1 and CANONICAL_INT.fullmatch(args[0]) is not None
        return is_number and self.least <= int(args[0]) <= self.most

    def count(self) -> int:
        return self.most - self.least + 1

    def iter_moves(self) -> Iterator[Move]:
        return (Move(self.verb, (str(number),)) for number in range(self.least, self.most + 1))

    def pick(self, random_below: RandomBelow) -> Move:
        return Move(self.verb, (str(self.least + random_below(self.count())),))

    def format_syntax(self) -> str:
        return f"{self.verb} {self.least}-{self.most}"


def _iter_combinations(items: tuple[str, ...], size: int) -> Iterator[tuple[str, ...]]:
    """Yield every choice of `size` items once; items that are equal are not distinguished."""
    if size == 0:
        yield ()
        return
    used = set[str]()
    for place, item in enumerate(items[: len(items) - size + 1]):
        if item not in used:
            used.add(item)
            yield from ((item, *rest) for rest in _iter_combinations(items[place + 1 :], size - 1))


MenuEntry = Choice | Subset | Number
Menu = tuple[MenuEntry, ...]
Spell = Callable[[str], Iterable[str]]
"""Returns the ways to write a token, for instance in the reader's language."""


class PartialMove(Struct, frozen=True):
    """The tokens of a move so far, the tokens that may follow, and the move if these tokens are enough."""

    tokens: tuple[str, ...]
    following: tuple[str, ...]
    move: Move | None


def make_menu(*verbs: str) -> Menu:
    """Return a menu of verbs without arguments."""
    return tuple(Choice(verb) for verb in verbs)


def is_token(text: str) -> bool:
    """Whether this can be a word of a move: no white space, no control characters, at most forty characters."""
    return TOKEN.fullmatch(text) is not None


def allows(menu: Menu, move: Move) -> bool:
    """Whether exactly this move is on the menu."""
    for entry in menu:
        if entry.verb == move.verb:
            return entry.allows(move.args)
    return False


def iter_moves(menu: Menu) -> Iterator[Move]:
    """Iterate over the moves of the menu; a large subset has a great many."""
    return itertools.chain.from_iterable(entry.iter_moves() for entry in menu)


def count(menu: Menu) -> int:
    """Return the number of moves on the menu; it is too high where equal items can be chosen from."""
    return sum(entry.count() for entry in menu)


def pick(menu: Menu, random_below: RandomBelow) -> Move:
    """Return a random move; each entry is weighted by its moves."""
    if len(menu) == 1:
        return menu[0].pick(random_below)
    weights = [min(entry.count(), MAX_WEIGHT) for entry in menu]
    point = random_below(sum(weights))
    for entry, weight in zip(menu, weights, strict=True):
        if point < weight:
            return entry.pick(random_below)
        point -= weight
    raise AssertionError("the weights of a menu add up to its size")


def format_menu(menu: Menu) -> tuple[str, ...]:
    """Return a line for each entry of a menu: what a player may write, such as `move A1 A2, B1; move A17 A16`."""
    return tuple(entry.format_syntax() for entry in menu)


def parse_move(menu: Menu, text: str, spell: Spell = lambda token: (token,)) -> Move:
    """Return the one move that a player's text means; raise Refused if it means none or several.

    Case does not matter, the beginning of a word is enough if it is unique, and what is obvious may be left out.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise Refused("That is too long for a move; write one of these: {moves}.", moves=_join(format_menu(menu)))
    without_punctuation = (word.lstrip(BEFORE_A_WORD).rstrip(AFTER_A_WORD) for word in text.split())
    words = tuple(word for word in without_punctuation if word)
    if not words:
        raise Refused("Write one of these: {moves}.", moves=_join(format_menu(menu)))
    partial = parse_partial(menu, words, spell)
    if partial.move is None:
        raise Refused(
            "“{said}” goes on with one of these: {following}.",
            rule=next(entry.rule for entry in menu if entry.verb == partial.tokens[0]),
            said=" ".join(partial.tokens),
            following=_join(partial.following),
        )
    return partial.move


def find_sample(menu: Menu) -> tuple[MenuEntry, Move] | None:
    """Return the first entry that has more than one move, and its first move; None if there is none."""
    for entry in menu:
        if entry.count() > 1:
            return entry, next(entry.iter_moves())
    return None


def parse_partial(menu: Menu, words: Sequence[str], spell: Spell = lambda token: (token,)) -> PartialMove:
    """Return the part of a move that these words mean; raise Refused if no move begins with them."""
    if not menu:
        raise Refused("There is nothing for you to do now.")
    if not words:
        return PartialMove((), tuple(entry.verb for entry in menu), move=None)
    verb, used = _match_next(words, start=0, tokens=[entry.verb for entry in menu], spell=spell)
    if verb is None:
        raise Refused(
            "“{said}” is not one of your moves; write one of these: {moves}.",
            said=_shorten(words[0]),
            moves=_join(format_menu(menu)),
        )
    entry = next(entry for entry in menu if entry.verb == verb)
    match entry:
        case Choice():
            return _parse_choice(entry, words[used:], spell)
        case Subset():
            return _parse_subset(entry, words[used:], spell)
        case Number():
            return _parse_number(entry, words[used:])


def _parse_choice(entry: Choice, words: Sequence[str], spell: Spell) -> PartialMove:
    """Match word after word; `left` are the options that begin with the tokens that were chosen."""
    left = list(entry.options)
    chosen = list[str]()
    start = 0
    while start < len(words):
        following = _list_tokens(left, len(chosen))
        token, used = _match_next(words, start, following, spell)
        if token is None:
            raise _explain_mismatch((entry.verb, *chosen), words[start], following, entry.rule)
        chosen.append(token)
        left = [args for args in left if args[: len(chosen)] == tuple(chosen)]
        start += used
    candidates = [args for args in left if len(args) == len(chosen)] or left  # options that end here, else the rest
    move = Move(entry.verb, candidates[0]) if len(candidates) == 1 else None
    return PartialMove((entry.verb, *chosen), _list_tokens(left, len(chosen)), move)


def _list_tokens(options: Sequence[tuple[str, ...]], place: int) -> tuple[str, ...]:
    """Return the tokens at this place of the options, each once."""
    return tuple(dict.fromkeys(args[place] for args in options if len(args) > place))


def _parse_subset(entry: Subset, words: Sequence[str], spell: Spell) -> PartialMove:
    """Match the words in any order; `left` are the items that were not chosen."""
    left = list(entry.items)
    chosen = list[str]()
    start = 0
    while start < len(words):
        token, used = _match_next(words, start, list(dict.fromkeys(left)), spell)
        if token is None:
            raise _explain_mismatch((entry.verb, *chosen), words[start], left, entry.rule)
        left.remove(token)
        chosen.append(token)
        start += used
    if len(chosen) > entry.most:
        raise Refused("Choose at most {most} for “{verb}”.", most=entry.most, verb=entry.verb, rule=entry.rule)
    order = sorted(chosen, key=entry.items.index)
    following = tuple(dict.fromkeys(left)) if len(chosen) < entry.most else ()
    move = Move(entry.verb, tuple(order)) if len(chosen) >= entry.least else None
    return PartialMove((entry.verb, *order), following, move)


def _parse_number(entry: Number, words: Sequence[str]) -> PartialMove:
    """Match one number, which may be left out if only one is possible."""
    if not words:
        only = Move(entry.verb, (str(entry.least),)) if entry.least == entry.most else None
        return PartialMove((entry.verb,), (f"{entry.least}-{entry.most}",), only)
    if len(words) > 1 or not entry.allows((words[0],)):
        raise Refused(
            "“{verb}” takes one number from {least} to {most}.",
            verb=entry.verb,
            least=entry.least,
            most=entry.most,
            rule=entry.rule,
        )
    return PartialMove((entry.verb, words[0]), (), Move(entry.verb, (words[0],)))


def _explain_mismatch(tokens: Sequence[str], word: str, following: Sequence[str], rule: str) -> Refused:
    """Return the refusal of a word that does not fit, with the words that would; without any, the move was whole."""
    words = {"said": " ".join(tokens), "bit": _shorten(word)}
    if not following:
        return Refused("“{said}” is already whole; leave out “{bit}”.", rule=rule, **words)
    words["following"] = _join(following)
    return Refused("After “{said}”, “{bit}” does not fit; write one of these: {following}.", rule=rule, **words)


def _match_next(words: Sequence[str], start: int, tokens: Sequence[str], spell: Spell) -> tuple[str | None, int]:
    """Return the token that the next words mean, or None, and how many words it takes: 3 for `Omsk am Irtysch`."""
    if words[start] in tokens:
        return words[start], 1
    for size in (3, 2):  # the words of a name
        if len(words) >= start + size:
            matches = _match_name(" ".join(words[start : start + size]), tokens, spell)
            if len(matches) == 1:
                return matches[0], size
    return _match_word(words[start], tokens, spell), 1


def _match_name(text: str, tokens: Sequence[str], spell: Spell) -> list[str]:
    """Return the tokens with this name, however its words are joined; none if the text is no name."""
    name = normalize_name(text)
    return [token for token in tokens if name and name in map(normalize_name, (token, *spell(token)))]


@functools.lru_cache(maxsize=4096)
def normalize_name(text: str) -> str | None:
    """Return one form of a name, however its words are joined and spelled; None if it is no name."""
    folded = _fold_case(text) if len(text) <= MAX_WORD_CHARS else ""
    return re.sub(r"[\W_]", "", folded) if NAME.fullmatch(folded) else None


def _match_word(text: str, tokens: Sequence[str], spell: Spell) -> str | None:
    """Return the one token that this word means; None if it means none, or several in the first way that fits any."""
    if len(text) > MAX_WORD_CHARS:
        return None
    folded, plain = text.casefold(), _remove_marks(text)
    comparisons: tuple[Callable[[str], bool], ...] = (  # the surest first
        lambda form: form.casefold() == folded,
        lambda form: _remove_marks(form) == plain,
        lambda form: _is_beginning(folded, form.casefold()),
        lambda form: _is_beginning(plain, _remove_marks(form)),
    )
    for matches in comparisons:
        candidates = [token for token in tokens if any(matches(form) for form in (token, *spell(token)))]
        if candidates:
            return candidates[0] if len(candidates) == 1 else None
    return None


def _is_beginning(text: str, form: str) -> bool:
    """Whether the form begins with this text; half a number does not count: “A1” is not short for “A17”."""
    return text[-1:].isalpha() and form.startswith(text)


def _remove_marks(text: str) -> str:
    """Return letters and digits only, without accents, and with the signs of numbers (`-1,0`)."""
    return MARKS.sub("", _fold_case(text))


def _fold_case(text: str) -> str:
    """Return the text in small letters and without accents: `Á` is the same as `a`."""
    if text.isascii():
        return text.casefold()
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _shorten(word: str) -> str:
    """Shorten a player's word so that it can be quoted."""
    return word if len(word) <= MAX_WORD_CHARS else word[: MAX_WORD_CHARS - 1] + "…"


def _format_stems(verb: str, options: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield a line for all options in a row that differ only after their stem, in the last word: `move A15 A9, A12`."""
    for stem, group in itertools.groupby(options, key=lambda args: args[:-1]):
        last = ", ".join(args[-1] for args in group if args)
        yield " ".join(word for word in (verb, *stem, last) if word)


def _join(words: Iterable[str], most: int = 12) -> str:
    shown = list(itertools.islice(words, most + 1))
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
