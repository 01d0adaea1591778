"""The verdicts that a process waits for."""

import pytest
from fakeredis import FakeRedis

from service.monitoring import Outage
from service.wakeups import VerdictMessages


@pytest.mark.parametrize("is_in_time", [True, False])
def test_a_process_forgets_those_who_have_stopped_waiting(is_in_time: bool) -> None:
    """It runs for months, and each move waits once."""
    verdicts = VerdictMessages(FakeRedis(), Outage("Redis"), is_shared=False)
    for number in range(3):
        if is_in_time:
            verdicts.publish({number: b"accepted"})
        assert verdicts.wait(number, 0.001) == (b"accepted" if is_in_time else None)
    assert verdicts.waiting_count == 0
