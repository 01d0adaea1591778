"""`make bots`: measure the strength of the levels, in long matches with paired chance events and alternating seats.

python -m tests.bench.bots [PAIRS] [WORD ...]          only matches whose line holds all these words
python -m tests.bench.bots again [PAIRS] [WORD ...]    play the first pairs of rows of older code once more

The cores play different pairs. Each pair is stored at once; a run goes on where the last one stopped, unless the code
that plays has changed. A row whose first pairs come out the same again counts for the current code, too.
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
from tests.bench.match_rows import Row, find_older_row, find_row, hash_code, store, store_again
from tests.engine.adversaries import alpha_beta, greedy_turn, monte_carlo, one_ply
from tests.engine.matches import Pair, Player, make_level_player, play_at_random, play_pair

PAIRS = 100


class Match(NamedTuple):
    """Two players at a table, and the rate of victories that the first one has to reach."""

    game: str
    options: dict[str, str]
    seats: int
    names: tuple[str, str]
    target: float

    def __str__(self) -> str:
        chosen = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.game} {chosen or '-'} {self.seats} seats: {' against '.join(self.names)}"


PLAYERS: dict[str, Player] = {
    **{name: make_level_player(name) for name in ("easy", "normal", "strong")},
    "random": play_at_random,
    "alpha-beta-3": alpha_beta(3),
    "greedy-turn": greedy_turn,
    "one-ply": one_ply,
    "monte-carlo": monte_carlo(300),  # our first bot; as many tries as it made in 0.4 s, see docs/decisions/bots.md
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
"""Adversaries that can only play with two seats."""


def matches() -> Iterator[Match]:
    """Yield the steps of every ladder, and the strong level against its adversary, with every number of seats."""
    for game, chosen, targets, adversary, target in LADDER:
        meta = catalogue.find(game).META
        possible = [
            seats
            for seats in meta.seats
            if not games.objection(catalogue.find(game), options.parse(meta.options, chosen), seats)
        ]
        for seats in possible:
            for names, rate in zip(STEPS, targets, strict=True):
                yield Match(game, chosen, seats, names, rate)
        for seats in [2] if adversary in FOR_TWO else possible:
            yield Match(game, chosen, seats, ("strong", adversary), target)


def main(words: list[str]) -> None:
    again = words[:1] == ["again"]
    words = words[again:]
    pairs = int(words.pop(0)) if words and words[0].isdigit() else PAIRS
    ladder = list(matches())
    hashes = {game: hash_code(game) for game, *_ in LADDER}
    codes = {str(one): hashes[one.game] for one in ladder}
    play = _play_again if again else _play
    with ProcessPoolExecutor() as cores:
        for one in ladder:
            if all(word in str(one).split() or word in str(one) for word in words):
                play(cores, one, pairs, codes)


def _play(cores: ProcessPoolExecutor, one: Match, pairs: int, codes: Mapping[str, str]) -> None:
    """Play the pairs that the row does not have yet, and store each at once, so that a run may be stopped."""
    start = time.monotonic()
    row = find_row(str(one), one.target, codes[str(one)])
    for played in cores.map(partial(_pair, one), range(len(row.won), pairs)):
        row.add(played)
        store(row, codes)
    print(f"{one}: {row.rate}, wanted {one.target:.0%} ({time.monotonic() - start:.0f} s)", flush=True)


def _play_again(cores: ProcessPoolExecutor, one: Match, pairs: int, codes: Mapping[str, str]) -> None:
    """Play the first pairs of a row of older code once more."""
    row = find_older_row(str(one), codes[str(one)])
    if row is None:
        return
    today = Row(row.match, row.wanted, codes[row.match], [], [], "")
    for played in cores.map(partial(_pair, one), range(min(pairs, len(row.won)))):
        today.add(played)
    same = (today.won, today.before) == (row.won[:pairs], row.before[:pairs])
    if same:
        store_again(row, len(today.won), codes)
    print(f"{one}: {'the same' if same else 'not the same'} in {len(today.won)} pairs", flush=True)


def _pair(one: Match, number: int) -> Pair:
    players = PLAYERS[one.names[0]], PLAYERS[one.names[1]]
    return play_pair(catalogue.find(one.game), one.options, one.seats, players, number)


if __name__ == "__main__":
    main(sys.argv[1:])
