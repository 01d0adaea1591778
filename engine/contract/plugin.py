"""A pytest plugin for packages with a game: it allows the game, and runs the contract tests on it.

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
from engine.contract.cases import list_editions, make_cases, name_edition

DRAWINGS = "service.contract"  # drawings are tested with default options only
SUITES = ("engine.contract.suite", DRAWINGS)
Check = Callable[[Any], None]

pytest.register_assert_rewrite(*SUITES)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting for the games of the repository."""
    parser.addini("depesche_games", "installed packages whose games are tested", "args")


def pytest_configure(config: pytest.Config) -> None:
    """Allow the packages, as a host would."""
    names = config.getini("depesche_games")
    catalogue.allow(names)
    if missing := catalogue.find_missing(names):
        raise pytest.UsageError(f"no installed package brings {', '.join(missing)}: pip install --editable . first")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test on the games that the settings name, or on those that a test file lists as GAMES."""
    if metafunc.function.__module__ not in SUITES:
        return
    names = metafunc.config.getini("depesche_games")
    games = getattr(metafunc.module, "GAMES", None) or [catalogue.find(name) for name in names]
    editions = [edition for game in games for edition in list_editions(game)]
    if "case" in metafunc.fixturenames:
        cases = make_cases(editions)
        if metafunc.function.__module__ == DRAWINGS:
            cases = [case for case in cases if not case.chosen]
        # With this scope all tests of a case run in a row, so that its played games are cached.
        metafunc.parametrize("case", cases, ids=str, scope="module")
    elif "game" in metafunc.fixturenames:
        metafunc.parametrize("game", editions, ids=name_edition)


@pytest.fixture
def invariants(request: pytest.FixtureRequest) -> Check:
    """Return `check(state)` from `tests/invariants/<name>.py`, which asserts what is true of every position."""
    case = request.getfixturevalue("case")
    return load_check(request.config.rootpath, case.game.META.name)


def load_check(root: Path, name: str) -> Check:
    """Load the function `check` of this game."""
    path = root / "tests" / "invariants" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"invariants_{name}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    check: Check = module.check
    return check
