"""What may befall a service: each fault begins, lasts a moment, and is over."""

import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress

from redis import Redis, RedisError
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

from service.store import Store
from service.store.schema import tables
from tests.chaos.machines import Mood, Postgres, Relay, Server
from tests.chaos.processes import Process

LASTS = (0.3, 2.0)  # seconds
CLOCKS_OFF = (-90, -20, 20, 90)  # seconds; longer than a letter is in hand, shorter than any deadline
SLOW = 200  # visitors at once
MENDABLE = 2  # the status of a process that says in one sentence what is amiss, such as a database that is down
Fault = Callable[[], None]


class Vandal(threading.Thread):
    """Lets one fault after the other befall the service, those it saw least often first, at moments nobody foresees."""

    def __init__(
        self,
        processes: Sequence[Process],
        faults: Mapping[str, Fault],
        pauses: tuple[float, float],
        wait: Callable[[], object] | None = None,
    ) -> None:
        super().__init__(name="vandal")
        self._processes = processes
        self._faults = faults
        self._pauses = pauses
        self._wait = wait
        self._leaves = threading.Event()
        self.befell: list[tuple[float, str]] = []  # when, and what
        self.ended: Counter[tuple[str, int]] = Counter()  # which processes ended by themselves, with which status
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            while not self._leaves.wait(random.uniform(*self._pauses)):
                name = self._next()
                self.befell.append((time.monotonic(), name))
                self._faults[name]()
                self._look()
                if self._wait:
                    self._wait()
        except Exception as error:
            self.error = error

    def _next(self) -> str:
        """A fault that befell the service least often, so that a short run sees all kinds."""
        times = Counter(name for _, name in self.befell)
        least = min(times[name] for name in self._faults)
        return random.choice([name for name in self._faults if times[name] == least])

    def _look(self) -> None:
        """A process that ended by itself is remembered, and started again as its host would."""
        for process in self._processes:
            if (status := process.ended()) is not None:
                self.ended[process.name, status] += 1
                process.start()

    def leave(self) -> None:
        self._leaves.set()
        self.join()
        for _ in range(20):  # what was started while the database was away may end once more
            self._look()
            time.sleep(0.1)
        if self.error:
            self.error.add_note(f"processes that ended by themselves: {dict(self.ended)}")
            raise self.error

    @property
    def at_fault(self) -> set[tuple[str, int]]:
        """Processes that ended by themselves for another reason than one their host can mend."""
        return {(name, status) for name, status in self.ended if status != MENDABLE}


def deaths(processes: Sequence[Process]) -> dict[str, Fault]:
    """Every kind of process is killed, with its children or alone; any is frozen, or finds itself in another time."""
    kinds = {process.name for process in processes}

    def one(kind: str) -> Process:
        return random.choice([process for process in processes if process.name == kind])

    found: dict[str, Fault] = {f"{kind} killed": lambda kind=kind: _killed(one(kind)) for kind in kinds}  # type: ignore[misc]
    found["a process frozen"] = lambda: _frozen(random.choice(processes))
    found["a clock moved"] = lambda: _moved(random.choice(processes))
    return found


def of_visitors(ports: Sequence[int]) -> dict[str, Fault]:
    return {"slow visitors": lambda: _slow_visitors(random.choice(ports))}


def of_postgres(server: Postgres, store: Store) -> dict[str, Fault]:
    found: dict[str, Fault] = {
        "PostgreSQL crashed": lambda: _crashed(server),
        "a table held": lambda: _held(store),
        "connections cut": lambda: _cut(store),
    }
    return {**found, "disk full": lambda: _filled(server)} if server.small else found


def of_redis(server: Server, redis: Redis) -> dict[str, Fault]:
    return {
        "Redis down": lambda: _crashed(server),
        "Redis emptied": lambda: _emptied(redis),
        "Redis silent": lambda: _silent(redis),
    }


def of_relay(relay: Relay) -> dict[str, Fault]:
    moods: tuple[Mood, ...] = ("refuses", "drops the line", "hangs up")
    found: dict[str, Fault] = {f"the relay {mood}": lambda mood=mood: _in_a_mood(relay, mood) for mood in moods}  # type: ignore[misc]
    return {**found, "the relay stalls": lambda: _stalling(relay)}


def _moment() -> None:
    time.sleep(random.uniform(*LASTS))


def _slow_visitors(port: int) -> None:
    """Many who begin a request, and send no more."""
    with ExitStack() as connected, suppress(OSError):
        for number in range(SLOW):
            visitor = connected.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            visitor.sendall(b"GET / HT" if number % 2 else b"POST / HTTP/1.1\r\nContent-Length: 60000\r\n\r\nabc")
        _moment()


def _killed(victim: Process) -> None:
    how = random.choice([victim.kill, victim.kill, victim.kill_alone, victim.kill_child])
    how()
    if how != victim.kill_child:
        victim.start()


def _frozen(process: Process) -> None:
    """A process that stops in the middle of anything, and goes on later as if nothing had been."""
    process.send(signal.SIGSTOP)
    try:
        _moment()
    finally:
        process.send(signal.SIGCONT)


def _moved(process: Process) -> None:
    process.move_clock(random.choice(CLOCKS_OFF))
    try:
        _moment()
    finally:
        process.move_clock(0)


def _crashed(server: Server) -> None:
    """kill -9 as after a fall of the power, and back with what was on the disk."""
    server.kill()
    _moment()
    server.start()


def _filled(server: Postgres) -> None:
    server.fill()
    try:
        _moment()
    finally:
        server.clear()


def _emptied(redis: Redis) -> None:
    with suppress(RedisError):
        redis.flushall()


def _silent(redis: Redis) -> None:
    """Redis takes commands and answers none of them."""
    with suppress(RedisError):
        redis.client_pause(int(1_000 * random.uniform(*LASTS)))


def _held(store: Store) -> None:
    """A client locks a table and forgets its transaction."""
    with suppress(OperationalError), _other(store) as other, other.writing() as connection:
        some = select(tables.c.id).where(tables.c.phase != "over").limit(5)
        known = connection.execute(some).scalars().all()
        if known:
            wanted = select(tables.c.id).where(tables.c.id == random.choice(known))
            connection.execute(wanted.with_for_update())
            _moment()


def _cut(store: Store) -> None:
    """The database ends every connection but the one that asks for it."""
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = :name"
    with suppress(OperationalError), _other(store) as other, other.reading() as connection:
        connection.execute(text(others), {"name": connection.engine.url.database})


@contextmanager
def _other(store: Store) -> Iterator[Store]:
    """The same database with connections of its own."""
    with closing(Store(store.url)) as other:
        yield other


def _in_a_mood(relay: Relay, mood: Mood) -> None:
    relay.mood = mood
    try:
        _moment()
    finally:
        relay.mood = ""


def _stalling(relay: Relay) -> None:
    usual, relay.pause = relay.pause, 1.0
    try:
        _moment()
    finally:
        relay.pause = usual
