"""A pytest plugin for packages that bring a game: it allows the game, and holds it to the contract.

In the `pyproject.toml` of the package:

    [tool.pytest.ini_options]
    addopts = "-p engine.contract.plugin"
    depesche_games = "my_game"
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine import catalogue
from engine.contract.cases import cases

PLAIN = "service.contract"  # whose drawings are tried with the options as they come
SUITES = ("engine.contract.suite", PLAIN)
Check = Callable[[Any], None]

pytest.register_assert_rewrite(*SUITES)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The games of this repository."""
    parser.addini("depesche_games", "installed packages whose games are held to the contract", "args")


def pytest_configure(config: pytest.Config) -> None:
    """Allow the packages, as a host would."""
    named = config.getini("depesche_games")
    catalogue.allow(named)
    if missing := catalogue.find_missing(named):
        raise pytest.UsageError(f"no installed package brings {', '.join(missing)}: pip install --editable . first")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every promise is tried on the games named in the settings, or on those that a file of tests lists as GAMES."""
    if metafunc.function.__module__ not in SUITES:
        return
    named = metafunc.config.getini("depesche_games")
    games = getattr(metafunc.module, "GAMES", None) or [catalogue.find(name) for name in named]
    if "case" in metafunc.fixturenames:
        plain = metafunc.function.__module__ == PLAIN
        chosen = [case for case in cases(games) if not (plain and case.chosen)]
        metafunc.parametrize("case", chosen, ids=str, scope="module")  # one case after the other: its games are kept
    elif "game" in metafunc.fixturenames:
        metafunc.parametrize("game", games, ids=lambda game: str(game.META.name))


@pytest.fixture
def invariants(request: pytest.FixtureRequest) -> Check:
    """What is true of every position of a game: `check(state)` in `tests/invariants/<name>.py`."""
    case = request.getfixturevalue("case")
    return check_of(request.config.rootpath, case.game.META.name)


def check_of(root: Path, name: str) -> Check:
    """The function `check` for this game."""
    path = root / "tests" / "invariants" / f"{name}.py"
    found = importlib.util.spec_from_file_location(f"invariants_{name}", path)
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    check: Check = module.check
    return check
