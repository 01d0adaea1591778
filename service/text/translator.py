"""Sentences in Python code, translated into a reader's language."""

from __future__ import annotations

from service.text import elision, languages
from service.text.languages import Spoken


class Translator:
    """Translates sentences into one language and fills words in; `make catalogues` gathers the sentences."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.colon = elision.COLON.get(language, ":")
        self._catalogue = languages.translations(language)

    def gettext(self, sentence: str, **words: object) -> str:
        """Return a sentence in this language, with words in the places that are written as `%(name)s`."""
        return self._fill(self._catalogue.gettext(sentence), words)

    def ngettext(self, one: str, many: str, count: int, **words: object) -> str:
        """Return the form of a sentence for this count, which is filled in for `%(count)s`."""
        return self._fill(self._catalogue.ngettext(one, many, count), {"count": count, **words})

    def say(self, sentence: Spoken) -> str:
        """Return a stored sentence or a refusal in this language."""
        return languages.say(self.language, sentence)

    def _fill(self, sentence: str, words: dict[str, object]) -> str:
        ready = elision.elided(sentence, words) if self.language == elision.FRENCH else sentence
        return ready % words
