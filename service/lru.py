"""LRU caches that all threads of a process share; emptying one loses nothing but time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

from engine.record import Table

T = TypeVar("T")


class LRU(Generic[T]):
    """A thread-safe LRU cache."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: T) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._size:
                self._values.popitem(last=False)


class Caches:
    """The caches of a house: newest positions of tables, earlier ones, who acted when, drawn boards, stories told."""

    def __init__(self) -> None:
        self.newest = LRU[Table](2_000)
        self.marks = LRU[tuple[str, Table]](1_000)
        self.turns = LRU[Any](2_000)
        self.stories = LRU[Any](200)
        self.boards = LRU[Any](200)
        self.stages = LRU[Any](200)
