"""Players that move at random, from the contract of a game alone; those that think are in `engine.search`."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine.chance import Chance
from engine.game import Game
from engine.menu import Menu, Move


def loose(random: Random) -> Chance:
    """Unsealed chance for playing in one's head."""
    return Chance(lambda label, faces, index: random.randrange(len(faces)) if len(faces) > 1 else 0)


def random_move(menu: Menu, random: Random) -> Move:
    """Any move on the menu."""
    return menus.pick(menu, random.randrange)


def wander(game: Game, state: Any, random: Random, depth: int) -> Any:
    """The position after at most so many random moves."""
    luck, seats = loose(random), range(len(game.standing(state)))
    for _ in range(depth):
        open_menus = [(seat, menu) for seat in seats if (menu := game.menu(state, seat))]
        if not open_menus:
            break
        seat, menu = random.choice(open_menus)
        state, _ = games.perform(game, state, seat, random_move(menu, random), luck)
    return state


Chooser = Callable[[Game, Any, int, Menu, Random], Move]
"""Whoever chooses a move at a game's position, for a seat, from its menu."""


def at_random(_game: Game, _state: Any, _seat: int, menu: Menu, random: Random) -> Move:
    """Any move of this menu."""
    return menus.pick(menu, random.randrange)


def playout(game: Game, options: Any, seats: int, seed: bytes, choose: Chooser = at_random) -> Any:
    """A whole game from this seed: yields (seat, move, state, events), the set-up first with seat None."""
    random = Random(seed)
    key = chances.key(seed, ())
    state, events = games.begin(game, options, seats, chances.sealed(key, 0))
    yield None, Move("start"), state, events
    number = 0
    while open_menus := [(seat, menu) for seat in range(seats) if (menu := game.menu(state, seat))]:
        number += 1
        seat, menu = open_menus[0] if len(open_menus) == 1 else random.choice(open_menus)
        move = choose(game, state, seat, menu, random)
        games.check(menu, move)
        state, events = games.perform(game, state, seat, move, chances.sealed(key, number))
        yield seat, move, state, events
