"""The thinking time of bots in positions with the most moves and in random ones, with random options and boxes."""

import os
import statistics
import time
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from engine import bots, catalogue, menu, options, search
from engine import game as games
from engine.game import Game
from service.commands.benches import Measure, register_bench

MIXES = int(os.environ.get("DEPESCHE_MIXES", "20"))
MAX_STRONG_S, MAX_OTHERS_MS = 2.0, 20.0
SHARES = (0.1, 0.3, 0.6, 0.9)
"""The share of the switches that are on."""


class Position(NamedTuple):
    """A position in which a seat has several moves, and the options of its game."""

    state: Any
    seat: int
    moves: int
    mix: str


@register_bench
def thinking() -> Iterator[Measure]:
    """Processor time of a choice by each level, in the slowest positions of all games and options."""
    for name, game in catalogue.find_all().items():
        sample = [position for number in range(MIXES) for position in choose_positions(game, number)]
        slowest, where = max(((time_choice(game, one, "strong"), one) for one in sample), key=lambda timed: timed[0])
        print(f"   {name}: slowest with {where.moves} moves, {where.mix}", flush=True)
        yield Measure(f"{name}, strong, slowest of {len(sample)} positions", slowest, "s", MAX_STRONG_S, at_most=True)
        for level in ("easy", "normal"):
            took = [1_000 * time_choice(game, one, level) for one in sample]
            yield Measure(f"{name}, {level}, median", statistics.median(took), "ms", MAX_OTHERS_MS, at_most=True)
            yield Measure(f"{name}, {level}, slowest", max(took), "ms")


def time_choice(game: Game, position: Position, level: str) -> float:
    start = time.thread_time()
    search.choose_move(search.LEVELS[level], game, position.state, position.seat, 1)
    return time.thread_time() - start


def choose_positions(game: Game, number: int) -> list[Position]:
    """Return two positions of a random game: the one with the most moves, and a random one."""
    random = Random(number)
    chosen, seats, mix = choose_options(game, random)
    all_positions = [
        Position(state, seat, moves, mix)
        for _, _, state, _ in bots.play_out(game, chosen, seats, b"%d" % number)
        for seat in range(seats)
        if (moves := menu.count(game.menu(state, seat))) > 1
    ]
    return [max(all_positions, key=lambda one: one.moves), random.choice(all_positions)]


def choose_options(game: Game, random: Random) -> tuple[Any, int, str]:
    """Choose random options and a number of seats that the game accepts; describe both in words."""
    described = options.describe(game.META.options)
    while True:
        share, seats = random.choice(SHARES), random.choice(game.META.seats)
        chosen = {
            one.name: random.random() < share if one.kind == "switch" else random.choice(one.values)
            for one in described
        }
        settled = options.parse(game.META.options, chosen)
        if not games.objection(game, settled, seats):
            return settled, seats, f"{seats} seats, " + ", ".join(f"{name}={value}" for name, value in chosen.items())
