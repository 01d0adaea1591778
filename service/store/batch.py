"""A batch: the entries that one transaction appends, gathered and written in a handful of statements by `flush`.

A referee that judges fifty moves in one transaction writes all of their entries, seats and letters in five statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from msgspec import Struct, structs
from sqlalchemy import Connection, Executable, bindparam, insert, update

from service.store.schema import entries, letters, seats, tables

Rows = Sequence[Mapping[str, Any]]


class SealedEntry(Struct, frozen=True):
    """An entry as it is stored: its canonical bytes, its digest, and the hash of the chain up to it."""

    seq: int
    body: str
    digest: str
    hash: str


class SeatUpdate(Struct, frozen=True):
    """The columns of a seat that an entry changes: its status, since when it may act, and how its time runs.

    At `clock_from` it had `clock_left` seconds; None while its clock is stopped. It is due at `due_at`, and late at
    `late_at`, when the grace of the table is over.
    """

    seat: int
    status: str
    open_since: int | None
    due_at: int | None = None
    remind_at: int | None = None
    late_at: int | None = None
    clock_from: int | None = None
    clock_left: int | None = None
    misses: int = 0


class OwedLetter(Struct, frozen=True):
    """A letter that has to be sent to a seat."""

    seat: int
    kind: str
    due_at: int


class Addition(Struct, frozen=True):
    """An entry to append to a table, and all that follows from it: seats, letters, and at the end the places."""

    table: str
    entry: SealedEntry
    phase: str
    at: int
    seats: Sequence[SeatUpdate] = ()
    letters: Sequence[OwedLetter] = ()
    draws_at: int | None = None
    places: Sequence[int] = ()


SEAT_COLUMNS = tuple(name for name in SeatUpdate.__struct_fields__ if name != "seat")
UPDATE_TABLE = update(tables).where(tables.c.id == bindparam("key_table"))
UPDATE_SEAT = update(seats).where(seats.c.table == bindparam("key_table"), seats.c.seat == bindparam("key_seat"))


class _Level(Struct):
    """The additions inside one savepoint that are not written yet."""

    begin: Callable[[], object] | None = None  # begins the savepoint; None once it has begun
    additions: list[Addition] = []
    error: Exception | None = None

    def write(self, connection: Connection) -> None:
        additions, self.additions = self.additions, []
        begin, self.begin = self.begin, None
        try:
            if begin is not None:
                begin()
            if additions:
                _write(connection, additions)
        except Exception as error:
            self.error = error
            raise

    def check(self) -> None:
        """Raise the error of a write that failed, also where a caller inside has suppressed it."""
        if self.error is not None:
            raise self.error


class Batch:
    """The entries that one transaction appends. The code that makes a batch flushes it before the commit."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._levels = [_Level()]

    def append(self, addition: Addition) -> None:
        """Add an entry and all that follows from it; nothing is written before the next flush.

        An entry's number is unique at its table, so of two transactions that append the same one fails.
        """
        self._levels[-1].additions.append(addition)

    def flush(self) -> Connection:
        """Write what was appended, and return the connection for further statements.

        Inside of savepoints these begin now, so that an error undoes the further statements too.
        """
        for level in self._levels:
            level.write(self._connection)
        self._levels[0].check()
        return self._connection

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what is appended and written inside if an error leaves it; it costs no statement before a flush."""
        with ExitStack() as stack:
            level = _Level(lambda: stack.enter_context(self._connection.begin_nested()))
            self._levels.append(level)
            try:
                yield
                level.check()
            finally:
                self._levels.pop()
        self._levels[-1].additions += level.additions


def _write(connection: Connection, additions: Sequence[Addition]) -> None:
    """Write all entries, then all tables, and so on; of several entries of one table the last one counts."""
    last = {one.table: one for one in additions}
    seat_rows = {(one.table, seat.seat): seat for one in additions for seat in one.seats}
    places = [(one.table, seat, place) for one in last.values() for seat, place in enumerate(one.places)]
    owed = [(one, letter) for one in additions for letter in one.letters]
    _execute(connection, insert(entries), [{"table": one.table, **structs.asdict(one.entry)} for one in additions])
    _execute(connection, UPDATE_TABLE, [_table_values(one) for one in last.values()])
    _execute(connection, UPDATE_SEAT, [seat_values(table, seat) for (table, _), seat in seat_rows.items()])
    _execute(
        connection,
        UPDATE_SEAT,
        [{"key_table": table, "key_seat": seat, "place": place} for table, seat, place in places],
    )
    _execute(
        connection,
        insert(letters),
        [{"table": one.table, "seq": one.entry.seq, **structs.asdict(letter)} for one, letter in owed],
    )


def _execute(connection: Connection, statement: Executable, rows: Rows) -> None:
    if rows:
        connection.execute(statement, rows)


def _table_values(one: Addition) -> dict[str, Any]:
    ended = one.at if one.phase == "over" else None
    row = {"length": one.entry.seq + 1, "head": one.entry.hash, "phase": one.phase, "draws_at": one.draws_at}
    return {"key_table": one.table, **row, "moved_at": one.at, "ended_at": ended}


def seat_values(table: str, update: SeatUpdate) -> dict[str, Any]:
    """The parameters of UPDATE_SEAT for this seat."""
    return {"key_table": table, "key_seat": update.seat, **{name: getattr(update, name) for name in SEAT_COLUMNS}}
