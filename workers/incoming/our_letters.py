"""Recognises our own letters inside a mail, in every language, by the sentences of their templates."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from babel.messages.extract import extract_from_file

from service.text.languages import LANGUAGES, translations
from service.text.template_files import TEMPLATES

PLACEHOLDER = re.compile(r"%\(\w+\)s")
# Characters of a sentence, and of one with a stop; what is shorter may be an answer: "resign yes", "abandonner oui".
SHORTEST, STOPPED = 15, 10
BLOCKS = {"trim_blocks": "true", "lstrip_blocks": "true", "extensions": "jinja2.ext.do"}


def begins_at(lines: Sequence[str]) -> int | None:
    """The first line that holds a sentence of our letters, also one that a mail program has wrapped."""
    folded = [line.casefold() for line in lines]
    place = _first(" ".join(folded))
    return None if place is None else bisect_right(list(accumulate(len(line) + 1 for line in folded)), place)


def _first(text: str) -> int | None:
    """Where the first of our sentences begins in a text."""
    return min((place for one in _sentences() if (place := text.find(one)) >= 0), default=None)


@functools.cache
def _sentences() -> tuple[str, ...]:
    """The longest fixed part of every sentence of every letter, in every language."""
    found = {max(PLACEHOLDER.split(said), key=len).strip() for said in _said()} - {""}
    return tuple(part for part in sorted(found) if len(part) >= (STOPPED if part[-1] in ".:!?" else SHORTEST))


def _said() -> Iterator[str]:
    """Every message of the letters' templates, in every language."""
    for path in sorted((TEMPLATES / "mail").iterdir()):
        for _, message, _, _ in extract_from_file("jinja2.ext:babel_extract", path, options=BLOCKS):
            for one in (message,) if isinstance(message, str) else message:
                yield from (" ".join(translations(lang).gettext(one).casefold().split()) for lang in LANGUAGES)
