"""Adding entries to tables: gathered, and written in sets before anybody of the same transaction could miss them.

What was appended is written before the next statement of its transaction and before the commit. A referee that judges
many tables without a statement in between writes all of them with a handful of statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from msgspec import Struct, structs
from sqlalchemy import Connection, Executable, bindparam, insert, update

from service.store.schema import entries, letters, seats, tables

Rows = Sequence[Mapping[str, Any]]


class Sealed(Struct, frozen=True):
    """An entry as it is stored: its canonical bytes, its digest, and the hash of the chain up to it."""

    seq: int
    body: str
    digest: str
    hash: str


class SeatUpdate(Struct, frozen=True):
    """The columns of a seat that an entry changes: its status, since when it may act, and how its time runs.

    At `clock_from` it had `clock_left` seconds; None while its clock stands still. It is due at `due_at`, and late at
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


class Owed(Struct, frozen=True):
    """A letter that has to be sent to a seat."""

    seat: int
    kind: str
    due_at: int


class Addition(Struct, frozen=True):
    """An entry of a table with everything that follows from it: seats, letters, the end and its places."""

    table: str
    sealed: Sealed
    phase: str
    at: int
    updates: Sequence[SeatUpdate] = ()
    owed: Sequence[Owed] = ()
    draws_at: int | None = None
    places: Sequence[int] = ()


CHANGING = tuple(name for name in SeatUpdate.__struct_fields__ if name != "seat")
ADVANCE = update(tables).where(tables.c.id == bindparam("wanted"))
SIT = update(seats).where(seats.c.table == bindparam("wanted"), seats.c.seat == bindparam("one"))


class _Attempt(Struct):
    """What was appended since something was begun that may fail; its savepoint is made when something is written."""

    savepoint: Callable[[Connection], object] | None = None
    unwritten: list[Addition] = []
    failed: Exception | None = None

    def write(self, connection: Connection) -> None:
        new, self.unwritten = self.unwritten, []
        make, self.savepoint = self.savepoint, None
        try:
            if make is not None:
                make(connection)
            if new:
                _write(connection, new)
        except Exception as error:
            self.failed = error
            raise

    def end(self) -> None:
        """What was not written has failed, also where somebody inside went on after the error."""
        if self.failed is not None:
            raise self.failed


class Unwritten:
    """What one transaction has appended and not yet written, and the attempts it is in the middle of."""

    def __init__(self) -> None:
        self.attempts = [_Attempt()]
        self._writing = False

    def write(self, connection: Connection, *, reading: bool = False) -> None:
        """Write what was appended; who only reads needs no savepoint where nothing was."""
        if self._writing:
            return
        self._writing = True
        try:
            last = max((number for number, one in enumerate(self.attempts) if one.unwritten or not reading), default=-1)
            for attempt in self.attempts[: last + 1]:
                attempt.write(connection)
        finally:
            self._writing = False


def append(connection: Connection, addition: Addition) -> None:
    """Add one entry and everything that follows from it, within the caller's transaction.

    The entry's number is unique at its table, so of two writers one fails, whatever else went wrong.
    """
    _of(connection).attempts[-1].unwritten.append(addition)


@contextmanager
def attempt(connection: Connection) -> Iterator[None]:
    """What is done and appended in here is undone where an error leaves it; nothing written, nothing to roll back."""
    attempts = _of(connection).attempts
    with ExitStack() as stack:
        attempts.append(mine := _Attempt(lambda connection: stack.enter_context(connection.begin_nested())))
        try:
            yield
            mine.end()
        finally:
            attempts.pop()
    attempts[-1].unwritten += mine.unwritten


def write(connection: Connection) -> None:
    """Write what was appended, before the commit."""
    unwritten = _of(connection)
    unwritten.write(connection)
    unwritten.attempts[0].end()


def before_statement(connection: Connection, _: Any, __: Any, ___: Any, context: Any, ____: Any) -> None:
    """A listener: whoever reads or writes in this transaction finds everything that was appended before."""
    compiled = getattr(context, "compiled", None)
    _of(connection).write(connection, reading=bool(compiled is not None and compiled.statement.is_select))


def _of(connection: Connection) -> Unwritten:
    found: Unwritten = connection.get_execution_options()["unwritten"]
    return found


def _write(connection: Connection, new: Sequence[Addition]) -> None:
    """All entries in one statement, then all tables, and so on; of several entries of a table the last one counts."""
    last = {one.table: one for one in new}
    sitting = {(one.table, update.seat): update for one in new for update in one.updates}
    places = [(one.table, seat, place) for one in last.values() for seat, place in enumerate(one.places)]
    owed = [(one, letter) for one in new for letter in one.owed]
    _all(connection, insert(entries), [{"table": one.table, **structs.asdict(one.sealed)} for one in new])
    _all(connection, ADVANCE, [_advanced(one) for one in last.values()])
    _all(connection, SIT, [columns(table, update) for (table, _), update in sitting.items()])
    _all(connection, SIT, [{"wanted": table, "one": seat, "place": place} for table, seat, place in places])
    _all(
        connection,
        insert(letters),
        [{"table": one.table, "seq": one.sealed.seq, **structs.asdict(letter)} for one, letter in owed],
    )


def _all(connection: Connection, statement: Executable, rows: Rows) -> None:
    if rows:
        connection.execute(statement, rows)


def _advanced(one: Addition) -> dict[str, Any]:
    ended = one.at if one.phase == "over" else None
    row = {"length": one.sealed.seq + 1, "head": one.sealed.hash, "phase": one.phase, "draws_at": one.draws_at}
    return {"wanted": one.table, **row, "moved_at": one.at, "ended_at": ended}


def columns(table: str, update: SeatUpdate) -> dict[str, Any]:
    """What SIT is given for this seat."""
    return {"wanted": table, "one": update.seat, **{name: getattr(update, name) for name in CHANGING}}
