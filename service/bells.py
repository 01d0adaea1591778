"""Bells: RQ jobs that say “look”. The work itself is a row in the database, so a lost bell loses nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from redis import Redis, RedisError
from rq import Queue
from rq.serializers import JSONSerializer
from structlog.contextvars import get_contextvars

from service.outages import Outage

JOBS = {
    "referee": "workers.referee.hear",
    "inbox": "workers.incoming.mail_moves.hear",
    "post": "workers.outgoing.post.deliver",
    "bots": "workers.bots.move",
    "rounds": "workers.rounds.draw",
}
SHARED = {"inbox": "referee", "rounds": "bots"}  # who judges moves also reads mails; bots may wait for a beacon
RINGING = 5
LONGEST = {"post": 600}  # seconds of a job: a mail server may take minutes for one letter
LONG = 120  # of any other; what takes longer hangs, and is ended
CHANGES = "changes"


class Bells:
    """Rings for workers and wakes those who wait for a verdict; works on, only slower, without Redis."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self.outage = Outage("Redis")

    def queue(self, name: str) -> Queue:
        return Queue(name, connection=self.redis, serializer=JSONSerializer)

    def ring(self, name: str) -> bool:
        """Ask for a look at what is waiting; whether it did not ring already, for then it is not rung again."""
        try:
            if self._ask("SET", f"bell:{name}", "1", "NX", "EX", RINGING):
                keeping: dict[str, Any] = {"result_ttl": 0, "failure_ttl": 3600, "job_timeout": LONGEST.get(name, LONG)}
                queue = self.queue(SHARED.get(name, name))
                with self.redis.pipeline() as pipeline:  # one way to Redis and back, where RQ would go twice
                    queue.enqueue(JOBS[name], meta=get_contextvars(), pipeline=pipeline, **keeping)
                    pipeline.execute()
                return True
            self.outage.over()
        except RedisError as error:
            self.outage.met(error)
        return False

    def answered(self, name: str) -> None:
        """A worker begins to look: from now on a new bell means new work."""
        try:
            self.redis.delete(f"bell:{name}")
            self.outage.over()
        except RedisError as error:
            self.outage.met(error)

    def wake(self, told: Mapping[int, bytes], what: str = "verdict") -> None:
        """Tell those who wait for these submissions what the verdict is, or something else with these numbers."""
        try:
            with self.redis.pipeline(transaction=False) as pipeline:
                for number, word in told.items():
                    pipeline.rpush(f"{what}:{number}", word)
                    pipeline.expire(f"{what}:{number}", 10)
                pipeline.execute()
            self.outage.over()
        except RedisError as error:
            self.outage.met(error)

    def wait(self, number: int, seconds: float, what: str = "verdict") -> bytes | None:
        """What is told of that submission, waited for; None where the time is up. It is left for others who wait."""
        key = f"{what}:{number}"
        try:
            told: Any = self._ask("BRPOPLPUSH", key, key, seconds) if seconds > 0 else None
        except RedisError as error:
            self.outage.met(error)
            time.sleep(min(seconds, 0.2))
            return None
        return bytes(told) if told else None

    def _ask(self, *command: Any) -> Any:
        """A command as Redis knows it; the client's methods check their words for as long as Redis takes to answer."""
        return self.redis.execute_command(*command)  # type: ignore[no-untyped-call]  # of redis

    def changed(self, *tables: str, what: str = "") -> None:
        """Tell the open pages of tables that they changed; `talk` concerns their players alone."""
        try:
            with self.redis.pipeline(transaction=False) as pipeline:
                for table in tables:
                    pipeline.publish(CHANGES, f"{table}/{what}")
                pipeline.execute()
        except RedisError as error:
            self.outage.met(error)

    def changes(self) -> Iterator[str | None]:
        """Changes as they happen: None once they are heard, then what was told, and nothing after a quiet second."""
        with self.redis.pubsub(ignore_subscribe_messages=True) as heard:  # type: ignore[no-untyped-call]  # of redis
            heard.subscribe(CHANGES)
            yield None
            while True:
                message = heard.get_message(timeout=1.0)
                yield message["data"].decode() if message else ""
