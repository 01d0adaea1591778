"""The languages of pages and letters: catalogues of translations, and dates and numbers as people write them."""

from __future__ import annotations

import functools
import io
from collections.abc import Iterable
from datetime import UTC, date, datetime
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from markupsafe import Markup, escape

from engine import catalogue

LANGUAGES = {"en": "English", "nl": "Nederlands", "fr": "Français", "de": "Deutsch"}
LOCALES = {"en": "en_GB"}  # dates that cannot be misread on either side of the ocean
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


def format_moment(language: str, at: int | datetime) -> str:
    """Write a date and a time in the style of this language; seconds since 1970 are shown in UTC."""
    return _format_second(language, at) if isinstance(at, int) else _format_datetime(language, at)


@functools.lru_cache(4_000)
def _format_second(language: str, at: int) -> str:
    return _format_datetime(language, datetime.fromtimestamp(at, UTC))


def _format_datetime(language: str, then: datetime) -> str:
    from babel.dates import format_date, format_time

    locale = _find_locale(language)
    return f"{format_date(then, 'medium', locale)}, {format_time(then, 'short', locale=locale)}"


def format_weekday(language: str, then: datetime) -> str:
    """Write a moment in the next days with its weekday and without its year."""
    from babel.dates import format_date, format_skeleton, format_time

    locale, after = _find_locale(language), "," if language == "de" else ""
    when = f"{format_date(then, 'EEEE', locale)}{after} {format_skeleton('MMMMd', then, locale=locale)}"
    return f"{when}, {format_time(then, 'short', locale=locale)}"


def join_words(language: str, words: Iterable[str]) -> str:
    """Write a list of words as a sentence does: “A, B and C”. In a page its words are escaped."""
    from babel.lists import format_list

    listed = list(words)
    is_markup = any(isinstance(word, Markup) for word in listed)
    text = format_list([str(escape(word)) for word in listed] if is_markup else listed, locale=_find_locale(language))
    return Markup(text) if is_markup else text  # noqa: S704 - each word is escaped


def _find_locale(language: str) -> str:
    """Return the locale whose customs are those of a language."""
    return LOCALES.get(language, language)


def format_day(language: str, iso_date: str) -> str:
    """Write a day, given as 2027-01-05, in the style of this language."""
    from babel.dates import format_date

    return format_date(date.fromisoformat(iso_date), "medium", _find_locale(language))
