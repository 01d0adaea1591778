"""What the host tells everybody: a line on every page, and that no new tables are opened for now."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from msgspec import Struct
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

from service.store import facts
from service.store.connection import Store

Name = Literal["banner", "closed"]
NAMES: tuple[Name, ...] = ("banner", "closed")
LASTS = 10  # seconds until a process looks again
LONGEST = 300


class Notices(Struct, frozen=True):
    """The host's words; empty where there are none."""

    banner: str = ""
    closed: str = ""


class Board:
    """The notices of a house, looked up now and then, for every page shows them."""

    def __init__(self, store: Store, now: Callable[[], int]) -> None:
        self._store = store
        self._now = now
        self._seen: tuple[int, Notices] | None = None

    def read(self) -> Notices:
        """The notices as they were some seconds ago; the last known while the database is away."""
        if self._seen is None or self._seen[0] + LASTS < self._now():
            with suppress(OperationalError, NoConnection), self._store.reading() as connection:
                self._seen = self._now(), newest(connection)
        return self._seen[1] if self._seen else Notices()

    def put(self, name: Name, words: str) -> None:
        """Put this notice up, or take it down where the words are empty."""
        with self._store.writing() as connection:
            facts.set_fact(connection, name, words[:LONGEST])
        self._seen = None


def newest(connection: Connection) -> Notices:
    """The notices as they are now."""
    return Notices(**facts.get_facts(connection, NAMES))
