"""Processes of the service that can be killed, frozen, given another time, and started again."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0  # seconds in which a service has to be well again, also on a machine with much else to do


class Process:
    """A process of the service in a group of its own, which can be killed and started again."""

    def __init__(
        self,
        command: Sequence[str],
        environment: dict[str, str],
        log: Path,
        source: Path = ROOT,
        host: Sequence[str] = (),
    ) -> None:
        self._clock = log.with_suffix(".clock")
        self._clock.write_text("0")
        self._command = [*host, sys.executable, "-m", "tests.chaos.moved", str(self._clock), *command]
        self._source = source
        self._environment = environment
        self._groups: list[int] = []
        self.log = log
        self.name = command[0]
        self.start()

    def move_clock(self, seconds: int) -> None:
        """From now on its time is so far ahead."""
        self._clock.write_text(str(seconds))

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                self._command,
                cwd=self._source,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )
        self._groups.append(self._running.pid)

    def ended(self) -> int | None:
        """The status with which it ended without being killed by us; None while it runs."""
        return self._running.poll()

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

    def stop(self) -> bool:
        """As a host would stop it, and whether it ended by itself before a container would have been killed."""
        self._running.terminate()
        try:
            self._running.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        return True

    def left(self) -> bool:
        """Whether anything that was ever started here still runs."""
        return any(group in self._groups for group in map(_group, psutil.pids()))


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


@contextmanager
def service(
    folder: Path,
    commands: Sequence[Sequence[str]],
    source: Path = ROOT,
    hosts: Sequence[Sequence[str]] = (),
    **chosen: object,
) -> Iterator[list[Process]]:
    """These commands as processes, with these settings: of this source or another version's, each on its host."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("DEPESCHE_")}
    words = {f"DEPESCHE_{name.upper()}": str(value) for name, value in chosen.items()}
    environment = {**inherited, **words, "DEPESCHE_FOLDER": str(folder), "DEPESCHE_OPENS_PER_HOUR": "1000000"}
    environment |= {"DEPESCHE_MOVES_PER_MINUTE": "1000000", "DEPESCHE_GATHER": "0", "DEPESCHE_CONFIRM": "off"}
    environment |= {f"DEPESCHE_{name}": "1000000" for name in ("INVITATIONS_PER_DAY", "ANSWERS_PER_HOUR")}
    running: list[Process] = []
    try:
        for number, command in enumerate(commands):
            host = hosts[number] if hosts else ()
            running.append(Process(command, environment, folder / f"{number}-{command[0]}.log", source, host))
        yield running
    finally:
        late = [process.name for process in running if not process.stop()]
    assert not late, "did not end when they were told to"
    until(lambda: not any(process.left() for process in running), "every process has ended")


def lasting_port() -> int:
    """A port that nobody takes by chance while its server is being started again: no outgoing connection uses these."""
    while True:
        port = random.randrange(15_000, 30_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def until_none(left: Callable[[], int], what: str) -> None:
    """Wait until nothing of this is left; as long as it becomes less, however slowly, that is well."""
    least, end = left(), time.monotonic() + PATIENCE
    while least:
        time.sleep(0.2)
        if (now := left()) < least:
            least, end = now, time.monotonic() + PATIENCE
        assert time.monotonic() < end, f"not within {PATIENCE} s: {what}; {least} are left"


def until(wanted: Callable[[], bool], what: str) -> None:
    """Wait for something that has to come about by itself."""
    end = time.monotonic() + PATIENCE
    while not wanted():
        assert time.monotonic() < end, f"not within {PATIENCE} s: {what}"
        time.sleep(0.2)
