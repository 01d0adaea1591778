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
        self._waiting = connect_redis(settings.redis, WAKEUP_TIMEOUT_S) if is_shared and not redis else self.redis
        self.wakeups = Wakeups(self.redis, self._waiting)
        self.verdicts = VerdictMessages(self.redis, self.wakeups.outage, is_shared=is_shared)
        self.relay = settings.smtp
        self.inbound = ""  # where the local mailbox sends answers to
        self.links = Links(self.secret)
        self.caches = Caches()
        self.client = SafeClient(settings.proxy)

    def open(self) -> None:
        """Migrate the database; raise Refused if its links were made with another secret."""
        self.store.migrate()
        server_facts.claim_database(self.store, self.links)
        push_keys.make_key(self.store)

    def close(self) -> None:
        self.metrics.flush()
        self.verdicts.close()
        self.store.close()
        self._waiting.close()
        self.redis.close()

    def __reduce__(self) -> Any:
        """Pickle the settings and the time: another process creates its own app from them."""
        return _make_at, (self.settings, self.now())


def _make_at(settings: Settings, now: int) -> App:
    app = _make_app(settings)
    app.now = lambda: now
    return app


@functools.cache
def _make_app(settings: Settings) -> App:
    return App(settings)


def connect_redis(url: str, timeout_s: float = REDIS_TIMEOUT_S) -> Any:
    """Connect to Redis, or create one inside this process."""
    if url != EMBEDDED:
        return Redis.from_url(url, socket_connect_timeout=REDIS_TIMEOUT_S, socket_timeout=timeout_s)
    import fakeredis  # only the embedded service needs it

    return fakeredis.FakeRedis()
