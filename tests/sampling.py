"""Samples: of what a promise is tried on many times `make test` takes some in turn, and `make soak` all."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from engine.contract.cases import Case

EVERY = 3  # of the cases of a promise each third one is tried, and so each case by a third of the promises


def every_other(values: Iterable[Any]) -> list[Any]:
    """For `parametrize`: every other one of these, and the rest in a soak."""
    return [pytest.param(value, marks=[pytest.mark.soak] if number % 2 else []) for number, value in enumerate(values)]


def each_with_one_of(ones: Iterable[Any], others: Sequence[Any]) -> list[Any]:
    """Pairs for `parametrize`: each of these with one of the others in turn, and with the rest of them in a soak."""
    return [
        pytest.param(one, other, marks=[pytest.mark.soak] if (number - turn) % len(others) else [])
        for number, one in enumerate(ones)
        for turn, other in enumerate(others)
    ]


def cases_take_turns(items: Iterable[pytest.Item]) -> None:
    """Which case of a game a promise tries first hangs on the promise's name, so that some promise tries each case."""
    promises = defaultdict[Any, list[pytest.Item]](list)
    for item in items:
        if case := case_of(item):
            promises[item.originalname, case.game].append(item)
    for (name, _), tried in promises.items():
        for number, item in enumerate(tried, zlib.crc32(name.encode())):
            if number % min(EVERY, len(tried)):
                item.add_marker(pytest.mark.soak)


def case_of(item: pytest.Item) -> Case | None:
    """The game with its seats and options that this item is about."""
    case = item.callspec.params.get("case") if hasattr(item, "callspec") else None
    return case if isinstance(case, Case) else None
