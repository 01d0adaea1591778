"""Everything a process of this service needs, put together once."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

from redis import Redis

from engine import catalogue
from service.links import Links
from service.lru import Caches
from service.metrics import Metrics
from service.settings import EMBEDDED, Settings, keep_secret
from service.store import Store, identity
from service.store.notices import NoticeBoard
from service.wakeups import Wakeups

PATIENCE = 5.0  # seconds for an answer of Redis, which is longer than anybody waits for a verdict through it
Now = Callable[[], int]


def wall_clock() -> int:
    return int(time.time())


class App:
    """The settings, and what is made from them: database, bells, links, caches."""

    def __init__(self, settings: Settings, now: Now = wall_clock, redis: Redis | None = None) -> None:
        self.secret = keep_secret(settings)
        if not settings.database:
            settings.folder.mkdir(parents=True, exist_ok=True)
        catalogue.allow(settings.packages)
        self.settings = settings
        self.now = now
        self.store = Store(settings.database_url, settings.replica)
        self.notices = NoticeBoard(self.store, now)
        self.redis: Redis = redis or connect_redis(settings.redis)
        self.metrics = Metrics(self.redis)
        self.wakeups = Wakeups(self.redis)
        self.relay = settings.smtp
        self.inbound = ""  # where the local mailbox sends answers to
        self.links = Links(self.secret)
        self.caches = Caches()

    def open(self) -> None:
        """Bring the database to today's shape; one whose links another secret made is refused."""
        self.store.migrate()
        identity.claim_database(self.store, self.links)

    def close(self) -> None:
        self.store.close()
        self.redis.close()

    def __reduce__(self) -> Any:
        """Submitted to another process a house becomes that process's own, with these settings and at this time."""
        return _at_that_time, (self.settings, self.now())


def _at_that_time(settings: Settings, now: int) -> App:
    app = _own(settings)
    app.now = lambda: now
    return app


@functools.cache
def _own(settings: Settings) -> App:
    return App(settings)


def connect_redis(url: str) -> Any:
    """The Redis at that address, or one inside this process."""
    if url != EMBEDDED:
        return Redis.from_url(url, socket_connect_timeout=PATIENCE, socket_timeout=PATIENCE)
    import fakeredis  # only the embedded service needs it

    return fakeredis.FakeRedis()
