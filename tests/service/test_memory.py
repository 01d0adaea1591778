"""A process gives the memory that it does not use any more back to the system."""

import time

import pytest

from service import memory
from service.memory import MemoryReleaser


def test_memory_is_given_back_after_work_and_never_in_a_quiet_process(monkeypatch: pytest.MonkeyPatch) -> None:
    released = list[float]()
    monkeypatch.setattr(memory, "release_memory", lambda: released.append(time.monotonic()))
    monkeypatch.setattr(memory, "WORK_S", 0.05)
    monkeypatch.setattr(memory, "PAUSE_S", 0.0)
    releaser = MemoryReleaser()
    assert releaser.release_after_work()
    assert not any(releaser.release_after_work() for _ in range(10))
    start = time.process_time()
    while time.process_time() < start + 0.06:
        pass
    assert releaser.release_after_work()
    monkeypatch.setattr(memory, "WORK_S", 0.0)
    monkeypatch.setattr(releaser, "_next_at", time.monotonic() + 60)
    assert not releaser.release_after_work()
    assert len(released) == 2
