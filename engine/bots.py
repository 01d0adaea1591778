"""Moves that need no thought: random games, and the only move of a seat. Bots that think are in `engine.search`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from engine import chance as chances
from engine import game as games
from engine import log
from engine import menu as menus
from engine import table as tables
from engine.game import Game
from engine.menu import Menu, Move
from engine.record import Table
from engine.refusal import Refused

Chooser = Callable[[Game, Any, int, Menu, Random], Move]
"""Chooses a move for a seat in a position, from its menu."""

REDEALS = 6  # a menu is public if it is the same in so many deals


def pick_random_move(menu: Menu, random: Random) -> Move:
    """Return any move of the menu."""
    return menus.pick(menu, random.randrange)


def choose_at_random(_game: Game, _state: Any, _seat: int, menu: Menu, random: Random) -> Move:
    """Return any move of the menu; a `Chooser`."""
    return pick_random_move(menu, random)


def play_random_moves(game: Game, state: Any, random: Random, most: int) -> Any:
    """Play up to `most` random moves and return the position."""
    chance, seats = chances.make_from_random(random), range(len(game.standing(state)))
    for _ in range(most):
        open_menus = [(seat, menu) for seat in seats if (menu := game.menu(state, seat))]
        if not open_menus:
            break
        seat, menu = random.choice(open_menus)
        state, _ = games.perform(game, state, seat, pick_random_move(menu, random), chance)
    return state


def play_out(
    game: Game, options: Any, seats: int, seed: bytes, choose: Chooser = choose_at_random
) -> Iterator[tuple[int | None, Move, Any, tuple[Any, ...]]]:
    """Play a whole game from this seed; yield (seat, move, state, events), first the set-up with seat None."""
    random = Random(seed)
    chance = chances.make_from_random(random)
    state, events = games.begin(game, options, seats, chance)
    yield None, Move("start"), state, events
    while open_menus := [(seat, menu) for seat in range(seats) if (menu := game.menu(state, seat))]:
        seat, menu = open_menus[0] if len(open_menus) == 1 else random.choice(open_menus)
        move = choose(game, state, seat, menu, random)
        if choose is not choose_at_random:  # a random move is from the menu
            games.check(menu, move)
        state, events = games.perform(game, state, seat, move, chance)
        yield seat, move, state, events


def find_only_move(game: Game, table: Table, seat: int, seed: bytes) -> Move | None:
    """Return the seat's move if it has only one and making it for the seat betrays nothing, otherwise None.

    It betrays nothing if even a spectator can tell that it is the only move, if nothing is drawn for it, and if its
    events are public.
    """
    menu = tables.menu(game, table, seat)
    if menus.count(menu) != 1 or not _is_menu_public(game, table, seat, menu):
        return None
    move = next(menus.iter_moves(menu))
    chance = tables.make_sealed_chance(table, seed)
    try:
        events = tables.play(game, table, seat, move, chance).events
    except Refused:  # a faulty game may refuse its own menu; then the seat's player sees why
        return None
    public = all(log.hear(game, event, seat=None) == event for event in events)
    return move if public and not chance.draws else None


def _is_menu_public(game: Game, table: Table, seat: int, menu: Menu) -> bool:
    """Whether the menu is the same in other deals of what a spectator cannot see."""
    chance = chances.make_from_random(Random(table.length))
    deals = (game.redeal(table.state, None, chance) for _ in range(REDEALS))
    return all(game.menu(deal, seat) == menu for deal in deals)
