"""What may befall a service besides the death of its processes: each fault begins, lasts a moment, and is over."""

import random
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress

from redis import Redis, RedisError
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

from service.store import Store
from service.store.schema import tables
from tests.chaos import Process
from tests.servers import Sink

LASTS = (0.5, 2.5)  # seconds
Fault = Callable[[], None]


def faults(processes: Sequence[Process], store: Store, redis: Redis, sink: Sink) -> Mapping[str, Fault]:
    """Everything that can go wrong beside a house of several processes, by name."""
    return {
        "Redis emptied": lambda: _emptied(redis),
        "Redis silent": lambda: _silent(redis),
        "a process frozen": lambda: _frozen(random.choice(processes)),
        "a table held": lambda: _held(store),
        "connections cut": lambda: _cut(store),
        "the relay refuses": lambda: _refusing(sink),
        "the relay stalls": lambda: _stalling(sink),
    }


def _moment() -> None:
    time.sleep(random.uniform(*LASTS))


def _emptied(redis: Redis) -> None:
    redis.flushall()


def _silent(redis: Redis) -> None:
    """Redis takes commands and answers none of them."""
    with suppress(RedisError):
        redis.client_pause(int(1_000 * random.uniform(*LASTS)))


def _frozen(process: Process) -> None:
    """A process that stops in the middle of anything, and goes on later as if nothing had been."""
    process.send(signal.SIGSTOP)
    try:
        _moment()
    finally:
        process.send(signal.SIGCONT)


def _held(store: Store) -> None:
    """Somebody looks at a table with a lock, and forgets to go."""
    with suppress(OperationalError), closing(Store(store.url)) as other, other.writing() as connection:
        some = select(tables.c.id).where(tables.c.phase != "over").limit(5)
        known = connection.execute(some).scalars().all()
        if known:
            wanted = select(tables.c.id).where(tables.c.id == random.choice(known))
            connection.execute(wanted.with_for_update())
            _moment()


def _cut(store: Store) -> None:
    """The database ends every connection but the one that asks for it."""
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = :name"
    with suppress(OperationalError), closing(Store(store.url)) as other, other.reading() as connection:
        connection.execute(text(others), {"name": connection.engine.url.database})


def _refusing(sink: Sink) -> None:
    sink.refuse()
    try:
        _moment()
    finally:
        sink.accept()


def _stalling(sink: Sink) -> None:
    usual, sink.pause = sink.pause, 1.0
    try:
        _moment()
    finally:
        sink.pause = usual
