"""Monitoring: metrics of all processes together, and log lines about what does not answer.

Each process counts by itself and adds its sums to Redis after each piece of work, so that the figures are right for any
number of processes. Losing them costs a gap in a chart.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from msgspec import Struct
from redis import Redis, RedisError

KEY = "meters"
BUCKETS_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # what is slower counts in the sum alone
FLUSH_AFTER_S = 1.0
REPEAT_AFTER_S = 60.0  # between two log lines about the same outage
log = structlog.get_logger()


class Metric(Struct, frozen=True):
    """A metric: a counter or a timer with one label."""

    about: str
    label: str
    timed: bool = False


METRICS = {
    "moves": Metric("Submissions that were judged", "verdict"),
    "letters": Metric("Letters that were settled", "outcome"),
    "deliveries": Metric("Notices by the channels beside mail that were settled or tried", "channel and outcome"),
    "delivery_seconds": Metric("From a notice that is owed to its arrival at a channel", "channel", timed=True),
    "mails_refused": Metric("Mails that were set aside because they could not be processed", "reason"),
    "wakeups": Metric("Wake-ups that were sent; those of the clock found work that no worker had noticed", "queue"),
    "verdict_seconds": Metric("From a submission on a page to its verdict", "way", timed=True),
    "thinking_seconds": Metric("How long bots thought about a move", "level", timed=True),
}


class Metrics:
    """The metrics of this process, which are added to those of all processes."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._lock = threading.Lock()
        self._pending: Counter[str] = Counter()
        self._flushed_at = 0.0
        self._timer: threading.Timer | None = None

    def count(self, name: str, label: str) -> None:
        """Add one to a counter."""
        self._add({f"{name}|{label}|count": 1})

    @contextmanager
    def measure_time(self, name: str, label: str) -> Iterator[None]:
        """Time the work inside a `with` statement."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add_duration(name, label, time.perf_counter() - began)

    def add_duration(self, name: str, label: str, seconds: float) -> None:
        """Add a duration to a timer, and count it in the first bucket that is long enough for it."""
        numbers = {f"{name}|{label}|count": 1, f"{name}|{label}|microseconds": round(seconds * 1e6)}
        for bucket in BUCKETS_S:
            if seconds <= bucket:
                numbers[f"{name}|{label}|{bucket}"] = 1
                break
        self._add(numbers)

    def _add(self, numbers: dict[str, int]) -> None:
        with self._lock:
            self._pending.update(numbers)

    def flush(self, pause_s: float = 0.0) -> None:
        """Add the figures of this process to those of all, unless the last flush was less than `pause_s` seconds ago.

        Without Redis they wait for the next call.
        """
        if time.monotonic() < self._flushed_at + pause_s:
            return
        self._flushed_at = time.monotonic()
        with self._lock:
            pending, self._pending = self._pending, Counter()
        if not pending:
            return
        try:
            with self._redis.pipeline(transaction=False) as pipeline:
                for field, number in pending.items():
                    pipeline.hincrby(KEY, field, number)
                pipeline.execute()
        except RedisError:
            self._add(dict(pending))

    def flush_after_request(self, _: BaseException | None) -> None:
        """Flush within a second, whether the request has failed or not."""
        self.flush_soon()

    def flush_soon(self) -> None:
        """Flush within a second: a request does not wait for Redis, and many requests flush once."""
        with self._lock:
            if self._timer is not None or not self._pending:
                return
            self._timer = threading.Timer(FLUSH_AFTER_S, self._flush_by_timer)
            self._timer.daemon = True
            self._timer.start()

    def _flush_by_timer(self) -> None:
        """Flush when the timer of `flush_soon` has run out; the next call starts another one."""
        with self._lock:
            self._timer = None
        self.flush()

    def load(self) -> dict[str, int]:
        """Return the figures of all processes; empty without Redis."""
        self.flush()
        try:
            fields: dict[Any, Any] = self._redis.hgetall(KEY)
        except RedisError as error:
            log.warning("metrics not read", error=str(error))
            return {}
        return {field.decode(): int(number) for field, number in fields.items()}


class Outage:
    """Logs when something stops answering, once a minute while it does not, and when it answers again."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self.since: float | None = None
        self._logged_at = 0.0
        self._failures = 0

    def record_failure(self, error: Exception) -> None:
        """Record that it did not answer, which may begin an outage."""
        now = time.monotonic()
        with self._lock:
            if self.since is None:  # the first failure of an outage is logged at once
                self.since = now
                self._logged_at = float("-inf")
                self._failures = 0
            self._failures += 1
            if now < self._logged_at + REPEAT_AFTER_S:
                return
            self._logged_at = now
        log.warning(f"{self._name} does not answer", error=find_first_line(error), times=self._failures)

    def record_answer(self) -> None:
        """Record that it answered, which ends an outage."""
        with self._lock:
            since, self.since = self.since, None
        if since is not None:
            seconds = round(time.monotonic() - since, 1)
            log.warning(f"{self._name} answers again", seconds=seconds, times=self._failures)


def find_first_line(error: Exception) -> str:
    """Return the first line of an error, without a full stop; database drivers repeat the statement below it."""
    driver_error = getattr(error, "orig", error)  # as SQLAlchemy keeps it
    return str(driver_error).strip().partition("\n")[0].rstrip(".;")
