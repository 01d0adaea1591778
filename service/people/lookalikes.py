"""Names as readers see them: letters of other scripts that look alike, by the table of Unicode (UTS #39)."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import defaultdict

from msgspec import Struct

# Capitals of these look like Latin ones, and so do these small letters to a reader who does not know the script.
SMALL_CAPITALS = str.maketrans("вкмнтікμτβηχ", "bkmhtikmtbnx")
# Scripts that one word may mix: Japanese, Korean and Chinese are written so.
WRITTEN_TOGETHER = (
    {"HAN", "HIRAGANA", "KATAKANA"},
    {"HAN", "HANGUL"},
    {"HAN", "BOPOMOFO"},
)
LEFT_TO_RIGHT = "\u200e"  # the mark around letters that are written from right to left
OF_NO_SCRIPT = {"COMMON", "INHERITED", "UNKNOWN"}


# The digits and signs that are written instead of letters, as in “D3p3sche”; 0 and 1 look like letters anyway.
INSTEAD_OF_LETTERS = str.maketrans("3456789$@€¢£", "easgtbgsaecl")
# The Unicode names of “ᴅ”, “ɛ”, “🅳”, “🇩” and “đ”.
ORNATE_LETTER = re.compile(
    r"(?:LATIN|SYMBOL)(?: SMALL| CAPITAL)? LETTER(?: SMALL CAPITAL| OPEN)? ([A-Z])(?: WITH .*)?$"
)


class Lookalikes(Struct, frozen=True):
    """The replacement of each letter, the same for all letters that look alike; and the signs that look like a dot."""

    by_letter: dict[str, str]
    dots: frozenset[str]
    raised_dots: frozenset[str]


def fold_name(name: str) -> str:
    """Reduce a name to its looks: two names that a reader could confuse give the same text."""
    seen = _replace_lookalikes(unicodedata.normalize("NFKC", name).translate(SMALL_CAPITALS)).casefold()
    seen = _replace_lookalikes(seen).casefold()
    return "".join(seen.replace("i", "l").split())


def mixes_scripts(word: str) -> bool:
    """Return whether the letters of a word are of scripts that no language mixes."""
    from confusable_homoglyphs import categories  # its tables take megabytes that most processes never need

    scripts = {categories.alias(letter) for letter in word if letter.isalpha()} - OF_NO_SCRIPT
    return len(scripts) > 1 and not any(scripts <= together for together in WRITTEN_TOGETHER)


def straighten_dots(name: str) -> str:
    """Return the name with an ordinary dot for each sign that looks like one, or that browsers take for one.

    A dot in the middle of the line counts between Latin letters, as in “evil·com”; but Catalan writes l·l, and Japanese
    separates names by it.
    """
    signs = _load_lookalikes()
    plain = "".join("." if letter in signs.dots else letter for letter in name)
    raised = "".join("." if letter in signs.raised_dots else letter for letter in plain)
    return "".join(new if _is_between_latin(plain, place) else plain[place] for place, new in enumerate(raised))


def _is_between_latin(text: str, place: int) -> bool:
    before, after = text[max(0, place - 1) : place].casefold(), text[place + 1 : place + 2].casefold()
    return before.isalnum() and before.isascii() and after.isalpha() and after.isascii() and before + after != "ll"


def simplify_letters(text: str) -> str:
    """Return a text with plain Latin letters for those with ornaments, and for the digits and signs written instead."""
    return "".join(_simplify(letter) for letter in unicodedata.normalize("NFKD", text)).translate(INSTEAD_OF_LETTERS)


def _simplify(letter: str) -> str:
    match = ORNATE_LETTER.search(unicodedata.name(letter, ""))
    return match[1].casefold() if match else letter


def _replace_lookalikes(text: str) -> str:
    by_letter = _load_lookalikes().by_letter
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(by_letter.get(letter, letter) for letter in decomposed))


@functools.cache
def _load_lookalikes() -> Lookalikes:
    """Load the table of Unicode, and keep what is needed of it: the whole takes six megabytes."""
    from confusable_homoglyphs.utils import load

    pairs = [
        (key.strip(LEFT_TO_RIGHT), other["c"].strip(LEFT_TO_RIGHT))
        for key, others in load("confusables.json").items()
        for other in others
    ]
    dots = {other for letter, other in pairs if letter == "." and not other.isdecimal()}
    by_letter = _choose_replacements(pairs)
    raised = {letter for letter, other in by_letter.items() if other == by_letter["·"]}
    return Lookalikes(by_letter, frozenset({"。", *dots}), frozenset({*"·⸳٠۰", *raised}))


def _choose_replacements(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return the replacement of each letter that looks like another."""
    near = defaultdict[str, set[str]](set)
    for letter, other in pairs:
        near[letter].add(other)
        near[other].add(letter)
    chosen = dict[str, str]()
    for start in near:
        if start not in chosen:
            group = _collect(near, start)
            # A pair such as “rn” replaces “m”, because a text of two letters cannot be replaced letter by letter.
            best = min(group, key=lambda one: (len(one) == 1, not one.isascii(), not one.isalpha(), one))
            chosen |= dict.fromkeys(group, best)
    return {letter: other for letter, other in chosen.items() if len(letter) == 1}


def _collect(near: dict[str, set[str]], start: str) -> set[str]:
    """Return all texts that look like this one, directly or through others."""
    group, waiting = {start}, [start]
    while waiting:
        for other in near[waiting.pop()] - group:
            group.add(other)
            waiting.append(other)
    return group
