"""The guide for authors of games works: its change of a rule passes its own test, in a game just made."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engine import game
from service import cli

NAME = "lantern_race"
GUIDE = Path(__file__).parents[1] / "docs" / "authors.md"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a game that was just made, whose module can be imported."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new-game", NAME, "--title", "Lantern Race", "--author", "Anna Bos"]) == 0
    monkeypatch.syspath_prepend(str(tmp_path / NAME))
    yield tmp_path / NAME
    sys.modules.pop(NAME, None)


def load_tests(package: Path, module: ModuleType) -> dict[str, Any]:
    names: dict[str, Any] = {NAME: module}
    exec((package / "tests" / f"test_{NAME}.py").read_text("utf-8"), names)
    return names


def test_the_change_of_a_rule_passes_its_test(package: Path) -> None:
    change, test = PYTHON.findall(GUIDE.read_text("utf-8"))
    rules = importlib.import_module(NAME)
    names = load_tests(package, rules)
    exec(test, names)
    with pytest.raises(AssertionError):
        names["test_2_2_the_lowest_card_wins_against_the_20"]()
    exec(change, rules.__dict__)
    names["test_2_2_the_lowest_card_wins_against_the_20"]()
    for name in [one for one in names if one.startswith("test_")]:
        names[name]()


def test_every_name_of_the_contract_is_in_the_new_game(package: Path) -> None:
    rules = importlib.import_module(NAME)
    text = GUIDE.read_text("utf-8")
    for name in ("META", "Options", "decide", "upkeep", "evolve", "view", "hear", "redeal", "standing"):
        assert f"`{name}`" in text
        assert hasattr(rules, name)
    assert set(game.get_event_types(rules)) == {"Dealt", "Played", "TrickWon", "GameEnded"}


def test_the_files_in_its_table_are_written(package: Path) -> None:
    rows = re.findall(r"^\| `([^`]+)` \|", GUIDE.read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 5
    assert all((package / row).exists() for row in rows)
