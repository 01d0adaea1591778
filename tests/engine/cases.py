"""The cases of the engine's contract for every game in the catalogue, and for High Card."""

from __future__ import annotations

from typing import Any

from engine import catalogue
from engine.contract import cases as contract
from engine.contract.cases import Case, Position, game_of, some, variants
from tests.engine import highcard

__all__ = ["Case", "Position", "all_games", "cases", "game_of", "some", "variants"]


def all_games() -> list[Any]:
    return [*catalogue.find_all().values(), highcard]


def cases() -> list[Case]:
    return contract.cases(all_games())
