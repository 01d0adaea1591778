"""The faults that are injected into a running service: each begins, lasts a moment, and ends."""

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
from tests.chaos.machines import Postgres, Relay, RelayFault, Server
from tests.chaos.processes import Process

DURATION_S = (0.3, 2.0)
CLOCK_SHIFTS_S = (-90, -20, 20, 90)  # longer than the lease of a letter, shorter than any deadline
SLOW_VISITORS = 200
HOST_ERROR = 2  # exit status of a process that says in one sentence what is wrong, such as a database that is down
Fault = Callable[[], None]


class FaultInjector(threading.Thread):
    """Injects one fault after the other at random moments, the least frequent ones first."""

    def __init__(
        self,
        processes: Sequence[Process],
        faults: Mapping[str, Fault],
        pauses: tuple[float, float],
        wait: Callable[[], object] | None = None,
    ) -> None:
        super().__init__(name="fault injector")
        self._processes = processes
        self._faults = faults
        self._pauses = pauses
        self._wait = wait
        self._stopping = threading.Event()
        self.injected: list[tuple[float, str]] = []  # time and name of each fault
        self.exits: Counter[tuple[str, int]] = Counter()  # processes that ended by themselves, and their status
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            while not self._stopping.wait(random.uniform(*self._pauses)):
                name = self._choose()
                self.injected.append((time.monotonic(), name))
                self._faults[name]()
                self._restart_ended()
                if self._wait:
                    self._wait()
        except Exception as error:
            self.error = error

    def _choose(self) -> str:
        """Choose a fault that was injected least often, so that a short run includes every kind."""
        times = Counter(name for _, name in self.injected)
        least = min(times[name] for name in self._faults)
        return random.choice([name for name in self._faults if times[name] == least])

    def _restart_ended(self) -> None:
        """Count each process that ended by itself, and start it again as its host would."""
        for process in self._processes:
            if (status := process.exit_status()) is not None:
                self.exits[process.name, status] += 1
                process.start()

    def stop(self) -> None:
        self._stopping.set()
        self.join()
        for _ in range(20):  # a process that started while the database was down may end once more
            self._restart_ended()
            time.sleep(0.1)
        if self.error:
            self.error.add_note(f"processes that ended by themselves: {dict(self.exits)}")
            raise self.error

    @property
    def unexpected_exits(self) -> set[tuple[str, int]]:
        """Processes that ended by themselves for a reason that their host cannot fix."""
        return {(name, status) for name, status in self.exits if status != HOST_ERROR}


def process_faults(processes: Sequence[Process]) -> dict[str, Fault]:
    """Kill each kind of process, with its children or alone; freeze any process, or shift its clock."""
    kinds = {process.name for process in processes}

    def one(kind: str) -> Process:
        return random.choice([process for process in processes if process.name == kind])

    faults: dict[str, Fault] = {f"{kind} killed": lambda kind=kind: _kill(one(kind)) for kind in kinds}  # type: ignore[misc]
    faults["a process frozen"] = lambda: _freeze(random.choice(processes))
    faults["a clock moved"] = lambda: _shift_clock(random.choice(processes))
    return faults


def visitor_faults(ports: Sequence[int]) -> dict[str, Fault]:
    return {"slow visitors": lambda: _send_unfinished_requests(random.choice(ports))}


def postgres_faults(server: Postgres, store: Store) -> dict[str, Fault]:
    faults: dict[str, Fault] = {
        "PostgreSQL crashed": lambda: _crash(server),
        "a table locked": lambda: _lock_table(store),
        "connections cut": lambda: _cut_connections(store),
    }
    return {**faults, "disk full": lambda: _fill_disk(server)} if server.small else faults


def redis_faults(server: Server, redis: Redis) -> dict[str, Fault]:
    return {
        "Redis down": lambda: _crash(server),
        "Redis emptied": lambda: _empty(redis),
        "Redis silent": lambda: _silence(redis),
    }


def relay_faults(relay: Relay) -> dict[str, Fault]:
    names: tuple[RelayFault, ...] = ("refuses", "drops the connection", "hangs up")
    faults: dict[str, Fault] = {f"the relay {fault}": lambda fault=fault: _set_fault(relay, fault) for fault in names}  # type: ignore[misc]
    return {**faults, "the relay stalls": lambda: _stall(relay)}


def _wait_a_moment() -> None:
    time.sleep(random.uniform(*DURATION_S))


def _send_unfinished_requests(port: int) -> None:
    """Open many connections that begin a request and never finish it."""
    with ExitStack() as connected, suppress(OSError):
        for number in range(SLOW_VISITORS):
            visitor = connected.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            visitor.sendall(b"GET / HT" if number % 2 else b"POST / HTTP/1.1\r\nContent-Length: 60000\r\n\r\nabc")
        _wait_a_moment()


def _kill(victim: Process) -> None:
    how = random.choice([victim.kill, victim.kill, victim.kill_parent, victim.kill_child])
    how()
    if how != victim.kill_child:
        victim.start()


def _freeze(process: Process) -> None:
    """Stop a process at any point, and let it go on later."""
    process.send_signal(signal.SIGSTOP)
    try:
        _wait_a_moment()
    finally:
        process.send_signal(signal.SIGCONT)


def _shift_clock(process: Process) -> None:
    process.shift_clock(random.choice(CLOCK_SHIFTS_S))
    try:
        _wait_a_moment()
    finally:
        process.shift_clock(0)


def _crash(server: Server) -> None:
    """Kill a server as a power failure would, and restart it with its disk."""
    server.kill()
    _wait_a_moment()
    server.start()


def _fill_disk(server: Postgres) -> None:
    server.fill()
    try:
        _wait_a_moment()
    finally:
        server.clear()


def _empty(redis: Redis) -> None:
    with suppress(RedisError):
        redis.flushall()


def _silence(redis: Redis) -> None:
    """Make Redis accept commands without answering them."""
    with suppress(RedisError):
        redis.client_pause(int(1_000 * random.uniform(*DURATION_S)))


def _lock_table(store: Store) -> None:
    """Lock a table in a transaction that stays open for a moment."""
    with suppress(OperationalError), _open_store(store) as other, other.writing() as connection:
        some = select(tables.c.id).where(tables.c.phase != "over").limit(5)
        names = connection.execute(some).scalars().all()
        if names:
            chosen = select(tables.c.id).where(tables.c.id == random.choice(names))
            connection.execute(chosen.with_for_update())
            _wait_a_moment()


def _cut_connections(store: Store) -> None:
    """Let the database end every connection but this one."""
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = :name"
    with suppress(OperationalError), _open_store(store) as other, other.reading() as connection:
        connection.execute(text(others), {"name": connection.engine.url.database})


@contextmanager
def _open_store(store: Store) -> Iterator[Store]:
    """Open the same database with separate connections."""
    with closing(Store(store.url)) as other:
        yield other


def _set_fault(relay: Relay, fault: RelayFault) -> None:
    relay.fault = fault
    try:
        _wait_a_moment()
    finally:
        relay.fault = ""


def _stall(relay: Relay) -> None:
    pause, relay.pause = relay.pause, 1.0
    try:
        _wait_a_moment()
    finally:
        relay.pause = pause
