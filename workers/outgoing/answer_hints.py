"""Hints: what a letter says may be answered, in the words of its reader; whatever stands there is understood."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine import menu as menus
from engine import table as tables
from engine.game import Game
from engine.menu import Choice, Menu, MenuEntry, Move, Number, Subset
from engine.record import Table
from service import numbers
from service.text import words
from service.text.drawing import Voice
from service.text.languages import SOURCE, Said
from service.text.words import PARTS

LINES = 10  # of one verb; the page has them all
ENDS = 14  # in one line
TO_SERVER = ("status", "help")
BETWEEN = " · "
TOKENS = ("said", "following", "verb")  # what a refusal quotes from a menu


class HintLine(Struct, frozen=True):
    """Moves that differ only in their last word: what they begin with, and each last word with its whole move.

    Where no last word is to be chosen, the move that the line is; of an unfinished one the page shows the rest.
    """

    stem: str
    ends: tuple[tuple[str, str], ...] = ()
    move: str = ""
    more: bool = False

    @property
    def text(self) -> str:
        """The line as it is written; no comma between moves, for names of places have one."""
        return " ".join(filter(None, (self.stem, BETWEEN.join([*(end for end, _ in self.ends), *["…"] * self.more]))))


class Hint(Struct, frozen=True):
    """One verb: what it does, what may be written, and whether there is more of it on the page.

    `most` is 0 but where so many of what stands in the line are chosen, from `least` on.
    """

    label: str
    lines: tuple[HintLine, ...]
    more: bool = False
    least: int = 0
    most: int = 0


def of(menu: Menu, pen: Pen, voice: Voice) -> tuple[Hint, ...]:
    """What may be answered now."""
    return tuple(_hint(entry, pen, voice) for entry in menu)


def example(menu: Menu, pen: Pen) -> tuple[str, str]:
    """A move written out, and as its tokens: the first that takes more than its verb; empty where there is none."""
    for entry in menu:
        if entry.count() > 1:
            move = next(entry.iter_moves())
            return pen.move(move, entry), str(move)
    return "", ""


def commands(table: Table, seat: int, pen: Pen, to_server: Sequence[str] = TO_SERVER) -> tuple[str, ...]:
    """What may be said of the table itself, and to the house; nothing where there is no more to say."""
    found = tuple(pen.verb(entry.verb) for entry in tables.list_commands(table, seat))
    return (*found, *map(pen.verb, to_server), f"{pen.say} …") if found else ()


def in_words(why: Said, pen: Pen) -> Said:
    """A refusal that names tokens of a menu, in the reader's words."""
    if not why.words.keys() & {"following", "bit", "verb"}:
        return why
    return Said(
        why.sentence, {name: pen.phrase(str(word)) if name in TOKENS else word for name, word in why.words.items()}
    )


class Pen:
    """Writes moves of one table in one language."""

    def __init__(self, game: Game, names: Sequence[str], language: str) -> None:
        self._own = words.spoken(game, names, language)
        self._all = words.of(game, names)
        self._english = language == SOURCE

    def move(self, move: Move, entry: MenuEntry) -> str:
        """A whole move."""
        return self._line(entry, move.args)

    @property
    def say(self) -> str:
        """What begins a line that is told to the table."""
        return min(self._own.table.say, key=len)

    def verb(self, verb: str) -> str:
        """A verb, as letters write it."""
        if self._english:
            return verb
        forms = self._own.game.verbs.get(verb) or self._own.table.verbs.get(verb) or (verb,)
        return forms[0]

    def phrase(self, text: str) -> str:
        """Tokens and verbs, separated by blanks and commas."""
        return ", ".join(" ".join(map(self._word, part.split())) for part in text.split(", "))

    def _word(self, word: str) -> str:
        known = word in self._own.game.verbs or word in self._own.table.verbs
        return self.verb(word) if known else self.token(word, ())

    def token(self, token: str, among: Sequence[str]) -> str:
        """A token, as letters write it: a seat by its name where nothing else is called so."""
        name = self._name(token)
        if name and self._is_clear(name, among):
            return name
        if self._english:  # whose words the tokens are, but for bare signs
            return next(iter(self._own.game.tokens.get(token, ())), token) if _is_bare(token) else token
        return next(iter(self._own(token)), token)

    def _name(self, token: str) -> str | None:
        """The name of the player whose number stands behind this word."""
        stem, number = [*PARTS.split(token), "", ""][1:3]
        if stem not in self._own.game.seats or not numbers.read(number, len(self._own.names)):
            return None
        return self._own.names[int(number) - 1]

    def _is_clear(self, name: str, among: Sequence[str]) -> bool:
        wanted = menus.normalize_name(name)
        if wanted is None or len(name.split()) > 3 or name.casefold() in self._all.small:
            return False
        return sum(wanted in map(menus.normalize_name, (token, *self._all(token))) for token in among) == 1

    def lines(self, entry: Choice) -> Iterator[HintLine]:
        """Options that differ only in their last word on one line: `move A15 A9 · A12`."""
        for stem, group in itertools.groupby(entry.options, key=lambda args: args[:-1]):
            rows = list(group)
            among = self._at(entry, len(stem))
            ends = tuple((self.token(args[-1], among), _said(entry, args)) for args in rows[:ENDS] if args)
            move = "" if ends else _said(entry, stem)
            yield HintLine(self._line(entry, stem), ends, move, len(rows) > ENDS)

    def _line(self, entry: MenuEntry, args: Sequence[str]) -> str:
        written = (self.token(token, self._at(entry, place)) for place, token in enumerate(args))
        return " ".join((self.verb(entry.verb), *written))

    def _at(self, entry: MenuEntry, place: int) -> Sequence[str]:
        """Every token that may stand there."""
        match entry:
            case Choice():
                return tuple(dict.fromkeys(args[place] for args in entry.options if len(args) > place))
            case Subset():
                return tuple(dict.fromkeys(entry.items))
            case Number():
                return ()


def _hint(entry: MenuEntry, pen: Pen, voice: Voice) -> Hint:
    label = voice.verb(entry.verb)
    match entry:
        case Choice():
            lines = tuple(itertools.islice(pen.lines(entry), LINES + 1))
            return Hint(label, lines[:LINES], len(lines) > LINES)
        case Subset():
            items = ", ".join(pen.token(item, entry.items) for item in entry.items)
            line = HintLine(f"{pen.verb(entry.verb)} {items}", move=entry.verb)
            return Hint(label, (line,), least=entry.least, most=entry.most)
        case Number():
            return Hint(label, (HintLine(f"{pen.verb(entry.verb)} {entry.least}–{entry.most}", move=entry.verb),))


def _said(entry: Choice, args: Sequence[str]) -> str:
    return str(Move(entry.verb, tuple(args)))


def _is_bare(token: str) -> bool:
    """Whether a token is a sign that says little by itself."""
    return token.isupper() or token.isdecimal()
