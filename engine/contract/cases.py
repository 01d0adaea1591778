"""The cases of the contract tests: games with numbers of seats and options, and random games of each case."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

from engine import bots, catalogue, options
from engine import game as games

T = TypeVar("T")
MAX_VALUES = 6  # the most values of an option that are tried


def list_editions(game: Any) -> tuple[Any, ...]:
    """Return all editions of a game of the catalogue, the newest first; tables are played in each of them."""
    name = game.META.name
    if catalogue.find_all().get(name) is not game:  # an older edition, or a game that only a test has
        return (game,)
    return catalogue.find_editions(name)[::-1]


def name_edition(game: Any) -> str:
    """Return the name of a game, and the number of its edition if it is not the newest."""
    newest = catalogue.find_all().get(game.META.name, game)
    return str(game.META.name) if newest is game else f"{game.META.name}.{game.META.edition}"


class Case(NamedTuple):
    """A game with a number of seats and chosen options."""

    game: Any
    seats: int
    chosen: tuple[tuple[str, str], ...]

    @property
    def options(self) -> Any:
        return options.parse(self.game.META.options, dict(self.chosen))

    def __str__(self) -> str:
        return "-".join((name_edition(self.game), str(self.seats), *(f"{name}={value}" for name, value in self.chosen)))


def list_variants(game: Any) -> list[tuple[tuple[str, str], ...]]:
    """Return choices of options: none, every option changed alone, and last as many as possible changed at once."""
    changes = [
        (option.name, value)
        for option in options.describe(game.META.options)
        for value in option.values[:MAX_VALUES]
        if value != options.format_value(option.default)
    ]
    variants = [(), *((change,) for change in changes)]
    combined = _combine(game, changes)
    if len(combined) > 1:  # a single change is among the variants already
        variants.append(combined)
    return variants


def _combine(game: Any, pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Choose these values one after the other, without those that the game refuses."""
    chosen = dict[str, str]()
    for name, value in pairs:
        if find_seat_counts(game, {**chosen, name: value}):
            chosen[name] = value
    return tuple(chosen.items())


def find_seat_counts(game: Any, chosen: dict[str, str]) -> list[int]:
    """Return the numbers of seats that the game allows with these options."""
    parsed = options.parse(game.META.options, chosen)
    return [seats for seats in game.META.seats if not games.objection(game, parsed, seats)]


def make_cases(several: Iterable[Any]) -> list[Case]:
    """Return a case for every number of seats with the defaults, and one case for every other choice of options."""
    return [case for game in several for case in _list_cases(game)]


@functools.cache  # every test asks for the cases of every game
def _list_cases(game: Any) -> tuple[Case, ...]:
    """Return the cases of one game."""
    cases = list[Case]()
    for number, chosen in enumerate(list_variants(game)):
        seat_counts = find_seat_counts(game, dict(chosen))
        if chosen and seat_counts:  # one number of seats is enough: each choice of options takes the next
            seat_counts = [seat_counts[number % len(seat_counts)]]
        cases += [Case(game, seats, chosen) for seats in seat_counts]
    return tuple(cases)


class Position(NamedTuple):
    """A moment of a game: a move, the states before and after it, and its events.

    The first one is the set-up: its seat and the state before it are None.
    """

    seat: int | None
    move: Any
    before: Any
    state: Any
    events: tuple[Any, ...]


@functools.lru_cache(maxsize=64)
def play_case(case: Case, seed: bytes) -> tuple[Position, ...]:
    """Play a whole random game and return its positions."""
    before, positions = None, []
    for seat, move, state, events in bots.play_out(case.game, case.options, case.seats, seed):
        positions.append(Position(seat, move, before, state, events))
        before = state
    return tuple(positions)


def sample(positions: tuple[T, ...], most: int = 12) -> list[T]:
    """Return about `most` positions from the whole game, including the first and the last."""
    step = max(1, len(positions) // most)
    return [*positions[::step], positions[-1]]
