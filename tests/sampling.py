"""Samples of parameters: a test with many cases runs some in `make test`, more before a release, all in `make soak`."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from engine.contract.cases import Case, list_editions

CASE_STEP = 6  # a test runs every sixth case, and so a sixth of the tests run each case
OLDER_CASE_STEP = 24  # the same for editions in which no new table is opened
RELEASE_FACTOR = 2  # times as many before a release


def every_other(values: Iterable[Any], rest: pytest.MarkDecorator = pytest.mark.soak) -> list[Any]:
    """Return parameters for `parametrize`: every other value, and the rest only in a soak or before a release."""
    return [pytest.param(value, marks=[rest] if number % 2 else []) for number, value in enumerate(values)]


def pair_in_turn(ones: Iterable[Any], others: Sequence[Any]) -> list[Any]:
    """Return pairs for `parametrize`: each value with one of the others in turn, and with the rest only in a soak."""
    return [
        pytest.param(one, other, marks=[pytest.mark.soak] if (number - turn) % len(others) else [])
        for number, one in enumerate(ones)
        for turn, other in enumerate(others)
    ]


def mark_rare_cases(items: Iterable[pytest.Item]) -> None:
    """Mark most cases of a test as soak or release; which ones depends on the test's name, so that tests differ."""
    tests = defaultdict[Any, list[pytest.Item]](list)
    for item in items:
        if case := case_of(item):
            tests[item.originalname, case.game].append(item)
    for (name, game), cases in tests.items():
        step = CASE_STEP if list_editions(game)[0] is game else OLDER_CASE_STEP
        for number, item in enumerate(cases, zlib.crc32(name.encode())):
            step_of_cases = min(step, len(cases))
            if number % step_of_cases:
                often = number % max(step_of_cases // RELEASE_FACTOR, 1) == 0
                item.add_marker(pytest.mark.release if often else pytest.mark.soak)


def case_of(item: pytest.Item) -> Case | None:
    """Return the game, seats and options of a test; None if it has no case."""
    case = item.callspec.params.get("case") if hasattr(item, "callspec") else None
    return case if isinstance(case, Case) else None
