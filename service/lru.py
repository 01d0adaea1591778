"""LRU caches that all threads of a process share; emptying one loses nothing but time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

from engine.record import Table

T = TypeVar("T")


class LRU(Generic[T]):
    """A thread-safe LRU cache; its size is that of all its values together, and a value counts one or as it is said."""

    def __init__(self, size: int) -> None:
        self._room = size
        self._values: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: T, size: int = 1) -> None:
        with self._lock:
            self._room += self._values.pop(key)[1] if key in self._values else 0
            self._values[key] = (value, size)
            self._room -= size
            while self._room < 0:
                self._room += self._values.popitem(last=False)[1][1]


class Caches:
    """The caches of a house: newest positions of tables, earlier ones, who acted when, drawn boards, stories told."""

    def __init__(self) -> None:
        self.newest = LRU[Table](2_000)
        self.marks = LRU[tuple[str, Table]](1_000)
        self.turns = LRU[Any](2_000)
        self.stories = LRU[Any](200)
        self.boards = LRU[Any](200)
        self.stages = LRU[Any](200)
        self.courses = LRU[Any](200)
