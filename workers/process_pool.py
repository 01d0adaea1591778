"""A process beside this one for heavy work, so that a server in one process keeps answering.

Bots that think and letters that are written hold Python's interpreter lock; in this process every verdict would wait
for them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import ParamSpec, TypeVar

import structlog

from engine import catalogue

NICENESS = 5

Given = ParamSpec("Given")
Result = TypeVar("Result")

_is_open = threading.Event()  # between `start` and `stop`
_pools: list[ProcessPoolExecutor] = []  # one from the first work on, while the pool is open
_first_results: dict[ProcessPoolExecutor, Future[int]] = {}  # done as soon as the pool's process has started
_lock = threading.Lock()


def start() -> None:
    """Open the pool: from now on `run` works in its process, which the first work starts."""
    _is_open.set()


def stop() -> None:
    """Kill the pool's process. Threads that wait for its work end; later work is done in this process."""
    with _lock:
        _is_open.clear()
        while _pools:
            pool = _pools.pop()
            for process in list(pool._processes.values()):
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)
        _first_results.clear()


def run(work: Callable[Given, Result], *args: Given.args, **words: Given.kwargs) -> Result:
    """Call a function in the pool, or in this process if the pool is not running, and return its result.

    If the pool's process dies, a new one tries once more. If the pool is stopped, raise SystemExit in this thread.
    """
    for _ in range(2):
        try:
            with _lock:
                if not _is_open.is_set():
                    break
                pool = _get_pool()
                future = pool.submit(work, *args, **words)
            return future.result()
        except (BrokenProcessPool, CancelledError):
            if not _is_open.is_set():  # it was stopped, it did not die
                raise SystemExit from None
            _replace(pool)
    return work(*args, **words)


def run_when_started(work: Callable[Given, Result], *args: Given.args, **words: Given.kwargs) -> Result:
    """Like `run`, but work in this process until the pool's process has started.

    Its start takes longer than short work. A server that is killed in its first second, again and again, would
    otherwise never send a letter.
    """
    return run(work, *args, **words) if _is_started() else work(*args, **words)


def _is_started() -> bool:
    """Return whether the pool's process has started; the first call starts it."""
    with _lock:
        if not _is_open.is_set():
            return False
        pool = _get_pool()
        if pool not in _first_results:
            with suppress(BrokenProcessPool):  # it has died over other work, and `run` replaces it
                _first_results[pool] = pool.submit(os.getpid)
        return pool not in _first_results or _first_results[pool].done()


def list_pids() -> list[int]:
    """Return the process ids of the pool; empty until the first work starts the process."""
    return [pid for pool in _pools for pid in pool._processes]


def _replace(broken: ProcessPoolExecutor) -> None:
    """Put a new pool in the place of one whose process died, unless another thread has done so."""
    with _lock:
        if _pools and _pools[-1] is broken:
            _pools[-1] = _make_pool()
            _first_results.pop(broken, None)


def _get_pool() -> ProcessPoolExecutor:
    """Return the pool, and make it for the first work: multiprocessing starts a process of its own for it (11 MB)."""
    if not _pools:
        _pools.append(_make_pool())
    return _pools[-1]


def _make_pool() -> ProcessPoolExecutor:
    spawn, packages = multiprocessing.get_context("spawn"), tuple(catalogue.get_package_folders())
    return ProcessPoolExecutor(1, spawn, initializer=_initialise, initargs=(packages,))


def _initialise(packages: tuple[str, ...]) -> None:
    """Prepare the pool's process: it has the same games, leaves signals and logs to its parent, and ends with it."""
    catalogue.allow(packages)
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())  # errors are raised and logged in the parent
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lower_priority()
    exit_with_parent()


def lower_priority() -> None:
    """Lower this process's priority, so that judging moves comes before bots' thinking."""
    os.nice(NICENESS)


def exit_with_parent() -> None:
    """End this process when its parent ends, however it ends; unfinished work is still in the database."""
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)
