"""Looking ahead in another process, to which a game is named."""

from __future__ import annotations

from engine import catalogue
from engine.menu import Move
from engine.search.levels import Level, choose_move, choose_turn


def think(
    game: str, edition: int, state: object, seat: int, level: Level, seed: bytes, but: frozenset[Move] = frozenset()
) -> Move:
    """Return a move found by looking ahead; one of `but` only if there is no other."""
    return choose_move(level, catalogue.find(game, edition), state, seat, int.from_bytes(seed, "big"), but)


def think_ahead(game: str, edition: int, state: object, seat: int, level: Level, seed: bytes) -> tuple[Move, ...]:
    """Return a move and those that follow from it in the same turn."""
    return choose_turn(level, catalogue.find(game, edition), state, seat, int.from_bytes(seed, "big"))
