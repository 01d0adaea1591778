"""The languages of pages and letters: translated sentences, and dates, times and lists as people write them.

A sentence may be stored and translated later, and places of a board may be marked in it.
"""

from __future__ import annotations

import functools
import io
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Any, Protocol

import msgspec
from markupsafe import Markup, escape
from msgspec import Struct

from engine import catalogue
from engine.canonical_json import convert, make_decoder
from engine.game import Meta
from engine.options import Option, describe
from service.settings import DAY_S
from service.timing import HOUR_S, Calendar

LANGUAGES = {"en": "English", "nl": "Nederlands", "fr": "Français", "de": "Deutsch"}
SOURCE = "en"  # the language of templates and code; it needs no catalogue
CATALOGUES = Path(__file__).resolve().parents[2] / "templates" / "locale"
COMMON = "depesche"  # the domain of all sentences that do not belong to one game
FRENCH = "fr"
COLONS = {FRENCH: "\u00a0:"}  # in every other language there is no space before a colon
ELIDABLE = re.compile(r"\b(?P<stem>[Dd]|[Qq]u)e (?=%\((?P<placeholder>\w+)\)s)")
MINUTE_S = 60
VOWEL = re.compile(r"[aeiouàâæéèêëîïôöœùûü][^\W\d]", re.IGNORECASE)  # not a field of a board such as A1

# Around a place and then its words: private-use characters, which players cannot type.
PLACE_START, WORDS_START, MARK_END = "\ue000", "\ue001", "\ue002"
COORDINATE = re.compile(r"[A-Z]\d{1,3}|-?\d+,-?\d+")
PLACE_MARK = re.compile(f"{PLACE_START}([^{WORDS_START}]*){WORDS_START}([^{MARK_END}]*){MARK_END}")


def get_catalogue_path(language: str, domain: str) -> Path:
    """Return the path of the catalogue of a domain in a language; an installed game brings its own."""
    package = catalogue.get_package_folders().get(domain)
    catalogues = package / "locale" if package else CATALOGUES
    return catalogues / language / "LC_MESSAGES" / f"{domain}.po"


@functools.cache
def load_translations(language: str, domain: str = COMMON) -> NullTranslations:
    """Load the catalogue of a domain; a sentence that a game does not translate is looked up in the common one.

    Without a catalogue sentences stay in English.
    """
    path = get_catalogue_path(language, domain)
    translations = _compile(path) if language in LANGUAGES and path.is_file() else NullTranslations()
    if domain != COMMON:
        translations.add_fallback(load_translations(language))
    return translations


def _compile(path: Path) -> GNUTranslations:
    """Load a catalogue from its file, by way of the binary form that `gettext` reads."""
    from babel.messages.mofile import write_mo  # slow to import, and not needed for English alone
    from babel.messages.pofile import read_po

    compiled = io.BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file))
    compiled.seek(0)
    return GNUTranslations(compiled)


def translate_in_game(language: str, game: str, text: str) -> str:
    """Translate a text of a game's box, for instance its title or the label of an option."""
    return load_translations(language, game).gettext(text) if text else ""


def describe_game(language: str, meta: Meta, options: Mapping[str, Any] | None = None) -> str:
    """Say what a game is about; with the options of a table, only what holds there."""
    sentences = [meta.about]
    sentences += [text for name, text in meta.about_options.items() if options is None or _is_chosen(options, name)]
    return " ".join(translate_in_game(language, meta.name, sentence) for sentence in sentences)


def _is_chosen(options: Mapping[str, Any], name: str) -> bool:
    """Return whether a table is played with an option: it is named, and neither off nor “none”."""
    return options.get(name, False) not in (False, "none")


class OptionInWords(Struct, frozen=True):
    """An option that the table is played with, and the paragraph of the rules about it."""

    label: str
    value: str
    rule: str


def describe_options(language: str, meta: Meta, options: Mapping[str, Any]) -> tuple[OptionInWords, ...]:
    """Describe the options of a table, in the order of its game."""
    chosen = [option for option in describe(meta.options) if option.name in options]
    return tuple(_describe_option(language, meta.name, option, options[option.name]) for option in chosen)


