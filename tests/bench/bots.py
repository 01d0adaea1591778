"""`make bots`: how strong the levels are, in long matches with paired luck and alternating seats.

python -m tests.bench.bots [PAIRS] [WORD ...]          only matches whose line holds all these words
python -m tests.bench.bots again [PAIRS] [WORD ...]    rows of older code: do the first pairs come out the same?

Every core plays pairs of its own. What was played is kept after each pair; a run goes on where the last one stopped,
unless what plays has changed. A row whose first pairs come out the same again stands for today's code, too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

from engine import catalogue, options
from engine import game as games
from tests.bench.match_rows import Row, code_of, keep, keep_again, older_row, row_of
from tests.engine.adversaries import alpha_beta, greedy_turn, monte_carlo, one_ply
from tests.engine.matches import Pair, Player, at_random, level, pair

PAIRS = 100


class Match(NamedTuple):
    """Two players at a table, and the rate that is wanted of the first one."""

    game: str
    options: dict[str, str]
    seats: int
    names: tuple[str, str]
    wanted: float

    def __str__(self) -> str:
        chosen = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.game} {chosen or '-'} {self.seats} seats: {' against '.join(self.names)}"


PLAYERS: dict[str, Player] = {
    **{name: level(name) for name in ("easy", "normal", "strong")},
    "random": at_random,
    "alpha-beta-3": alpha_beta(3),
    "greedy-turn": greedy_turn,
    "one-ply": one_ply,
    "monte-carlo": monte_carlo(300),  # 301: our first bot at 0.4 seconds
}

LADDER: list[tuple[str, dict[str, str], tuple[float, float, float], str, float]] = [
    ("kaiser", {}, (0.9, 0.75, 0.75), "alpha-beta-3", 0.6),
    ("carcassonne", {"messages": "off"}, (0.9, 0.75, 0.7), "greedy-turn", 0.9),
    ("carcassonne", {}, (0.9, 0.75, 0.7), "greedy-turn", 0.9),
    ("kurier", {}, (0.9, 0.75, 0.65), "one-ply", 0.65),
    ("kurier", {"rules": "basic"}, (0.9, 0.75, 0.65), "one-ply", 0.65),
    ("turfmaster", {}, (0.75, 0.6, 0.55), "monte-carlo", 0.6),
]
STEPS = (("easy", "random"), ("normal", "easy"), ("strong", "normal"))
FOR_TWO = ("alpha-beta-3",)
"""Adversaries that know the game for two only."""


def matches() -> Iterator[Match]:
    """The steps of every ladder, and the strong level against its adversary, with every number of seats."""
    for game, chosen, wanted, adversary, beaten in LADDER:
        meta = catalogue.find(game).META
        possible = [
            seats
            for seats in meta.seats
            if not games.objection(catalogue.find(game), options.parse(meta.options, chosen), seats)
        ]
        for seats in possible:
            for names, rate in zip(STEPS, wanted, strict=True):
                yield Match(game, chosen, seats, names, rate)
        for seats in [2] if adversary in FOR_TWO else possible:
            yield Match(game, chosen, seats, ("strong", adversary), beaten)


def main(words: list[str]) -> None:
    again = words[:1] == ["again"]
    words = words[again:]
    pairs = int(words.pop(0)) if words and words[0].isdigit() else PAIRS
    ladder = list(matches())
    of_games = {game: code_of(game) for game, *_ in LADDER}
    codes = {str(one): of_games[one.game] for one in ladder}
    play = _play_again if again else _play
    with ProcessPoolExecutor() as cores:
        for one in ladder:
            if all(word in str(one).split() or word in str(one) for word in words):
                play(cores, one, pairs, codes)


def _play(cores: ProcessPoolExecutor, one: Match, pairs: int, codes: Mapping[str, str]) -> None:
    """Play the pairs that the row does not have yet; each is kept at once, so that a run may be stopped."""
    begun = time.monotonic()
    row = row_of(str(one), one.wanted, codes[str(one)])
    for played in cores.map(partial(_pair, one), range(len(row.won), pairs)):
        row.learn(played)
        keep(row, codes)
    print(f"{one}: {row.rate}, wanted {one.wanted:.0%} ({time.monotonic() - begun:.0f} s)", flush=True)


def _play_again(cores: ProcessPoolExecutor, one: Match, pairs: int, codes: Mapping[str, str]) -> None:
    """Play the first pairs of a row of older code once more."""
    row = older_row(str(one), codes[str(one)])
    if row is None:
        return
    today = Row(row.match, row.wanted, codes[row.match], [], [], "")
    for played in cores.map(partial(_pair, one), range(min(pairs, len(row.won)))):
        today.learn(played)
    same = (today.won, today.before) == (row.won[:pairs], row.before[:pairs])
    if same:
        keep_again(row, len(today.won), codes)
    print(f"{one}: {'the same' if same else 'not the same'} in {len(today.won)} pairs", flush=True)


def _pair(one: Match, number: int) -> Pair:
    players = PLAYERS[one.names[0]], PLAYERS[one.names[1]]
    return pair(catalogue.find(one.game), one.options, one.seats, players, number)


if __name__ == "__main__":
    main(sys.argv[1:])
