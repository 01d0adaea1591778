"""How long bots think, where there are most moves and anywhere, in games with options and boxes at random."""

import os
import statistics
import time
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from engine import bots, catalogue, menu, options, search
from engine import game as games
from engine.game import Game
from service.benches import Measure, bench

MIXES = int(os.environ.get("DEPESCHE_MIXES", "20"))
STRONG, OTHERS_MS = 2.0, 20.0
SHARES = (0.1, 0.3, 0.6, 0.9)
"""How many of the options that can be switched on are."""


class Position(NamedTuple):
    """Where a seat has several moves; and from which mix."""

    state: Any
    seat: int
    moves: int
    mix: str


@bench
def thinking() -> Iterator[Measure]:
    """The processor's time for a choice of each level, in the dearest positions of all games and mixes."""
    for name, game in catalogue.find_all().items():
        found = [position for number in range(MIXES) for position in positions(game, number)]
        slowest, where = max(((seconds(game, one, "strong"), one) for one in found), key=lambda timed: timed[0])
        print(f"   {name}: slowest with {where.moves} moves, {where.mix}", flush=True)
        yield Measure(f"{name}, strong, slowest of {len(found)} positions", slowest, "s", STRONG, at_most=True)
        for level in ("easy", "normal"):
            took = [1_000 * seconds(game, one, level) for one in found]
            yield Measure(f"{name}, {level}, median", statistics.median(took), "ms", OTHERS_MS, at_most=True)
            yield Measure(f"{name}, {level}, slowest", max(took), "ms")


def seconds(game: Game, position: Position, level: str) -> float:
    begun = time.thread_time()
    search.choose_move(search.LEVELS[level], game, position.state, position.seat, 1)
    return time.thread_time() - begun


def positions(game: Game, number: int) -> list[Position]:
    """Two positions of one random game: the one with the most moves, and any."""
    random = Random(number)
    chosen, seats, mix = mixed(game, random)
    all_positions = [
        Position(state, seat, moves, mix)
        for _, _, state, _ in bots.playout(game, chosen, seats, b"%d" % number)
        for seat in range(seats)
        if (moves := menu.count(game.menu(state, seat))) > 1
    ]
    return [max(all_positions, key=lambda one: one.moves), random.choice(all_positions)]


def mixed(game: Game, random: Random) -> tuple[Any, int, str]:
    """Options at random that go with so many seats."""
    described = options.describe(game.META.options)
    while True:
        share, seats = random.choice(SHARES), random.choice(game.META.seats)
        chosen = {
            one.name: random.random() < share if one.kind == "switch" else random.choice(one.values)
            for one in described
        }
        settled = options.parse(game.META.options, chosen)
        if not games.objection(game, settled, seats):
            return settled, seats, f"{seats} seats, " + ", ".join(f"{name}={said}" for name, said in chosen.items())
