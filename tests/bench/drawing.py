"""Curves of a bench as SVG: axes from zero or by tens, a line for each series, and its name at its end."""

from __future__ import annotations

import math
from html import escape

from msgspec import Struct

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 132, 44, 52
COLOURS = ("#1f6f8b", "#c8553d", "#588157", "#8a5a9e")
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.t{font-size:14px;font-weight:600}.g{stroke:#ddd}.a{stroke:#888}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#444}rect{fill:#1c1c1c}}"
)


class Series(Struct, frozen=True):
    """One line of a chart."""

    name: str
    points: tuple[tuple[float, float], ...]


class Chart(Struct, frozen=True):
    """What is drawn, and what its axes are called; `tens` counts the axis below by powers of ten."""

    title: str
    below: str
    beside: str
    series: tuple[Series, ...]
    tens: bool = False

    def svg(self) -> str:
        xs = [x for one in self.series for x, _ in one.points]
        ys = [y for one in self.series for _, y in one.points]
        across, up = Axis(min(xs), max(xs), self.tens), Axis(0, max(ys), False)
        lines = [_line(one, COLOURS[number % len(COLOURS)], across, up) for number, one in enumerate(self.series)]
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
                f"<title>{escape(self.title)}</title><style>{STYLE}</style>",
                f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
                f'<text class="t" x="{LEFT}" y="22">{escape(self.title)}</text>',
                *self._grid(across, up),
                *lines,
                "</svg>\n",
            )
        )

    def _grid(self, across: Axis, up: Axis) -> list[str]:
        bottom, end = HEIGHT - BOTTOM, WIDTH - RIGHT
        found = [f'<path class="a" fill="none" d="M{LEFT} {TOP}V{bottom}H{end}"/>']
        for value in up.ticks():
            y = _down(up, value)
            found.append(f'<path class="g" d="M{LEFT} {y:.1f}H{end}"/>')
            found.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{figure(value)}</text>')
        for value in across.ticks():
            x = _right(across, value)
            found.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{figure(value)}</text>')
        found.append(
            f'<text x="{(LEFT + end) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">{escape(self.below)}</text>'
        )
        found.append(f'<text x="{LEFT}" y="{TOP - 8}" text-anchor="end">{escape(self.beside)}</text>')
        return found


class Axis(Struct, frozen=True):
    """From which value to which an axis goes."""

    least: float
    most: float
    tens: bool

    def share(self, value: float) -> float:
        """Where a value lies on it, from 0 to 1."""
        low, high = (0.0, self.most) if not self.tens else (math.log10(self.least), math.log10(self.most))
        at = math.log10(value) if self.tens else value
        return (at - low) / (high - low) if high > low else 0.5

    def ticks(self) -> list[float]:
        """A handful of round values."""
        if self.tens:
            powers = range(math.ceil(math.log10(self.least) - 1e-9), math.floor(math.log10(self.most) + 1e-9) + 1)
            return [10.0**power for power in powers]
        step = 10.0 ** math.floor(math.log10(self.most or 1))
        step = next(step * part for part in (0.1, 0.2, 0.25, 0.5, 1, 2) if self.most / (step * part) <= 6)
        return [step * number for number in range(int(self.most / step + 1e-9) + 1)]


def figure(value: float) -> str:
    """A number as an axis shows it."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:g}"


def _right(axis: Axis, value: float) -> float:
    return LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)


def _down(axis: Axis, value: float) -> float:
    return HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM)


def _line(series: Series, colour: str, across: Axis, up: Axis) -> str:
    places = [(_right(across, x), _down(up, y)) for x, y in series.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)
    x, y = places[-1]
    name = f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" style="fill:{colour}">{escape(series.name)}</text>'
    return f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}{name}'


DRAWN: dict[str, Chart] = {}  # what the benches of this run drew, by the name of the file
