"""The languages we speak: catalogues, sentences whose words are kept apart, moments as people write them."""

from __future__ import annotations

import functools
import io
from datetime import UTC, date, datetime
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from engine import catalogue
from engine.canonical_json import make_decoder

LANGUAGES = {"en": "English", "nl": "Nederlands", "fr": "Français", "de": "Deutsch"}
LOCALES = {"en": "en_GB"}  # dates that cannot be misread on either side of the ocean
SOURCE = "en"  # what templates and code are written in; it needs no catalogue
CATALOGUES = Path(__file__).resolve().parents[2] / "templates" / "locale"
COMMON = "depesche"


class Spoken(Protocol):
    """A sentence with places for words, and these words: a refusal, for instance."""

    @property
    def sentence(self) -> str: ...

    @property
    def words(self) -> dict[str, Any]: ...


class Said(Struct, frozen=True):
    """A sentence that is translated later, when its reader's language is known."""

    sentence: str = ""
    words: dict[str, str | int] = {}

    def __bool__(self) -> bool:
        return bool(self.sentence)

    def __str__(self) -> str:
        return self.sentence.format(**self.words) if self.words else self.sentence

    @classmethod
    def of(cls, spoken: Spoken) -> Said:
        """The same as plain data."""
        return cls(
            spoken.sentence, {name: word if type(word) is int else str(word) for name, word in spoken.words.items()}
        )

    def kept(self) -> str:
        """The text to store it as."""
        return msgspec.json.encode(self).decode() if self else ""

    @classmethod
    def read(cls, kept: str) -> Said:
        """A stored sentence; plain text is a sentence without words."""
        return make_decoder(cls).decode(kept) if kept.startswith("{") else cls(kept)


def file_of(language: str, domain: str) -> Path:
    """Where the translations of one domain into one language are written; the package of a game has its own."""
    package = catalogue.get_package_folders().get(domain)
    return (package / "locale" if package else CATALOGUES) / language / "LC_MESSAGES" / f"{domain}.po"


@functools.cache
def translations(language: str, domain: str = COMMON) -> NullTranslations:
    """The translations of one domain, read when first asked for; what a game does not say is said in common words."""
    path = file_of(language, domain)
    found = _compiled(path) if language in LANGUAGES and path.is_file() else NullTranslations()
    if domain != COMMON:
        found.add_fallback(translations(language))
    return found


def _compiled(path: Path) -> GNUTranslations:
    from babel.messages.mofile import write_mo  # only a language that is spoken costs this import
    from babel.messages.pofile import read_po

    compiled = io.BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file))
    compiled.seek(0)
    return GNUTranslations(compiled)


def say(language: str, spoken: Spoken) -> str:
    """The sentence in this language; who refuses may be any game, so all are asked for their words."""
    for domain in (COMMON, *catalogue.find_all()):
        found = translations(language, domain).gettext(spoken.sentence) if spoken.sentence else ""
        if found != spoken.sentence:
            return found.format(**spoken.words)
    return spoken.sentence.format(**spoken.words) if spoken.words else spoken.sentence


def in_game(language: str, game: str, text: str) -> str:
    """What a game's box says of itself, in this language: its title, its options."""
    return translations(language, game).gettext(text) if text else ""


def moment(language: str, at: int | datetime) -> str:
    """A moment as people write it in this language, in Greenwich time."""
    from babel.dates import format_date, format_time

    then, locale = datetime.fromtimestamp(at, UTC) if isinstance(at, int) else at, LOCALES.get(language, language)
    return f"{format_date(then, 'medium', locale)}, {format_time(then, 'short', locale=locale)}"


def weekday(language: str, then: datetime) -> str:
    """A moment in the next days: by its weekday too, which people plan by."""
    from babel.dates import format_date, format_skeleton, format_time

    locale, after = LOCALES.get(language, language), "," if language == "de" else ""
    when = f"{format_date(then, 'EEEE', locale)}{after} {format_skeleton('MMMMd', then, locale=locale)}"
    return f"{when}, {format_time(then, 'short', locale=locale)}"


def day(language: str, written: str) -> str:
    """A day, kept as 2027-01-05, as people write it in this language."""
    from babel.dates import format_date

    return format_date(date.fromisoformat(written), "medium", LOCALES.get(language, language))
