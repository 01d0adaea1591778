"""The languages of pages and letters: catalogues of translations, and dates and numbers as people write them."""

from __future__ import annotations

import functools
import io
import tomllib
from collections.abc import Iterable
from datetime import UTC, date, datetime
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from markupsafe import Markup, escape
from msgspec import Struct

from engine import catalogue
from engine.canonical_json import convert

LANGUAGES = {"en": "English", "nl": "Nederlands", "fr": "Français", "de": "Deutsch"}
SOURCE = "en"  # the language of templates and code; it needs no catalogue
CATALOGUES = Path(__file__).resolve().parents[2] / "templates" / "locale"
COMMON = "depesche"  # the domain of all sentences that do not belong to one game


def get_catalogue_path(language: str, domain: str) -> Path:
    """Return the path of the catalogue of a domain in a language; an installed game brings its own."""
    package = catalogue.get_package_folders().get(domain)
    return (package / "locale" if package else CATALOGUES) / language / "LC_MESSAGES" / f"{domain}.po"


@functools.cache
def load_translations(language: str, domain: str = COMMON) -> NullTranslations:
    """Load the catalogue of a domain; a sentence that a game does not translate is looked up in the common one."""
    path = get_catalogue_path(language, domain)
    translations = _compile(path) if language in LANGUAGES and path.is_file() else NullTranslations()
    if domain != COMMON:
        translations.add_fallback(load_translations(language))
    return translations


def _compile(path: Path) -> GNUTranslations:
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


class Customs(Struct, frozen=True):
    """How a language writes dates and lists: patterns, and the names of months and weekdays."""

    day: str
    weekday: str
    last: str  # how the last word of a list follows
    months: tuple[str, ...]
    short_months: tuple[str, ...]
    weekdays: tuple[str, ...]

    def format(self, pattern: str, day: date) -> str:
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


def join_words(language: str, words: Iterable[str]) -> str:
    """Write a list of words as a sentence does: “A, B and C”. In a page its words are escaped."""
    listed = list(words)
    is_markup = any(isinstance(word, Markup) for word in listed)
    plain = [str(escape(word)) for word in listed] if is_markup else listed
    text = ", ".join(plain)
    if len(plain) > 1:
        text = _find_customs(language).last.format(", ".join(plain[:-1]), plain[-1])
    return Markup(text) if is_markup else text  # noqa: S704 - each word is escaped
