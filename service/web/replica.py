"""Pages of finished games come from a replica of the database, where there is one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sqlalchemy.exc import OperationalError

from engine.refusal import Refused
from service.store import queries
from service.tables import access
from service.web.rendering import get_app

View = Callable[..., Any]


def from_replica(view: View) -> View:
    """Call a view with `replica=True` if it may show what is a moment old; with False if the replica cannot answer."""

    @functools.wraps(view)
    def call(**words: str) -> Any:
        if get_app().store.replica is not None and ("link" not in words or _is_over(words["link"])):
            with suppress(OperationalError, Refused):
                return view(**words, replica=True)
        return view(**words, replica=False)

    return call


def _is_over(link: str) -> bool:
    """Return whether a game is over; of a running game every reader wants to see the last move."""
    with get_app().store.reading() as db:
        row = queries.find_table(db, access.find_place(db, link).table)
    return row is not None and row.phase == "over"
