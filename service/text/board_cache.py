"""Boards as they were drawn for a reader, cached because drawing takes longer than anything else on a page."""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct

from service.lru import LRU
from service.text.drawing import Scene, Voice, board_svg, board_text


class DrawnBoard(Struct, frozen=True):
    """A board as a picture, as text, and in one sentence."""

    svg: str
    text: str
    alt: str


def drawn(cache: LRU[DrawnBoard], position: Hashable, scene: Scene, voice: Voice) -> DrawnBoard:
    """The board of a position, which says which table after which entry; the scene says for which reader."""
    names = tuple(player.name for player in scene.players)
    key = (position, scene.me, names, bool(scene.menu), scene.language)
    found = cache.get(key)
    if found is None:
        found = DrawnBoard(board_svg(scene), board_text(scene), voice.alt(scene.view))
        cache.put(key, found)
    return found
