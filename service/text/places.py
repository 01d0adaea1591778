"""Places in prose: what a sentence names and the board shows, marked so that a page can make links of them."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

FIRST, THEN, LAST = "\ue000", "\ue001", "\ue002"  # characters for private use: nobody can write them
MARK = re.compile(f"{FIRST}([^{THEN}]*){THEN}([^{LAST}]*){LAST}")


def plain(place: str, words: str = "") -> str:
    """The words for a place, or the place itself."""
    return words or place


def marked(place: str, words: str = "") -> str:
    """The words for a place, with the place itself around them."""
    return f"{FIRST}{place}{THEN}{words or place}{LAST}"


def unmarked(told: str) -> str:
    return MARK.sub(r"\2", told)


def linked(told: str) -> Markup:
    """The sentence for a page; a touch on a place lights it up on the board, and without a script leads there."""
    return Markup(MARK.sub(r'<a class="place" href="#stage" data-at="\1">\2</a>', str(escape(told))))  # noqa: S704
