"""Tables as they are now or were after an earlier entry, read without a lock.

Positions are rebuilt from the log where they are not cached; states are immutable, so threads may share them. The
newest position of a table is cached, and of earlier ones every sixteenth, so that no replay is ever long.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from engine import catalogue, log, record
from engine import table as engine_table
from engine.canonical_json import make_decoder
from engine.game import Game
from engine.log import Entry
from engine.menu import Menu
from engine.record import Table
from engine.table import RESERVED_VERBS
from service import timing
from service.app import App
from service.memory import Caches
from service.store import queries
from service.store.rows import EntryRow, SeatRow, TableRow
from service.tables.access import Unknown
from service.timing import Clock

CACHED_EVERY = 16


class CachedPosition(Struct, frozen=True):
    """A position from the cache, and the entries since then, if they are loaded."""

    position: Table = Table()
    entries: Sequence[EntryRow] = ()


def load_position(caches: Caches, db: Connection, game: Game, row: TableRow) -> Table:
    """Load the newest position of this table, as far as its row says that it goes."""
    latest = _get_cached(caches, row) or Table()  # or the empty position, before the first entry
    return complete_position(caches, db, game, row, CachedPosition(latest))


def complete_position(caches: Caches, db: Connection, game: Game, row: TableRow, cached: CachedPosition) -> Table:
    """Bring a cached position up to date with the row of its table; an empty one is made from all entries.

    The entries are loaded unless `cached` has them.
    """
    if cached.position.length == row.length:
        return cached.position
    stored = cached.entries or queries.list_entries(db, row.id, cached.position.length, row.length)
    position = _replay(caches, db, game, row, cached.position, stored)
    caches.positions.put(row.id, position)
    return position


def load_cached_positions(caches: Caches, db: Connection, rows: Sequence[TableRow]) -> dict[str, CachedPosition]:
    """Find the cached positions of these tables, and load the few entries since then by one statement.

    A table without a cached position is left out. Where many entries are missing, none are loaded here:
    `complete_position` loads them for each table by itself.
    """
    positions = dict[str, Table]()
    missing = list[tuple[str, int]]()
    for row in rows:
        position = _get_cached(caches, row)
        if position is None:
            continue
        positions[row.id] = position
        if row.length <= position.length + CACHED_EVERY:
            missing += [(row.id, seq) for seq in range(position.length, row.length)]
    stored = queries.list_entries_at(db, missing) if missing else []
    return {
        table: CachedPosition(position, [entry for entry in stored if entry.table == table])
        for table, position in positions.items()
    }


def _get_cached(caches: Caches, row: TableRow) -> Table | None:
    """Return the cached position of a table; None if there is none, or if it is newer than the row."""
    cached = caches.positions.get(row.id)
    return cached if cached is not None and cached.length <= row.length else None


def _replay(
    caches: Caches, db: Connection, game: Game, row: TableRow, position: Table, stored: Sequence[EntryRow]
) -> Table:
    """Apply the entries that follow a position."""
    entries = [log.make_entry_decoder(game).decode(one.body) for one in stored]
    if position.length == 0:
        return record.fold(game, entries)  # has all entries, and so each position that an undo goes back to
    load_before = functools.partial(load_position_before, caches, db, row)  # loads a position that an undo goes back to
    for entry in entries:
        position = record.apply(game, position, entry, load_before)
    return position


def load_position_before(caches: Caches, db: Connection, row: TableRow, seq: int) -> Table:
    """Load the position of this table before entry `seq`, from the nearest one in the cache."""
    game = catalogue.find(row.game, row.edition)
    position, stored = _load_nearest_cached(caches, db, row.id, seq)
    load_before = functools.partial(load_position_before, caches, db, row)  # for an undo
    for one in stored:
        entry = log.make_entry_decoder(game).decode(one.body)
        position = record.apply(game, position, entry, load_before)
        if position.length % CACHED_EVERY == 0:
            caches.earlier_positions.put((row.id, position.length), (one.hash, position))
    return position


def _load_nearest_cached(caches: Caches, db: Connection, table: str, seq: int) -> tuple[Table, Sequence[EntryRow]]:
    """Find the nearest cached position before entry `seq`, or else the empty one; load the entries that follow it.

    A position that was cached by a transaction that was rolled back is not used: the hash of its last entry differs.
    """
    longest = seq - seq % CACHED_EVERY  # `load_position_before` caches only multiples of CACHED_EVERY
    for length in range(longest, 0, -CACHED_EVERY):
        cached = caches.earlier_positions.get((table, length))
        if cached is not None:
            head, position = cached
            last, *following = queries.list_entries(db, table, length - 1, seq)
            if last.hash == head:
                return position, following
    return Table(), queries.list_entries(db, table, 0, seq)


def load_game_entries(
    db: Connection, game: Game, table: str, first: int = 0, end: int = queries.AFTER_LAST
) -> list[Entry[Any]]:
    """Load the entries from `first` up to, not including, `end`."""
    decode = log.make_entry_decoder(game).decode
    return [decode(row.body) for row in queries.list_entries(db, table, first, end)]


class _Header(Struct):
    """The fields of a stored entry that tell when it was made, by which seat, and how."""

    at: int
    seat: int | None
    move: str


HEADER = make_decoder(_Header)


def parse_entry_time(body: str) -> int:
    """Return when a stored entry was made."""
    return HEADER.decode(body).at


class TurnIndex(Struct, frozen=True):
    """The turns of a table: for each entry the seat that acted, and the seat that moved in the game.

    An actor is None where the server acted, and a mover where no seat moved. `first` is the entry that began the game;
    None before it.
    """

    actors: tuple[int | None, ...] = ()
    movers: tuple[int | None, ...] = ()
    first: int | None = None

    def find_first_after(self, seat: int | None) -> int | None:
        """Return the entry that follows the last one of this seat.

        Return None if none follows yet, if the seat has not acted, or for a spectator.
        """
        if seat is None or seat not in self.actors:
            return None
        last = max(seq for seq, actor in enumerate(self.actors) if actor == seat)
        return last + 1 if last + 1 < len(self.actors) else None

    def list_round_starts(self, seat: int | None) -> tuple[int, ...]:
        """Return the entries where this seat's turns begin; for spectators those of the seat that moved first."""
        own = self._find_first_mover() if seat is None else seat
        starts = list[int]()
        last_mover = None
        for seq, mover in enumerate(self.movers):
            if mover is not None:
                if mover == own and last_mover != own:
                    starts.append(seq)
                last_mover = mover
        return tuple(starts)

    def _find_first_mover(self) -> int | None:
        """Return the seat that moved first; None if none has moved yet."""
        for mover in self.movers:
            if mover is not None:
                return mover
        return None

    def extend(self, bodies: Iterable[str]) -> TurnIndex:
        """Return the index with more stored entries."""
        headers = [HEADER.decode(body) for body in bodies]
        first = self.first
        for seq, header in enumerate(headers, len(self.actors)):
            if first is None and header.move == "start":
                first = seq
        actors = (*self.actors, *(one.seat for one in headers))
        return TurnIndex(actors, (*self.movers, *map(_find_mover, headers)), first)


