"""The board: its crossings, the lines between them, and the formation in each corner."""

from __future__ import annotations

import tomllib
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

DATA = tomllib.loads((Path(__file__).parent / "board.toml").read_text("utf-8"))

Rank = Literal["emperor", "king", "nobleman"]
Way = tuple[tuple[str, str], tuple[str, ...]]
"""The two ends of a move, and the crossings between them."""


class Stone(Struct, frozen=True):
    """A stone on the board, and the seat that owns it."""

    seat: int
    rank: Rank


SECTORS = "ABCD"
CENTRE = "Z"
RANKS: tuple[Rank, ...] = ("emperor", "king", "nobleman")
WORTH: dict[str, int] = DATA["worth"]
"""By rank: the points of a stone, and how many steps it moves."""


def _place_crossings() -> dict[str, tuple[float, float]]:
    """Return where each crossing is, as x to the right and y downwards from the centre."""
    crossings = {CENTRE: (0.0, 0.0)}
    for number, (x, y) in DATA["crossings"].items():
        for sector in SECTORS:
            crossings[sector + number] = (x, y)
            x, y = -y, x  # a quarter turn, to the next sector
    return crossings


def _draw_lines() -> tuple[tuple[str, str], ...]:
    """Return the two ends of each line: within a sector, to the next sector, and to the centre."""
    lines = list[tuple[str, str]]()
    for sector, next_sector in zip(SECTORS, SECTORS[1:] + SECTORS[:1], strict=True):
        for start, end in (pair.split("-") for pair in DATA["edges"]["within"]):
            lines.append((sector + start, sector + end))
        for start, end in (pair.split("-") for pair in DATA["edges"]["onward"]):
            lines.append((sector + start, next_sector + end))
        lines.extend((sector + gate, CENTRE) for gate in DATA["edges"]["centre"])
    return tuple(lines)


def _list_neighbours() -> dict[str, tuple[str, ...]]:
    """Return the crossings at the other ends of each crossing's lines."""
    neighbours: dict[str, list[str]] = {crossing: [] for crossing in CROSSINGS}
    for start, end in LINES:
        neighbours[start].append(end)
        neighbours[end].append(start)
    return {crossing: tuple(ends) for crossing, ends in neighbours.items()}


def _measure_distances() -> dict[str, int]:
    """Return how many steps each crossing is from the centre."""
    distances = {CENTRE: 0}
    queue = deque([CENTRE])
    while queue:
        crossing = queue.popleft()
        for neighbour in NEIGHBOURS[crossing]:
            if neighbour not in distances:
                distances[neighbour] = distances[crossing] + 1
                queue.append(neighbour)
    return distances


def _list_ways(start: str, steps: int) -> tuple[Way, ...]:
    """§2.2: return the ways of exactly `steps` steps that touch no crossing twice.

    §2.4: only a single step, the move of an emperor, enters the centre.
    """
    walks: list[tuple[str, ...]] = [(start,)]
    for _ in range(steps):
        longer_walks = list[tuple[str, ...]]()
        for walk in walks:
            for end in NEIGHBOURS[walk[-1]]:
                may_enter = end != CENTRE or steps == 1
                if may_enter and end not in walk:
                    longer_walks.append((*walk, end))
        walks = longer_walks
    ways = list[Way]()
    for _, *between, end in walks:
        ways.append(((start, end), tuple(between)))
    return tuple(ways)


def describe_crossing(crossing: str) -> tuple[str, str]:
    """Return the landmark at a crossing ("tower") and the side of the board ("north-east"); the centre has neither."""
    number = crossing[1:]
    landmark = next(name for name, numbers in DATA["landmarks"].items() if number in numbers)
    x, y = CROSSINGS[crossing]
    north_or_south = "north" if y < 0 else "south"
    east_or_west = "east" if x > 0 else "west"
    if landmark in ("gate", "coast"):  # in the middle of a side, where two sectors meet
        return landmark, east_or_west if abs(x) > abs(y) else north_or_south
    return landmark, f"{north_or_south}-{east_or_west}"


def find_corner_owner(crossing: str, corners: Sequence[str]) -> int | None:
    """Return the seat whose sector a crossing is in; None for the centre and for a sector without a player.

    `corners` has the sector of each seat.
    """
    sector = crossing[0]
    return corners.index(sector) if sector in corners else None


CROSSINGS = _place_crossings()
LINES = _draw_lines()
NEIGHBOURS = _list_neighbours()
STEPS_TO_CENTRE = _measure_distances()
WAYS: dict[str, dict[str, tuple[Way, ...]]] = {
    rank: {crossing: _list_ways(crossing, WORTH[rank]) for crossing in CROSSINGS} for rank in RANKS
}
FORMATION: dict[str, dict[str, Rank]] = {
    sector: {sector + str(number): rank for rank in RANKS for number in DATA["formation"][rank]} for sector in SECTORS
}
