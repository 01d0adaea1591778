"""The words that players type in a move: other ways to write the verbs and tokens of a game, in every language."""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from engine.game import Game
from service.numbers import parse_int
from service.text.languages import LANGUAGES
from service.text.templates import get_template_path

PARTS = re.compile(r"([A-Za-z]+)")
WORD_LISTS = (  # of each language
    "small say polite greet never hesitate filler doubt lead acts conditions consequences".split()
)
MAX_VOCABULARIES = 1_000  # in memory: a table has one for its judge, and one or two for each language of letters
Forms = Mapping[str, tuple[str, ...]]  # other ways to write a verb or token, by the token


class Dictionary(Struct, frozen=True, eq=False):
    """The words of one `words.toml`, of several languages together."""

    verbs: Forms
    tokens: Forms
    small: frozenset[str]  # without meaning in a move: “the”, “please”
    seats: frozenset[str]  # stems of tokens that name a seat by its number
    say: frozenset[str]  # begin a line that is a message to the table
    polite: frozenset[str] = frozenset()  # may end a line
    greet: frozenset[str] = frozenset()  # may begin a line
    never: frozenset[str] = frozenset()  # turn a yes into a no
    hesitate: frozenset[str] = frozenset()  # take back a move before them, if nothing else is in their clause
    filler: frozenset[str] = frozenset()  # means nothing beside a hesitation
    doubt: frozenset[str] = frozenset()  # take back a move before them, anywhere in a sentence
    lead: frozenset[str] = frozenset()  # may come before the verb of a move: “I want”
    acts: frozenset[str] = frozenset()  # say that a player makes a move: “plays”
    conditions: frozenset[str] = frozenset()  # begin an order that waits for moves of others: “if”
    consequences: frozenset[str] = frozenset()  # come before its move: “then”
    announce: frozenset[str] = frozenset()  # may come before a colon and a move: “my move:”


class Vocabulary(Struct, frozen=True):
    """The words of one table; calling it with a verb or token returns the other ways to write it."""

    game: Dictionary
    table: Dictionary
    names: tuple[str, ...]

    def __call__(self, token: str) -> tuple[str, ...]:
        """Return the words for a token: the game's, or else the table's, or else words composed of its parts."""
        return _get_forms(self.game, token) or _get_forms(self.table, token) or tuple(self._compose(token))

    def get_letter_form(self, token: str) -> str:
        """Return the form of a token that letters write: the first one, or the token itself if it has no other."""
        forms = self(token)
        return forms[0] if forms else token

    @property
    def small(self) -> frozenset[str]:
        """Words without meaning in a move."""
        return self.table.small

    @property
    def verbs(self) -> tuple[str, ...]:
        """Every verb that can be used at this table at some time."""
        return (*self.game.verbs, *self.table.verbs)

    def _compose(self, token: str) -> Iterator[str]:
        """Yield the forms of a token of several words, such as `city-N`, and the player's name for `purse2`."""
        parts = PARTS.split(token)  # every second one is a word: “”, “city”, “-”, “N”, “” or “”, “purse”, “2”
        forms_by_part = [self._list_forms_of_part(part) for part in parts]
        composed = ["".join(forms) for forms in itertools.product(*forms_by_part)]
        yield from composed[:-1]  # the last is the token itself, because the last form of each part is the part
        if len(parts) > 1:
            first_word, number = parts[1], parts[-1]  # “purse” and “2”
            seat_number = parse_int(number, len(self.names))
            if first_word in self.game.seats and seat_number:
                yield self.names[seat_number - 1]

    def _list_forms_of_part(self, part: str) -> tuple[str, ...]:
        """Return the game's forms of a part of a token, and at the end the part itself; signs have no other form."""
        return (*self.game.tokens.get(part, ()), part) if part.isalpha() else (part,)


@functools.lru_cache(MAX_VOCABULARIES)
def make_vocabulary(game: Game, names: tuple[str, ...], *languages: str) -> Vocabulary:
    """Return the words for a table of this game, in these languages or in all.

    A vocabulary of one language is what letters are written with: they use the first form of each word.
    """
    of_game = load_dictionary(f"games/{game.META.name}", *languages)
    return Vocabulary(of_game, load_dictionary("table", *languages), names)


@functools.cache
def load_dictionary(folder: str, *languages: str) -> Dictionary:
    """Load the words of a template folder in these languages or in all; without a file, it has no words.

    They are in its `words.toml` and in those of its subfolders, one for each box of a game.
    """
    files = _load_files(folder)
    sections = [file[language] for language in languages or LANGUAGES for file in files if language in file]
    return Dictionary(
        verbs=_merge(section.get("verbs", {}) for section in sections),
        tokens=_merge(section.get("tokens", {}) for section in sections),
        # These two are the same in all languages.
        seats=frozenset(word for file in files for word in file.get("seats", ())),
        announce=frozenset(word.casefold() for file in files for word in file.get("announce", ())),
        **{
            name: frozenset(word.casefold() for section in sections for word in section.get(name, ()))
            for name in WORD_LISTS
        },
    )


def _load_files(folder: str) -> list[dict[str, Any]]:
    """Load the `words.toml` of a folder of templates, and those of the folders in it."""
    path = get_template_path(f"{folder}/words.toml")
    paths = [path, *sorted(path.parent.glob("*/words.toml"))]
    return [tomllib.loads(one.read_text("utf-8")) for one in paths if one.exists()]


def _merge(sources: Iterable[Mapping[str, Sequence[str]]]) -> Forms:
    """Return for each verb or token its forms in all sources, in order and each once."""
    merged: defaultdict[str, list[str]] = defaultdict(list)
    for source in sources:
        for token, forms in source.items():
            merged[token].extend(forms)
    return {token: tuple(dict.fromkeys(forms)) for token, forms in merged.items()}


def _get_forms(dictionary: Dictionary, token: str) -> tuple[str, ...]:
    return (*dictionary.verbs.get(token, ()), *dictionary.tokens.get(token, ()))
