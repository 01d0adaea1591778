"""Bells: RQ jobs that say “look”. The work itself is a row in the database, so a lost bell loses nothing."""

from __future__ import annotations

import time
from typing import Any

import structlog
from redis import Redis, RedisError
from rq import Queue
from rq.serializers import JSONSerializer

JOBS = {
    "referee": "workers.referee.hear",
    "inbox": "workers.incoming.mail_moves.hear",
    "post": "workers.outgoing.post.deliver",
    "bots": "workers.bots.move",
    "rounds": "workers.rounds.draw",
}
SHARED = {"inbox": "referee", "rounds": "bots"}  # who judges moves also reads mails; bots may wait for a beacon
RINGING = 5
log = structlog.get_logger()


class Bells:
    """Rings for workers and wakes those who wait for a verdict; works on, only slower, without Redis."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    def queue(self, name: str) -> Queue:
        return Queue(name, connection=self.redis, serializer=JSONSerializer)

    def ring(self, name: str) -> None:
        """Ask for a look at what is waiting; a bell that is ringing already is not rung again."""
        try:
            if self.redis.set(f"bell:{name}", "1", nx=True, ex=RINGING):
                self.queue(SHARED.get(name, name)).enqueue(JOBS[name], result_ttl=0, failure_ttl=3600, job_timeout=120)
        except RedisError as error:
            log.warning("bell not rung", bell=name, error=str(error))

    def answered(self, name: str) -> None:
        """A worker begins to look: from now on a new bell means new work."""
        self._quietly("delete", f"bell:{name}")

    def wake(self, submission: int) -> None:
        """Tell waiting callers that there is a verdict."""
        key = f"verdict:{submission}"
        try:
            with self.redis.pipeline(transaction=False) as pipeline:
                pipeline.rpush(key, "1")
                pipeline.expire(key, 10)
                pipeline.execute()
        except RedisError as error:
            log.warning("nobody woken", submission=submission, error=str(error))

    def wait(self, submission: int, seconds: float) -> None:
        """Wait until that submission has a verdict, or the time is up; what wakes one is left for the others."""
        if seconds <= 0:
            return
        key = f"verdict:{submission}"
        try:
            self.redis.brpoplpush(key, key, seconds)
        except RedisError:
            time.sleep(min(seconds, 0.2))

    def _quietly(self, command: str, *args: Any) -> None:
        try:
            getattr(self.redis, command)(*args)
        except RedisError as error:
            log.warning("Redis does not answer", command=command, error=str(error))
