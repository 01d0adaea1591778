"""The words people use: other ways to write the verbs and tokens of a game, and what may be said at every table."""

from __future__ import annotations

import functools
import itertools
import math
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from engine.game import Game
from service.text import numbers
from service.text.languages import LANGUAGES
from service.text.templates import get_template_path

PARTS = re.compile(r"([A-Za-z]+)")
Forms = Mapping[str, tuple[str, ...]]


class Dictionary(Struct, frozen=True, eq=False):
    """What one file says, all languages together.

    Forms of verbs and of tokens, small words, words for seats, what begins a line that is told to the table, what may
    end or begin a line and means nothing there, words that make a no of a yes, words that lead up to a move, and words
    that announce one before a colon.
    """

    verbs: Forms
    tokens: Forms
    small: frozenset[str]
    seats: frozenset[str]
    say: frozenset[str]
    polite: frozenset[str] = frozenset()
    greet: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    lead: frozenset[str] = frozenset()
    announce: frozenset[str] = frozenset()


class Vocabulary(Struct, frozen=True):
    """The words of one table; called with a verb or token it gives the ways to write it."""

    game: Dictionary
    table: Dictionary
    names: tuple[str, ...]

    def __call__(self, token: str) -> tuple[str, ...]:
        return _known(self.game, token) or _known(self.table, token) or tuple(self._composed(token))

    @property
    def small(self) -> frozenset[str]:
        """Words that mean nothing in a move."""
        return self.table.small

    @property
    def verbs(self) -> tuple[str, ...]:
        """Every verb that may be meant at this table, at any moment."""
        return (*self.game.verbs, *self.table.verbs)

    def _composed(self, token: str) -> Iterator[str]:
        """A token like `city-N` or `cloister-lying`, with its words written otherwise; or the name of that seat."""
        parts = PARTS.split(token)
        ways = [(*(self.game.tokens.get(part, ()) if place % 2 else ()), part) for place, part in enumerate(parts)]
        yield from itertools.islice(map("".join, itertools.product(*ways)), math.prod(map(len, ways)) - 1)
        stem, number = parts[1] if len(parts) > 1 else "", parts[-1]
        if stem in self.game.seats and numbers.parse_int(number, len(self.names)):
            yield self.names[int(number) - 1]


def make_vocabulary(game: Game, names: Sequence[str], *languages: str) -> Vocabulary:
    """Return the words for a table of this game, in these languages or in all.

    In one language alone, the first form of a word is the one that letters write.
    """
    of_game, of_table = (load_dictionary(folder, *languages) for folder in (f"games/{game.META.name}", "table"))
    return Vocabulary(of_game, of_table, tuple(names))


@functools.cache
def load_dictionary(folder: str, *languages: str) -> Dictionary:
    """The words of a folder of the templates, in these languages or in all; without a file, no words.

    They stand in its `words.toml`, and in those of the folders in it, as a game with boxes has them.
    """
    files = _files(folder)
    spoken = [file[language] for language in languages or LANGUAGES for file in files if language in file]
    return Dictionary(
        _merged(language.get("verbs", {}) for language in spoken),
        _merged(language.get("tokens", {}) for language in spoken),
        frozenset(word.casefold() for language in spoken for word in language.get("small", ())),
        frozenset(word for file in files for word in file.get("seats", ())),
        frozenset(word.casefold() for language in spoken for word in language.get("say", ())),
        frozenset(word.casefold() for language in spoken for word in language.get("polite", ())),
        frozenset(word.casefold() for language in spoken for word in language.get("greet", ())),
        frozenset(word.casefold() for language in spoken for word in language.get("never", ())),
        frozenset(word.casefold() for language in spoken for word in language.get("lead", ())),
        frozenset(word.casefold() for file in files for word in file.get("announce", ())),
    )


def _files(folder: str) -> list[dict[str, Any]]:
    path = get_template_path(f"{folder}/words.toml")
    paths = [path, *sorted(path.parent.glob("*/words.toml"))]
    return [tomllib.loads(one.read_text("utf-8")) for one in paths if one.exists()]


def _merged(tables: Iterable[Mapping[str, Sequence[str]]]) -> Forms:
    forms: defaultdict[str, list[str]] = defaultdict(list)
    for table in tables:
        for word, ways in table.items():
            forms[word].extend(ways)
    return {word: tuple(dict.fromkeys(ways)) for word, ways in forms.items()}


def _known(found: Dictionary, token: str) -> tuple[str, ...]:
    return (*found.verbs.get(token, ()), *found.tokens.get(token, ()))
