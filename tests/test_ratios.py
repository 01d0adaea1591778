"""Pages, moves and letters take no more work than they did, as shares of the work of bare programs."""

import pytest

from tests.bench import ratios

TRIES = 3  # the machine may be busy during one
TOLERANCE = 2 / 3


@pytest.mark.release
@pytest.mark.parametrize("name", ratios.GOALS)
def test_no_ratio_falls_by_a_third(name: str) -> None:
    measured = list[float]()
    while len(measured) < TRIES and max(measured, default=0) < ratios.GOALS[name] * TOLERANCE:
        measured.append(ratios.measure(name))
    assert max(measured) >= ratios.GOALS[name] * TOLERANCE, f"{measured} instead of {ratios.GOALS[name]}"
