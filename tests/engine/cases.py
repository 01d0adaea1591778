"""The cases of the engine's contract for every game in the catalogue, and for High Card."""

from __future__ import annotations

from typing import Any

from engine import catalogue
from engine.contract import cases
from engine.contract.cases import Case
from tests.engine import highcard


def all_games() -> list[Any]:
    """Return every game in the catalogue, and High Card."""
    return [*catalogue.find_all().values(), highcard]


def make_cases() -> list[Case]:
    """Return the contract's cases of all games."""
    return cases.make_cases(all_games())
