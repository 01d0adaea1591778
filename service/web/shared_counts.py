"""Rate limits that several processes share: each counts by itself, and adds its counts to Redis now and then."""

from __future__ import annotations

import threading
import time
from typing import Any

import structlog
from limits.storage import Storage
from redis import Redis, RedisError

from service.monitoring import Outage

SYNC_AFTER_S = 1.0  # so long a process may not know what others have counted
MAX_COUNTERS = 10_000  # before those whose time is over are dropped
ADD_COUNT = """
local count = redis.call('incrby', KEYS[1], ARGV[1])
if count == tonumber(ARGV[1]) then redis.call('expire', KEYS[1], ARGV[2]) end
return {count, redis.call('pttl', KEYS[1])}
"""
log = structlog.get_logger()


class SharedCounter:
    """How often something was done in one period: by all processes when they were asked last, and here since then."""

    def __init__(self, ends_at: float) -> None:
        self.shared = self.own = 0
        self.ends_at = ends_at
        self.synced_at = 0.0

    @property
    def count(self) -> int:
        return self.shared + self.own


class SharedCounts(Storage):
    """The counters of Flask-Limiter. Without Redis each process limits alone."""

    STORAGE_SCHEME = ["shared"]  # noqa: RUF012  # as limits declares it

    def __init__(self, uri: str | None = None, *, redis: Redis, **options: Any) -> None:
        super().__init__(uri, **options)
        self._redis = redis
        self._add_count = redis.register_script(ADD_COUNT)
        self._outage = Outage("Redis")
        self._lock = threading.Lock()
        self._counters: dict[str, SharedCounter] = {}

    @property
    def base_exceptions(self) -> type[Exception]:
        return RedisError

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count this, and return how often it was done in this period."""
        now = time.time()
        with self._lock:
            counter = self._find(key, now)
            if counter is None:
                counter = self._counters[key] = SharedCounter(now + expiry)
            counter.own += amount
            is_due = now >= counter.synced_at + SYNC_AFTER_S
            if is_due:
                counter.synced_at = now
        if is_due:
            self._sync(key, counter, expiry)
        return counter.count

    def _find(self, key: str, now: float) -> SharedCounter | None:
        """Return the counter whose period is not over."""
        if len(self._counters) > MAX_COUNTERS:
            self._counters = {name: one for name, one in self._counters.items() if one.ends_at > now}
        counter = self._counters.get(key)
        return counter if counter is not None and counter.ends_at > now else None

    def _sync(self, key: str, counter: SharedCounter, expiry: int) -> None:
        own = counter.own
        try:
            count, left_ms = self._add_count([key], [own, expiry])
        except RedisError as error:
            self._outage.begin(error)
            return
        self._outage.end()
        with self._lock:
            counter.shared, counter.own = int(count), counter.own - own
            counter.ends_at = time.time() + int(left_ms) / 1_000

    def get(self, key: str) -> int:
        counter = self._find(key, time.time())
        return 0 if counter is None else counter.count

    def get_expiry(self, key: str) -> float:
        now = time.time()
        counter = self._find(key, now)
        return now if counter is None else counter.ends_at

    def check(self) -> bool:
        return True

    def reset(self) -> int | None:
        self._counters.clear()
        return None

    def clear(self, key: str) -> None:
        self._counters.pop(key, None)
