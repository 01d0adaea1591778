"""A table as it is now or was after an earlier entry, read without a lock."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from engine import catalogue, log
from engine import table as engine_table
from engine.game import Game
from engine.menu import Menu
from engine.record import Table
from service import timing
from service.app import App
from service.store import queries
from service.store.rows import SeatRow, TableRow
from service.tables import positions
from service.tables.access import Unknown
from service.timing import Clock


class Snapshot(Struct, frozen=True):
    """A table at one moment: its row, its seats, its game, and the position."""

    row: TableRow
    seats: tuple[SeatRow, ...]
    game: Game
    table: Table
    names: tuple[str, ...]

    @property
    def clock(self) -> Clock:
        return timing.parse_clock(self.table.clock, self.row.pace)


def load_table(app: App, db: Connection, table: str) -> Snapshot:
    """Return the table as this transaction sees it; raise Unknown if there is none."""
    row = load_row(db, table)
    seats = tuple(queries.list_seats(db, table))
    names = tuple(seat.name for seat in seats)
    game = catalogue.find(row.game, row.edition)
    return Snapshot(row, seats, game, positions.load_position(app.caches, db, game, row), names)


def load_row(db: Connection, table: str) -> TableRow:
    """Return the row of a table; raise Unknown if there is none."""
    row = queries.find_table(db, table)
    if row is None:
        raise Unknown("There is no such table.")
    return row


def open_menu(game: Game, table: Table, seat: int | None) -> Menu:
    """Return the menu of this seat in the game: empty for a spectator, or for a player who has resigned."""
    if seat is None or table.phase != "playing" or table.seats[seat].status == "resigned":
        return ()
    return engine_table.menu(game, table, seat)


def load_past(app: App, db: Connection, snapshot: Snapshot, seq: int) -> Table:
    """Return the table as it was after entry `seq`."""
    if seq + 1 >= snapshot.row.length:
        return snapshot.table
    return positions.position_before(app.caches, db, snapshot.row, seq + 1)


def load_entries(db: Connection, snapshot: Snapshot, first: int = 0, end: int | None = None) -> list[log.Entry[Any]]:
    """Return the entries of a table from `first` up to, not including, `end`."""
    row = snapshot.row
    return positions.load_entries(db, snapshot.game, row.id, first, row.length if end is None else end)


def load_receipt(db: Connection, snapshot: Snapshot, seq: int) -> str:
    """Return the hash of the chain after entry `seq`."""
    return queries.list_entries(db, snapshot.row.id, seq, seq + 1)[0].hash
