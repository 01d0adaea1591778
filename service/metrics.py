"""Meters: what the processes of a house count and time between them, for the host's monitoring.

Each process counts for itself and hands its sums to Redis when a piece of work is done, so that the figures are right
however many processes there are. Losing them costs a gap in a chart.
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
STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # seconds; what is slower counts in the sum alone
log = structlog.get_logger()


class Metric(Struct, frozen=True):
    """One thing that is counted or timed; `label` is what its figures are told apart by."""

    about: str
    label: str
    timed: bool = False


METRICS = {
    "moves": Metric("Submissions that were judged", "verdict"),
    "letters": Metric("Letters that were settled", "outcome"),
    "wakeups": Metric("Wake-ups that were sent; those of the clock found work that no worker had noticed", "queue"),
    "verdict_seconds": Metric("From a submission on a page to its verdict", "way", timed=True),
    "thinking_seconds": Metric("How long bots thought about a move", "level", timed=True),
}


class Metrics:
    """The meters of this process, and of all together."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()

    def count(self, name: str, label: str) -> None:
        """One more of these."""
        self._add({f"{name}|{label}|count": 1})

    @contextmanager
    def timed(self, name: str, label: str) -> Iterator[None]:
        """Time what is done inside."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.time(name, label, time.perf_counter() - began)

    def time(self, name: str, label: str, seconds: float) -> None:
        """One more of these, which took so long."""
        step = next((step for step in STEPS if seconds <= step), None)
        within = {} if step is None else {f"{name}|{label}|{step}": 1}
        self._add({**within, f"{name}|{label}|count": 1, f"{name}|{label}|microseconds": round(seconds * 1e6)})

    def _add(self, found: dict[str, int]) -> None:
        with self._lock:
            self._held.update(found)

    def hand_over(self) -> None:
        """Add what this process counted to what all have; without Redis it is kept until later."""
        with self._lock:
            held, self._held = self._held, Counter()
        if not held:
            return
        try:
            with self._redis.pipeline(transaction=False) as pipeline:
                for field, number in held.items():
                    pipeline.hincrby(KEY, field, number)
                pipeline.execute()
        except RedisError:
            self._add(dict(held))

    def read(self) -> dict[str, int]:
        """What all processes counted so far."""
        self.hand_over()
        try:
            found: dict[Any, Any] = self._redis.hgetall(KEY)
        except RedisError as error:
            log.warning("meters not read", error=str(error))
            return {}
        return {field.decode(): int(number) for field, number in found.items()}
