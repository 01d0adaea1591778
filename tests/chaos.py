"""A service of real processes that are killed at any moment, and people who go on playing meanwhile."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import msgspec
import psutil
from msgspec import Struct
from msgspec.structs import replace

from service.links import hashed

ROOT = Path(__file__).parents[1]
PATIENCE = 60.0  # seconds in which a service that nobody disturbs any more has to be well again
NAMES = ("Anna", "Berta", "Clara", "Dora")


class Process:
    """A process of the service in a group of its own, which can be killed and started again."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], log: Path) -> None:
        self._command = [sys.executable, "-m", "service.cli", *command]
        self._environment = environment
        self._groups: list[int] = []
        self.log = log
        self.name = command[0]
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )
        self._groups.append(self._running.pid)

    def ended(self) -> bool:
        """Whether it ended without being killed by us."""
        return self._running.poll() is not None

    def kill(self) -> None:
        """kill -9, with all its children."""
        os.killpg(self._running.pid, signal.SIGKILL)
        self._running.wait()

    def kill_alone(self) -> None:
        """kill -9, while its children live on until they notice."""
        self._running.kill()
        self._running.wait()

    def kill_child(self) -> None:
        """kill -9 one of its children; it starts another."""
        children = psutil.Process(self._running.pid).children()
        if children:
            random.choice(children).kill()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it and all its children."""
        with suppress(ProcessLookupError):
            os.killpg(self._running.pid, number)

    def stop(self) -> None:
        """As a host would stop it."""
        self._running.terminate()
        try:
            self._running.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()

    def left(self) -> bool:
        """Whether anything that was ever started here still runs."""
        return any(group in self._groups for group in map(_group, psutil.pids()))


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


@contextmanager
def service(folder: Path, commands: Sequence[Sequence[str]], **chosen: object) -> Iterator[list[Process]]:
    """These commands as processes, with these settings."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("DEPESCHE_")}
    words = {f"DEPESCHE_{name.upper()}": str(value) for name, value in chosen.items()}
    environment = {**inherited, **words, "DEPESCHE_FOLDER": str(folder), "DEPESCHE_OPENS_PER_HOUR": "1000000"}
    environment |= {"DEPESCHE_MOVES_PER_MINUTE": "1000000", "DEPESCHE_GATHER": "0", "DEPESCHE_CONFIRM": "off"}
    running: list[Process] = []
    try:
        for number, command in enumerate(commands):
            running.append(Process(command, environment, folder / f"{number}-{command[0]}.log"))
        yield running
    finally:
        for process in running:
            process.stop()
    until(lambda: not any(process.left() for process in running), "every process has ended")


