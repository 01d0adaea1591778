"""A move and those that follow from it: a tile, and then the figure on it, before anybody else or chance has a say."""

from __future__ import annotations

from random import Random
from typing import Any

from engine import game as games
from engine.game import Game
from engine.menu import Menu, Move
from engine.search.levels import Level, choose
from engine.search.mind import dice

MOST_MOVES = 4
DEALS = 2
"""What follows has to look alike in so many imagined deals, or it is not foreseen."""


def whole_turn(level: Level, game: Game, state: Any, seat: int, seed: int) -> tuple[Move, ...]:
    """The moves that a bot would make one after the other, as far as its seat can foresee what it may do next."""
    random = Random(seed)  # noqa: S311 - a bot's imagination needs no cryptography
    moves = [choose(level, game, state, seat, seed)]
    deals = [game.redeal(state, seat, dice(random.getrandbits(64))) for _ in range(DEALS)]
    while len(moves) < MOST_MOVES:
        followed = [_followed(game, deal, seat, moves[-1], random.getrandbits(64)) for deal in deals]
        deals = [deal for deal, _ in followed]
        menus = {menu for _, menu in followed}
        if len(menus) > 1 or () in menus:
            break
        moves.append(choose(level, game, deals[0], seat, random.getrandbits(64)))
    return tuple(moves)


def _followed(game: Game, state: Any, seat: int, move: Move, seed: int) -> tuple[Any, Menu]:
    """The position after a move, and what the seat may do then; nothing, where anything was drawn or turned over."""
    luck = dice(seed)
    after = games.perform(game, state, seat, move, luck).state
    return after, () if luck.draws else game.menu(after, seat)
