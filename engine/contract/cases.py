"""The games, seat counts and options that every promise is tried on."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

from engine import bots, options
from engine import game as games

T = TypeVar("T")


class Case(NamedTuple):
    """A game with so many seats and these options."""

    game: Any
    seats: int
    chosen: tuple[tuple[str, str], ...]

    @property
    def options(self) -> Any:
        return options.parse(self.game.META.options, dict(self.chosen))

    def __str__(self) -> str:
        return "-".join((self.game.META.name, str(self.seats), *(f"{name}={value}" for name, value in self.chosen)))


def variants(game: Any) -> list[tuple[tuple[str, str], ...]]:
    """The defaults, every option changed alone, and (as the last) as much as goes together changed at once."""
    single = [
        (option.name, value)
        for option in options.describe(game.META.options)
        for value in option.values[:6]
        if value != _text(option.default)
    ]
    together = _together(game, single)
    return [(), *((pair,) for pair in single), *([together] if len(together) > 1 else [])]


def _together(game: Any, pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """These values one after the other, but for those that the game refuses beside the ones before."""
    chosen = dict[str, str]()
    for name, value in pairs:
        if goes_with(game, {**chosen, name: value}):
            chosen[name] = value
    return tuple(chosen.items())


def goes_with(game: Any, chosen: dict[str, str]) -> list[int]:
    """The seat counts that the game allows with these options."""
    settled = options.parse(game.META.options, chosen)
    return [seats for seats in game.META.seats if not games.objection(game, settled, seats)]


def _text(default: Any) -> str:
    return ("on" if default else "off") if isinstance(default, bool) else str(default)


def cases(of: Iterable[Any]) -> list[Case]:
    """Every seat count with the defaults; every variant with one seat count it goes with."""
    found = list[Case]()
    for game in of:
        for number, chosen in enumerate(variants(game)):
            possible = [Case(game, seats, chosen) for seats in goes_with(game, dict(chosen))]
            found += possible if number == 0 else possible[number % max(len(possible), 1) :][:1]
    return found


class Position(NamedTuple):
    """A moment of a played game: what was done, what came of it."""

    seat: int | None
    move: Any
    before: Any
    state: Any
    events: tuple[Any, ...]


@functools.lru_cache(maxsize=64)
def game_of(case: Case, seed: bytes) -> tuple[Position, ...]:
    """A whole random game, position by position."""
    before, positions = None, []
    for seat, move, state, events in bots.playout(case.game, case.options, case.seats, seed):
        positions.append(Position(seat, move, before, state, events))
        before = state
    return tuple(positions)


def some(positions: tuple[T, ...], most: int = 12) -> list[T]:
    """Of these positions a few that are spread over the game, the first and the last among them."""
    step = max(1, len(positions) // most)
    return [*positions[::step], positions[-1]]