class Vandal(threading.Thread):
    """Kills one of these processes again and again, at a moment nobody foresees, and does what else may befall them."""

    def __init__(
        self,
        processes: Sequence[Process],
        pauses: tuple[float, float],
        faults: Mapping[str, Callable[[], None]] | None = None,
        wait: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(name="vandal")
        self._wait = wait
        self._processes = processes
        self._pauses = pauses
        self._faults = faults or {}
        self._leaves = threading.Event()
        self.kills = 0
        self.befell: list[tuple[float, str]] = []  # when, and what
        self.ended: list[str] = []

    def run(self) -> None:
        while not self._leaves.wait(random.uniform(*self._pauses)):
            self._strike()
            self._look()
            self._wait()

    def _strike(self) -> None:
        if self._faults and random.random() < 0.5:
            name = self._next()
            self.befell.append((time.monotonic(), name))
            self._faults[name]()
            return
        self.befell.append((time.monotonic(), "a process killed"))
        victim = random.choice(self._processes)
        self.kills += 1
        how = random.choice([victim.kill, victim.kill, victim.kill_alone, victim.kill_child])
        how()
        if how != victim.kill_child:
            victim.start()

    def _next(self) -> str:
        """A fault that befell them least often, so that a short run sees all kinds."""
        times = Counter(name for _, name in self.befell)
        least = min(times[name] for name in self._faults)
        return random.choice([name for name in self._faults if times[name] == least])

    def _look(self) -> None:
        """A process that ended by itself is remembered, and started again so that the rest can be seen."""
        for process in self._processes:
            if process.ended():
                self.ended.append(process.name)
                process.start()

    def leave(self) -> None:
        self._leaves.set()
        self.join()
        self._look()


class Answer(Struct):
    status: int
    body: Any
    requests: int = 1


class Unreachable(Exception):
    """The service did not answer for a long time."""


class Heard(Struct):
    """What somebody was told about a submission."""

    table: str
    seat: int
    key: str
    move: str
    accepted: bool
    said: str
    seq: int | None
    requests: int
    asked_at: float
    told_at: float


class Crowd:
    """People at several tables who all play at once, and repeat what they were not told a verdict on."""

    def __init__(self, ports: Sequence[int], thinking: float = 0.0) -> None:
        self._ports = ports
        self._thinking = thinking  # seconds before a move
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self.heard: list[Heard] = []
        self.links: dict[str, str] = {}
        self.errors: list[str] = []

    def play(self, tables: int) -> None:
        """Begin to play at so many tables."""
        for number in range(tables):
            self._begin(lambda number=number: self._host(number))

    def leave(self) -> None:
        """Finish the move in hand, and stop."""
        self._over.set()
        for thread in self._threads:
            thread.join(PATIENCE)
            if thread.is_alive():
                self.errors.append(f"{thread.name} still waits")

    def _begin(self, work: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                work()
            except Exception as error:
                self.errors.append(repr(error))

        thread = threading.Thread(target=guarded, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _host(self, number: int) -> None:
        """Open one table after the other and play it to the end, at every third one with a bot."""
        while not self._over.is_set():
            seats = 2 + number % 3
            bots = int(number % 3 == 2)
            players = [{"name": name, "address": f"{name}.{number}@example.org"} for name in NAMES[: seats - bots]]
            players += [{"name": "Bot", "address": ""}] * bots
            made = self.ask("POST", "/tables", {"game": "kaiser", "players": players}).body
            with self._lock:
                self.links[made["table"]] = made["links"][0]
            places = [(link, seat) for seat, link in enumerate(made["links"]) if link]
            sitting = [threading.Thread(target=self._sit_and_play, args=(made["table"], *place)) for place in places]
            for thread in sitting:
                thread.start()
            for thread in sitting:
                thread.join()

    def _sit_and_play(self, table: str, link: str, seat: int) -> None:
        try:
            self._submit(table, link, seat, "sit", {"nonce": f"word{seat}"}, f"{hashed(link)}/0")
            while not self._over.is_set():
                seen = self.ask("GET", f"/t/{link}").body
                if seen["phase"] == "over":
                    return
                if not seen["moves"]:
                    time.sleep(0.02)
                    continue
                time.sleep(self._thinking)
                key, move = uuid.uuid4().hex, random.choice(seen["moves"])
                body = {"move": move, "seen": seen["length"] - 1, "key": key}
                self._submit(table, link, seat, "moves", body, key)
        except Exception as error:
            self.errors.append(repr(error))

    def _submit(self, table: str, link: str, seat: int, what: str, body: dict[str, Any], key: str) -> None:
        """Hand this in and repeat it, with the same key, until there is a verdict."""
        requests, began = 0, time.monotonic()
        while time.monotonic() < began + PATIENCE:
            answer = self.ask("POST", f"/t/{link}/{what}", body)
            requests += answer.requests
            if answer.status == 202:
                continue
            told = answer.body
            heard = Heard(
                table, seat, key, body.get("move", what), answer.status == 200, told.get("refused", ""),
                told.get("seq"), requests, began, time.monotonic(),
            )  # fmt: skip
            with self._lock:
                self.heard.append(heard)
            return
        raise Unreachable(f"no verdict on {body}")

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        """The service's answer, asking again until there is one."""
        requests, until = 0, time.monotonic() + PATIENCE
        while time.monotonic() < until:
            requests += 1
            try:
                answer = _request(random.choice(self._ports), method, path, body)
            except (OSError, HTTPException, msgspec.DecodeError):
                time.sleep(random.uniform(0.02, 0.1))
                continue
            if answer.status == 503:  # the database is away for a moment, and the house says so
                time.sleep(random.uniform(0.1, 0.3))
                continue
            if answer.status < 500:
                return replace(answer, requests=requests)
            self.errors.append(f"{method} {path}: {answer}")
        raise Unreachable(path)


def _request(port: int, method: str, path: str, body: Any) -> Answer:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        sent = None if body is None else msgspec.json.encode(body)
        connection.request(method, f"/api/v1{path}", sent, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return Answer(response.status, msgspec.json.decode(response.read()))
    finally:
        connection.close()


def longest_waits(vandal: Vandal, crowd: Crowd) -> dict[str, float]:
    """For each kind of fault the longest wait for a verdict, in seconds, of those who waited as it began."""
    waits: dict[str, float] = {}
    for at, name in vandal.befell:
        over = [heard.told_at - at for heard in crowd.heard if heard.asked_at <= at <= heard.told_at]
        waits[name] = max([waits.get(name, 0.0), *over])
    return waits


def lasting_port() -> int:
    """A port that nobody takes by chance while its server is being started again: no outgoing connection uses these."""
    while True:
        port = random.randrange(15_000, 30_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def until(wanted: Callable[[], bool], what: str) -> None:
    """Wait for something that has to come about by itself."""
    end = time.monotonic() + PATIENCE
    while not wanted():
        assert time.monotonic() < end, f"not within {PATIENCE} s: {what}"
        time.sleep(0.2)
