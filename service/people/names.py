"""Names: what may stand in a letter to a stranger, and which two of them look the same."""

from __future__ import annotations

import re
import unicodedata

from engine.refusal import Refused

LONGEST = 40
LINK = re.compile(r"@|://|www\.|\w\.[^\W\d_]{2,}(?:[/:\s]|$)|[/\\\\]\w", re.IGNORECASE)
UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters, marks and signs that show nothing
MOST_MARKS = 2  # on one letter
SCRIPTS = ("LATIN", "GREEK", "CYRILLIC")
LIKE = str.maketrans("аеорсухіјѕԁһвкмнтαορνικμτβηχςу01|", "aeopcyxijsdhbkmhtaopvikmtbnxcyoll")


def clean(text: str) -> str:
    """A name that can stand in a letter's heading, to whomever the letter goes."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise Refused("Please give every player a name.")
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn") or letter in UNSEEN for letter in name):
        raise Refused("A name can have letters, digits and spaces, but no control characters.")
    if len(name) > LONGEST:
        raise Refused("A name can have at most {most} letters; “{name}” is longer.", most=LONGEST, name=name[:20])
    if not is_name(name):
        raise Refused("A name is no address and no link, and does not mix alphabets; please write it plainly.")
    return name


def is_name(name: str) -> bool:
    """Whether this is a name and nothing else: no address, no link, no words of letters that only look alike."""
    plain = unicodedata.normalize("NFKC", name).replace("。", ".")
    return not LINK.search(plain) and not any(map(_mixed, plain.split())) and not _stacked(name)


def looks(name: str) -> str:
    """What two names have in common that a reader would take for one."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().translate(LIKE).replace("i", "l").split())


def _mixed(word: str) -> bool:
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter.isalpha()}
    return len(scripts & set(SCRIPTS)) > 1


def _stacked(name: str) -> bool:
    """Whether so many marks stand on one letter that they reach into other lines."""
    marks = "".join("m" if unicodedata.combining(letter) else " " for letter in unicodedata.normalize("NFD", name))
    return "m" * (MOST_MARKS + 1) in marks
