"""What a seat may do now, as data, and the one text form of a move.

A menu is the only statement of what is legal. The page, the letter, the parser, the referee, the bots and the
fuzzer all read it; nothing else decides whether a move may be played.
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
LONGEST, LONGEST_WORD = 10_000, 80
BEFORE_A_WORD = "\"'“”„‚‘’«»([<>→=.;:!?"
AFTER_A_WORD = "\"'“”‘’«»)]<>.;:!?,"
NAME = re.compile(r"[^\W\d_]+(?:[\s_'’-][^\W\d_]+)*[\s_-]?\d*")


class Move(Struct, frozen=True):
    """A verb and its arguments; `str(move)` is the form used in letters, pages, logs and scenarios."""

    verb: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.verb, *self.args))

    @classmethod
    def read(cls, text: str) -> Move:
        """The move exactly as written, whether or not anybody may play it."""
        words = text.split()
        if not words:
            raise Refused("There is no move in an empty line.")
        return cls(words[0], tuple(words[1:]))


class Choice(Struct, frozen=True, tag="choice"):
    """One verb and every sequence of arguments that is legal together with it; a bare verb has the empty one."""

    verb: str
    options: tuple[tuple[str, ...], ...] = ((),)
    rule: str = ""

    def allows(self, args: tuple[str, ...]) -> bool:
        return args in self.options

    def count(self) -> int:
        return len(self.options)

    def moves(self) -> Iterator[Move]:
        return (Move(self.verb, args) for args in self.options)

    def pick(self, below: Callable[[int], int]) -> Move:
        return Move(self.verb, self.options[below(len(self.options))])

    def hint(self) -> str:
        return "; ".join(_stems(self.verb, self.options))


class Subset(Struct, frozen=True, tag="subset"):
    """So many of these items, in any order; an item listed twice may be named twice."""

    verb: str
    items: tuple[str, ...]
    least: int
    most: int
    rule: str = ""

    def allows(self, args: tuple[str, ...]) -> bool:
        return self.least <= len(args) <= self.most and not Counter(args) - Counter(self.items)

    def count(self) -> int:
        return sum(math.comb(len(self.items), size) for size in range(self.least, self.most + 1))

    def moves(self) -> Iterator[Move]:
        sizes = range(self.least, self.most + 1)
        return (Move(self.verb, args) for size in sizes for args in _combinations(self.items, size))

    def pick(self, below: Callable[[int], int]) -> Move:
        left, taken = list(range(len(self.items))), set[int]()
        for _ in range(self.least + below(self.most - self.least + 1)):
            taken.add(left.pop(below(len(left))))
        return Move(self.verb, tuple(item for place, item in enumerate(self.items) if place in taken))

    def hint(self) -> str:
        size = str(self.least) if self.least == self.most else f"{self.least}-{self.most}"
        return f"{self.verb} ({size} of: {' '.join(self.items)})"


class Number(Struct, frozen=True, tag="number"):
    """One whole number from `least` to `most`."""

    verb: str
    least: int
    most: int
    rule: str = ""

    def allows(self, args: tuple[str, ...]) -> bool:
        return len(args) == 1 and _is_canonical_int(args[0]) and self.least <= int(args[0]) <= self.most

    def count(self) -> int:
        return self.most - self.least + 1

    def moves(self) -> Iterator[Move]:
        return (Move(self.verb, (str(number),)) for number in range(self.least, self.most + 1))

    def pick(self, below: Callable[[int], int]) -> Move:
        return Move(self.verb, (str(self.least + below(self.count())),))

    def hint(self) -> str:
        return f"{self.verb} {self.least}-{self.most}"


def _combinations(items: tuple[str, ...], size: int) -> Iterator[tuple[str, ...]]:
    """What can be chosen of these, one choice at a time; equal items are told apart by nobody, so each choice once."""
    if size == 0:
        yield ()
        return
    tried = set[str]()
    for place, item in enumerate(items[: len(items) - size + 1]):
        if item not in tried:
            tried.add(item)
            yield from ((item, *rest) for rest in _combinations(items[place + 1 :], size - 1))


Entry = Choice | Subset | Number
Menu = tuple[Entry, ...]
Word = Callable[[str], Iterable[str]]


class Narrowed(Struct, frozen=True):
    """How far some words have come in a menu: the tokens meant, what may follow, and the move once it is whole."""

    said: tuple[str, ...]
    following: tuple[str, ...]
    move: Move | None


def bare(*verbs: str) -> Menu:
    """Choices that need no arguments."""
    return tuple(Choice(verb) for verb in verbs)


def is_token(text: str) -> bool:
    """Whether this may stand in a move: no white space, no control characters, at most forty characters."""
    return TOKEN.fullmatch(text) is not None


def allows(menu: Menu, move: Move) -> bool:
    """Whether this very move is on the menu."""
    for entry in menu:
        if entry.verb == move.verb:
            return entry.allows(move.args)
    return False


def moves(menu: Menu) -> Iterator[Move]:
    """Every move on the menu; for a large subset that can be many, so take what you need."""
    return itertools.chain.from_iterable(entry.moves() for entry in menu)


def count(menu: Menu) -> int:
    return sum(entry.count() for entry in menu)


def pick(menu: Menu, below: Callable[[int], int]) -> Move:
    """One move, every entry weighted by how much it offers; `below(n)` gives a number from 0 to n - 1."""
    if len(menu) == 1:
        return menu[0].pick(below)
    weights = [min(entry.count(), 1000) for entry in menu]
    point = below(sum(weights))
    for entry, weight in zip(menu, weights, strict=True):
        if point < weight:
            return entry.pick(below)
        point -= weight
    raise AssertionError("the weights of a menu add up to its size")


def hints(menu: Menu) -> tuple[str, ...]:
    """What may be written, one line an entry, in the words a reply may use."""
    return tuple(entry.hint() for entry in menu)


def from_text(menu: Menu, text: str, word: Word = lambda token: (token,)) -> Move:
    """The one move these words mean: any case, unique beginnings, obvious rest left out.

    `word` gives the ways to write a token, for instance in the reader's language.
    """
    if len(text) > LONGEST:
        raise Refused("That is too long for a move; write one of these: {moves}.", moves=_listed(hints(menu)))
    said = tuple(bit for bit in map(_trim, text.split()) if bit)
    if not said:
        raise Refused("Write one of these: {moves}.", moves=_listed(hints(menu)))
    narrowed = narrow(menu, said, word)
    if narrowed.move is None:
        raise Refused(
            "“{said}” goes on with one of these: {following}.",
            rule=next(entry.rule for entry in menu if entry.verb == narrowed.said[0]),
            said=" ".join(narrowed.said),
            following=_listed(narrowed.following),
        )
    return narrowed.move


def narrow(menu: Menu, said: Sequence[str], word: Word = lambda token: (token,)) -> Narrowed:
    """Follow these words into the menu as far as they go."""
    if not menu:
        raise Refused("There is nothing for you to do now.")
    if not said:
        return Narrowed((), tuple(entry.verb for entry in menu), None)
    verb, used = _next(said, 0, [entry.verb for entry in menu], word)
    if verb is None:
        raise Refused(
            "“{said}” is not one of your moves; write one of these: {moves}.",
            said=_short(said[0]),
            moves=_listed(hints(menu)),
        )
    entry = next(entry for entry in menu if entry.verb == verb)
    match entry:
        case Choice():
            return _narrow_choice(entry, said[used:], word)
        case Subset():
            return _narrow_subset(entry, said[used:], word)
        case Number():
            return _narrow_number(entry, said[used:])


def _narrow_choice(entry: Choice, said: Sequence[str], word: Word) -> Narrowed:
    left = list(entry.options)
    meant: tuple[str, ...] = (entry.verb,)
    place = read = 0
    while read < len(said):
        tokens = list(dict.fromkeys(args[place] for args in left if len(args) > place))
        token, used = _next(said, read, tokens, word)
        if token is None:
            raise _misfit(meant, said[read], tokens, entry.rule)
        meant = (*meant, token)
        left = [args for args in left if len(args) > place and args[place] == token]
        place, read = place + 1, read + used
    whole = [args for args in left if len(args) == place]
    if len(left) == 1 or whole:
        return Narrowed(meant, _after(left, place), Move(entry.verb, (whole or left)[0]))
    return Narrowed(meant, _after(left, place), None)


def _after(options: Sequence[tuple[str, ...]], place: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(args[place] for args in options if len(args) > place))


def _narrow_subset(entry: Subset, said: Sequence[str], word: Word) -> Narrowed:
    left, meant, read = list(entry.items), list[str](), 0
    while read < len(said):
        token, used = _next(said, read, list(dict.fromkeys(left)), word)
        if token is None:
            raise _misfit((entry.verb, *meant), said[read], left, entry.rule)
        left.remove(token)
        meant.append(token)
        read += used
    if len(meant) > entry.most:
        raise Refused("Choose at most {most} for “{verb}”.", most=entry.most, verb=entry.verb, rule=entry.rule)
    order = sorted(meant, key=entry.items.index)
    following = tuple(dict.fromkeys(left)) if len(meant) < entry.most else ()
    move = Move(entry.verb, tuple(order)) if len(meant) >= entry.least else None
    return Narrowed((entry.verb, *order), following, move)


def _narrow_number(entry: Number, said: Sequence[str]) -> Narrowed:
    if not said:
        only = Move(entry.verb, (str(entry.least),)) if entry.least == entry.most else None
        return Narrowed((entry.verb,), (f"{entry.least}-{entry.most}",), only)
    if len(said) > 1 or not entry.allows((said[0],)):
        raise Refused(
            "“{verb}” takes one number from {least} to {most}.",
            verb=entry.verb,
            least=entry.least,
            most=entry.most,
            rule=entry.rule,
        )
    return Narrowed((entry.verb, said[0]), (), Move(entry.verb, (said[0],)))


def _misfit(meant: Sequence[str], bit: str, tokens: Sequence[str], rule: str) -> Refused:
    words = {"said": " ".join(meant), "bit": _short(bit)}
    if not tokens:
        return Refused("“{said}” is already whole; leave out “{bit}”.", rule=rule, **words)
    return Refused(
        "After “{said}”, “{bit}” does not fit; write one of these: {following}.",
        rule=rule,
        following=_listed(tokens),
        **words,
    )


def _next(said: Sequence[str], read: int, tokens: Sequence[str], word: Word) -> tuple[str | None, int]:
    """The token that the next word means, or the next few together (`Omsk am Irtysch`), and how many they are."""
    if said[read] not in tokens:
        for size in (3, 2):
            together = as_name(" ".join(said[read : read + size])) if len(said) >= read + size else None
            found = [token for token in tokens if together and together in map(as_name, (token, *word(token)))]
            if len(found) == 1:
                return found[0], size
    return _match(said[read], tokens, word), 1


@functools.lru_cache(maxsize=4096)
def as_name(text: str) -> str | None:
    """A name of one or more words, however they are joined and spelt; None where it is no name."""
    folded = _folded(text) if len(text) <= LONGEST_WORD else ""
    return re.sub(r"[\W_]", "", folded) if NAME.fullmatch(folded) else None


def _match(bit: str, tokens: Sequence[str], word: Word) -> str | None:
    """The one token that this bit of text means, the closest way of reading it first."""
    if bit in tokens:
        return bit
    if len(bit) > LONGEST_WORD:
        return None
    folded, plain = bit.casefold(), _plain(bit)
    readings: tuple[Callable[[str], bool], ...] = (
        lambda form: form.casefold() == folded,
        lambda form: _plain(form) == plain,
        lambda form: _begins(form.casefold(), folded),
        lambda form: _begins(_plain(form), plain),
    )
    for reading in readings:
        found = [token for token in tokens if any(reading(form) for form in (token, *word(token)))]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _begins(form: str, bit: str) -> bool:
    """Whether the bit begins the form; half a number is no beginning: “A1” is not short for “A17”."""
    return bit[-1:].isalpha() and form.startswith(bit)


def _plain(text: str) -> str:
    """Letters and digits only, without accents, but signs that make numbers (`-1,0`) stay."""
    return re.sub(r"(?<!\d)[^\w\s,+-](?!\d)|(?<=[^\W\d])[-_'’.,](?=[^\W\d])", "", _folded(text))


def _folded(text: str) -> str:
    """Without capitals and accents: `Á` is as good as `a`."""
    if text.isascii():
        return text.casefold()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _trim(bit: str) -> str:
    """A word of a line without the punctuation around it."""
    return bit.lstrip(BEFORE_A_WORD).rstrip(AFTER_A_WORD)


def _short(bit: str) -> str:
    """What somebody wrote, short enough to be quoted."""
    return bit if len(bit) <= LONGEST_WORD else bit[: LONGEST_WORD - 1] + "…"


def _is_canonical_int(text: str) -> bool:
    return re.fullmatch(r"0|-?[1-9][0-9]{0,8}", text) is not None


def _stems(verb: str, options: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Options that differ only in their last word on one line: `move A15 A9, A12`."""
    for stem, group in itertools.groupby(options, key=lambda args: args[:-1]):
        last = ", ".join(args[-1] for args in group if args)
        yield " ".join(bit for bit in (verb, *stem, last) if bit)


def _listed(words: Iterable[str], most: int = 12) -> str:
    shown = list(itertools.islice(words, most + 1))
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
