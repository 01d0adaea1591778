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
    """The columns of a seat that an entry changes: its status, the entry with which its turn began, and its times.

    At `clock_from` the seat had `clock_left` seconds; None while its clock is stopped. It is due at `due_at`, and late
    at `late_at`, when the grace of the table is over. `misses` is the number of deadlines that it missed in a row.
    """

    seat: int
    status: str
    open_since: int | None  # that entry's number; None while the seat is not to move
    due_at: int | None = None
    remind_at: int | None = None  # when its next reminder is sent
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
    """An entry to append to a table, and all that follows from it: seats, letters, and at the end the places.

    `draws_at` is when to ask the beacon for the round that the table waits for; None if it waits for none. `places` are
    those that the seats reached, in the order of the seats; empty until the game is over.
    """

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
    """The referee's verdict on a submission: accepted as the entry `seq`, or refused for the reason `why`.

    `rule` names the rule of the game that forbids it, and `text` is the untranslated reason; both may be empty.
    """

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


class _RowWriter:
    """Writes rows of one table: it inserts them, or with keys it changes the rows that have the same keys.

    The parameter for the key column `id` is `key_id`, because the row may have a new value for the column too.
    """

    def __init__(self, table: Table, columns: Sequence[str], keys: Sequence[str] = ()) -> None:
        self.table, self.columns, self.keys = table, columns, keys
        conditions = (table.c[key] == bindparam(f"key_{key}") for key in keys)
        # SQLAlchemy completes the statement with the columns that its parameters name.
        self.one_by_one = update(table).where(*conditions) if keys else insert(table)

    def make_cte(self) -> CTE:
        """Make the part of a statement of PostgreSQL that reads all rows from a parameter in JSON, and writes them."""
        given_keys = (column(f"key_{key}", self.table.c[key].type) for key in self.keys)
        given_columns = (column(name, self.table.c[name].type) for name in self.columns)
        json = cast(bindparam(f"{self.table.name}_rows", type_=Text), JSON)
        rows = func.json_to_recordset(json).table_valued(*given_keys, *given_columns)
        rows = rows.render_derived(name="rows", with_types=True)
        if not self.keys:
            new_rows = select(*(rows.c[name] for name in self.columns))
            return insert(self.table).from_select(self.columns, new_rows).cte()
        conditions = (self.table.c[key] == rows.c[f"key_{key}"] for key in self.keys)
        return update(self.table).where(*conditions).values({name: rows.c[name] for name in self.columns}).cte()


SEAT_WRITER = _RowWriter(seats, SEAT_COLUMNS, keys=("table", "seat"))
WRITERS = (
    _RowWriter(entries, ("table", *SealedEntry.__struct_fields__)),
    _RowWriter(tables, ("length", "head", "phase", "draws_at", "moved_at", "ended_at"), keys=("id",)),
    SEAT_WRITER,
    _RowWriter(letters, ("table", "seq", *OwedLetter.__struct_fields__)),
    _RowWriter(submissions, VERDICT_COLUMNS, keys=("table", "id")),
)
WRITE_ALL = select(literal(1)).add_cte(*(writer.make_cte() for writer in WRITERS))
UPDATE_SEAT = SEAT_WRITER.one_by_one


