"""The memory of a process: LRU caches that its threads share, the search for garbage, and free memory given back.

Emptying a cache costs time and loses nothing. A cache is an OrderedDict, because cachetools with a lock takes half as
long again for a hit (see docs/decisions/code.md).
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from engine.record import Table

WORK_S, PAUSE_S = 0.5, 10.0  # at least, between two times that memory is given back

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class LRU(Generic[T]):
    """A thread-safe LRU cache of limited size; a value counts 1, or the size given to `put`."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._values: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()  # with their sizes
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """Return the value of this key, which counts as used now; None if there is none."""
        with self._lock:
            entry = self._values.get(key)
            if entry is None:
                return None
            self._values.move_to_end(key)
            value, _size = entry
            return value

    def get_all(self, keys: Iterable[K]) -> dict[K, T]:
        """Return the cached values of these keys, with one look into the cache; a key without a value is left out."""
        cached: dict[K, T] = {}
        with self._lock:
            for key in keys:
                if key in self._values:
                    self._values.move_to_end(key)
                    value, _size = self._values[key]
                    cached[key] = value
        return cached

    def put(self, key: Hashable, value: T, size: int = 1) -> None:
        """Put a value; the values that were not used for longest make room for it."""
        with self._lock:
            _, old_size = self._values.pop(key, (None, 0))
            self._values[key] = (value, size)
            self._free += old_size - size
            while self._free < 0:
                _key, (_value, dropped_size) = self._values.popitem(last=False)
                self._free += dropped_size


class Caches:
    """The caches of the server; what is Any belongs to modules that this one may not import."""

    def __init__(self) -> None:
        self.positions = LRU[Table](2_000)
        self.earlier_positions = LRU[tuple[str, Table]](1_000)  # with the hash of the last entry, by table and length
        self.turns = LRU[Any](2_000)
        self.stories = LRU[Any](200)
        self.boards = LRU[Any](200)
        self.staged_boards = LRU[Any](200)
        self.chapters = LRU[Any](4_000)
        self.score_histories = LRU[Any](2_000)
        self.links = LRU[bool](4_000)  # that exist


@contextmanager
def put_off_collections() -> Iterator[None]:
    """Put off garbage collections, at most until this ends: during a start each takes 0.1 s and would find nothing.

    Inside, `collect_from_now_on` ends the delay.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def collect_from_now_on() -> None:
    """Collect garbage, but only among what is created from now on."""
    gc.freeze()
    gc.enable()


def release_memory() -> None:
    """Give the memory back that glibc keeps for later; after work, that is a twentieth of what the process has."""
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


class MemoryReleaser:
    """Gives memory back from time to time, and never in a process that does nothing."""

    def __init__(self) -> None:
        self._worked_before_s = 0.0  # of the processor, until the last time
        self._next_at = 0.0  # not before this moment, in seconds of the monotonic clock

    def release_after_work(self) -> bool:
        """Give memory back if WORK_S of work and PAUSE_S have passed since the last time; return whether it did."""
        now = time.monotonic()
        work_s = time.process_time() - self._worked_before_s
        if now < self._next_at or work_s < WORK_S:
            return False
        release_memory()
        self._worked_before_s = time.process_time()
        self._next_at = now + PAUSE_S
        return True
