"""Samples of parameters: a test that has many cases runs some of them in `make test`, and all in `make soak`."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from engine.contract.cases import Case, list_editions

CASE_STEP = 3  # a test runs every third case, and so a third of the tests run each case
OLDER_CASE_STEP = 12  # the same for editions in which no new table is opened


def every_other(values: Iterable[Any]) -> list[Any]:
    """Return parameters for `parametrize`: every other value, and the rest only in a soak."""
    return [pytest.param(value, marks=[pytest.mark.soak] if number % 2 else []) for number, value in enumerate(values)]


def pair_in_turn(ones: Iterable[Any], others: Sequence[Any]) -> list[Any]:
    """Return pairs for `parametrize`: each value with one of the others in turn, and with the rest only in a soak."""
    return [
        pytest.param(one, other, marks=[pytest.mark.soak] if (number - turn) % len(others) else [])
        for number, one in enumerate(ones)
        for turn, other in enumerate(others)
    ]


def mark_rare_cases(items: Iterable[pytest.Item]) -> None:
    """Mark two of three cases of a test as soak; which ones depends on the test's name, so that tests differ."""
    tests = defaultdict[Any, list[pytest.Item]](list)
    for item in items:
        if case := case_of(item):
            tests[item.originalname, case.game].append(item)
    for (name, game), cases in tests.items():
        step = CASE_STEP if list_editions(game)[0] is game else OLDER_CASE_STEP
        for number, item in enumerate(cases, zlib.crc32(name.encode())):
            if number % min(step, len(cases)):
                item.add_marker(pytest.mark.soak)


def case_of(item: pytest.Item) -> Case | None:
    """Return the game, seats and options of a test; None if it has no case."""
    case = item.callspec.params.get("case") if hasattr(item, "callspec") else None
    return case if isinstance(case, Case) else None
