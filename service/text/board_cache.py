"""Boards as they were drawn for a reader, cached because drawing takes longer than anything else on a page."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from msgspec import Struct

from service.lru import LRU
from service.text.drawing import Narrator, Scene, Stage, board_svg, board_text, stage

T = TypeVar("T")


class DrawnBoard(Struct, frozen=True):
    """A board as a picture, as text, and in one sentence."""

    svg: str
    text: str
    alt: str


class StagedBoard(Struct, frozen=True):
    """A board taken apart for the page of its table, as text, and in one sentence."""

    stage: Stage
    text: str
    alt: str


def drawn(cache: LRU[DrawnBoard], position: Hashable, scene: Scene, narrator: Narrator) -> DrawnBoard:
    """The board of a position, which says which table after which entry; the scene says for which reader."""
    return _once(
        cache, position, scene, lambda: DrawnBoard(board_svg(scene), board_text(scene), narrator.alt(scene.view))
    )


def staged(cache: LRU[StagedBoard], position: Hashable, scene: Scene, narrator: Narrator) -> StagedBoard:
    """The same, taken apart."""
    return _once(cache, position, scene, lambda: StagedBoard(stage(scene), board_text(scene), narrator.alt(scene.view)))


def _once(cache: LRU[T], position: Hashable, scene: Scene, draw: Callable[[], T]) -> T:
    names = tuple(player.name for player in scene.players)
    key = (position, scene.me, names, bool(scene.menu), scene.language)
    found = cache.get(key)
    if found is None:
        found = draw()
        cache.put(key, found)
    return found
