"""The only move: what a seat cannot help doing, where doing it for it betrays nothing."""

from __future__ import annotations

from random import Random

from engine import bots
from engine import menu as menus
from engine import table as tables
from engine.game import Game
from engine.menu import Move
from engine.record import Table
from engine.refusal import Refused

TRIES = 6


def only_move(game: Game, table: Table, seat: int, seed: bytes) -> Move | None:
    """This seat's only move, if even a spectator could tell that it is, and nothing hidden is touched by it."""
    own = tables.menu(game, table, seat)
    if menus.count(own) != 1 or not _is_public(game, table, seat, own):
        return None
    move, chance = next(menus.moves(own)), tables.draws(table, seed)
    try:
        events = tables.play(game, table, seat, move, chance).events
    except Refused:
        return None
    open_to_all = all(tables.hear(game, event, None) == event for event in events)
    return move if open_to_all and not chance.draws else None


def _is_public(game: Game, table: Table, seat: int, own: menus.Menu) -> bool:
    """Whether this menu is the same however the things lie that a spectator cannot see."""
    luck = bots.loose(Random(table.length))  # noqa: S311 - imagined deals, not dice
    deals = (game.redeal(table.state, None, luck) for _ in range(TRIES))
    return all(game.menu(deal, seat) == own for deal in deals)
