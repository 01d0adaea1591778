"""Statements that several modules share: tables, seats, entries, verdicts and owed letters.

SQLite and PostgreSQL write some of them in words of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Executable,
    ScalarSelect,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import DBAPIError, IntegrityError

from engine import log
from engine.log import Export
from service.store.batch import (
    NO_REASON,
    UPDATE_SEAT,
    OwedLetter,
    SeatUpdate,
    StoredVerdict,
    make_seat_row,
    make_verdict_columns,
)
from service.store.rows import EntryRow, SeatRow, TableRow
from service.store.schema import (
    branches,
    channels,
    entries,
    followers,
    former_links,
    letters,
    orders,
    people,
    seats,
    server_facts,
    submissions,
    tables,
)
from service.text.languages import Sentence


def get_facts(connection: Connection, names: Iterable[str]) -> dict[str, str]:
    """Return the facts with these names; those that are not set are left out."""
    columns = server_facts.c
    rows = connection.execute(select(columns.name, columns.value).where(columns.name.in_(list(names)))).all()
    return {row.name: row.value for row in rows}


def set_fact(connection: Connection, name: str, value: str) -> None:
    """Set a fact; an empty value deletes it. Two processes may set one at the same time."""
    if not value:
        connection.execute(delete(server_facts).where(server_facts.c.name == name))
        return
    row = insert_into(connection.dialect.name, server_facts).values(name=name, value=value)
    connection.execute(row.on_conflict_do_update(index_elements=[server_facts.c.name], set_={"value": value}))


AFTER_LAST = 2**31 - 1  # no entry has a number as large as this one
NEVER_DUE = 253_402_300_799  # due date of a letter that waits for a proof of address: the last second of the year 9999

# Part of a single statement: it lets PostgreSQL commit without waiting for the disk.
NOT_DURABLE = func.set_config("synchronous_commit", "off", True)
TABLE = select(tables).where(tables.c.id == bindparam("key_table"))
# `key_share`: other transactions may still add rows that refer to this one, such as the next submission.
LOCKED_TABLE = TABLE.with_for_update(key_share=True)
FREE_TABLE = TABLE.with_for_update(key_share=True, skip_locked=True)
# Of a person whose address was only typed, a table learns nothing: neither settings, nor quiet hours, nor bounces.
IS_OWN_PERSON = (people.c.id == seats.c.person) & (seats.c.proven | (seats.c.status == "invited"))
SEATS: Select[Any] = (
    select(
        *seats.c,
        people.c.calendar,
        people.c.letter_settings,
        people.c.confirmed_at,
        people.c.bounced_at,
        people.c.settings_number,
        select(channels.c.id).where(channels.c.person == seats.c.person).exists(),
        select(followers.c.id).where(followers.c.table == seats.c.table).exists(),
    )
    .select_from(seats.outerjoin(people, IS_OWN_PERSON))
    .where(seats.c.table.in_(bindparam("key_tables", expanding=True)))
    .order_by(seats.c.table, seats.c.seat)
)
ENTRIES = (
    select(entries)
    .where(
        entries.c.table == bindparam("key_table"), entries.c.seq >= bindparam("first"), entries.c.seq < bindparam("end")
    )
    .order_by(entries.c.seq)
)
ENTRIES_AT = (
    select(entries)
    .where(tuple_(entries.c.table, entries.c.seq).in_(bindparam("places", expanding=True)))
    .order_by(entries.c.table, entries.c.seq)
)
STORE_VERDICT = update(submissions).where(
    submissions.c.table == bindparam("key_table"), submissions.c.id == bindparam("key_id")
)


Rows = list[tuple[Any, ...]]


def fetch(db: Connection, statement: Select[Any], values: Mapping[str, Any]) -> Rows:
    """Return the rows of a statement, in the transaction of this connection if it has begun one.

    The statement is compiled once and bypasses SQLAlchemy, in a tenth of the time: for what each request reads. Errors
    are raised as SQLAlchemy raises them.
    """
    text, order, constants = _compile(db.dialect, statement)
    given = {**constants, **values}
    try:
        cursor = db.connection.cursor()
        try:
            cursor.execute(text, given if order is None else [given[name] for name in order])
            return [tuple(row) for row in cursor.fetchall()]
        finally:
            cursor.close()
    except db.dialect.loaded_dbapi.Error as error:
        raise _convert_error(db, text, error) from error


def _convert_error(db: Connection, text: str, error: Any) -> DBAPIError:
    """Make SQLAlchemy's error of a driver's error; a connection that is lost is not used again."""
    is_lost = db.dialect.is_disconnect(error, db.connection.dbapi_connection, cursor=None)
    if is_lost:
        db.invalidate(error)
    driver_error = db.dialect.loaded_dbapi.Error
    converted: DBAPIError = DBAPIError.instance(
        text, None, error, driver_error, connection_invalidated=is_lost, dialect=db.dialect
    )
    return converted


@functools.cache
def _compile(dialect: Dialect, statement: Select[Any]) -> tuple[str, list[str] | None, dict[str, Any]]:
    """Return the text of a statement, the order of its parameters, and its constants by name.

    The order is None where the driver takes parameters by name.
    """
    compiled: Any = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
    order = compiled.positiontup if compiled.positional else None
    return str(compiled), order, dict(compiled.params)


def find_table(db: Connection, table: str) -> TableRow | None:
    """Return the table with this id; None if there is none."""
    return _fetch_table(db, TABLE, table)


def lock_table(db: Connection, table: str) -> TableRow | None:
    """Return the table with this id, locked until this transaction ends; None if there is none."""
    return _fetch_table(db, LOCKED_TABLE, table)


def lock_free_table(db: Connection, table: str) -> TableRow | None:
    """Lock a table without waiting, and return it; None if another transaction has locked it, or there is none."""
    return _fetch_table(db, FREE_TABLE, table)


def _fetch_table(db: Connection, statement: Executable, table: str) -> TableRow | None:
    row = db.execute(statement, {"key_table": table}).one_or_none()
    return None if row is None else TableRow(*row)


def list_seats(db: Connection, *table_ids: str) -> list[SeatRow]:
    """Return the seats of these tables, in the order of the tables' ids, and then of the seats."""
    return [SeatRow(*row) for row in db.execute(SEATS, {"key_tables": table_ids}).all()]