class _Level(Struct):
    """The entries and verdicts inside one savepoint, or outside of all, that are not written yet."""

    begin: Callable[[], object] | None = None  # begins the savepoint; None once it has begun
    additions: list[Addition] = []
    verdicts: list[StoredVerdict] = []
    error: Exception | None = None

    def write(self, connection: Connection) -> None:
        """Begin the savepoint if it has not begun, and write what was added since the last call."""
        # Taken out before the write, so that none is tried again after an error.
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

    def raise_if_failed(self) -> None:
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

        An entry's number is unique at its table: if two transactions append the same number, one of them fails.
        """
        self._levels[-1].additions.append(addition)

    def store_verdict(self, verdict: StoredVerdict) -> None:
        """Add the verdict on a submission; nothing is written before the next flush."""
        self._levels[-1].verdicts.append(verdict)

    def flush(self) -> Connection:
        """Return the connection of the transaction; what was appended is written first, so that statements see it.

        Savepoints around this call begin in the database now: so an error undoes the statements that follow, too.
        """
        for level in self._levels:
            level.write(self._connection)
        self._levels[0].raise_if_failed()  # a savepoint does so for its own level as it ends
        return self._connection

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what is appended and written inside if an error leaves it; it costs no statement before a flush."""
        with ExitStack() as stack:
            # The first flush inside begins the savepoint.
            level = _Level(begin=lambda: stack.enter_context(self._connection.begin_nested()))
            self._levels.append(level)
            try:
                yield
                level.raise_if_failed()
            finally:
                self._levels.pop()
        outer = self._levels[-1]  # writes what no flush has written inside
        outer.additions += level.additions
        outer.verdicts += level.verdicts


def _write(connection: Connection, additions: Sequence[Addition], verdicts: Sequence[StoredVerdict]) -> None:
    """Write all rows: with PostgreSQL by one statement, with SQLite by one for each table."""
    rows = _make_rows(additions, verdicts)
    if connection.dialect.name == "postgresql":
        connection.execute(
            WRITE_ALL,
            {f"{table.name}_rows": msgspec.json.encode(table_rows).decode() for table, table_rows in rows.items()},
        )
    else:
        for writer in WRITERS:
            if rows[writer.table]:
                connection.execute(writer.one_by_one, rows[writer.table])
    places = [
        {"key_table": one.table, "key_seat": seat, "place": place}
        for one in _list_last(additions)  # the entry that ends a game, and alone has places, is the last one
        for seat, place in enumerate(one.places)
    ]
    if places:
        connection.execute(UPDATE_SEAT, places)


def _list_last(additions: Sequence[Addition]) -> list[Addition]:
    """Return the last addition of each table, which alone changes the table's row and decides the places."""
    return list({one.table: one for one in additions}.values())


def _make_rows(additions: Sequence[Addition], verdicts: Sequence[StoredVerdict]) -> dict[Table, Rows]:
    """Make the rows to write; of several updates of one seat the last one counts."""
    last_updates = {(one.table, change.seat): change for one in additions for change in one.seats}
    return {
        entries: [{"table": one.table, **structs.asdict(one.entry)} for one in additions],
        tables: [_make_table_row(one) for one in _list_last(additions)],
        seats: [make_seat_row(table, change) for (table, _seat), change in last_updates.items()],
        letters: [
            {"table": one.table, "seq": one.entry.seq, **structs.asdict(letter)}
            for one in additions
            for letter in one.letters
        ],
        submissions: [
            {"key_table": one.table, "key_id": one.number, **make_verdict_columns(one.verdict)} for one in verdicts
        ],
    }


def _make_table_row(one: Addition) -> dict[str, Any]:
    """Make the new values of a table after its last addition; `key_id` names the row to update."""
    return {
        "key_id": one.table,
        "length": one.entry.seq + 1,
        "head": one.entry.hash,
        "phase": one.phase,
        "draws_at": one.draws_at,
        "moved_at": one.at,
        "ended_at": one.at if one.phase == "over" else None,
    }


def make_seat_row(table: str, update: SeatUpdate) -> dict[str, Any]:
    """Make the parameters of UPDATE_SEAT for this seat."""
    return {"key_table": table, "key_seat": update.seat, **{name: getattr(update, name) for name in SEAT_COLUMNS}}


def make_verdict_columns(verdict: Verdict) -> dict[str, Any]:
    """Make the columns of a submission that hold its verdict; an accepted one has no reason."""
    why = "" if verdict.accepted else verdict.why.dump()
    return {"accepted": verdict.accepted, "sentence": why, "rule": verdict.rule, "seq": verdict.seq}
