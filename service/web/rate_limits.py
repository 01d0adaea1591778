"""Rate limits: how often a visitor, or the holder of a link, may do something in a period, which its first time begins.

Each process counts by itself, and several processes share their counts through Redis now and then.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from flask import Response, abort, g, request
from msgspec import Struct
from redis import Redis, RedisError

from service.links import hash_token
from service.monitoring import Outage

SYNC_AFTER_S = 1.0  # how long a process may not know what others have counted
MAX_COUNTERS = 10_000  # before those whose time is over are dropped
ADD_COUNT = """
local count = redis.call('incrby', KEYS[1], ARGV[1])
if count == tonumber(ARGV[1]) then redis.call('expire', KEYS[1], ARGV[2]) end
return {count, redis.call('pttl', KEYS[1])}
"""
View = Callable[..., Any]
ALLOWANCE = "depesche.allowance"  # in the environment of a request that was counted already


class Limit(Struct, frozen=True):
    """How often something may be done in one period; all that has the same limit is counted together."""

    name: str
    times: int
    period_s: int


class Allowance(Struct, frozen=True):
    """The part of a limit that is used, and when its period ends."""

    limit: Limit
    used: int
    ends_at: float

    @property
    def is_exceeded(self) -> bool:
        return self.used > self.limit.times

    def make_headers(self) -> Mapping[str, str]:
        """Make the headers that tell a program how much is left."""
        headers = {
            "X-RateLimit-Limit": str(self.limit.times),
            "X-RateLimit-Remaining": str(max(0, self.limit.times - self.used)),
            "X-RateLimit-Reset": str(math.ceil(self.ends_at)),
        }
        if self.is_exceeded:
            headers["Retry-After"] = str(max(0, math.ceil(self.ends_at - time.time())))
        return headers


class SharedCounter:
    """How often something was done in one period: by all processes when they were asked last, and here since then."""

    def __init__(self, ends_at: float) -> None:
        self.shared = self.own = 0
        self.ends_at = ends_at
        self.synced_at = 0.0

    @property
    def count(self) -> int:
        return self.shared + self.own


class RateLimits:
    """Counts what is limited. Without Redis each process limits alone."""

    def __init__(self, redis: Redis | None) -> None:
        self._add_count = redis.register_script(ADD_COUNT) if redis is not None else None
        self._outage = Outage("Redis")
        self._lock = threading.Lock()
        self._counters: dict[str, SharedCounter] = {}

    def use(self, limit: Limit, key: str) -> Allowance:
        """Count one more time for a visitor or a link; return how much of the limit is used."""
        name, now = _name_counter(limit, key), time.time()
        with self._lock:
            counter = self._find(name, now)
            if counter is None:
                counter = self._counters[name] = SharedCounter(now + limit.period_s)
            counter.own += 1
            is_due = now >= counter.synced_at + SYNC_AFTER_S
            if is_due:
                counter.synced_at = now  # within the lock, so that no other thread asks Redis too
        if is_due and self._add_count is not None:
            self._sync(name, counter, limit.period_s)
        return Allowance(limit, counter.count, counter.ends_at)

    def must_sync(self, limit: Limit, key: str) -> bool:
        """Return whether `use` would now ask Redis what other processes have counted."""
        now = time.time()
        counter = self._find(_name_counter(limit, key), now)
        is_synced = counter is not None and now < counter.synced_at + SYNC_AFTER_S
        has_redis = self._add_count is not None
        return has_redis and not is_synced

    def _find(self, name: str, now: float) -> SharedCounter | None:
        """Return the counter of this name; None if there is none, or if its period is over.

        If there are many counters, drop those whose period is over.
        """
        if len(self._counters) > MAX_COUNTERS:
            self._counters = {key: one for key, one in self._counters.items() if one.ends_at > now}
        counter = self._counters.get(name)
        if counter is None or counter.ends_at <= now:
            return None
        return counter

    def _sync(self, name: str, counter: SharedCounter, period_s: int) -> None:
        """Add what was counted here to the count of all processes, and take over their sum; nothing if Redis fails."""
        own, add_count = counter.own, self._add_count
        assert add_count is not None
        try:
            count, left_ms = add_count([name], [own, period_s])
        except RedisError as error:
            self._outage.record_failure(error)
            return
        self._outage.record_answer()
        with self._lock:
            counter.shared = int(count)
            counter.own -= own  # others may have been counted meanwhile
            counter.ends_at = time.time() + int(left_ms) / 1_000


def _name_counter(limit: Limit, key: str) -> str:
    return f"limit:{limit.name}:{key}"


def limit_view(limits: RateLimits, limit: Limit, make_key: Callable[[], str], view: View) -> View:
    """Return a view that calls this one until the limit is exceeded, and then answers with 429.

    A request that the event loop has counted already is not counted again.
    """

    @functools.wraps(view)
    def call(**arguments: Any) -> Any:
        counted_by_event_loop = request.environ.get(ALLOWANCE)
        g.allowance = counted_by_event_loop or limits.use(limit, make_key())
        return abort(429) if g.allowance.is_exceeded else view(**arguments)

    return call


def name_link() -> str:
    """Return the hash of the link; the link itself is a key, and is stored nowhere."""
    return hash_token(str((request.view_args or {}).get("link")))


def set_limit_headers(response: Response) -> Response:
    """Say how much is left of the limit of this request, if it has one."""
    if "allowance" in g:
        response.headers.update(g.allowance.make_headers())
    return response
