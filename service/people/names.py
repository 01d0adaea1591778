"""Names of players: cleaning them for letters to strangers, and finding two that look the same."""

from __future__ import annotations

import re
import unicodedata

from engine.refusal import Refused

MAX_NAME_CHARS = 40
LINK = re.compile(r"@|://|www\.|\w\.[^\W\d_]{2,}(?:[/:\s]|$)|[/\\\\]\w", re.IGNORECASE)
INVISIBLE_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters, marks and signs that show nothing
MAX_MARKS_PER_LETTER = 2  # on one letter
SCRIPTS = ("LATIN", "GREEK", "CYRILLIC")
LOOKALIKES = str.maketrans("аеорсухіјѕԁһвкмнтαορνικμτβηχςу01|", "aeopcyxijsdhbkmhtaopvikmtbnxcyoll")


def clean_name(text: str) -> str:
    """Return the name in the form that letters show; raise Refused if it is not only a name."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise Refused("Please give every player a name.")
    if any(unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Cn") or one in INVISIBLE_LETTERS for one in name):
        raise Refused("A name can have letters, digits and spaces, but no control characters.")
    if len(name) > MAX_NAME_CHARS:
        raise Refused(
            "A name can have at most {most} letters; “{name}” is longer.", most=MAX_NAME_CHARS, name=name[:20]
        )
    if not is_name(name):
        raise Refused("A name is no address and no link, and does not mix alphabets; please write it plainly.")
    return name


def is_name(name: str) -> bool:
    """Return whether this is only a name: no address, no link, no word of mixed alphabets."""
    plain = unicodedata.normalize("NFKC", name).replace("。", ".")
    return not LINK.search(plain) and not any(map(_mixes_scripts, plain.split())) and not _stacks_marks(name)


def fold_name(name: str) -> str:
    """Reduce a name to its looks: two names that a reader could confuse give the same text."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().translate(LOOKALIKES).replace("i", "l").split())


def _mixes_scripts(word: str) -> bool:
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter.isalpha()}
    return len(scripts & set(SCRIPTS)) > 1


def _stacks_marks(name: str) -> bool:
    """Return whether one letter has so many marks that they reach into other lines."""
    marks = "".join("m" if unicodedata.combining(letter) else " " for letter in unicodedata.normalize("NFD", name))
    return "m" * (MAX_MARKS_PER_LETTER + 1) in marks
