"""Boards as they were printed for somebody: drawn once, and kept as long as there is room."""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct

from service.lru import Kept
from service.text.drawing import Scene, Voice, board_svg, board_text


class Print(Struct, frozen=True):
    """A board as a picture, in letters, and in a sentence."""

    svg: str
    text: str
    alt: str


class Prints:
    """The boards printed last; `position` says which table after which entry, the scene says for whom."""

    def __init__(self, size: int = 200) -> None:
        self._kept = Kept[Print](size)

    def of(self, position: Hashable, scene: Scene, voice: Voice) -> Print:
        """The board of that position for this reader."""
        names = tuple(player.name for player in scene.players)
        key = (position, scene.me, names, bool(scene.menu), scene.language)
        found = self._kept.get(key)
        if found is None:
            found = Print(board_svg(scene), board_text(scene), voice.alt(scene.view))
            self._kept.put(key, found)
        return found