def _find_mover(header: _Header) -> int | None:
    """Return the seat whose move in the game this is, made by its player or by the server after a missed deadline."""
    verb, *args = header.move.split()
    if verb == "expire":  # the server wrote `expire SEAT MOVE`
        return int(args[0])
    return header.seat if verb not in RESERVED_VERBS else None


def load_turn_index(caches: Caches, db: Connection, row: TableRow) -> TurnIndex:
    """Load the turns of a table, cached up to the last call."""
    index = caches.turns.get(row.id) or TurnIndex()
    if len(index.actors) < row.length:  # it has an actor for each entry
        stored = queries.list_entries(db, row.id, len(index.actors), row.length)
        index = index.extend(one.body for one in stored)
        caches.turns.put(row.id, index)
    return index


class Snapshot(Struct, frozen=True):
    """A table at one moment: its row, its seats, its game, the position, the names of the seats, and the clock."""

    row: TableRow
    seats: tuple[SeatRow, ...]
    game: Game
    position: Table
    names: tuple[str, ...]
    clock: Clock


def load_table(app: App, db: Connection, table: str) -> Snapshot:
    """Return the table as this transaction sees it; raise Unknown if there is none."""
    row = load_row(db, table)
    seats = tuple(queries.list_seats(db, table))
    names = tuple(seat.name for seat in seats)
    game = catalogue.find(row.game, row.edition)
    position = load_position(app.caches, db, game, row)
    return Snapshot(row, seats, game, position, names, timing.parse_clock(position.clock, row.pace))


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


def list_seats_to_move(snapshot: Snapshot) -> tuple[int, ...]:
    """Return the seats whose turn is open."""
    return tuple(seat for seat, row in enumerate(snapshot.seats) if row.open_since is not None)


def load_past(app: App, db: Connection, snapshot: Snapshot, seq: int) -> Table:
    """Return the table as it was after entry `seq`."""
    if seq + 1 >= snapshot.row.length:
        return snapshot.position
    return load_position_before(app.caches, db, snapshot.row, seq + 1)


def load_entries(db: Connection, snapshot: Snapshot, first: int = 0, end: int | None = None) -> list[log.Entry[Any]]:
    """Return the entries of a table from `first` up to, not including, `end`."""
    row = snapshot.row
    return load_game_entries(db, snapshot.game, row.id, first, row.length if end is None else end)


def load_receipt(db: Connection, snapshot: Snapshot, seq: int) -> str:
    """Return the receipt of entry `seq`, which is its hash."""
    return queries.list_entries(db, snapshot.row.id, seq, seq + 1)[0].hash


def can_ask_hint(clock: Clock, seats: Sequence[SeatRow], seat: int) -> bool:
    """Return whether a table gives hints: its players agreed to them, or all others are bots or have left.

    A player without an address is neither: the owner of a typed address may have refused the seat.
    """
    others = [one for one in seats if one.seat != seat]
    return clock.hints or all(one.person is None and one.status != "taken" for one in others)
