"""Samples of parameters: a test with many cases runs some in `make test`, more before a release, all in `make soak`."""

from __future__ import annotations

import itertools
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from engine import catalogue
from engine.contract.cases import Case

CASE_STEP = 12  # a test runs every twelfth case, and so a twelfth of the tests run each case
OLDER_CASE_STEP = 36  # the same for editions in which no new table is opened
RELEASE_FACTOR = 3  # times as many before a release
Parameter = type(pytest.param())


def every_other(values: Iterable[Any], rest: pytest.MarkDecorator = pytest.mark.soak) -> list[Any]:
    """Return parameters for `parametrize`: every other value, and the rest only in a soak or before a release."""
    return [pytest.param(value, marks=[rest] if number % 2 else []) for number, value in enumerate(values)]


def one_in(step: int, values: Iterable[Any]) -> list[Any]:
    """Return parameters for `parametrize`: every so many of the values, and the rest only before a release."""
    rest = pytest.mark.release
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=[rest] if number % step else [])
        for number, value in enumerate(values)
    ]


def one_of(values: Iterable[Any], chosen: Any) -> list[Any]:
    """Return parameters for `parametrize`: one of the values or tuples, and the others only before a release."""
    arguments = [(value, value if isinstance(value, tuple) else (value,)) for value in values]
    return [value if value == chosen else pytest.param(*given, marks=pytest.mark.release) for value, given in arguments]


def pair_in_turn(
    ones: Iterable[Any], others: Sequence[Any], rest: pytest.MarkDecorator = pytest.mark.soak
) -> list[Any]:
    """Return pairs for `parametrize`: each value with one of the others in turn, and with the rest in a soak."""
    return [
        pytest.param(one, other, marks=[rest] if (number - turn) % len(others) else [])
        for number, one in enumerate(ones)
        for turn, other in enumerate(others)
    ]


def select_values(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test only with values that this run plays: to collect all others takes longer than many tests."""
    unwanted = {mark for mark in ("soak", "release") if f"not {mark}" in metafunc.config.option.markexpr}
    parametrize = metafunc.parametrize

    def parametrize_selected(
        argnames: Any, argvalues: Iterable[Any], *rest: Any, ids: Any = None, **words: Any
    ) -> None:
        names = [name.strip() for name in argnames.split(",")] if isinstance(argnames, str) else list(argnames)
        values = mark_rare_cases(metafunc.function.__name__, names, list(argvalues))
        wanted = [not has_mark(value, unwanted) for value in values]
        if not any(wanted):
            wanted[:1] = [True]  # the test stays, and pytest leaves it out by its mark
        if ids is not None and not callable(ids):
            ids = list(itertools.compress(ids, wanted))
        words.pop("_param_mark", None)  # it shares names of values between tests, which have different values here
        parametrize(argnames, list(itertools.compress(values, wanted)), *rest, ids=ids, **words)

    metafunc.parametrize = parametrize_selected  # type: ignore[method-assign]


def has_mark(value: Any, names: set[str]) -> bool:
    """Return whether a value of `parametrize` has one of these marks."""
    return isinstance(value, Parameter) and any(mark.name in names for mark in value.marks)


def mark_rare_cases(name: str, argnames: list[str], values: list[Any]) -> list[Any]:
    """Mark most cases of a test as soak or release; which ones depends on the test's name, so that tests differ.

    What the test itself has marked stays as it is; if it has, the other cases are a sample already, for a release.
    """
    is_sample = any(has_mark(value, {"soak", "release"}) for value in values)
    if "case" not in argnames:
        return values
    marked, numbers = list(values), defaultdict[Any, list[int]](list)
    for number, value in enumerate(values):
        case = get_arguments(argnames, value)[argnames.index("case")]
        if isinstance(case, Case) and not has_mark(value, {"soak", "release"}):
            numbers[case.game].append(number)
    for game, of_game in numbers.items():
        is_newest = catalogue.find_all().get(game.META.name, game) is game
        step = min(CASE_STEP if is_newest else OLDER_CASE_STEP, len(of_game))
        for turn, number in enumerate(of_game, zlib.crc32(name.encode())):
            case = get_arguments(argnames, values[number])[argnames.index("case")]
            is_crowded = len(case.chosen) > 1 and not is_newest  # a game with all boxes takes as long as twenty others
            if turn % step or is_crowded:
                often = turn % max(step // RELEASE_FACTOR, 1) == 0
                mark = pytest.mark.release if often or is_crowded or is_sample else pytest.mark.soak
                marked[number] = add_mark(argnames, values[number], mark)
    return marked


def get_arguments(argnames: list[str], value: Any) -> tuple[Any, ...]:
    """Return the arguments of a value of `parametrize`."""
    if isinstance(value, Parameter):
        return tuple(value.values)
    return (value,) if len(argnames) == 1 else tuple(value)


def add_mark(argnames: list[str], value: Any, mark: pytest.MarkDecorator) -> Any:
    marks, name = (value.marks, value.id) if isinstance(value, Parameter) else ((), None)
    return pytest.param(*get_arguments(argnames, value), marks=[*marks, mark], id=name)


def case_of(item: pytest.Item) -> Case | None:
    """Return the game, seats and options of a test; None if it has no case."""
    case = item.callspec.params.get("case") if hasattr(item, "callspec") else None
    return case if isinstance(case, Case) else None
