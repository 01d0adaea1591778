"""Proof-reading: whether the translations of a book hold together with its English, and what has become out of date.

Beside the translations lies `book/translated.toml` with a digest of each English section as it was when its translation
was last read. A section that changed since is out of date until `depesche book NAME --read LANGUAGE` notes it anew.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from engine import catalogue
from engine.options import describe
from service.text import examples, rulebook, words
from service.text.languages import LANGUAGES, SOURCE
from service.text.rulebook import Manuscript, Section

CODE = re.compile(r"`([^`]+)`")
LONG = 40  # characters that no two languages have in common by chance

TRANSLATIONS = tuple(language for language in LANGUAGES if language != SOURCE)


def find_problems(name: str) -> Iterator[str]:
    """What has to be mended in the book of a game, one sentence each; nothing, if all is well."""
    if not rulebook.get_path(name, SOURCE).exists():
        yield f"{name} has no book: write {rulebook.get_path(name, SOURCE)}."
        return
    english = load_manuscript(name, SOURCE)
    yield from (f"{name}, {SOURCE}: {problem}" for problem in _unsound(name, english))
    for language in TRANSLATIONS:
        yield from (f"{name}, {language}: {problem}" for problem in _against(name, english, language))


def load_manuscript(name: str, language: str) -> Manuscript:
    """A book as its file has it."""
    return rulebook.parse_manuscript(rulebook.get_path(name, language).read_text("utf-8"))


def compute_digests(book: Manuscript) -> dict[str, str]:
    """A digest of each section and ruling; how lines are broken does not matter."""
    texts = {section.key: f"{section.title} {section.text}" for section in book.sections}
    texts |= {f"^{code}": said for code, said in book.rulings.items()}
    return {key: hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:8] for key, text in texts.items()}


def load_checked_digests(name: str) -> dict[str, dict[str, str]]:
    """By language, the digests of the English sections that its translation was last read against."""
    path = _notes(name)
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def record_check(name: str, language: str) -> None:
    """From now on the translation counts as read against the English as it is now."""
    kept = load_checked_digests(name) | {language: compute_digests(load_manuscript(name, SOURCE))}
    _notes(name).write_text("\n".join(_table(*found) for found in sorted(kept.items())), "utf-8")


def _table(language: str, found: Mapping[str, str]) -> str:
    return f"[{language}]\n" + "".join(f'"{key}" = "{digest}"\n' for key, digest in found.items())


def _notes(name: str) -> Path:
    return catalogue.get_folder(name) / "book" / "translated.toml"


def _unsound(name: str, book: Manuscript) -> Iterator[str]:
    """What is wrong with a book in itself."""
    keys = [section.key for section in book.sections]
    yield from (f"“{section.title}” has neither a number nor a name." for section in book.sections if not section.key)
    yield from (f"§{key} is there twice." for key in sorted({key for key in keys if keys.count(key) > 1}))
    marked = {code for section in book.sections for code in section.marks}
    yield from (f"ruling {code} is cited and not told." for code in sorted(marked - book.rulings.keys()))
    yield from (f"ruling {code} is told and not cited." for code in sorted(book.rulings.keys() - marked))
    for section in book.sections:
        yield from (f"{section.key} cites §{cited}, which is not there." for cited in set(section.cites) - set(keys))
        yield from (f"{section.key} shows {one}, which is no file." for one in _absent(name, section))


def _absent(name: str, section: Section) -> Iterator[str]:
    return (one for one in section.examples if not (examples.get_folder(name) / f"{one}.toml").exists())


def _against(name: str, english: Manuscript, language: str) -> Iterator[str]:
    """What is wrong with a translation beside the English."""
    if not rulebook.get_path(name, language).exists():
        yield "there is no translation."
        return
    book, now, then = (
        load_manuscript(name, language),
        compute_digests(english),
        load_checked_digests(name).get(language, {}),
    )
    yield from _unsound(name, book)
    if [one.key for one in book.sections] != [one.key for one in english.sections]:
        missing = {one.key for one in english.sections} ^ {one.key for one in book.sections}
        yield f"its sections are others, or in another order: {', '.join(sorted(missing))}."
        return
    for ours, theirs in zip(english.sections, book.sections, strict=True):
        yield from _differences(ours, theirs)
        yield from _unspoken(name, language, ours, theirs)
    for code in sorted(english.rulings):
        yield from _untranslated(f"^{code}", english.rulings[code], book.rulings.get(code, ""))
    yield from (f"{key} is out of date: the English has changed." for key in now if then.get(key) != now[key])


def _differences(ours: Section, theirs: Section) -> Iterator[str]:
    for what in ("examples", "marks", "cites"):
        there, here = getattr(ours, what), getattr(theirs, what)
        if there != here:
            yield f"{ours.key} has {what} {', '.join(here) or 'none'}; in English {', '.join(there) or 'none'}."
    yield from _untranslated(ours.key, ours.text, theirs.text)


def _unspoken(name: str, language: str, ours: Section, theirs: Section) -> Iterator[str]:
    """A move that is written otherwise than letters in that language write it."""
    options = {option.name for option in describe(catalogue.find(name).META.options)}
    spoken = words.make_vocabulary(catalogue.find(name), (), language)
    moves, written = CODE.findall(ours.text), CODE.findall(theirs.text)
    if len(moves) != len(written):
        yield f"{ours.key} has {len(written)} words in backticks; in English {len(moves)}."
        return
    for move, here in zip(moves, written, strict=True):
        told = [next(iter(spoken(word)), "") or word for word in move.split()]
        known = [bool(spoken(word)) for word in move.split() for _ in next(iter(spoken(word)), word).split()]
        if move.split()[0] in spoken.game.verbs and move not in options and not _says(" ".join(told), known, here):
            yield f"{ours.key} has the move “{here}”; letters write “{' '.join(told)}”."


def _says(told: str, known: Sequence[bool], here: str) -> bool:
    """The same move; the sign for degrees may be left out, and a word that has no other form may be shortened."""
    parts, said = told.replace("°", "").split(), here.replace("°", "").split()
    same = (part == word or not sure for part, word, sure in zip(parts, said, known, strict=False))
    return len(parts) == len(said) and all(same)


def _untranslated(key: str, ours: str, theirs: str) -> Iterator[str]:
    """A line that is the same in both languages has been forgotten."""
    if not theirs and ours:
        yield f"{key} is empty."
    same = set(ours.splitlines()) & set(theirs.splitlines())
    yield from (f"{key} is untranslated: “{line[:60]}”." for line in sorted(same) if len(line) > LONG)
