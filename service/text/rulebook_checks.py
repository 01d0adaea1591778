"""Checks of rule books: whether each is sound, and whether its translations match the English and are up to date.

`book/translated.toml` has a digest of each English section as it was when its translation was last checked. A section
that has changed since is out of date until `depesche book NAME --read LANGUAGE` records another check.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from engine import catalogue
from engine.options import describe
from service.text import lessons, move_words, rulebook
from service.text.languages import LANGUAGES, SOURCE
from service.text.move_words import Vocabulary
from service.text.rulebook import Manuscript, Section

CODE = re.compile(r"`([^`]+)`")
MAX_COMMON_CHARS = 40  # of a line that two languages may share; a longer one is not the same by chance
QUOTED_CHARS = 60  # of an untranslated line
TRANSLATIONS = tuple(language for language in LANGUAGES if language != SOURCE)


def find_problems(name: str) -> Iterator[str]:
    """Yield a sentence for each fault in the book of a game."""
    if not rulebook.get_path(name, SOURCE).exists():
        yield f"{name} has no book: write {rulebook.get_path(name, SOURCE)}."
        return
    english = load_manuscript(name, SOURCE)
    yield from (f"{name}, {SOURCE}: {problem}" for problem in _check_manuscript(name, english))
    for language in TRANSLATIONS:
        yield from (f"{name}, {language}: {problem}" for problem in _check_translation(name, english, language))


def load_manuscript(name: str, language: str) -> Manuscript:
    """Load the Markdown of a book, split into sections."""
    return rulebook.parse_manuscript(rulebook.get_path(name, language).read_text("utf-8"))


def compute_digests(book: Manuscript) -> dict[str, str]:
    """Return a digest of each section and ruling, which does not depend on where lines are broken.

    A section has its own key; that of a ruling is `^` and its code.
    """
    texts = {section.key: f"{section.title} {section.text}" for section in book.sections}
    texts |= {f"^{code}": ruling for code, ruling in book.rulings.items()}
    return {key: hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:8] for key, text in texts.items()}


def load_checked_digests(name: str) -> dict[str, dict[str, str]]:
    """Load, by language, the digests of the English sections as they were at the last check of the translation.

    Without a file there are none.
    """
    path = _get_digests_path(name)
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def record_check(name: str, language: str) -> None:
    """Record that the translation has been checked against the English as it is now."""
    digests = load_checked_digests(name) | {language: compute_digests(load_manuscript(name, SOURCE))}
    by_language = sorted(digests.items())
    text = "\n".join(_format_table(one_language, of_sections) for one_language, of_sections in by_language)
    _get_digests_path(name).write_text(text, "utf-8")


def _format_table(language: str, digests: Mapping[str, str]) -> str:
    return f"[{language}]\n" + "".join(f'"{key}" = "{digest}"\n' for key, digest in digests.items())


def _get_digests_path(name: str) -> Path:
    return catalogue.get_folder(name) / "book" / "translated.toml"


def _check_manuscript(name: str, book: Manuscript) -> Iterator[str]:
    """Check keys, rulings, citations and examples of a book in one language."""
    keys = [section.key for section in book.sections]
    yield from (f"“{section.title}” has neither a number nor a name." for section in book.sections if not section.key)
    yield from (f"§{key} is there twice." for key in sorted({key for key in keys if keys.count(key) > 1}))
    marked = {code for section in book.sections for code in section.marks}
    yield from (f"ruling {code} is cited and not told." for code in sorted(marked - book.rulings.keys()))
    yield from (f"ruling {code} is told and not cited." for code in sorted(book.rulings.keys() - marked))
    for section in book.sections:
        yield from (
            f"{section.key} cites §{cited}, which is not there." for cited in section.citations if cited not in keys
        )
        yield from (f"{section.key} shows {one}, which is no file." for one in _find_missing_examples(name, section))


def _find_missing_examples(name: str, section: Section) -> Iterator[str]:
    return (one for one in section.examples if not (lessons.get_folder(name) / f"{one}.toml").exists())


def _check_translation(name: str, english: Manuscript, language: str) -> Iterator[str]:
    """Check a translation by itself, compare it with the English, and find sections that are out of date."""
    if not rulebook.get_path(name, language).exists():
        yield "there is no translation."
        return
    book, current = load_manuscript(name, language), compute_digests(english)
    checked = load_checked_digests(name).get(language, {})
    yield from _check_manuscript(name, book)
    keys = [section.key for section in book.sections]
    english_keys = [section.key for section in english.sections]
    if keys != english_keys:
        in_one_alone = set(keys) ^ set(english_keys)
        yield f"its sections are others, or in another order: {', '.join(sorted(in_one_alone))}."
        return
    for original, translation in zip(english.sections, book.sections, strict=True):
        yield from _compare_sections(original, translation)
        yield from _check_moves(name, language, original, translation)
    for code in sorted(english.rulings):
        yield from _find_untranslated(f"^{code}", english.rulings[code], book.rulings.get(code, ""))
    yield from (
        f"{key} is out of date: the English has changed." for key in current if checked.get(key) != current[key]
    )


def _compare_sections(original: Section, translation: Section) -> Iterator[str]:
    """Check that a translation has the examples, marks of rulings and citations of the English, and no English line."""
    for kind in ("examples", "marks", "citations"):
        english, translated = getattr(original, kind), getattr(translation, kind)
        if english != translated:
            difference = f"{', '.join(translated) or 'none'}; in English {', '.join(english) or 'none'}"
            yield f"{original.key} has {kind} {difference}."
    yield from _find_untranslated(original.key, original.text, translation.text)


def _check_moves(name: str, language: str, original: Section, translation: Section) -> Iterator[str]:
    """Check that each move in backticks is written as letters in this language write it."""
    game = catalogue.find(name)
    options = {option.name for option in describe(game.META.options)}
    no_players = ()
    vocabulary = move_words.make_vocabulary(game, no_players, language)
    moves, translations = CODE.findall(original.text), CODE.findall(translation.text)
    if len(moves) != len(translations):
        yield f"{original.key} has {len(translations)} words in backticks; in English {len(moves)}."
        return
    for move, written in zip(moves, translations, strict=True):
        if move.split()[0] not in vocabulary.game.verbs or move in options:
            continue  # no move, but for instance the name of an option
        expected = list(_iter_expected_words(move, vocabulary))
        if not _is_same_move(expected, written):
            sentence = " ".join(word.text for word in expected)
            yield f"{original.key} has the move “{written}”; letters write “{sentence}”."


class ExpectedWord(Struct, frozen=True):
    """A word of a move as letters write it; a word that is not in the vocabulary may be another in a book."""

    text: str
    is_in_vocabulary: bool


def _iter_expected_words(move: str, vocabulary: Vocabulary) -> Iterator[ExpectedWord]:
    """Yield the words of a move as letters write it; the form of one token may have several words."""
    for token in move.split():
        is_in_vocabulary = bool(vocabulary(token))
        for word in vocabulary.get_letter_form(token).split():
            yield ExpectedWord(word, is_in_vocabulary)


def _is_same_move(expected: Sequence[ExpectedWord], written: str) -> bool:
    """Return whether a move of a book has as many words as expected, and the same where they are in the vocabulary.

    Degree signs do not count.
    """
    written_words = written.replace("°", "").split()
    if len(written_words) != len(expected):
        return False
    for word, written_word in zip(expected, written_words, strict=True):
        if word.is_in_vocabulary and word.text.replace("°", "") != written_word:
            return False
    return True


def _find_untranslated(key: str, original: str, translation: str) -> Iterator[str]:
    """Find long lines that are the same in both languages, and a translation that is empty."""
    if not translation and original:
        yield f"{key} is empty."
    same = set(original.splitlines()) & set(translation.splitlines())
    yield from (
        f"{key} is untranslated: “{line[:QUOTED_CHARS]}”." for line in sorted(same) if len(line) > MAX_COMMON_CHARS
    )
