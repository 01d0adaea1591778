"""How scores and chances went until a game was over: rows of small bars for a text, a picture for a letter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from engine.story import Story
from service.app import App
from service.tables import score_course
from service.tables.snapshots import Snapshot
from service.text.drawing import Player, environment

BARS = "▁▂▃▄▅▆▇█"
POINTS = 24  # bars in a row
QUARTERS = 4
LEFT, RIGHT, TOP, LEAST = 12, 540, 36, 200  # of the picture: where lines begin and end, and how low at least they go
ROW = 34  # from one name beside the lines to the next


class Curves(Struct, frozen=True):
    """Numbers of each player that went up and down, each with the step from which on they held, between two bounds."""

    moments: tuple[tuple[int, tuple[float, ...]], ...]
    least: float
    most: float
    unit: str = ""

    def bars(self, seat: int) -> str:
        """One player's numbers as a row of small bars."""
        return "".join(BARS[round((len(BARS) - 1) * self._part(held[seat]))] for held in self._held(POINTS))

    def quarters(self, seat: int) -> str:
        """One player's numbers after each quarter of the way, for whoever sees no picture."""
        return " → ".join(f"{held[seat]:.0f}{self.unit}" for held in self._held(QUARTERS))

    def svg(self, players: Sequence[Player]) -> str:
        """A line for each player, with the name where it ends."""
        bottom = max(LEAST, TOP + ROW * (len(players) - 1))

        def down(number: float) -> float:
            return round(bottom - (bottom - TOP) * self._part(number), 1)

        steps = [round(LEFT + (RIGHT - LEFT) * step / self._last, 1) for step, _ in self.moments]
        heights = [[down(held[seat]) for _, held in self.moments] for seat in range(len(players))]
        drawing = environment().get_template("mail/curves.svg")
        return drawing.render(
            curves=self,
            players=players,
            lines=[list(zip(steps, line, strict=True)) for line in heights],
            names=_apart([line[-1] for line in heights], bottom),
            box={"left": LEFT, "right": RIGHT, "top": TOP, "bottom": bottom},
        )

    @property
    def _last(self) -> int:
        return self.moments[-1][0]

    def _part(self, number: float) -> float:
        return (number - self.least) / (self.most - self.least)

    def _held(self, parts: int) -> list[tuple[float, ...]]:
        """The numbers after each of so many equal parts of the way."""
        ends = [self._last * (part + 1) // parts for part in range(parts)]
        return [
            next((held for step, held in reversed(self.moments) if step <= end), self.moments[0][1]) for end in ends
        ]


def of_scores(app: App, look: Snapshot) -> Curves | None:
    """How the scores went; nothing where they never changed."""
    marks = score_course.of(app, look)
    if len(marks) < 2:
        return None
    scores = [score for mark in marks for score in mark.scores]
    return Curves(tuple((mark.seq, mark.scores) for mark in marks), min(0, *scores), max(1, *scores))


def of_chances(told: Story) -> Curves | None:
    """How the chances went, in hundredths of a game that is won; nothing where nobody came to move."""
    if len(told.chance_history) < 2:
        return None
    shares = (tuple(100 * share for share in moment.shares) for moment in told.chance_history)
    return Curves(tuple(enumerate(shares)), 0, 100, " %")


def _apart(wanted: list[float], bottom: float) -> list[float]:
    """Heights for names, as wanted where they can be read, otherwise moved apart."""
    found, order = list(wanted), sorted(range(len(wanted)), key=wanted.__getitem__)
    for above, seat in pairwise(order):
        found[seat] = max(found[seat], found[above] + ROW)
    lowest = bottom
    for seat in reversed(order):
        found[seat] = min(found[seat], lowest)
        lowest = found[seat] - ROW
    return found
