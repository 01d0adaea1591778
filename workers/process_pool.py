"""Heavy work done in another process, where one process serves everything and must keep answering.

A thinking bot or a letter being written would otherwise hold the interpreter, and every verdict would wait for it.
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

NICE = 5

Given = ParamSpec("Given")
Result = TypeVar("Result")

_pools: list[ProcessPoolExecutor] = []
_begun: dict[ProcessPoolExecutor, Future[int]] = {}
_lock = threading.Lock()


def start() -> None:
    """From now on heavy work of this process is done in another process."""
    with _lock:
        _pools.append(_pool())


def stop() -> None:
    """End that process, and with it the work in its hand and whoever waits for that; heavy work is done here again."""
    with _lock:
        while _pools:
            pool = _pools.pop()
            for process in list(pool._processes.values()):
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)
        _begun.clear()


def do(work: Callable[Given, Result], *args: Given.args, **words: Given.kwargs) -> Result:
    """The result of this work, done by the process pool where there is one; a process that died is replaced.

    Where the pool is stopped meanwhile, the thread that waits ends too.
    """
    for _ in range(2):
        try:
            with _lock:
                if not _pools:
                    break
                pool = _pools[-1]
                promised = pool.submit(work, *args, **words)
            return promised.result()
        except (BrokenProcessPool, CancelledError):
            if not _pools:  # not died, but stopped
                raise SystemExit from None
            _replace(pool)
    return work(*args, **words)


def do_soon(work: Callable[Given, Result], *args: Given.args, **words: Given.kwargs) -> Result:
    """The same for what takes a moment: it is done here as long as the other process has not begun, which takes longer.

    Otherwise a house that is killed in its first second, again and again, would never send a letter.
    """
    return do(work, *args, **words) if _stands() else work(*args, **words)


def _stands() -> bool:
    """Whether the process of the pool has begun; who asks first has it begin."""
    with _lock:
        if not _pools:
            return False
        pool = _pools[-1]
        if pool not in _begun:
            with suppress(BrokenProcessPool):  # it has died over other work, and `do` replaces it
                _begun[pool] = pool.submit(os.getpid)
        return pool not in _begun or _begun[pool].done()


def pids() -> list[int]:
    """The processes of the pool; a process begins with the first work."""
    return [pid for pool in _pools for pid in pool._processes]


def _replace(broken: ProcessPoolExecutor) -> None:
    with _lock:
        if _pools and _pools[-1] is broken:
            _pools[-1] = _pool()
            _begun.pop(broken, None)


def _pool() -> ProcessPoolExecutor:
    spawn, packages = multiprocessing.get_context("spawn"), tuple(catalogue.packages())
    return ProcessPoolExecutor(1, spawn, initializer=_begin, initargs=(packages,))


def _begin(packages: tuple[str, ...]) -> None:
    """The process of the pool knows the same games, leaves signals and logs to its parent, and ends with it."""
    catalogue.allow(packages)
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())  # what goes wrong comes back as an error
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    step_back()
    go_with_parent()


def step_back() -> None:
    """Thinking takes what nobody else wants of the processor: a verdict that comes due goes first."""
    os.nice(NICE)


def go_with_parent() -> None:
    """This process ends when its parent does, however that ends; whatever was in hand is still in the book."""
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)
