"""Wake-ups and verdicts: messages through Redis that may get lost, because what they tell is a row in the database.

A wake-up says “look for work”. A verdict goes to those who wait for it: one thread of a process receives them all.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

import msgspec
from redis import Redis, RedisError
from rq import Queue
from rq.serializers import JSONSerializer
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars

from engine.canonical_json import make_decoder
from service.monitoring import Outage

JOBS = {name: f"workers.residents.run_{name}" for name in ("referee", "post", "deliveries", "bots")}
"""The RQ jobs. Each stays at work for minutes, and waits for wake-ups."""
JOBS_OF_QUEUES = {
    "referee": "referee",
    "inbox": "referee",
    "post": "post",
    "deliveries": "deliveries",
    "followers": "deliveries",
    "bots": "bots",
    "rounds": "bots",
}
"""The queues of work that can be woken, each with the job that works on it."""
MAX_WAKEUPS = 100  # of a queue whose worker is away; more of them say nothing more
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
CHANGES = "changes"
VERDICTS = "verdicts"
MAX_MESSAGES = 1_000  # for those who ask for a verdict a moment after it came
SUBSCRIBE_S, POLL_S, RETRY_S = 1.0, 30.0, 0.5  # of the thread that receives verdicts
LOOK_S = 1.0  # between two looks for work without Redis
OUTAGE_WAIT_S = 0.2  # instead of the whole wait, while no verdict can come
Receive = Callable[[bytes], object]


class Wakeups:
    """Wakes workers and open pages. Without Redis the service works on, only slower."""

    def __init__(self, redis: Redis, blocking_redis: Redis) -> None:
        """Send wake-ups with one client of Redis, and wait for them with another, whose answers may take minutes."""
        self.redis = redis
        self._blocking_redis = blocking_redis
        self.outage = Outage("Redis")

    def get_queue(self, name: str) -> Queue:
        """Return the RQ queue of this name."""
        return Queue(name, connection=self.redis, serializer=JSONSerializer)

    def wake(self, queue: str) -> bool:
        """Ask the workers of a queue to look for work; return whether this is the first wake-up that waits for them.

        Return False if one waits already, or if Redis is away.
        """
        key = f"wakeup:{queue}"
        try:
            count: int = self._execute("RPUSH", key, get_contextvars().get("request", ""))
            if count > MAX_WAKEUPS:
                self._execute("LTRIM", key, -1, -1)  # the last one remains
        except RedisError:
            return False
        return count == 1

    def wait_for_work(self, queues: Sequence[str], seconds: float) -> Sequence[str]:
        """Wait until one of these queues is woken, and return it; return no queue after `seconds` without a wake-up.

        Without Redis return all of them, after a second at most. Later log lines of this thread name the request that
        sent the wake-up.
        """
        try:
            with self._log_outages():
                keys = (f"wakeup:{queue}" for queue in queues)
                woken: Any = self._blocking_redis.execute_command("BLPOP", *keys, seconds)  # type: ignore[no-untyped-call]
            if not woken:
                return ()
            key, request = woken
            self._execute("DEL", key)  # one look for work is enough for all wake-ups so far
        except RedisError:
            time.sleep(min(seconds, LOOK_S))
            return queues
        clear_contextvars()
        if REQUEST_ID.fullmatch(request.decode()):
            bind_contextvars(request=request.decode())
        return (key.decode().removeprefix("wakeup:"),)

    def start_job(self, job: str) -> None:
        """Let RQ start a job as soon as a worker is free, unless one waits for a worker already."""
        queue = self.get_queue(job)
        with suppress(RedisError), self._log_outages():
            if not queue.count:
                queue.enqueue(JOBS[job], result_ttl=0, failure_ttl=3600, job_timeout=-1)  # its steps have time limits

    def _execute(self, *command: Any) -> Any:
        """Execute a raw command; the client's own methods take as long to check their arguments as Redis to answer."""
        with self._log_outages():
            return self.redis.execute_command(*command)  # type: ignore[no-untyped-call]  # of redis

    @contextmanager
    def _log_outages(self) -> Iterator[None]:
        """Record that Redis did not answer, or that it answers again after an outage; `Outage` logs both."""
        try:
            yield
        except RedisError as error:
            self.outage.record_failure(error)
            raise
        if self.outage.since is not None:
            self.outage.record_answer()

    def announce(self, *tables: str, topic: str = "") -> None:
        """Tell the open pages of these tables to reload: those of players, and of spectators too if `topic` is empty.

        The topic `talk` concerns the players alone.
        """
        with suppress(RedisError):
            self._execute("PUBLISH", CHANGES, " ".join(f"{table}/{topic}" for table in tables))

    def iter_changes(self) -> Iterator[str | None]:
        """Yield None once subscribed, then each announcement as `TABLE/TOPIC`, and "" after a second without one."""
        with self.redis.pubsub(ignore_subscribe_messages=True) as subscription:  # type: ignore[no-untyped-call]
            subscription.subscribe(CHANGES)
            yield None
            while True:
                message = subscription.get_message(timeout=1.0)
                if message:
                    yield from message["data"].decode().split()  # as `announce` joins them
                else:
                    yield ""


