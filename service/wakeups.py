"""Wake-ups: signals through Redis that say “look for work”. The work is a row in the database, so none may get lost."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from redis import Redis, RedisError
from rq import Queue
from rq.serializers import JSONSerializer
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars

from service.monitoring import Outage

JOBS = {name: f"workers.residents.run_{name}" for name in ("referee", "post", "deliveries", "bots")}
"""The RQ jobs. Each stays at work for minutes, and waits for wake-ups."""
JOBS_OF_QUEUES = {
    "referee": "referee",
    "inbox": "referee",
    "post": "post",
    "deliveries": "deliveries",
    "hooks": "deliveries",
    "bots": "bots",
    "rounds": "bots",
}
"""The queues of work that can be woken, each with the job that works on it."""
# RQ ends a job that hangs; a mail server may take minutes.
JOB_TIMEOUTS_S = {"referee": 300, "post": 900, "deliveries": 300, "bots": 300}
MAX_WAKEUPS = 100  # of a queue whose worker is away; more of them say nothing more
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
MESSAGE_EXPIRY_S = 10
CHANGES = "changes"


class Wakeups:
    """Wakes workers and those who wait for a verdict. Without Redis the service works on, only slower."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self.outage = Outage("Redis")

    def queue(self, name: str) -> Queue:
        """The RQ queue of this name."""
        return Queue(name, connection=self.redis, serializer=JSONSerializer)

    def wake(self, queue: str) -> bool:
        """Ask the workers of a queue to look for work; False if they were asked already, or Redis is away."""
        key = f"wakeup:{queue}"
        try:
            count: int = self._execute("RPUSH", key, get_contextvars().get("request", ""))
            if count > MAX_WAKEUPS:
                self._execute("LTRIM", key, -1, -1)
        except RedisError:
            return False
        return count == 1

    def wait_for_work(self, queues: Sequence[str], seconds: float) -> Sequence[str]:
        """Wait until one of these queues is woken, and return it; return none of them after so many seconds.

        Without Redis return all of them after so many seconds. Log lines name the request that sent the wake-up.
        """
        try:
            woken: Any = self._execute("BLPOP", *(f"wakeup:{queue}" for queue in queues), seconds)
            if not woken:
                return ()
            self._execute("DEL", woken[0])  # one look for work is enough for all wake-ups so far
        except RedisError:
            time.sleep(seconds)
            return queues
        name, request = (part.decode() for part in woken)
        clear_contextvars()
        if REQUEST_ID.fullmatch(request):
            bind_contextvars(request=request)
        return (name.removeprefix("wakeup:"),)

    def start_job(self, job: str) -> None:
        """Let RQ start a job as soon as a worker is free, unless one waits for a worker already."""
        queue = self.queue(job)
        with suppress(RedisError), self._log_outages():
            if not queue.count:
                queue.enqueue(JOBS[job], result_ttl=0, failure_ttl=3600, job_timeout=JOB_TIMEOUTS_S[job])

    def publish(self, messages: Mapping[int, bytes]) -> None:
        """Publish messages to those who wait for these numbers, such as the verdicts on submissions."""
        with suppress(RedisError), self._log_outages(), self.redis.pipeline(transaction=False) as pipeline:
            for number, message in messages.items():
                pipeline.rpush(f"verdict:{number}", message)
                pipeline.expire(f"verdict:{number}", MESSAGE_EXPIRY_S)
            pipeline.execute()

    def wait(self, number: int, seconds: float) -> bytes | None:
        """Wait for the message with this number and leave it for others who wait; None after so many seconds."""
        key = f"verdict:{number}"
        try:
            message: Any = self._execute("BRPOPLPUSH", key, key, seconds) if seconds > 0 else None
        except RedisError:
            time.sleep(min(seconds, 0.2))
            return None
        return bytes(message) if message else None

    def _execute(self, *command: Any) -> Any:
        """Execute a raw command; the client's own methods take as long to check their arguments as Redis to answer."""
        with self._log_outages():
            return self.redis.execute_command(*command)  # type: ignore[no-untyped-call]  # of redis

    @contextmanager
    def _log_outages(self) -> Iterator[None]:
        """Log once that Redis is away, and once that it is back."""
        try:
            yield
        except RedisError as error:
            self.outage.begin(error)
            raise
        if self.outage.since is not None:
            self.outage.end()

    def announce(self, *tables: str, topic: str = "") -> None:
        """Tell the open pages of these tables to reload; the topic `talk` concerns their players alone."""
        with suppress(RedisError), self._log_outages(), self.redis.pipeline(transaction=False) as pipeline:
            for table in tables:
                pipeline.publish(CHANGES, f"{table}/{topic}")
            pipeline.execute()

    def changes(self) -> Iterator[str | None]:
        """Yield announcements: None once subscribed, then each announcement, and "" after a second without one."""
        with self.redis.pubsub(ignore_subscribe_messages=True) as subscription:  # type: ignore[no-untyped-call]
            subscription.subscribe(CHANGES)
            yield None
            while True:
                message = subscription.get_message(timeout=1.0)
                yield message["data"].decode() if message else ""
