"""Players that need only the contract: one that moves at random, one that tries moves out on redealt copies."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any

from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine.chance import Chance
from engine.game import Game, Standing
from engine.menu import Menu, Move

Bot = Callable[[Game, Any, int], Move]


def loose(random: Random) -> Chance:
    """Unsealed chance for playing in one's head."""
    return Chance(lambda label, faces, index: random.randrange(len(faces)) if len(faces) > 1 else 0)


def random_move(menu: Menu, random: Random) -> Move:
    """Any move on the menu."""
    return menus.pick(menu, random.randrange)


def monte_carlo(random: Random, seconds: float, depth: int = 40, most: int = 24) -> Bot:
    """A bot that plays each of at most `most` moves out at random again and again until its time is up.

    Before every try all that its seat cannot know is dealt anew, so it never sees more than the player would.
    """

    def choose(game: Game, state: Any, seat: int) -> Move:
        until = time.monotonic() + seconds
        moves = _candidates(game.menu(state, seat), random, most)
        worths = dict.fromkeys(moves, 0.0)
        while len(moves) > 1:
            for move in moves:
                worths[move] += _try(game, state, seat, move, random, depth)
            if time.monotonic() >= until:
                break
        return max(moves, key=lambda move: worths[move])

    return choose


def _candidates(menu: Menu, random: Random, most: int) -> list[Move]:
    if menus.count(menu) <= most:
        return list(menus.moves(menu))
    return list(dict.fromkeys(random_move(menu, random) for _ in range(most)))


def _try(game: Game, state: Any, seat: int, move: Move, random: Random, depth: int) -> float:
    luck = loose(random)
    imagined = game.redeal(state, seat, luck)
    imagined, _ = games.play(game, imagined, seat, move, luck)
    return worth(game.standing(wander(game, imagined, random, depth)), seat)


def wander(game: Game, state: Any, random: Random, depth: int) -> Any:
    """The position after at most so many random moves."""
    luck, seats = loose(random), range(len(game.standing(state)))
    for _ in range(depth):
        open_menus = [(seat, menu) for seat in seats if (menu := game.menu(state, seat))]
        if not open_menus:
            break
        seat, menu = random.choice(open_menus)
        state, _ = games.play(game, state, seat, random_move(menu, random), luck)
    return state


def worth(standing: tuple[Standing, ...], seat: int) -> float:
    """How good this looks for the seat: 1 for a win, 0 for the last place, the share of scores in between."""
    own, others = standing[seat], [other for number, other in enumerate(standing) if number != seat]
    if own.place is not None:
        beaten = sum((other.place or 0) > own.place for other in others)
        shared = sum(other.place == own.place for other in others)
        return (beaten + shared / 2) / len(others)
    if own.out:
        return 0.0
    best = max(other.score for other in others)
    return 0.5 + 0.4 * (own.score - best) / (1 + abs(own.score) + abs(best))


def playout(game: Game, options: Any, seats: int, seed: bytes) -> Any:
    """A whole random game from this seed: yields (seat, move, state, events), the set-up first with seat None."""
    random = Random(seed)
    key = chances.key(seed, ())
    state, events = games.begin(game, options, seats, chances.sealed(key, 0))
    yield None, Move("start"), state, events
    number = 0
    while open_menus := [(seat, menu) for seat in range(seats) if (menu := game.menu(state, seat))]:
        number += 1
        seat, menu = open_menus[0] if len(open_menus) == 1 else random.choice(open_menus)
        move = random_move(menu, random)
        state, events = games.play(game, state, seat, move, chances.sealed(key, number))
        yield seat, move, state, events
