"""The first look: what every move promises, and of menus too large for that, moves put together item by item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.menu import Entry, Menu, Move, Number, Subset
from engine.search.mind import Mind, dice
from engine.shares import Shares

Worth = Callable[[Move], float]

MANY = 400
"""A subset or a number that can be chosen in more ways than this is put together item by item."""
STEPS = 12
"""So many numbers of a range are tried before the best of them is closed in on."""


def candidates(mind: Mind, state: Any, seat: int, menu: Menu, luck: int) -> dict[Move, Shares]:
    """The moves worth a thought, with what each promises; all are tried with the same luck."""
    seen = dict[Move, Shares]()

    def worth(move: Move) -> float:
        if move not in seen:
            seen[move] = mind.shares(mind.played(state, seat, move, dice(luck)))
        return seen[move][seat]

    for entry in menu:
        _look(entry, worth)
    return seen


def _look(entry: Entry, worth: Worth) -> None:
    if isinstance(entry, Subset) and entry.count() > MANY:
        _subset(entry, worth)
    elif isinstance(entry, Number) and entry.count() > MANY:
        _number(entry, worth)
    else:
        for move in entry.moves():
            worth(move)


def _subset(entry: Subset, worth: Worth) -> None:
    """Weigh each item by exchanging it alone, take the weightiest, then exchange the doubtful ones."""
    items = range(len(entry.items))
    size = max(entry.least, 1)

    def of(chosen: set[int]) -> float:
        return worth(Move(entry.verb, tuple(entry.items[item] for item in sorted(chosen))))

    base, spare, first = set(items[:size]), size, 0
    whole = of(base)
    weights = {item: of(base - {first} | {item}) - whole for item in items[size:]}
    weights[first] = 0.0
    weights |= {item: whole - of(base - {item} | {spare}) + weights[spare] for item in items[1:size]}
    order = sorted(items, key=lambda item: -weights[item])
    for many in range(entry.least, entry.most + 1):
        of(set(order[:many]))
        for out in order[max(many - 3, 0) : many]:
            for into in order[many : many + 3]:
                of(set(order[:many]) - {out} | {into})


def _number(entry: Number, worth: Worth) -> None:
    """Try numbers far apart, then closer and closer around the best one."""
    least, most = entry.least, entry.most
    while True:
        step = max((most - least) // STEPS, 1)
        tried = [*range(least, most, step), most]
        best = max(tried, key=lambda number: worth(Move(entry.verb, (str(number),))))
        if step == 1:
            return
        least, most = max(best - step, entry.least), min(best + step, entry.most)
