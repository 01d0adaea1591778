"""One move, one mail and one tick of the clock run through few files; see `tests/way.py`.

The goals: 40 files and 350 changes of file for a move until its letter; 30 and 250 for a mail until its entry;
25 and 300 for a tick until its reminder. All are met. Lower a bound with each detour that is deleted;
`python -m tests.way move` shows where they are.
"""

import pytest

from tests import way

pytestmark = pytest.mark.usefixtures("real_pictures")
BOUNDS = {"move": (40, 326), "mail": (27, 205), "reminder": (25, 161)}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_way_runs_through_few_files(name: str) -> None:
    files, changes = BOUNDS[name]
    traced = way.trace(name)
    assert (traced.file_count <= files, traced.change_count <= changes) == (True, True), f"{traced}\n{traced.busiest()}"


def test_a_missed_deadline_runs_through_few_files() -> None:
    """A bot moves for the late player, so only the files are bounded: how long it searches depends on the position."""
    assert way.trace("deadline").file_count <= 40
