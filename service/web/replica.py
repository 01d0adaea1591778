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
    """A page that may be a moment old; what the replica cannot answer, the first server does."""

    @functools.wraps(view)
    def serve(**words: str) -> Any:
        store = get_app().store
        if store.replica is not None and ("link" not in words or _is_over(words["link"])):
            with suppress(OperationalError, Refused), store.elsewhere():
                return view(**words)
        return view(**words)

    return serve


def _is_over(link: str) -> bool:
    """Return whether the game is over; of a running game, everybody wants to see the last move."""
    place = access.find(get_app(), link)
    with get_app().store.reading() as connection:
        row = queries.find_table(connection, place.table)
    return row is not None and row.phase == "over"