def _describe_option(language: str, game: str, option: Option, value: Any) -> OptionInWords:
    """Describe an option and its value in a language: a switch is on or off, another value a word of the game."""
    if isinstance(value, bool):
        words = translate(language, SWITCH_ON if value else SWITCH_OFF)
    else:
        words = translate_in_game(language, game, str(value).replace("_", " "))
    return OptionInWords(translate_in_game(language, game, option.label), words, option.rule)


def describe_changes(translator: Translator, meta: Meta, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Describe the options of a table that are not the usual ones.

    Switches that are on, such as added boxes, are in one line; each other option has a line.
    """
    usual = {option.name: option.default for option in describe(meta.options)}
    changed = {name: value for name, value in options.items() if value != usual.get(name)}
    added = {name: value for name, value in changed.items() if value is True}
    others = {name: value for name, value in changed.items() if value is not True}
    lines = list[str]()
    if added:
        labels = [option.label for option in describe_options(translator.language, meta, added)]
        lines.append(translator.gettext("With: %(boxes)s", boxes=" · ".join(labels)))
    for option in describe_options(translator.language, meta, others):
        lines.append(f"{option.label[:1].upper()}{option.label[1:]}{translator.colon} {option.value}")
    return tuple(lines)


class Customs(Struct, frozen=True):
    """How a language writes dates and lists: patterns, and the names of months and weekdays."""

    day: str
    weekday: str
    last: str  # a pattern for the last word of a list and all before it
    months: tuple[str, ...]
    short_months: tuple[str, ...]
    weekdays: tuple[str, ...]

    def format(self, pattern: str, day: date) -> str:
        """Fill in the fields of a pattern, such as “{day} {month} {year}”, for a day."""
        return pattern.format(
            day=day.day,
            number=day.month,
            year=day.year,
            month=self.months[day.month - 1],
            short=self.short_months[day.month - 1],
            weekday=self.weekdays[day.weekday()],
        )


@functools.cache
def _load_customs() -> dict[str, Customs]:
    return convert(tomllib.loads((CATALOGUES / "customs.toml").read_text("utf-8")), dict[str, Customs])


def _find_customs(language: str) -> Customs:
    return _load_customs()[language]


def format_moment(language: str, at: int | datetime) -> str:
    """Write a date and a time in the style of this language; seconds since 1970 are shown in UTC."""
    then = datetime.fromtimestamp(at, UTC) if isinstance(at, int) else at
    customs = _find_customs(language)
    return f"{customs.format(customs.day, then)}, {then:%H:%M}"


def format_weekday(language: str, then: datetime) -> str:
    """Write a moment in the next days with its weekday and without its year."""
    customs = _find_customs(language)
    return f"{customs.format(customs.weekday, then)}, {then:%H:%M}"


def format_day(language: str, iso_date: str) -> str:
    """Write a day, given as 2027-01-05, in the style of this language."""
    customs = _find_customs(language)
    return customs.format(customs.day, date.fromisoformat(iso_date))


def format_signed(number: int) -> str:
    """Return a number with its sign, and a minus as books print it."""
    return f"{number:+d}".replace("-", "−")


def join_words(language: str, words: Iterable[str]) -> str:
    """Write a list of words as a sentence does: “A, B and C”.

    If one of them is HTML (`Markup`), the list is HTML too, and its plain words are escaped.
    """
    listed = list(words)
    is_markup = any(isinstance(word, Markup) for word in listed)
    plain = [str(escape(word)) for word in listed] if is_markup else listed
    text = ", ".join(plain)
    if len(plain) > 1:
        text = _find_customs(language).last.format(", ".join(plain[:-1]), plain[-1])
    return Markup(text) if is_markup else text  # noqa: S704 - each word is escaped


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
        words = {name: word if type(word) is int else str(word) for name, word in refusal.words.items()}
        return cls(refusal.sentence, words)

    def dump(self) -> str:
        """Return the text under which the database stores this sentence."""
        return msgspec.json.encode(self).decode() if self else ""

    @classmethod
    def load(cls, stored: str) -> Sentence:
        """Parse a stored sentence; plain text is a sentence without words."""
        return make_decoder(cls).decode(stored) if stored.startswith("{") else cls(stored)


def translate(language: str, sentence: Translatable) -> str:
    """Translate a sentence and fill in its words; any game may have refused, so every catalogue is searched."""
    if not sentence.sentence:
        return ""
    for domain in (COMMON, *catalogue.find_all()):
        text = load_translations(language, domain).gettext(sentence.sentence)
        if text != sentence.sentence:
            return text.format(**sentence.words)
    return sentence.sentence.format(**sentence.words) if sentence.words else sentence.sentence


SWITCH_ON, SWITCH_OFF = Sentence("on"), Sentence("off")


class Translator:
    """Translates sentences of Python code into one language; `make catalogues` collects these sentences."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.colon = COLONS.get(language, ":")
        self._catalogue = load_translations(language)

    def gettext(self, sentence: str, **words: object) -> str:
        """Return a sentence in this language, with words in the places that are written as `%(name)s`."""
        return self._fill(self._catalogue.gettext(sentence), words)

    def ngettext(self, one: str, many: str, count: int, **words: object) -> str:
        """Return the form of a sentence for this count, which is filled in for `%(count)s`."""
        return self._fill(self._catalogue.ngettext(one, many, count), {"count": count, **words})

    def join(self, words: Iterable[str]) -> str:
        """Return words as a list in a sentence: “A, B and C”."""
        return join_words(self.language, words)

    def translate(self, sentence: Translatable) -> str:
        """Return a stored sentence or a refusal in this language."""
        return translate(self.language, sentence)

    def _fill(self, sentence: str, words: dict[str, object]) -> str:
        """Put words into their places; in French a “de” or “que” before one may be shortened."""
        ready = elide(sentence, words) if self.language == FRENCH else sentence
        return ready % words


def write_deadline(translator: Translator, due_at: int | None, now: int, calendar: Calendar) -> str:
    """Return until when the reader has time, in the reader's time zone; empty without a deadline."""
    if not due_at:
        return ""
    sentence = translator.gettext(
        "You have time until %(due)s (%(zone)s).",
        due=format_weekday(translator.language, datetime.fromtimestamp(due_at, calendar.timezone)),
        zone=calendar.zone.replace("_", " "),
    )
    return f"{sentence} {write_time_left(translator, due_at - now)}".strip()


def write_time_left(translator: Translator, seconds: float) -> str:
    """Return how much time is left, to the nearest hour, or minute in the last hour; empty after the deadline."""
    if seconds <= 0:
        return ""
    parts = list[str]()
    if seconds < HOUR_S - MINUTE_S // 2:  # longer times are nearer to an hour than to 59 minutes
        minutes = max(round(seconds / MINUTE_S), 1)
        parts.append(translator.ngettext("%(count)s minute", "%(count)s minutes", minutes))
    else:
        days, hours = divmod(round(seconds / HOUR_S), DAY_S // HOUR_S)
        if days:
            parts.append(translator.ngettext("%(count)s day", "%(count)s days", days))
        if hours:
            parts.append(translator.ngettext("%(count)s hour", "%(count)s hours", hours))
    return translator.gettext("%(time)s left.", time=translator.join(parts))


def elide(sentence: str, words: Mapping[str, Any]) -> str:
    """Shorten the French “de” and “que” before a word that begins with a vowel: “d’%(who)s” where `who` is Anna."""

    def shorten(match: re.Match[str]) -> str:
        next_word = remove_place_marks(str(words.get(match["placeholder"], "")))
        return f"{match['stem']}’" if VOWEL.match(next_word) else match[0]

    return ELIDABLE.sub(shorten, sentence)


def name_place(place: str, words: str = "") -> str:
    """Return the words for a place of the board, or its name."""
    return words or place


def mark_place(place: str, words: str = "") -> str:
    """Return the words for a place with invisible marks around them, so that a page can make a link of them."""
    return f"{PLACE_START}{place}{WORDS_START}{words or place}{MARK_END}"


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
    """Return the link for one marked place; a coordinate that its words do not mention is its `data-name`."""
    place, words = mark.groups()
    name = f' data-name="{place}"' if COORDINATE.fullmatch(place) and place not in words else ""
    return f'<a class="place" href="#stage" data-at="{place}"{name}>{words}</a>'
