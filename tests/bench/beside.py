"""Games played by chance, as fast as this checkout plays them and as fast as an older commit does, in turns.

`python -m tests.bench.beside COMMIT GAME SEATS [OPTION=VALUE ...]`; both play the same seeds, none of them twice.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROUNDS, GAMES = 20, 10


def main(commit, game, seats, *chosen):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, commit], cwd=ROOT, check=True)
        try:
            _told(*_in_turns([_player(tree, game, seats, chosen) for tree in (folder, ROOT)]))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)


def _player(tree, *table):
    """A process that plays with the engine of this tree."""
    game, seats, chosen = table
    command = [sys.executable, __file__, "--play", game, seats, *chosen]
    kept = {**os.environ, "PYTHONPATH": str(tree)}
    return subprocess.Popen(command, env=kept, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _in_turns(players):
    """The processor time of each round, of the older commit and of this one."""
    times = [[], []]
    for turn in range(ROUNDS + 1):
        for player, spent in list(zip(players, times, strict=True))[:: -1 if turn % 2 else 1]:
            print(turn * GAMES, file=player.stdin, flush=True)
            spent.append(float(player.stdout.readline()))
    for player in players:
        player.communicate()
    return [spent[1:] for spent in times]  # the first round warms up


def _told(older, newer):
    for name, spent in (("older", older), ("newer", newer)):
        print(f"{name}: {ROUNDS * GAMES / sum(spent):.1f} games/s of processor time")
    print(f"ratio: {statistics.median(old / new for old, new in zip(older, newer, strict=True)):.2f}")


def play(name, seats, *chosen):
    """Answers each number with the processor time of so many games, whose seeds begin there."""
    from engine import bots, catalogue, options

    game = catalogue.find(name)
    settled = options.parse(game.META.options, dict(pair.split("=", 1) for pair in chosen))
    for line in sys.stdin:
        begun = time.process_time()
        for number in range(int(line), int(line) + GAMES):
            for _ in bots.playout(game, settled, int(seats), b"beside %d" % number):
                pass
        print(time.process_time() - begun, flush=True)


if __name__ == "__main__":
    play(*sys.argv[2:]) if sys.argv[1] == "--play" else main(*sys.argv[1:])
