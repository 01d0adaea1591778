"""Compare the speed of random games in this checkout and in an older commit, which play in turns.

`python -m tests.bench.beside COMMIT GAME SEATS [OPTION=VALUE ...]`; both play the same seeds, each seed once.
The engine of that commit must already have the functions that `play` calls.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROUNDS, GAMES = 20, 10


def main(commit: str, game: str, seats: str, *chosen: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, commit], cwd=ROOT, check=True)
        try:
            _report(*_measure_in_turns([_start_player(tree, game, seats, chosen) for tree in (folder, ROOT)]))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)


def _start_player(tree: str | Path, game: str, seats: str, chosen: Sequence[str]) -> "subprocess.Popen[str]":
    """Start a process that plays with the engine of this checkout."""
    command = [sys.executable, __file__, "--play", game, seats, *chosen]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    return subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _measure_in_turns(players: Sequence["subprocess.Popen[str]"]) -> list[list[float]]:
    """Return the processor times of the rounds, of the older commit and of this one."""
    times: list[list[float]] = [[], []]
    for turn in range(ROUNDS + 1):
        for player, spent in list(zip(players, times, strict=True))[:: -1 if turn % 2 else 1]:
            assert player.stdout
            print(turn * GAMES, file=player.stdin, flush=True)
            spent.append(float(player.stdout.readline()))
    for player in players:
        player.communicate()
    return [spent[1:] for spent in times]  # the first round warms up


def _report(older: Sequence[float], newer: Sequence[float]) -> None:
    for name, spent in (("older", older), ("newer", newer)):
        print(f"{name}: {ROUNDS * GAMES / sum(spent):.1f} games/s of processor time")
    print(f"ratio: {statistics.median(old / new for old, new in zip(older, newer, strict=True)):.2f}")


def play(name: str, seats: str, *chosen: str) -> None:
    """Play GAMES games for each number read, with seeds from it on, and print their processor time."""
    from engine import bots, catalogue, options

    game = catalogue.find(name)
    chosen_options = options.parse(game.META.options, dict(pair.split("=", 1) for pair in chosen))
    for line in sys.stdin:
        start = time.process_time()
        for number in range(int(line), int(line) + GAMES):
            for _ in bots.play_out(game, chosen_options, int(seats), b"beside %d" % number):
                pass
        print(time.process_time() - start, flush=True)


if __name__ == "__main__":
    play(*sys.argv[2:]) if sys.argv[1] == "--play" else main(*sys.argv[1:])
