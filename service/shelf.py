"""Tables kept in memory: states are immutable, so any thread may share them, and the book says how far they are."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from sqlalchemy import Connection

from engine import catalogue, record
from engine.game import Game
from engine.log import Entry
from engine.record import Table
from service.store import book


class Shelf:
    """The tables used last, rebuilt from the book where they are missing and brought up to date where they lag."""

    def __init__(self, size: int = 2_000) -> None:
        self._size = size
        self._kept: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()

    def table(self, connection: Connection, row: book.Found) -> Table:
        """That table as its row says it is now."""
        game = catalogue.find(row.game)
        kept = self._get(row.id)
        if kept is not None and kept.length > row.length:
            kept = None
        if kept is None or kept.length < row.length:
            kept = self._catch_up(connection, game, row, kept or Table())
            self.put(row.id, kept)
        return kept

    def before(self, connection: Connection, row: book.Found, seq: int) -> Table:
        """That table as it was before entry `seq`."""
        game = catalogue.find(row.game)
        return record.fold(game, entries(connection, game, row.id, 0, seq))

    def put(self, table: str, state: Table) -> None:
        """Keep the newest state of a table; the one that was not looked at for longest makes room."""
        with self._lock:
            self._kept[table] = state
            self._kept.move_to_end(table)
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def _get(self, table: str) -> Table | None:
        with self._lock:
            return self._kept.get(table)

    def _catch_up(self, connection: Connection, game: Game, row: book.Found, kept: Table) -> Table:
        missing = entries(connection, game, row.id, kept.length, row.length)
        if kept.length == 0:
            return record.fold(game, missing)
        for entry in missing:
            kept = record.apply(game, kept, entry, lambda seq: self.before(connection, row, seq))
        return kept


def entries(connection: Connection, game: Game, table: str, first: int = 0, end: int = 2**31 - 1) -> list[Entry[Any]]:
    """Stored entries, read."""
    decode = record.decoder(game).decode
    return [decode(row.body) for row in book.entries_of(connection, table, first, end)]
