"""Thinking: what is done in a process of its own, for bots that move and for players who want a hint."""

from __future__ import annotations

import hashlib

from msgspec.structs import replace

from engine import catalogue, search
from engine.menu import Move
from engine.search import Level
from service.settings import Settings


def level(name: str, settings: Settings) -> Level:
    """A level within the time that the host lets its bots think."""
    found = search.LEVELS[name]
    return replace(found, seconds=min(found.seconds, settings.thinking))


def seed(*parts: bytes) -> bytes:
    """What a thought begins with; the same parts lead to the same move."""
    return hashlib.sha256(b"".join(parts)).digest()


def think(
    game: str, edition: int, state: object, seat: int, level: Level, seed: bytes, but: frozenset[Move] = frozenset()
) -> Move:
    """A move found by looking ahead, one of the others than `but` where there is one."""
    return search.choose_move(level, catalogue.find(game, edition), state, seat, int.from_bytes(seed, "big"), but)


def think_ahead(game: str, edition: int, state: object, seat: int, level: Level, seed: bytes) -> tuple[Move, ...]:
    """A move, and those that follow from it in the same turn."""
    return search.choose_turn(level, catalogue.find(game, edition), state, seat, int.from_bytes(seed, "big"))
