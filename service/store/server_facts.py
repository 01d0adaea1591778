"""Facts that the server stores about itself: the fingerprint of its secret, and the notices of its host."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from msgspec import Struct
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

from engine.refusal import Refused
from service.links import Links
from service.store import queries
from service.store.connection import Store
from service.store.schema import server_facts

SECRET = "secret"  # noqa: S105 - the name of the row with the fingerprint of the secret


def claim_database(store: Store, links: Links) -> None:
    """Store the fingerprint of the secret in a new database; raise Refused if the database has another one."""
    with store.writing() as connection:
        fingerprint = _get_fingerprint(connection)
        if fingerprint is None:
            queries.insert_new(connection, server_facts, {"name": SECRET, "value": links.fingerprint})
            fingerprint = _get_fingerprint(connection)  # another process may have stored its own first
    _refuse_other_fingerprint(fingerprint, links)


def check_database(store: Store, links: Links) -> None:
    """Raise Refused if the database has the fingerprint of another secret; write nothing. A new one has none yet."""
    with store.reading() as connection:
        fingerprint = _get_fingerprint(connection)
    if fingerprint is not None:
        _refuse_other_fingerprint(fingerprint, links)


def _refuse_other_fingerprint(fingerprint: str | None, links: Links) -> None:
    """Raise Refused if this is not the fingerprint of the secret that these links are made with."""
    if fingerprint != links.fingerprint:
        raise Refused(
            "The links in this database were made with another secret, and letters from here would lead nowhere. "
            "Give every process the same one: set DEPESCHE_SECRET, or DEPESCHE_FOLDER to the folder with its file."
        )


def _get_fingerprint(connection: Connection) -> str | None:
    """Return the stored fingerprint of the secret; None in a new database."""
    return queries.get_facts(connection, [SECRET]).get(SECRET)


NoticeName = Literal["banner", "closed"]
NOTICE_NAMES: tuple[NoticeName, ...] = ("banner", "closed")
REFRESH_AFTER_S = 10  # seconds until a process looks again
MAX_NOTICE_CHARS = 300


class Notices(Struct, frozen=True):
    """The texts of the host: a banner on all pages, and why no new tables are opened; empty if there is none."""

    banner: str = ""
    closed: str = ""


class NoticeBoard:
    """The notices of the server, cached for some seconds because every page shows them."""

    def __init__(self, store: Store, now: Callable[[], int]) -> None:
        self._store = store
        self._now = now
        self._cached: Notices | None = None
        self._loaded_at = 0

    def get(self) -> Notices:
        """Return the notices, at most some seconds old, or older while the database does not answer."""
        if self._cached is None or self._loaded_at + REFRESH_AFTER_S < self._now():
            with suppress(OperationalError, NoConnection), self._store.reading() as connection:
                self._cached = load_notices(connection)
                self._loaded_at = self._now()
        return self._cached or Notices()

    def set(self, name: NoticeName, text: str) -> None:
        """Show a notice; with an empty text, remove it."""
        with self._store.writing() as connection:
            queries.set_fact(connection, name, text[:MAX_NOTICE_CHARS])
        self._cached = None


def load_notices(connection: Connection) -> Notices:
    """Load the current notices."""
    return Notices(**queries.get_facts(connection, NOTICE_NAMES))
