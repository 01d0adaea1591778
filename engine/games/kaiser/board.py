"""The crossings, the ways between them, and where everybody starts."""

from __future__ import annotations

import tomllib
from collections import deque
from collections.abc import Set
from pathlib import Path
from typing import Literal

DATA = tomllib.loads((Path(__file__).parent / "board.toml").read_text("utf-8"))

Rank = Literal["emperor", "king", "nobleman"]
Way = tuple[tuple[str, str], tuple[str, ...]]

SECTORS = "ABCD"
CENTRE = "Z"
RANKS: tuple[Rank, ...] = ("emperor", "king", "nobleman")
WORTH: dict[str, int] = DATA["worth"]


def _places() -> dict[str, tuple[float, float]]:
    places = {CENTRE: (0.0, 0.0)}
    for number, (x, y) in DATA["crossings"].items():
        for sector in SECTORS:
            places[sector + number] = (x, y)
            x, y = -y, x
    return places


def _edges() -> tuple[tuple[str, str], ...]:
    edges = list[tuple[str, str]]()
    for sector, onward in zip(SECTORS, SECTORS[1:] + SECTORS[:1], strict=True):
        for start, end in (pair.split("-") for pair in DATA["edges"]["within"]):
            edges.append((sector + start, sector + end))
        for start, end in (pair.split("-") for pair in DATA["edges"]["onward"]):
            edges.append((sector + start, onward + end))
        edges.extend((sector + gate, CENTRE) for gate in DATA["edges"]["centre"])
    return tuple(edges)


def _neighbours() -> dict[str, tuple[str, ...]]:
    near: dict[str, list[str]] = {place: [] for place in PLACES}
    for start, end in EDGES:
        near[start].append(end)
        near[end].append(start)
    return {place: tuple(ends) for place, ends in near.items()}


def _distances() -> dict[str, int]:
    found, queue = {CENTRE: 0}, deque([CENTRE])
    while queue:
        place = queue.popleft()
        for near in NEIGHBOURS[place]:
            if near not in found:
                found[near] = found[place] + 1
                queue.append(near)
    return found


def _ways(start: str, steps: int) -> tuple[Way, ...]:
    """Every simple way of exactly so many steps: its two ends, and the crossings between; never over the centre."""
    walks: list[tuple[str, ...]] = [(start,)]
    for _ in range(steps):
        walks = [(*walk, near) for walk in walks for near in NEIGHBOURS[walk[-1]] if near not in walk]
        walks = [walk for walk in walks if steps == 1 or walk[-1] != CENTRE]
    return tuple(((start, walk[-1]), walk[1:-1]) for walk in walks)


def way(start: str, end: str, rank: Rank, taken: Set[str]) -> tuple[str, ...]:
    """A way that a stone of this rank may have gone from one place to another, with both its ends."""
    free = (between for ends, between in WAYS[rank][start] if ends[1] == end and not taken & set(between))
    return (start, *next(free, ()), end)


def landmark(place: str) -> tuple[str, str]:
    """What people call a crossing: a landmark, and on which side of the board it is."""
    found = next(name for name, numbers in DATA["landmarks"].items() if place[1:] in numbers)
    x, y = PLACES[place]
    north, east = "north" if y < 0 else "south", "east" if x > 0 else "west"
    if found in ("gate", "coast"):  # in the middle of a side, where two sectors meet
        return found, east if abs(x) > abs(y) else north
    return found, f"{north}-{east}"


PLACES = _places()
EDGES = _edges()
NEIGHBOURS = _neighbours()
DISTANCE = _distances()
WAYS: dict[str, dict[str, tuple[Way, ...]]] = {
    rank: {place: _ways(place, WORTH[rank]) for place in PLACES} for rank in RANKS
}
FORMATION: dict[str, dict[str, Rank]] = {
    sector: {sector + str(number): rank for rank in RANKS for number in DATA["formation"][rank]} for sector in SECTORS
}
