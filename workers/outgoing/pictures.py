"""Pictures in letters: boards and charts."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from service.text import drawing
from service.text.drawing import Player
from service.text.templates import get_environment
from workers import process_pool

BAR_CHARACTERS = "▁▂▃▄▅▆▇█"
BARS_PER_ROW = 24
QUARTERS = 4
CHART_LEFT, CHART_RIGHT, CHART_TOP, MIN_CHART_BOTTOM = 12, 540, 36, 200
NAME_HEIGHT = 34


@functools.lru_cache(maxsize=256)
def render_png(svg: str) -> bytes:
    """Return a drawing as a PNG file; drawn in the process pool, with the fonts of the service."""
    return process_pool.run(drawing.render, svg)


class ChartLine(Struct, frozen=True):
    """A player's line in a chart: its path, and how far down it ends and the name is."""

    player: Player
    path: str
    end: float
    name: float


class ChartDrawing(Struct, frozen=True):
    """A chart as its template draws it: the highest number, the lines, and the box around them."""

    highest: str
    lines: tuple[ChartLine, ...]
    bottom: float
    left: float = CHART_LEFT
    right: float = CHART_RIGHT
    top: float = CHART_TOP


class Chart(Struct, frozen=True):
    """One number of each player over a game, between two bounds.

    Each point is the step of the game from which on its numbers held, and the numbers by seat.
    """

    points: tuple[tuple[int, tuple[float, ...]], ...]
    least: float
    most: float
    unit: str = ""

    def draw_bars(self, seat: int) -> str:
        """Return one player's numbers as a row of small bars."""
        top = len(BAR_CHARACTERS) - 1
        return "".join(BAR_CHARACTERS[round(top * self._find_share(row[seat]))] for row in self._sample(BARS_PER_ROW))

    def write_quarters(self, seat: int) -> str:
        """Return one player's numbers after each quarter of the game, in place of the picture."""
        return " → ".join(f"{row[seat]:.0f}{self.unit}" for row in self._sample(QUARTERS))

    def draw(self, players: Sequence[Player]) -> str:
        """Draw a line for each player, with the name where it ends."""
        bottom = max(MIN_CHART_BOTTOM, CHART_TOP + NAME_HEIGHT * (len(players) - 1))
        width, steps = CHART_RIGHT - CHART_LEFT, self.points[-1][0]
        across = [round(CHART_LEFT + width * step / steps, 1) for step, _ in self.points]
        down = [
            [round(bottom - (bottom - CHART_TOP) * self._find_share(numbers[seat]), 1) for _, numbers in self.points]
            for seat in range(len(players))
        ]
        names = _spread([heights[-1] for heights in down], bottom)
        lines = tuple(
            ChartLine(player, _make_path(across, heights), heights[-1], name)
            for player, heights, name in zip(players, down, names, strict=True)
        )
        drawing = ChartDrawing(f"{int(self.most)}{self.unit}", lines, bottom)
        return get_environment().get_template("mail/chart.svg").render(chart=drawing)

    def _find_share(self, number: float) -> float:
        """Return where a number is between the bounds, from 0 to 1."""
        return (number - self.least) / (self.most - self.least)

    def _sample(self, parts: int) -> list[tuple[float, ...]]:
        """Return the numbers after each of so many equal parts of the game."""
        ends = [self.points[-1][0] * (part + 1) // parts for part in range(parts)]
        return [
            next((numbers for step, numbers in reversed(self.points) if step <= end), self.points[0][1]) for end in ends
        ]


def _make_path(across: Sequence[float], down: Sequence[float]) -> str:
    """Return the path of a line that goes in steps, to the right edge of the chart."""
    steps = "".join(f"H{x}V{y}" for x, y in list(zip(across, down, strict=True))[1:])
    return f"M{across[0]} {down[0]}{steps}H{CHART_RIGHT}"


def _spread(heights: list[float], bottom: float) -> list[float]:
    """Move the heights of names apart where they would overlap, none below the bottom."""
    spread, order = list(heights), sorted(range(len(heights)), key=heights.__getitem__)
    for above, seat in pairwise(order):
        spread[seat] = max(spread[seat], spread[above] + NAME_HEIGHT)
    lowest = bottom
    for seat in reversed(order):
        spread[seat] = min(spread[seat], lowest)
        lowest = spread[seat] - NAME_HEIGHT
    return spread
