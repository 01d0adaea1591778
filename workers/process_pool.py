"""A second process for heavy work, so that a server in one process keeps answering.

Bots that think, and many letters, hold Python's interpreter lock; in this process every verdict would wait for them.
The process is started by the first work for it and ends after a quiet minute.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

import structlog

from engine import catalogue

NICENESS = 5
QUIET_S = 60.0  # without work the process ends

Given = ParamSpec("Given")
Result = TypeVar("Result")
Work = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class ProcessLost(Exception):
    """The second process has ended before it returned a result."""


class SecondProcess:
    """A process that does one piece of work at a time."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        program = f"from workers.process_pool import serve; serve({theirs.fileno()})"
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", program], stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )
        self._connection = Connection(ours.detach())
        self._connection.send((sys.path, tuple(catalogue.get_package_folders())))  # which `serve` receives first
        self._in_use = threading.Lock()
        self._has_started = False
        self._used_at = time.monotonic()

    def call(self, work: Work) -> Any:
        """Call a function there; return what it returns, or raise what it raises, or ProcessLost if it dies."""
        sent = pickle.dumps(work)
        with self._in_use:
            try:
                self._await_start()
                self._connection.send_bytes(sent)
                is_done, result = self._connection.recv()
            except (OSError, EOFError) as error:
                raise ProcessLost from error
            self._used_at = time.monotonic()
        if not is_done:
            raise result
        return result

    def has_started(self) -> bool:
        """Return whether work can be sent without a wait for the start; True, too, if the process has died."""
        if not self._has_started and self._in_use.acquire(blocking=False):
            try:
                if self._connection.poll():
                    self._await_start()
            except (OSError, EOFError):
                return True  # the next work finds out that it has died
            finally:
                self._in_use.release()
        return self._has_started

    def _await_start(self) -> None:
        """Wait until the process tells that it is ready for work."""
        if not self._has_started:
            self._connection.recv()
            self._has_started = True

    def is_quiet(self) -> bool:
        """Return whether the process has had no work for QUIET_S seconds."""
        return not self._in_use.locked() and time.monotonic() - self._used_at > QUIET_S

    def end(self) -> None:
        """End the process; a thread that waits for its work gets ProcessLost."""
        self.process.kill()
        self.process.wait()


class Pool:
    """The second process while there is one, and whether there may be one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_open = False
        self._process: SecondProcess | None = None

    def start(self) -> None:
        """Allow a second process; the first work for it starts it."""
        self._is_open = True

    def stop(self) -> None:
        """Kill the process. Threads that wait for its work end; later work is done in this process."""
        with self._lock:
            self._is_open = False
            self._end()

    def end_if_quiet(self) -> None:
        """End the process if it has had no work for a while: it holds as much memory as half of the service."""
        with self._lock:
            if self._process is not None and self._process.is_quiet():
                self._end()

    def run(self, work: Callable[Given, Result], *args: Given.args, **words: Given.kwargs) -> Result:
        """Call a function in the second process, or in this one while the pool is not open, and return its result.

        If the process dies, a new one tries once more, and then this one. If the pool is stopped, raise SystemExit in
        this thread.
        """
        for _ in range(2):
            process = self._get_process()
            if process is None:
                break
            try:
                result: Result = process.call((work, args, words))
                return result
            except ProcessLost:
                if not self._is_open:  # it was stopped, it did not die
                    raise SystemExit from None
                self._forget(process)
        return work(*args, **words)

    def run_if_started(self, work: Callable[Given, Result], *args: Given.args, **words: Given.kwargs) -> Result:
        """Like `run`, but do not wait for the start of the process: until then work in this one.

        A server that is killed in its first second, again and again, would never do its work if it waited.
        """
        process = self._get_process()
        has_started = process is not None and process.has_started()
        return self.run(work, *args, **words) if has_started else work(*args, **words)

    def list_pids(self) -> list[int]:
        """Return the process id of the second process in a list; an empty list while there is none."""
        process = self._process
        return [] if process is None else [process.process.pid]

    def _get_process(self) -> SecondProcess | None:
        """Return the second process, and start it if there is none; None while the pool is not open."""
        with self._lock:
            if self._is_open and self._process is None:
                self._process = SecondProcess()
            return self._process

    def _forget(self, lost: SecondProcess) -> None:
        """Let the next work start another process, unless another thread has done so."""
        with self._lock:
            if self._process is lost:
                self._end()

    def _end(self) -> None:
        """End the process if there is one; the caller holds the lock."""
        if self._process is not None:
            self._process.end()
            self._process = None


POOL = Pool()
start, stop, end_if_quiet = POOL.start, POOL.stop, POOL.end_if_quiet
run, run_if_started, list_pids = POOL.run, POOL.run_if_started, POOL.list_pids


def serve(file_descriptor: int) -> None:
    """Do the work that comes over this connection; the life of the second process.

    When the connection closes, `_receive` ends the process.
    """
    connection, works = Connection(file_descriptor), SimpleQueue[bytes]()
    path, packages = connection.recv()
    sys.path[:] = path
    catalogue.allow(packages)
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())  # errors are raised and logged in the parent
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lower_priority()
    connection.send(None)  # that it is ready for work
    threading.Thread(target=_receive, args=(connection, works), daemon=True).start()
    while True:
        connection.send_bytes(_work(works.get()))


def _receive(connection: Connection, works: SimpleQueue[bytes]) -> None:
    """Receive work; end this process with its parent, however that ends. Unfinished work is still in the database."""
    try:
        while True:
            works.put(connection.recv_bytes())
    except (OSError, EOFError):
        os._exit(1)


def _work(sent: bytes) -> bytes:
    """Do one piece of work; return whether it succeeded, and its result or its error with the traceback, as bytes."""
    try:
        work, args, words = pickle.loads(sent)  # noqa: S301 - sent by the parent
        return pickle.dumps((True, work(*args, **words)))
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)))
        return _dump_error(error)


def _dump_error(error: Exception) -> bytes:
    """Return an error as bytes; if it cannot be made from bytes again, return a RuntimeError with its traceback."""
    try:
        dumped = pickle.dumps((False, error))
        pickle.loads(dumped)  # noqa: S301 - our own
    except Exception:
        return pickle.dumps((False, RuntimeError("".join(traceback.format_exception(error)))))
    return dumped


def lower_priority() -> None:
    """Lower this process's priority, so that judging moves comes before bots' thinking."""
    os.nice(NICENESS)
