"""Every worked example of the rules holds."""

from pathlib import Path

import pytest

from engine import scenario

FILES = sorted((Path(__file__).parents[1] / "scenarios").glob("*/*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_example_holds(path):
    scenario.run(scenario.load(path))
