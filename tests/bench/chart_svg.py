"""Charts of a bench as SVG: a linear or logarithmic x axis, and a named line for each series."""

from __future__ import annotations

import math
from html import escape

from msgspec import Struct

WIDTH, HEIGHT = 640, 360
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 64, 132, 44, 52
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
    """A chart with the names of its axes; `tens` makes the x axis logarithmic."""

    title: str
    x_name: str
    y_name: str
    series: tuple[Series, ...]
    tens: bool = False

    def svg(self) -> str:
        xs = [x for one in self.series for x, _ in one.points]
        ys = [y for one in self.series for _, y in one.points]
        x_axis, y_axis = Axis(min(xs), max(xs), self.tens), Axis(0, max(ys), False)
        lines = [_line(one, COLOURS[number % len(COLOURS)], x_axis, y_axis) for number, one in enumerate(self.series)]
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
                f"<title>{escape(self.title)}</title><style>{STYLE}</style>",
                f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
                f'<text class="t" x="{MARGIN_LEFT}" y="22">{escape(self.title)}</text>',
                *self._grid(x_axis, y_axis),
                *lines,
                "</svg>\n",
            )
        )

    def _grid(self, x_axis: Axis, y_axis: Axis) -> list[str]:
        bottom, end = HEIGHT - MARGIN_BOTTOM, WIDTH - MARGIN_RIGHT
        parts = [f'<path class="a" fill="none" d="M{MARGIN_LEFT} {MARGIN_TOP}V{bottom}H{end}"/>']
        for value in y_axis.ticks():
            y = _to_y(y_axis, value)
            parts.append(f'<path class="g" d="M{MARGIN_LEFT} {y:.1f}H{end}"/>')
            parts.append(f'<text x="{MARGIN_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{format_figure(value)}</text>')
        for value in x_axis.ticks():
            x = _to_x(x_axis, value)
            parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{format_figure(value)}</text>')
        parts.append(
            f'<text x="{(MARGIN_LEFT + end) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">'
            f"{escape(self.x_name)}</text>"
        )
        parts.append(f'<text x="{MARGIN_LEFT}" y="{MARGIN_TOP - 8}" text-anchor="end">{escape(self.y_name)}</text>')
        return parts


class Axis(Struct, frozen=True):
    """The range of an axis."""

    least: float
    most: float
    tens: bool

    def share(self, value: float) -> float:
        """Return the position of a value on the axis, from 0 to 1."""
        low, high = (0.0, self.most) if not self.tens else (math.log10(self.least), math.log10(self.most))
        at = math.log10(value) if self.tens else value
        return (at - low) / (high - low) if high > low else 0.5

    def ticks(self) -> list[float]:
        """Return a few round values."""
        if self.tens:
            powers = range(math.ceil(math.log10(self.least) - 1e-9), math.floor(math.log10(self.most) + 1e-9) + 1)
            return [10.0**power for power in powers]
        step = 10.0 ** math.floor(math.log10(self.most or 1))
        step = next(step * part for part in (0.1, 0.2, 0.25, 0.5, 1, 2) if self.most / (step * part) <= 6)
        return [step * number for number in range(int(self.most / step + 1e-9) + 1)]


def format_figure(value: float) -> str:
    """Format a number for an axis."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:g}"


def _to_x(axis: Axis, value: float) -> float:
    return MARGIN_LEFT + axis.share(value) * (WIDTH - MARGIN_LEFT - MARGIN_RIGHT)


def _to_y(axis: Axis, value: float) -> float:
    return HEIGHT - MARGIN_BOTTOM - axis.share(value) * (HEIGHT - MARGIN_TOP - MARGIN_BOTTOM)


def _line(series: Series, colour: str, x_axis: Axis, y_axis: Axis) -> str:
    places = [(_to_x(x_axis, x), _to_y(y_axis, y)) for x, y in series.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)
    x, y = places[-1]
    name = f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" style="fill:{colour}">{escape(series.name)}</text>'
    return f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}{name}'


CHARTS: dict[str, Chart] = {}  # the charts of the benches of this run, by the name of their file
