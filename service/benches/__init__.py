"""Measurements beside the budgets they have to keep; a file here registers its own with `@bench`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from contextlib import suppress

from msgspec import Struct


class Measure(Struct, frozen=True):
    """A figure, what it is held against (nothing, where no budget was set) and which side of it is good."""

    what: str
    value: float
    unit: str
    budget: float | None = None
    at_most: bool = False
    source: str = "budget"

    @property
    def ratio(self) -> float | None:
        """How good compared with the budget: from 1 on it is kept, 2 is twice as good."""
        if self.budget is None:
            return None
        return self.budget / max(self.value, 1e-12) if self.at_most else self.value / self.budget

    @property
    def kept(self) -> bool:
        return self.ratio is None or self.ratio >= 1 or self.source != "budget"


Bench = Callable[[], Iterable[Measure]]
BENCHES: dict[str, Bench] = {}


def bench(function: Bench) -> Bench:
    """Register a function that measures something; its name is what `depesche bench NAME` runs alone."""
    BENCHES[function.__name__] = function
    return function


def find_benches() -> dict[str, Bench]:
    """All benches by name: from every file of this folder and, in a checkout, those that start servers of their own."""
    for package in (__name__, "tests.bench"):
        with suppress(ModuleNotFoundError):
            for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
                importlib.import_module(f"{package}.{module.name}")
    return BENCHES
