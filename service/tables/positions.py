"""Positions of tables, rebuilt from the log where they are not cached; states are immutable, so threads may share them.

The newest position of a table is cached, and of earlier ones every sixteenth, so that no other is ever far from one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from engine import catalogue, record
from engine.game import Game
from engine.log import Entry
from engine.record import Table
from service.lru import Caches
from service.store import queries
from service.store.queries import Found
from service.tables.turns import TurnIndex, extended

APART = 16


def current(caches: Caches, connection: Connection, game: Game, row: Found, stored: Sequence[Found] = ()) -> Table:
    """The position of this table as its row says it is now; `stored` are its entries that are `missing`, if read."""
    known = _known(caches, row)
    if known is None or known.length < row.length:
        known = _catch_up(caches, connection, game, row, known or Table(), stored)
        caches.newest.put(row.id, known)
    return known


def missing(caches: Caches, rows: Iterable[Found]) -> list[tuple[str, int]]:
    """Table and number of the few entries that others have added to tables whose position is cached."""
    known = ((row, _known(caches, row)) for row in rows)
    few = {
        row.id: range(table.length, row.length) for row, table in known if table and row.length <= table.length + APART
    }
    return [(name, seq) for name, seqs in few.items() for seq in seqs]


def _known(caches: Caches, row: Found) -> Table | None:
    known = caches.newest.get(row.id)
    return known if known is not None and known.length <= row.length else None


def _catch_up(
    caches: Caches, connection: Connection, game: Game, row: Found, known: Table, stored: Sequence[Found]
) -> Table:
    stored = stored or queries.entries_of(connection, row.id, known.length, row.length)
    added = [record.make_entry_decoder(game).decode(one.body) for one in stored]
    if known.length == 0:
        return record.fold(game, added)
    for entry in added:
        known = record.apply(game, known, entry, lambda seq: before(caches, connection, row, seq))
    return known


def before(caches: Caches, connection: Connection, row: Found, seq: int) -> Table:
    """The position of this table before entry `seq`."""
    game = catalogue.find(row.game, row.edition)
    head, table = _mark(caches, row.id, seq)
    stored = queries.entries_of(connection, row.id, max(table.length - 1, 0), seq)
    if table.length and stored[0].hash != head:  # cached by a transaction that was rolled back
        table, stored = Table(), queries.entries_of(connection, row.id, 0, seq)
    for one in stored[1 if table.length else 0 :]:
        entry = record.make_entry_decoder(game).decode(one.body)
        table = record.apply(game, table, entry, lambda seq: before(caches, connection, row, seq))
        if table.length % APART == 0:
            caches.marks.put((row.id, table.length), (one.hash, table))
    return table


def _mark(caches: Caches, table: str, seq: int) -> tuple[str, Table]:
    """The nearest cached position before entry `seq`, with its hash; the empty table where there is none."""
    for length in range(seq - seq % APART, 0, -APART):
        found = caches.marks.get((table, length))
        if found is not None:
            return found
    return "", Table()


def turn_index(caches: Caches, connection: Connection, row: Found) -> TurnIndex:
    """Who acted in each entry of this table."""
    known = caches.turns.get(row.id) or TurnIndex()
    if len(known.actors) < row.length:
        missing = queries.entries_of(connection, row.id, len(known.actors), row.length)
        known = extended(known, (one.body for one in missing))
        caches.turns.put(row.id, known)
    return known


def entries(connection: Connection, game: Game, table: str, first: int = 0, end: int = 2**31 - 1) -> list[Entry[Any]]:
    """Stored entries, decoded."""
    decode = record.make_entry_decoder(game).decode
    return [decode(row.body) for row in queries.entries_of(connection, table, first, end)]