def list_entries(db: Connection, table: str, first: int = 0, end: int = AFTER_LAST) -> list[EntryRow]:
    """Return the entries from `first` up to, not including, `end`."""
    return [EntryRow(*row) for row in db.execute(ENTRIES, {"key_table": table, "first": first, "end": end})]


def list_entries_at(db: Connection, places: Sequence[tuple[str, int]]) -> list[EntryRow]:
    """Return the entries at these places, which are pairs of a table and a number, in the order of both."""
    return [EntryRow(*row) for row in db.execute(ENTRIES_AT, {"places": places})] if places else []


def make_entry_rows(table: str, export: Export, bodies: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    """Yield a row of `entries` for each entry of a log; `bodies` are the entries in canonical JSON."""
    digests = [exported.digest for exported in export.entries]
    for seq, (body, digest, head) in enumerate(zip(bodies, digests, log.compute_heads(digests), strict=True)):
        yield {"table": table, "seq": seq, "body": body.decode(), "digest": digest, "hash": head}


def update_seat(db: Connection, table: str, update: SeatUpdate) -> None:
    """Write the columns of a seat that otherwise an entry changes, such as its deadline, without an entry."""
    db.execute(UPDATE_SEAT, make_seat_row(table, update))


def change_seat(db: Connection, table: str, seat: int, **columns: Any) -> None:
    """Change columns of a seat that no entry changes, such as its player.

    A new link ends all former links, and deletes the time when the player of the old one was here.
    """
    if "link" in columns:
        columns["seen_at"] = None
    db.execute(update(seats).where(seats.c.table == table, seats.c.seat == seat).values(**columns))
    if "link" in columns:
        db.execute(delete(former_links).where(former_links.c.table == table, former_links.c.seat == seat))


def clear_seat(db: Connection, table: str, seat: int) -> None:
    """Delete what the player of a seat keeps private there: orders, branches, note, letter settings."""
    for private in (orders, branches):
        db.execute(delete(private).where(private.c.table == table, private.c.seat == seat))
    change_seat(db, table, seat, orders=0, letter_settings="", note="", seen_at=None)


def find_organiser(rows: Sequence[SeatRow]) -> int | None:
    """Return the seat of the player who opened the table: the first with an address, or else the first player's.

    Return None if no player has a seat.
    """
    with_address = [row.seat for row in rows if row.person is not None]
    players = [row.seat for row in rows if row.status not in ("bot", "open")]
    candidates = with_address or players
    return candidates[0] if candidates else None


def select_organiser(table: ColumnElement[str]) -> ScalarSelect[Any]:
    """Return the seat of the organiser as SQL, for tables whose organiser has an address."""
    other = seats.alias()
    first = select(func.min(other.c.seat)).where(other.c.table == table, other.c.person.is_not(None))
    return first.scalar_subquery()


def store_verdicts(db: Connection, verdicts: Sequence[StoredVerdict]) -> None:
    """Store the verdicts on submissions."""
    rows = [{"key_table": one.table, "key_id": one.number, **make_verdict_columns(one.verdict)} for one in verdicts]
    db.execute(STORE_VERDICT, rows)


def insert_new(db: Connection, into: Table, row: Mapping[str, Any], *, durable: bool = True) -> Any:
    """Insert a row and return its key; return None if a row with the same key exists, which is no error.

    A row that is not durable is inserted by a transaction of its own that does not wait for the disk.
    """
    return db.execute(_insert_new(db.dialect.name, into, durable), row).scalar_one_or_none()


@functools.cache
def _insert_new(dialect: str, into: Table, durable: bool) -> Executable:
    """Make the statement of `insert_new`, which returns the key."""
    returned: list[ColumnElement[Any]] = [*into.primary_key]
    if dialect == "postgresql" and not durable:
        returned.append(NOT_DURABLE)  # to compute this column sets the option for the transaction
    statement: Executable = insert_into(dialect, into).on_conflict_do_nothing().returning(*returned)
    return statement


def owe_letter(db: Connection, table: str, seq: int, letter: OwedLetter, why: Sentence = NO_REASON) -> None:
    """Owe a seat a letter that no entry makes necessary; a letter that is owed already stays as it is.

    The same table, entry, seat and kind make the same letter. `why` is a sentence for the letter to quote.
    """
    key = {"table": table, "seq": seq, "seat": letter.seat, "kind": letter.kind}
    same = select(letters.c.id).where(*(letters.c[name] == value for name, value in key.items()))
    if db.execute(same).first() is None:
        db.execute(insert(letters), {**key, "due_at": letter.due_at, "sentence": why.dump()})


def owe_personal_letter(db: Connection, person: int, kind: str, due_at: int, why: Sentence = NO_REASON) -> None:
    """Owe a person a letter that belongs to no seat; a letter of that kind that is owed already stays as it is.

    `why` is a sentence for the letter to quote.
    """
    row = {"person": person, "kind": kind, "due_at": due_at, "sentence": why.dump()}
    with suppress(IntegrityError), db.begin_nested():
        db.execute(insert(letters), row)


def cancel_own_invitation(db: Connection, table: str) -> None:
    """Delete the invitation to the player who opened this table, if that player has sat down already."""
    rows = list_seats(db, table)
    seat = find_organiser(rows)
    if seat is None or rows[seat].status != "taken":
        return
    own = (letters.c.table == table, letters.c.seat == seat, letters.c.kind == "invitation")
    db.execute(delete(letters).where(*own, letters.c.sent_at.is_(None)))


def count_waiting_seats(db: Connection, person: int) -> int:
    """Count the seats where a person is to move."""
    own = (seats.c.person == person, seats.c.status == "taken", seats.c.open_since.is_not(None))
    playing = select(func.count()).select_from(seats.join(tables)).where(*own, tables.c.phase == "playing")
    return int(db.execute(playing).scalar_one())


def set_draw_time(db: Connection, table: str, draws_at: int | None) -> None:
    """Set when to ask the beacon again for the round that this table awaits; None if it awaits no round."""
    db.execute(update(tables).where(tables.c.id == table).values(draws_at=draws_at))


def store_places(db: Connection, table: str, places: Sequence[int]) -> None:
    """Store the place of every seat, so that statistics need no replay."""
    db.execute(
        UPDATE_SEAT, [{"key_table": table, "key_seat": seat, "place": place} for seat, place in enumerate(places)]
    )


def release_letters(db: Connection, table: str, at: int) -> None:
    """Record that a table waits no longer for the organiser's address to be proven; its waiting letters are due."""
    db.execute(update(tables).where(tables.c.id == table).values(awaits_confirmation=False))
    waiting = update(letters).where(
        letters.c.table == table, letters.c.due_at == NEVER_DUE, letters.c.sent_at.is_(None)
    )
    db.execute(waiting.values(due_at=at))


def release_seat_letters(db: Connection, table: str, seat: int, at: int) -> None:
    """Make the letters of a seat due that waited for its proof, unless the whole table still waits."""
    own = (letters.c.table == table, letters.c.seat == seat, letters.c.due_at == NEVER_DUE, letters.c.sent_at.is_(None))
    is_confirmed = select(tables.c.id).where(tables.c.id == table, ~tables.c.awaits_confirmation).exists()
    db.execute(update(letters).where(*own, is_confirmed).values(due_at=at))


def insert_into(dialect: str, table: Table) -> Any:
    """Return an INSERT that can say what to do about a row with the same key."""
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql  # 2 MB that SQLite does not need

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)
