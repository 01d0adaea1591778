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
from service.tables import positions
from service.tables.access import Unknown
from service.tables.clerk import LockedTable
from service.timing import Clock


class Snapshot(Struct, frozen=True):
    """A table at one moment: its row, its seats, its game, and the position."""

    row: Any
    seats: tuple[Any, ...]
    game: Game
    table: Table
    names: tuple[str, ...]

    @property
    def clock(self) -> Clock:
        return timing.read(self.table.clock, self.row.pace)


def look(app: App, table: str) -> Snapshot:
    """The table as it is now."""
    with app.store.reading() as connection:
        return seen(app, connection, table)


def seen(app: App, connection: Connection, table: str) -> Snapshot:
    """The table as this transaction sees it."""
    row = queries.find(connection, table)
    if row is None:
        raise Unknown("There is no such table.")
    sitting = tuple(queries.seats_of(connection, table))
    names = tuple(seat.name for seat in sitting)
    game = catalogue.find(row.game, row.edition)
    return Snapshot(row, sitting, game, positions.current(app.caches, connection, game, row), names)


def menu(look: Snapshot | LockedTable, seat: int | None) -> Menu:
    """What this seat may do in the game: nothing for a spectator, or for a player who has left."""
    if seat is None or look.table.phase != "playing" or look.table.seats[seat].status == "resigned":
        return ()
    return engine_table.menu(look.game, look.table, seat)


def past(app: App, look: Snapshot, seq: int) -> Table:
    """The table as it was after entry `seq`."""
    if seq + 1 >= look.row.length:
        return look.table
    with app.store.reading() as connection:
        return positions.before(app.caches, connection, look.row, seq + 1)


def entries(app: App, look: Snapshot, first: int = 0, end: int | None = None) -> list[log.Entry[Any]]:
    """The entries of a table from `first` up to, not including, `end`."""
    with app.store.reading() as connection:
        return positions.entries(connection, look.game, look.row.id, first, look.row.length if end is None else end)


def receipt(app: App, look: Snapshot, seq: int) -> str:
    """The hash of the chain after entry `seq`."""
    with app.store.reading() as connection:
        return str(queries.entries_of(connection, look.row.id, seq, seq + 1)[0].hash)
