"""Matches of one player against another: pairs of games with the same draws and exchanged seats, and rates."""

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
"""Chooses a move in a position of a game, for a seat, from a seed."""

MAX_POSITIONS = 1_000
NO_LIMIT_S = 3600.0


class Pair(NamedTuple):
    """The result of two games: how often the first player was placed before the second one, and how often he won.

    With two seats both are the same. With more, the places behind the winner count only in `before`.
    """

    before: float
    won: float


class Rate(NamedTuple):
    """The mean of pairs of games, and the 95 % interval."""

    mean: float
    error: float
    games: int

    def __str__(self) -> str:
        return f"{self.mean:.1%} ± {self.error:.1%} in {self.games} games"


def make_level_player(name: str) -> Player:
    """Return the bot of a level without a limit of time, so that a match has the same result on every machine."""
    strength = replace(search.LEVELS[name], seconds=NO_LIMIT_S)
    return lambda game, state, seat, seed: search.choose_move(strength, game, state, seat, seed)


def play_at_random(game: Any, state: Any, seat: int, seed: int) -> Move:
    return bots.pick_random_move(game.menu(state, seat), Random(seed))


def play_match(game: Any, chosen: dict[str, str], seats: int, players: tuple[Player, Player], pairs: int) -> Rate:
    """Play pairs of games."""
    return compute_rate([play_pair(game, chosen, seats, players, number).before for number in range(pairs)])


def play_pair(game: Any, chosen: dict[str, str], seats: int, players: tuple[Player, Player], number: int) -> Pair:
    """Play two games with the draws of this number; in the second one the players exchange seats."""
    parsed, halves = options.parse(game.META.options, chosen), list[Pair]()
    for swapped in (0, 1):
        players_of_seats = [players[(seat + swapped) % 2] for seat in range(seats)]
        standing = _play(game, parsed, players_of_seats, number)
        halves.append(
            Pair(
                _compare_places(standing, players_of_seats, players[0]),
                _count_wins(standing, players_of_seats, players[0]),
            )
        )
    return Pair(*(sum(column) / 2 for column in zip(*halves, strict=True)))


def compute_rate(rates: list[float]) -> Rate:
    """Return the mean of pairs of games; the error is that of pairs, because their two games are related.

    It is computed with one more win and one more loss: otherwise it would be 0 if all games were won.
    """
    around = [*rates, 1.0, 0.0]
    centre = sum(around) / len(around)
    spread = sum((rate - centre) ** 2 for rate in around) / (len(around) - 1)
    return Rate(sum(rates) / len(rates), 1.96 * sqrt(spread / len(around)), 2 * len(rates))


def _play(game: Any, parsed: Any, players_of_seats: list[Player], number: int) -> Any:
    """Return the standing at the end of the game of this number; a game without an end is a draw of all seats."""
    last = deque(iter_states(game, parsed, players_of_seats, number), 1)[0]
    return game.standing(last) if games.is_over(game, last) else [games.Standing(0, place=1)] * len(players_of_seats)


def iter_states(game: Any, parsed: Any, players_of_seats: list[Player], number: int) -> Iterator[Any]:
    """Iterate over the positions of the game of this number, at most `MAX_POSITIONS`."""
    key = chance.derive_key(b"match %d" % number, ())
    state = games.begin(game, parsed, len(players_of_seats), chance.make_sealed(key, 0)).state
    for entry in range(1, MAX_POSITIONS):
        yield state
        open_seats = [seat for seat in range(len(players_of_seats)) if game.menu(state, seat)]
        if not open_seats:
            return
        seat = open_seats[0]
        move = players_of_seats[seat](game, state, seat, 1_000_003 * number + entry)
        assert menu.allows(game.menu(state, seat), move)
        state = games.play(game, state, seat, move, chance.make_sealed(key, entry)).state


def count_positions(game: Any, chosen: dict[str, str], players_of_seats: list[Player], number: int) -> int:
    """Return the number of positions of the game of this number."""
    return sum(1 for _ in iter_states(game, options.parse(game.META.options, chosen), players_of_seats, number))


def _compare_places(standing: Any, players_of_seats: list[Player], player: Player) -> float:
    """Return how often a seat of this player was placed before a seat of the other one; a shared place counts half."""
    own = [one.place for one, other in zip(standing, players_of_seats, strict=True) if other is player]
    others = [one.place for one, other in zip(standing, players_of_seats, strict=True) if other is not player]
    points = [1.0 if mine < other else 0.5 if mine == other else 0.0 for mine in own for other in others]
    return sum(points) / len(points)


def _count_wins(standing: Any, players_of_seats: list[Player], player: Player) -> float:
    """Return this player's share of the victory."""
    winners = [other is player for one, other in zip(standing, players_of_seats, strict=True) if one.place == 1]
    return sum(winners) / len(winners)
