"""The memory of this process that is free, given back to the system."""

from __future__ import annotations

import ctypes
import time
from contextlib import suppress

WORK_S, PAUSE_S = 0.5, 10.0


def release_memory() -> None:
    """Give back what glibc keeps for later: after work, a twentieth of what the process has."""
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


class MemoryReleaser:
    """Gives memory back from time to time, and never in a process that does nothing."""

    def __init__(self) -> None:
        self._work_s = 0.0
        self._next_at = 0.0

    def release_after_work(self) -> bool:
        """Give memory back if this process has worked for WORK_S seconds since the last time; return whether it did."""
        work_s, now = time.process_time(), time.monotonic()
        if now < self._next_at or work_s - self._work_s < WORK_S:
            return False
        release_memory()
        self._work_s, self._next_at = time.process_time(), now + PAUSE_S
        return True
