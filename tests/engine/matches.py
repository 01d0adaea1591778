"""Matches of one player against another: paired luck, alternating seats, rates with their error."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from math import sqrt
from random import Random
from typing import Any, NamedTuple

from msgspec.structs import replace

from engine import bots, chance, menu, options, search
from engine import game as games
from engine.menu import Move

Player = Callable[[Any, Any, int, int], Move]
"""A player's move at a game's position, for a seat, from a seed."""

LONGEST = 1_000
FOREVER = 3600.0


class Pair(NamedTuple):
    """Of two games: how often the first player came in before the second one, and how often he won.

    With two seats both are the same. With more, the places behind the winner count in the first alone.
    """

    before: float
    won: float


class Rate(NamedTuple):
    """A mean of pairs of games, and the 95 % interval."""

    mean: float
    error: float
    games: int

    def __str__(self) -> str:
        return f"{self.mean:.1%} ± {self.error:.1%} in {self.games} games"


def level(name: str) -> Player:
    """The bot of a level; only its budget ends its thoughts, so that a match comes out the same on every machine."""
    strength = replace(search.LEVELS[name], seconds=FOREVER)
    return lambda game, state, seat, seed: search.choose_move(strength, game, state, seat, seed)


def at_random(game: Any, state: Any, seat: int, seed: int) -> Move:
    return bots.pick_random_move(game.menu(state, seat), Random(seed))


def match(game: Any, chosen: dict[str, str], seats: int, players: tuple[Player, Player], pairs: int) -> Rate:
    """So many pairs of games."""
    return summed([pair(game, chosen, seats, players, number).before for number in range(pairs)])


def pair(game: Any, chosen: dict[str, str], seats: int, players: tuple[Player, Player], number: int) -> Pair:
    """Two games with the luck of this number; in the second one the players change seats."""
    settled, halves = options.parse(game.META.options, chosen), list[Pair]()
    for turned in (0, 1):
        seated = [players[(seat + turned) % 2] for seat in range(seats)]
        standing = _played(game, settled, seated, number)
        halves.append(Pair(_before(standing, seated, players[0]), _won(standing, seated, players[0])))
    return Pair(*(sum(column) / 2 for column in zip(*halves, strict=True)))


def summed(rates: list[float]) -> Rate:
    """The mean of these pairs of games; the error is that of pairs, whose two games hang together.

    It is taken as if one pair more had been won and one lost: else it would be nothing where all were won.
    """
    around = [*rates, 1.0, 0.0]
    centre = sum(around) / len(around)
    spread = sum((rate - centre) ** 2 for rate in around) / (len(around) - 1)
    return Rate(sum(rates) / len(rates), 1.96 * sqrt(spread / len(around)), 2 * len(rates))


def _played(game: Any, settled: Any, seated: list[Player], number: int) -> Any:
    """The standing at the end of a game whose luck has this number; a game without end is a draw of all."""
    last = deque(states(game, settled, seated, number), 1)[0]
    return game.standing(last) if games.is_over(game, last) else [games.Standing(0, place=1)] * len(seated)


def states(game: Any, settled: Any, seated: list[Player], number: int) -> Iterator[Any]:
    """The positions of a game whose luck has this number, at most so many."""
    key = chance.derive_key(b"match %d" % number, ())
    state = games.begin(game, settled, len(seated), chance.make_sealed(key, 0)).state
    for entry in range(1, LONGEST):
        yield state
        open_seats = [seat for seat in range(len(seated)) if game.menu(state, seat)]
        if not open_seats:
            return
        seat = open_seats[0]
        move = seated[seat](game, state, seat, 1_000_003 * number + entry)
        assert menu.allows(game.menu(state, seat), move)
        state = games.play(game, state, seat, move, chance.make_sealed(key, entry)).state


def game_length(game: Any, chosen: dict[str, str], seated: list[Player], number: int) -> int:
    """How many positions the game of this number has."""
    return sum(1 for _ in states(game, options.parse(game.META.options, chosen), seated, number))


def _before(standing: Any, seated: list[Player], player: Player) -> float:
    """How often a seat of this player came in before a seat of the other one, shared places half."""
    own = [one.place for one, other in zip(standing, seated, strict=True) if other is player]
    others = [one.place for one, other in zip(standing, seated, strict=True) if other is not player]
    beaten = [1.0 if mine < other else 0.5 if mine == other else 0.0 for mine in own for other in others]
    return sum(beaten) / len(beaten)


def _won(standing: Any, seated: list[Player], player: Player) -> float:
    """This player's part of the victory, which several may share."""
    winners = [other is player for one, other in zip(standing, seated, strict=True) if one.place == 1]
    return sum(winners) / len(winners)
