"""Marks on a drawn board: the places of a move in their order, such as an answer that a reader asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import unescape

TOKEN = re.compile(r'data-token="([^"]+)"')


def find_spots(drawing: str) -> frozenset[str]:
    """Return what can be touched in a drawing or a tray: a token, or several that are touched at once."""
    return frozenset(map(unescape, TOKEN.findall(drawing)))


def choose_spots(spots: Iterable[str], words: Sequence[str]) -> tuple[str, ...]:
    """Return the spots of a move in their order, the longest where there are several; words without a spot are left."""
    drawn, chosen, at = frozenset(spots), list[str](), 0
    while at < len(words):
        ends = range(len(words), at, -1)
        length = next((end - at for end in ends if " ".join(words[at:end]) in drawn), 0)
        if length:
            chosen.append(" ".join(words[at : at + length]))
        at += max(length, 1)
    return tuple(dict.fromkeys(chosen))


def number_spots(drawing: str, spots: Sequence[str]) -> str:
    """Number these spots of a drawing; a spot that is drawn twice has its number twice."""
    numbers = {spot: number for number, spot in enumerate(spots, 1)}

    def add_number(match: re.Match[str]) -> str:
        number = numbers.get(unescape(match[1]))
        return f'{match[0]} data-mark="{number}"' if number else match[0]

    return TOKEN.sub(add_number, drawing)
