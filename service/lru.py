"""What is kept in memory because making it anew takes longer; losing it loses nothing."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """The things used last, for any thread; what nobody asked for in the longest while makes room."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._things: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            if key in self._things:
                self._things.move_to_end(key)
            return self._things.get(key)

    def put(self, key: Hashable, thing: T) -> None:
        with self._lock:
            self._things[key] = thing
            self._things.move_to_end(key)
            if len(self._things) > self._size:
                self._things.popitem(last=False)
