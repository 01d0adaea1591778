"""Wake-ups: signals through Redis that say “look for work”. The work is a row in the database, so none may get lost."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from redis import Redis, RedisError
from rq import Queue
from rq.serializers import JSONSerializer
from structlog.contextvars import get_contextvars

from service.monitoring import Outage

JOBS = {
    "referee": "workers.referee.run",
    "inbox": "workers.incoming.mail_moves.run",
    "post": "workers.outgoing.post.run",
    "bots": "workers.bots.run",
    "rounds": "workers.beacon_rounds.run",
}
SHARED_QUEUES = {"inbox": "referee", "rounds": "bots"}  # the RQ queue of a job that has none of its own
PENDING_S = 5  # after so long a wake-up that no worker acknowledged may be sent again
JOB_TIMEOUTS_S = {"post": 600}  # a mail server may take minutes for one letter
JOB_TIMEOUT_S = 120  # of all other jobs; a job that takes longer hangs, and is ended
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
        try:
            if self._execute("SET", f"wakeup:{queue}", "1", "NX", "EX", PENDING_S):
                self._enqueue(queue)
                return True
            self.outage.end()
        except RedisError as error:
            self.outage.begin(error)
        return False

    def _enqueue(self, name: str) -> None:
        options: dict[str, Any] = {
            "result_ttl": 0,
            "failure_ttl": 3600,
            "job_timeout": JOB_TIMEOUTS_S.get(name, JOB_TIMEOUT_S),
        }
        with self.redis.pipeline() as pipeline:  # one round trip to Redis, where RQ would make two
            self.queue(SHARED_QUEUES.get(name, name)).enqueue(
                JOBS[name], meta=get_contextvars(), pipeline=pipeline, **options
            )
            pipeline.execute()

    def acknowledge(self, queue: str) -> None:
        """A worker begins to look for work: a wake-up from now on means new work."""
        try:
            self.redis.delete(f"wakeup:{queue}")
            self.outage.end()
        except RedisError as error:
            self.outage.begin(error)

    def publish(self, messages: Mapping[int, bytes]) -> None:
        """Publish messages to those who wait for these numbers, such as the verdicts on submissions."""
        try:
            with self.redis.pipeline(transaction=False) as pipeline:
                for number, message in messages.items():
                    pipeline.rpush(f"verdict:{number}", message)
                    pipeline.expire(f"verdict:{number}", MESSAGE_EXPIRY_S)
                pipeline.execute()
            self.outage.end()
        except RedisError as error:
            self.outage.begin(error)

    def wait(self, number: int, seconds: float) -> bytes | None:
        """Wait for the message with this number and leave it for others who wait; None after so many seconds."""
        key = f"verdict:{number}"
        try:
            message: Any = self._execute("BRPOPLPUSH", key, key, seconds) if seconds > 0 else None
        except RedisError as error:
            self.outage.begin(error)
            time.sleep(min(seconds, 0.2))
            return None
        return bytes(message) if message else None

    def _execute(self, *command: Any) -> Any:
        """Execute a raw command; the client's own methods take as long to check their arguments as Redis to answer."""
        return self.redis.execute_command(*command)  # type: ignore[no-untyped-call]  # of redis

    def announce(self, *tables: str, topic: str = "") -> None:
        """Tell the open pages of these tables to reload; the topic `talk` concerns their players alone."""
        try:
            with self.redis.pipeline(transaction=False) as pipeline:
                for table in tables:
                    pipeline.publish(CHANGES, f"{table}/{topic}")
                pipeline.execute()
        except RedisError as error:
            self.outage.begin(error)

    def changes(self) -> Iterator[str | None]:
        """Yield announcements: None once subscribed, then each announcement, and "" after a second without one."""
        with self.redis.pubsub(ignore_subscribe_messages=True) as subscription:  # type: ignore[no-untyped-call]
            subscription.subscribe(CHANGES)
            yield None
            while True:
                message = subscription.get_message(timeout=1.0)
                yield message["data"].decode() if message else ""
