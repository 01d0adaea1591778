"""A batch: the entries and verdicts of one transaction, gathered and written together by `flush`.

A referee that judges fifty moves writes all of their entries, tables, seats, letters and verdicts in one statement of
PostgreSQL, or in five of SQLite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import msgspec
from msgspec import Struct, structs
from sqlalchemy import (
    CTE,
    JSON,
    Connection,
    Table,
    Text,
    bindparam,
    cast,
    column,
    func,
    insert,
    literal,
    select,
    update,
)

from engine.log import SealedEntry
from service.store.schema import entries, letters, seats, submissions, tables
from service.text.languages import Sentence

Rows = Sequence[Mapping[str, Any]]


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


NO_REASON = Sentence()


class Verdict(Struct, frozen=True):
    """The referee's verdict on a submission, and why; `text` is the untranslated sentence."""

    accepted: bool
    why: Sentence = NO_REASON
    rule: str = ""
    seq: int | None = None

    @property
    def text(self) -> str:
        return str(self.why)


class StoredVerdict(Struct, frozen=True):
    """The verdict on a submission of a table."""

    table: str
    number: int
    verdict: Verdict


SEAT_COLUMNS = tuple(name for name in SeatUpdate.__struct_fields__ if name != "seat")
VERDICT_COLUMNS = ("accepted", "sentence", "rule", "seq")


class _Kind:
    """Rows of one table that a batch inserts, or changes where it says by which key columns."""

    def __init__(self, table: Table, columns: Sequence[str], keys: Sequence[str] = ()) -> None:
        self.table, self.columns, self.keys = table, columns, keys
        conditions = (table.c[key] == bindparam(f"key_{key}") for key in keys)
        self.one_by_one = update(table).where(*conditions) if keys else insert(table)

    def make_cte(self) -> CTE:
        """A part of a statement of PostgreSQL that reads the rows from a parameter in JSON."""
        names = {f"key_{key}": key for key in self.keys} | {name: name for name in self.columns}
        json = cast(bindparam(f"{self.table.name}_rows", type_=Text), JSON)
        typed = (column(name, self.table.c[own].type) for name, own in names.items())
        rows = func.json_to_recordset(json).table_valued(*typed).render_derived(name="rows", with_types=True)
        if not self.keys:
            return insert(self.table).from_select(self.columns, select(*(rows.c[name] for name in self.columns))).cte()
        conditions = (self.table.c[key] == rows.c[f"key_{key}"] for key in self.keys)
        return update(self.table).where(*conditions).values({name: rows.c[name] for name in self.columns}).cte()


SEATS = _Kind(seats, SEAT_COLUMNS, keys=("table", "seat"))
KINDS = (
    _Kind(entries, ("table", *SealedEntry.__struct_fields__)),
    _Kind(tables, ("length", "head", "phase", "draws_at", "moved_at", "ended_at"), keys=("id",)),
    SEATS,
    _Kind(letters, ("table", "seq", *OwedLetter.__struct_fields__)),
    _Kind(submissions, VERDICT_COLUMNS, keys=("table", "id")),
)
WRITE_ALL = select(literal(1)).add_cte(*(kind.make_cte() for kind in KINDS))
UPDATE_SEAT = SEATS.one_by_one


class _Level(Struct):
    """The entries and verdicts inside one savepoint that are not written yet."""

    begin: Callable[[], object] | None = None  # begins the savepoint; None once it has begun
    additions: list[Addition] = []
    verdicts: list[StoredVerdict] = []
    error: Exception | None = None

    def write(self, connection: Connection) -> None:
        additions, self.additions = self.additions, []
        verdicts, self.verdicts = self.verdicts, []
        begin, self.begin = self.begin, None
        try:
            if begin is not None:
                begin()
            if additions or verdicts:
                _write(connection, additions, verdicts)
        except Exception as error:
            self.error = error
            raise

    def check(self) -> None:
        """Raise the error of a write that failed, also where a caller inside has suppressed it."""
        if self.error is not None:
            raise self.error


class Batch:
    """The entries and verdicts of one transaction. The code that makes a batch flushes it before the commit."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._levels = [_Level()]

    def append(self, addition: Addition) -> None:
        """Add an entry and all that follows from it; nothing is written before the next flush.

        An entry's number is unique at its table, so of two transactions that append the same one fails.
        """
        self._levels[-1].additions.append(addition)

    def store_verdict(self, verdict: StoredVerdict) -> None:
        """Add the verdict on a submission; nothing is written before the next flush."""
        self._levels[-1].verdicts.append(verdict)

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
        self._levels[-1].verdicts += level.verdicts


def _write(connection: Connection, additions: Sequence[Addition], verdicts: Sequence[StoredVerdict]) -> None:
    """Write all rows; of several entries of one table the last one counts for the table and its seats."""
    last = {one.table: one for one in additions}
    seat_rows = {(one.table, seat.seat): seat for one in additions for seat in one.seats}
    rows: dict[Table, Rows] = {
        entries: [{"table": one.table, **structs.asdict(one.entry)} for one in additions],
        tables: [_list_table_values(one) for one in last.values()],
        seats: [list_seat_values(table, seat) for (table, _), seat in seat_rows.items()],
        letters: [
            {"table": one.table, "seq": one.entry.seq, **structs.asdict(letter)}
            for one in additions
            for letter in one.letters
        ],
        submissions: [
            {"key_table": one.table, "key_id": one.number, **list_verdict_values(one.verdict)} for one in verdicts
        ],
    }
    if connection.dialect.name == "postgresql":
        connection.execute(
            WRITE_ALL, {f"{table.name}_rows": msgspec.json.encode(one).decode() for table, one in rows.items()}
        )
    else:
        for kind in KINDS:
            if rows[kind.table]:
                connection.execute(kind.one_by_one, rows[kind.table])
    places = [(one.table, seat, place) for one in last.values() for seat, place in enumerate(one.places)]
    if places:
        connection.execute(
            UPDATE_SEAT, [{"key_table": table, "key_seat": seat, "place": place} for table, seat, place in places]
        )


def _list_table_values(one: Addition) -> dict[str, Any]:
    ended = one.at if one.phase == "over" else None
    row = {"length": one.entry.seq + 1, "head": one.entry.hash, "phase": one.phase, "draws_at": one.draws_at}
    return {"key_id": one.table, **row, "moved_at": one.at, "ended_at": ended}


def list_seat_values(table: str, update: SeatUpdate) -> dict[str, Any]:
    """The parameters of UPDATE_SEAT for this seat."""
    return {"key_table": table, "key_seat": update.seat, **{name: getattr(update, name) for name in SEAT_COLUMNS}}


def list_verdict_values(verdict: Verdict) -> dict[str, Any]:
    """The columns of a submission that hold its verdict; an accepted one has no reason."""
    why = "" if verdict.accepted else verdict.why.dump()
    return {"accepted": verdict.accepted, "sentence": why, "rule": verdict.rule, "seq": verdict.seq}
