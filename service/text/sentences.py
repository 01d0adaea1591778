"""Sentences: stored and translated later, adapted to French, and with the places of a board marked in them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import msgspec
from markupsafe import Markup, escape
from msgspec import Struct

from engine import catalogue
from engine.canonical_json import make_decoder
from service.text import languages

FRENCH = "fr"
COLONS = {FRENCH: "\u00a0:"}  # in every other language there is no space before a colon
ELIDABLE = re.compile(r"\b([Dd]|[Qq]u)e (?=%\((\w+)\)s)")
VOWEL = re.compile(r"[aeiouàâæéèêëîïôöœùûü][^\W\d]", re.IGNORECASE)  # not a field of a board such as A1

FIRST, THEN, LAST = "\ue000", "\ue001", "\ue002"  # private-use characters, which players cannot type
COORDINATE = re.compile(r"[A-Z]\d{1,3}|-?\d+,-?\d+")
PLACE_MARK = re.compile(f"{FIRST}([^{THEN}]*){THEN}([^{LAST}]*){LAST}")


class Translatable(Protocol):
    """A sentence with placeholders and the words for them, for instance a refusal."""

    @property
    def sentence(self) -> str: ...

    @property
    def words(self) -> dict[str, Any]: ...


class Sentence(Struct, frozen=True):
    """A sentence that is translated later, when the language of its reader is known."""

    sentence: str = ""
    words: dict[str, str | int] = {}

    def __bool__(self) -> bool:
        return bool(self.sentence)

    def __str__(self) -> str:
        return self.sentence.format(**self.words) if self.words else self.sentence

    @classmethod
    def from_refusal(cls, refusal: Translatable) -> Sentence:
        """Copy the sentence and the words of a refusal, as plain data that can be stored."""
        return cls(
            refusal.sentence, {name: word if type(word) is int else str(word) for name, word in refusal.words.items()}
        )

    def dump(self) -> str:
        """Return the text under which the database stores this sentence."""
        return msgspec.json.encode(self).decode() if self else ""

    @classmethod
    def load(cls, stored: str) -> Sentence:
        """Parse a stored sentence; plain text is a sentence without words."""
        return make_decoder(cls).decode(stored) if stored.startswith("{") else cls(stored)


def translate(language: str, sentence: Translatable) -> str:
    """Translate a sentence and fill in its words; any game may have refused, so every catalogue is searched."""
    for domain in (languages.COMMON, *catalogue.find_all()):
        text = languages.load_translations(language, domain).gettext(sentence.sentence) if sentence.sentence else ""
        if text != sentence.sentence:
            return text.format(**sentence.words)
    return sentence.sentence.format(**sentence.words) if sentence.words else sentence.sentence


class Translator:
    """Translates sentences of Python code into one language; `make catalogues` collects these sentences."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.colon = COLONS.get(language, ":")
        self._catalogue = languages.load_translations(language)

    def gettext(self, sentence: str, **words: object) -> str:
        """Return a sentence in this language, with words in the places that are written as `%(name)s`."""
        return self._fill(self._catalogue.gettext(sentence), words)

    def ngettext(self, one: str, many: str, count: int, **words: object) -> str:
        """Return the form of a sentence for this count, which is filled in for `%(count)s`."""
        return self._fill(self._catalogue.ngettext(one, many, count), {"count": count, **words})

    def join(self, words: Iterable[str]) -> str:
        """Return words as a list in a sentence: “A, B and C”."""
        return languages.join_words(self.language, words)

    def translate(self, sentence: Translatable) -> str:
        """Return a stored sentence or a refusal in this language."""
        return translate(self.language, sentence)

    def _fill(self, sentence: str, words: dict[str, object]) -> str:
        ready = elide(sentence, words) if self.language == FRENCH else sentence
        return ready % words


def elide(sentence: str, words: Mapping[str, Any]) -> str:
    """Shorten the French “de” and “que” before a word that begins with a vowel: “d’%(who)s” where `who` is Anna."""

    def shorten(match: re.Match[str]) -> str:
        return f"{match[1]}’" if VOWEL.match(remove_place_marks(str(words.get(match[2], "")))) else match[0]

    return ELIDABLE.sub(shorten, sentence)


def name_place(place: str, words: str = "") -> str:
    """Return the words for a place of the board, or its name."""
    return words or place


def mark_place(place: str, words: str = "") -> str:
    """Return the words for a place with invisible marks around them, so that a page can make a link of them."""
    return f"{FIRST}{place}{THEN}{words or place}{LAST}"


def remove_place_marks(text: str) -> str:
    """Return the text without the marks of places."""
    return PLACE_MARK.sub(r"\2", text)


@functools.lru_cache(4_000)
def link_places(text: str) -> Markup:
    """Turn marked places into links that light the place up on the board; without a script they lead to the board.

    A place that the board calls by a coordinate has that as its `data-name`, which the page shows on request.
    """
    return Markup(PLACE_MARK.sub(_link_place, str(escape(text))))  # noqa: S704 - made of what was escaped


def _link_place(mark: re.Match[str]) -> str:
    place, words = mark.groups()
    name = f' data-name="{place}"' if COORDINATE.fullmatch(place) and place not in words else ""
    return f'<a class="place" href="#stage" data-at="{place}"{name}>{words}</a>'
