"""Outages: what is away for a while is told once as it goes, once a minute meanwhile, and once when it is back."""

from __future__ import annotations

import threading
import time

import structlog

AGAIN = 60.0  # seconds until it is said again that something is still away
log = structlog.get_logger()


class Outage:
    """Whether something that this process needs is away, and since when."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = threading.Lock()
        self.since: float | None = None
        self._told = 0.0
        self._times = 0

    def met(self, error: Exception) -> None:
        """It did not answer."""
        now = time.monotonic()
        with self._lock:
            if self.since is None:
                self.since, self._told, self._times = now, float("-inf"), 0
            self._times += 1
            if now < self._told + AGAIN:
                return
            self._told = now
        log.warning(f"{self._what} does not answer", error=first_line(error), times=self._times)

    def over(self) -> None:
        """It answered."""
        with self._lock:
            since, self.since = self.since, None
        if since is not None:
            log.warning(f"{self._what} answers again", seconds=round(time.monotonic() - since, 1), times=self._times)


def first_line(error: Exception) -> str:
    """The first line of what a server says; what follows repeats the statement."""
    return str(getattr(error, "orig", error)).strip().partition("\n")[0]