class VerdictMessages:
    """The verdicts that this process publishes and receives, by the numbers of their submissions."""

    def __init__(self, redis: Redis, outage: Outage, *, is_shared: bool) -> None:
        """Say by `is_shared` whether other processes use this Redis too; else no verdict leaves this process."""
        self._redis = redis
        self._outage = outage
        self._is_shared = is_shared
        self._lock = threading.Lock()
        self._messages: OrderedDict[int, bytes] = OrderedDict()
        self._receivers: defaultdict[int, list[Receive]] = defaultdict(list)
        self._listener: threading.Thread | None = None
        self._is_subscribed = threading.Event()
        self._closed = threading.Event()
        if not is_shared:
            self._is_subscribed.set()  # every verdict is published by this process

    def publish(self, messages: Mapping[int, bytes]) -> None:
        """Publish the verdicts on these submissions: in this process at once, and to all others by Redis."""
        self._deliver(messages.items())
        if self._is_shared and messages:
            encoded = msgspec.json.encode({number: msgspec.Raw(message) for number, message in messages.items()})
            try:
                self._redis.execute_command("PUBLISH", VERDICTS, encoded)  # type: ignore[no-untyped-call]  # of redis
            except RedisError as error:
                self._outage.record_failure(error)

    @property
    def is_listening(self) -> bool:
        """Whether this process receives verdicts."""
        return self._is_subscribed.is_set()

    def listen(self) -> None:
        """Let this process receive verdicts from now on; without Redis, go on after SUBSCRIBE_S seconds."""
        if self.is_listening:
            return
        with self._lock:
            if self._listener is None:
                self._listener = threading.Thread(target=self._receive_until_closed, name="verdicts", daemon=True)
                self._listener.start()
        self._is_subscribed.wait(SUBSCRIBE_S)

    def add_receiver(self, number: int, receive: Receive) -> None:
        """Call this function with the verdict on a submission, now or when it comes."""
        with self._lock:
            message = self._messages.get(number)
            if message is None:
                self._receivers[number].append(receive)
        if message is not None:
            receive(message)

    def remove_receiver(self, number: int, receive: Receive) -> None:
        """Do not call this function any more with the verdict on a submission."""
        with self._lock:
            others = [one for one in self._receivers.pop(number, ()) if one != receive]
            if others:
                self._receivers[number] = others

    def wait(self, number: int, seconds: float) -> bytes | None:
        """Wait for the verdict on a submission; return None after `seconds`, or when none can come."""
        received = SimpleQueue[bytes]()
        self.add_receiver(number, received.put)
        try:
            return received.get(timeout=max(0, self.limit_wait(seconds)))
        except Empty:
            return None
        finally:
            self.remove_receiver(number, received.put)

    async def wait_in_loop(self, number: int, seconds: float) -> bytes | None:
        """Wait as `wait` does, but in an event loop and without a thread."""
        received = asyncio.get_running_loop().create_future()
        receive = partial(resolve_soon, received)
        self.add_receiver(number, receive)
        try:
            async with asyncio.timeout(max(0, self.limit_wait(seconds))):
                message: bytes = await received
                return message
        except TimeoutError:
            return None
        finally:
            self.remove_receiver(number, receive)

    @property
    def waiting_count(self) -> int:
        """How many submissions have a function that waits for their verdict."""
        return len(self._receivers)

    def limit_wait(self, seconds: float) -> float:
        """Return how long it is useful to wait: shorter while no verdict can come."""
        return seconds if self.is_listening else min(seconds, OUTAGE_WAIT_S)

    def _deliver(self, messages: Iterable[tuple[int, bytes]]) -> None:
        """Give verdicts to the functions that wait for them, and remember them for those that ask later."""
        for number, message in messages:
            with self._lock:
                self._messages[number] = message
                if len(self._messages) > MAX_MESSAGES:
                    self._messages.popitem(last=False)
                receivers = self._receivers.pop(number, ())
            for receive in receivers:
                receive(message)

    def close(self) -> None:
        """Let the thread that receives end as soon as its connection to Redis is closed."""
        self._closed.set()

    def _receive_until_closed(self) -> None:
        """Receive verdicts; subscribe again after each failure."""
        while not self._closed.is_set():
            try:
                self._receive_until_failure()
            except (RedisError, OSError, ValueError) as error:  # ValueError: the connection was closed meanwhile
                if self._closed.is_set():
                    return
                self._is_subscribed.clear()
                self._outage.record_failure(error)
                time.sleep(RETRY_S)

    def _receive_until_failure(self) -> None:
        """Subscribe to verdicts, and receive them until Redis fails."""
        with self._redis.pubsub() as subscription:  # type: ignore[no-untyped-call]
            subscription.subscribe(VERDICTS)
            while True:
                message: Any = subscription.get_message(timeout=POLL_S)
                if message and message["type"] == "subscribe":
                    self._is_subscribed.set()
                    if self._outage.since is not None:
                        self._outage.record_answer()
                elif message:
                    self._deliver(_decode_verdicts(message["data"]))


def resolve_soon(future: asyncio.Future[Any], value: object) -> None:
    """Set the result of a future from another thread."""
    with suppress(RuntimeError):  # the loop is closed, because the server has stopped
        future.get_loop().call_soon_threadsafe(_resolve, future, value)


def _resolve(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)


def _decode_verdicts(message: bytes) -> list[tuple[int, bytes]]:
    """Decode a message with the verdicts of a batch; nothing if another program sent it."""
    with suppress(msgspec.MsgspecError):
        return [(number, bytes(raw)) for number, raw in make_decoder(dict[int, msgspec.Raw]).decode(message).items()]
    return []
