"""The app: everything that a process of the service needs, created once."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

from redis import Redis

from engine import catalogue
from service.internet.safe_http import SafeClient
from service.links import Links
from service.memory import Caches
from service.monitoring import Metrics
from service.settings import EMBEDDED, Settings, load_secret
from service.store import Store, push_keys, server_facts
from service.store.server_facts import NoticeBoard
from service.wakeups import VerdictMessages, Wakeups

REDIS_TIMEOUT_S = 5.0  # longer than a page waits in Redis for a verdict
WAKEUP_TIMEOUT_S = 90.0  # more than a worker waits for a wake-up; TCP's keepalive notices earlier that Redis is gone
Now = Callable[[], int]


def read_clock() -> int:
    return int(time.time())


class App:
    """The settings, and what is created from them: database, wake-ups, links, caches."""

    def __init__(self, settings: Settings, now: Now = read_clock, redis: Redis | None = None) -> None:
        self.secret = load_secret(settings)
        if not settings.database:
            settings.folder.mkdir(parents=True, exist_ok=True)
        catalogue.allow(settings.packages)
        self.settings = settings
        self.now = now
        self.store = Store(settings.database_url, settings.replica)
        self.notices = NoticeBoard(self.store, now)
        self.redis: Redis = redis or connect_redis(settings.redis)
        self.metrics = Metrics(self.redis)
        is_shared = settings.redis != EMBEDDED
        has_second_client = is_shared and not redis  # a given one also waits for wake-ups
        self._blocking_redis = connect_redis(settings.redis, WAKEUP_TIMEOUT_S) if has_second_client else self.redis
        self.wakeups = Wakeups(self.redis, self._blocking_redis)
        self.verdicts = VerdictMessages(self.redis, self.wakeups.outage, is_shared=is_shared)
        self.relay = settings.smtp  # the mail server that sends the letters on
        self.inbound = ""  # where the local mailbox sends answers to
        self.links = Links(self.secret)
        self.caches = Caches()
        self.client = SafeClient(settings.proxy)

    def open(self) -> None:
        """Migrate the database and make its key of web push; raise Refused if another secret made its links."""
        self.store.migrate()
        server_facts.claim_database(self.store, self.links)
        push_keys.make_key(self.store)

    def close(self) -> None:
        """Store the last counts, and close all connections."""
        self.metrics.flush()
        self.verdicts.close()
        self.store.close()
        self._blocking_redis.close()
        self.redis.close()

    def __reduce__(self) -> Any:
        """Pickle the settings and the time: another process works with an app of its own, whose clock stops there."""
        return _restore_app, (self.settings, self.now())


def _restore_app(settings: Settings, now: int) -> App:
    """Return the app that this process has for these settings, with its clock set to the given time."""
    app = _get_own_app(settings)
    app.now = lambda: now
    return app


@functools.cache
def _get_own_app(settings: Settings) -> App:
    """Create an app for these settings the first time; pieces of work that are sent here share it."""
    return App(settings)


def connect_redis(url: str, timeout_s: float = REDIS_TIMEOUT_S) -> Any:
    """Connect to Redis, or create one inside this process."""
    if url != EMBEDDED:
        return Redis.from_url(url, socket_connect_timeout=REDIS_TIMEOUT_S, socket_timeout=timeout_s)
    import fakeredis  # only the embedded service needs it

    return fakeredis.FakeRedis()
