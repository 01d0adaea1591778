"""A board is drawn alike in every process: nothing in it hangs on the order of a set."""

import hashlib
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

from engine import bots, options
from engine.games import carcassonne
from service.text import drawing
from service.text.drawing import Scene
from tests.all_switches import switch_all_on

ROOT = Path(__file__).parents[3]
MOVES = 150
SCRIPT = "from tests.service.text.test_same_drawing import digest_drawing; print(digest_drawing())"


def digest_drawing() -> str:
    """Return a digest of the board in the middle of a game with all boxes that can be combined."""
    chosen = options.parse(carcassonne.META.options, switch_all_on(carcassonne, "river"))
    *_, (_, _, state, _) = islice(bots.play_out(carcassonne, chosen, 3, b"the order of things"), MOVES)
    scene = Scene(carcassonne, carcassonne.view(state, 0), drawing.list_players(["Anna", "Bert", "Clara"]))
    return hashlib.sha256(drawing.draw_board_svg(scene).encode()).hexdigest()


def test_another_process_draws_the_same_land() -> None:
    other_seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # this process has another one
    digest = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": other_seed},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert digest.strip() == digest_drawing()
