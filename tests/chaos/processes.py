"""Processes of the service that can be killed, frozen, given a shifted clock, and started again."""

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
RECOVERY_S = 300.0  # bots may finish whole games at tables that their players left, on a busy machine
STOP_S = 30.0  # a container has ten seconds, which on a busy machine may be too few


class Process:
    """A process of the service with its own process group, which can be killed and started again."""

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
        self._command = [*host, sys.executable, "-m", "tests.chaos.shifted_clock", str(self._clock), *command]
        self._source = source
        self._environment = environment
        self._groups: list[int] = []
        self.log = log
        self.name = command[0]
        self.start()

    def shift_clock(self, seconds: int) -> None:
        """Set its clock ahead by so many seconds."""
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

    def exit_status(self) -> int | None:
        """Return the status with which it ended by itself; None while it runs."""
        return self._running.poll()

    def kill(self) -> None:
        """Kill it and all its children with SIGKILL."""
        os.killpg(self._running.pid, signal.SIGKILL)
        self._running.wait()

    def kill_parent(self) -> None:
        """Kill it with SIGKILL; its children live on until they notice."""
        self._running.kill()
        self._running.wait()

    def kill_child(self) -> None:
        """Kill one of its children with SIGKILL; it starts another."""
        children = psutil.Process(self._running.pid).children()
        if children:
            random.choice(children).kill()

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to it and all its children."""
        with suppress(ProcessLookupError):
            os.killpg(self._running.pid, number)

    def stop(self) -> bool:
        """Stop it as a host would; return whether it ended before a container would have been killed."""
        self._running.terminate()
        try:
            self._running.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        return True

    def has_survivors(self) -> bool:
        """Return whether any process that was ever started here still runs."""
        return any(group in self._groups for group in map(_get_group, psutil.pids()))


def _get_group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


@contextmanager
def run_service(
    folder: Path,
    commands: Sequence[Sequence[str]],
    source: Path = ROOT,
    hosts: Sequence[Sequence[str]] = (),
    **settings: object,
) -> Iterator[list[Process]]:
    """Run these commands as processes with these settings, from this source or an older one, each on its host."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("DEPESCHE_")}
    given = {f"DEPESCHE_{name.upper()}": str(value) for name, value in settings.items()}
    environment = {**inherited, **given, "DEPESCHE_FOLDER": str(folder), "DEPESCHE_OPENS_PER_HOUR": "1000000"}
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
    assert not late, "did not end when they were stopped"
    wait_until(lambda: not any(process.has_survivors() for process in running), "every process has ended")


def pick_stable_port() -> int:
    """Return a free port from a range that no outgoing connection uses, so that it stays free during a restart."""
    while True:
        port = random.randrange(15_000, 30_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def wait_until_none(count: Callable[[], int], what: str) -> None:
    """Wait until the count is 0; the time starts again whenever the count falls."""
    least, end = count(), time.monotonic() + RECOVERY_S
    while least:
        time.sleep(0.2)
        if (now := count()) < least:
            least, end = now, time.monotonic() + RECOVERY_S
        assert time.monotonic() < end, f"not within {RECOVERY_S} s: {what}; {least} are left"


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition that the service has to reach by itself."""
    end = time.monotonic() + RECOVERY_S
    while not condition():
        assert time.monotonic() < end, f"not within {RECOVERY_S} s: {what}"
        time.sleep(0.2)
