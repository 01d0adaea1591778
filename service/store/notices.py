"""The host's notices: a line on every page, and the reason why no new tables can be opened for now."""

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
REFRESH_AFTER_S = 10  # seconds until a process looks again
MAX_NOTICE_CHARS = 300


class Notices(Struct, frozen=True):
    """The texts of the host; empty if there is none."""

    banner: str = ""
    closed: str = ""


class NoticeBoard:
    """The notices of the server, cached for some seconds because every page shows them."""

    def __init__(self, store: Store, now: Callable[[], int]) -> None:
        self._store = store
        self._now = now
        self._cached: tuple[int, Notices] | None = None

    def get(self) -> Notices:
        """Return the notices, at most some seconds old, or older while the database does not answer."""
        if self._cached is None or self._cached[0] + REFRESH_AFTER_S < self._now():
            with suppress(OperationalError, NoConnection), self._store.reading() as connection:
                self._cached = self._now(), load_notices(connection)
        return self._cached[1] if self._cached else Notices()

    def set(self, name: Name, text: str) -> None:
        """Show a notice; with an empty text, remove it."""
        with self._store.writing() as connection:
            facts.set_fact(connection, name, text[:MAX_NOTICE_CHARS])
        self._cached = None


def load_notices(connection: Connection) -> Notices:
    """Load the current notices."""
    return Notices(**facts.get_facts(connection, NAMES))
