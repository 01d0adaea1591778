"""Tables kept in memory: states are immutable, so any thread may share them, and the book says how far they are.

Of earlier positions every sixteenth is kept too, as long as there is room; from there it is never far to any other.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from engine import catalogue, record
from engine.game import Game
from engine.log import Entry
from engine.record import Table
from service.lru import Kept
from service.store import book
from service.tables.turns import Course, extended
from service.text.board_cache import Prints

APART = 16


class Shelf:
    """The tables used last, rebuilt from the book where they are missing and brought up to date where they lag."""

    def __init__(self, size: int = 2_000, marks: int = 1_000) -> None:
        self._kept = Kept[Table](size)
        self._marks = Kept[tuple[str, Table]](marks)
        self._courses = Kept[Course](size)
        self.prints = Prints()

    def table(self, connection: Connection, row: book.Found) -> Table:
        """That table as its row says it is now."""
        game = catalogue.find(row.game)
        kept = self._kept.get(row.id)
        if kept is not None and kept.length > row.length:
            kept = None
        if kept is None or kept.length < row.length:
            kept = self._catch_up(connection, game, row, kept or Table())
            self.put(row.id, kept)
        return kept

    def before(self, connection: Connection, row: book.Found, seq: int) -> Table:
        """That table as it was before entry `seq`."""
        game = catalogue.find(row.game)
        head, table = self._mark(row.id, seq)
        stored = book.entries_of(connection, row.id, max(table.length - 1, 0), seq)
        if table.length and stored[0].hash != head:  # kept by a transaction that never was
            table, stored = Table(), book.entries_of(connection, row.id, 0, seq)
        for one in stored[1 if table.length else 0 :]:
            entry = record.decoder(game).decode(one.body)
            table = record.apply(game, table, entry, lambda seq: self.before(connection, row, seq))
            if table.length % APART == 0:
                self._marks.put((row.id, table.length), (one.hash, table))
        return table

    def course(self, connection: Connection, row: book.Found) -> Course:
        """Who acted in each entry of that table."""
        kept = self._courses.get(row.id) or Course()
        if len(kept.actors) < row.length:
            missing = book.entries_of(connection, row.id, len(kept.actors), row.length)
            kept = extended(kept, (one.body for one in missing))
            self._courses.put(row.id, kept)
        return kept

    def put(self, table: str, state: Table) -> None:
        """Keep the newest state of a table; the one that was not looked at for longest makes room."""
        self._kept.put(table, state)

    def _mark(self, table: str, seq: int) -> tuple[str, Table]:
        """The position nearest before entry `seq` that is kept, with its receipt; the empty table where none is."""
        for length in range(seq - seq % APART, 0, -APART):
            found = self._marks.get((table, length))
            if found is not None:
                return found
        return "", Table()

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
