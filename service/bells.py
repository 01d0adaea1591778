"""Bells: RQ jobs that say “look”. The work itself is a row in the database, so a lost bell loses nothing."""

from __future__ import annotations

import time

from redis import Redis, RedisError
from rq import Queue
from rq.serializers import JSONSerializer

from service.outages import Outage

JOBS = {
    "referee": "workers.referee.hear",
    "inbox": "workers.incoming.mail_moves.hear",
    "post": "workers.outgoing.post.deliver",
    "bots": "workers.bots.move",
}
SHARED = {"inbox": "referee"}  # the worker that judges moves also reads mails
RINGING = 5


class Bells:
    """Rings for workers and wakes those who wait for a verdict; works on, only slower, without Redis."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self.outage = Outage("Redis")

    def queue(self, name: str) -> Queue:
        return Queue(name, connection=self.redis, serializer=JSONSerializer)

    def ring(self, name: str) -> None:
        """Ask for a look at what is waiting; a bell that is ringing already is not rung again."""
        try:
            if self.redis.set(f"bell:{name}", "1", nx=True, ex=RINGING):
                self.queue(SHARED.get(name, name)).enqueue(JOBS[name], result_ttl=0, failure_ttl=3600, job_timeout=120)
            self.outage.over()
        except RedisError as error:
            self.outage.met(error)

    def answered(self, name: str) -> None:
        """A worker begins to look: from now on a new bell means new work."""
        try:
            self.redis.delete(f"bell:{name}")
            self.outage.over()
        except RedisError as error:
            self.outage.met(error)

    def wake(self, submission: int) -> None:
        """Tell waiting callers that there is a verdict."""
        key = f"verdict:{submission}"
        try:
            with self.redis.pipeline(transaction=False) as pipeline:
                pipeline.rpush(key, "1")
                pipeline.expire(key, 10)
                pipeline.execute()
            self.outage.over()
        except RedisError as error:
            self.outage.met(error)

    def wait(self, submission: int, seconds: float) -> None:
        """Wait until that submission has a verdict, or the time is up; what wakes one is left for the others."""
        if seconds <= 0:
            return
        key = f"verdict:{submission}"
        try:
            self.redis.brpoplpush(key, key, seconds)
        except RedisError as error:
            self.outage.met(error)
            time.sleep(min(seconds, 0.2))
