"""Tables, seats and entries: reading them, and the one way to add to them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Row,
    ScalarSelect,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from engine import log
from engine.log import Export
from service.store.appending import SIT, Owed, SeatUpdate, columns
from service.store.schema import branches, entries, former_links, letters, orders, people, seats, submissions, tables
from service.text.languages import Said

Found = Row[Any]
NOTHING = Said()
HELD = 253_402_300_799  # due date of a letter that waits for a proof of address: the last second of the year 9999


class Verdict(Struct, frozen=True):
    """The referee's verdict on a submission, and why; `said` is the untranslated sentence."""

    accepted: bool
    why: Said = NOTHING
    rule: str = ""
    seq: int | None = None

    @property
    def said(self) -> str:
        return str(self.why)


# Tells PostgreSQL, within a statement, that the commit of this one transaction need not wait for the disk.
HASTE = func.set_config("synchronous_commit", "off", True)
# `key_share`: others may meanwhile add rows that refer to this one, such as the next submission.
LOCK = select(tables).where(tables.c.id == bindparam("wanted")).with_for_update(key_share=True)
LOCK_FREE = LOCK.with_for_update(key_share=True, skip_locked=True)
LOOK = select(tables).where(tables.c.id == bindparam("wanted"))
SEATS = select(seats).where(seats.c.table == bindparam("wanted")).order_by(seats.c.seat)
SITTING = (
    select(*seats.c, people.c.calendar)
    .select_from(seats.outerjoin(people, people.c.id == seats.c.person))
    .where(seats.c.table.in_(bindparam("wanted", expanding=True)))
    .order_by(seats.c.table, seats.c.seat)
)
ENTRIES = (
    select(entries)
    .where(
        entries.c.table == bindparam("wanted"), entries.c.seq >= bindparam("first"), entries.c.seq < bindparam("end")
    )
    .order_by(entries.c.seq)
)
ENTRIES_AT = (
    select(entries)
    .where(tuple_(entries.c.table, entries.c.seq).in_(bindparam("places", expanding=True)))
    .order_by(entries.c.table, entries.c.seq)
)
JUDGE = update(submissions).where(submissions.c.table == bindparam("wanted"), submissions.c.id == bindparam("one"))


def lock(connection: Connection, table: str) -> Found | None:
    """The table's row, locked until this transaction ends."""
    return connection.execute(LOCK, {"wanted": table}).one_or_none()


def lock_free(connection: Connection, table: str) -> Found | None:
    """The same where nobody else holds it; None where somebody does, so that other tables need not wait."""
    return connection.execute(LOCK_FREE, {"wanted": table}).one_or_none()


def entries_at(connection: Connection, places: Sequence[tuple[str, int]]) -> Sequence[Found]:
    """The entries of these numbers at these tables."""
    return connection.execute(ENTRIES_AT, {"places": places}).all() if places else ()


def rows_of(table: str, export: Export, bodies: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    """The entries of a log as rows of this table."""
    digests = [link.digest for link in export.entries]
    for seq, (body, digest, head) in enumerate(zip(bodies, digests, log.compute_heads(digests), strict=True)):
        yield {"table": table, "seq": seq, "body": body.decode(), "digest": digest, "hash": head}


def find(connection: Connection, table: str) -> Found | None:
    return connection.execute(LOOK, {"wanted": table}).one_or_none()


def seats_of(connection: Connection, table: str) -> Sequence[Found]:
    return connection.execute(SEATS, {"wanted": table}).all()


def held(connection: Connection, names: Sequence[str]) -> Sequence[Any]:
    """The seats of these tables, each with the calendar of its player."""
    return connection.execute(SITTING, {"wanted": names}).all()


def entries_of(connection: Connection, table: str, first: int = 0, end: int = 2**31 - 1) -> Sequence[Found]:
    """The entries from `first` up to, not including, `end`."""
    return connection.execute(ENTRIES, {"wanted": table, "first": first, "end": end}).all()


def sit(connection: Connection, table: str, update: SeatUpdate) -> None:
    """Change the columns of a seat outside an entry, such as its deadline."""
    connection.execute(SIT, columns(table, update))


def change_seat(connection: Connection, table: str, seat: int, **columns: Any) -> None:
    """Change columns of a seat that no entry changes, such as its player; a new link ends all that led here before."""
    own = update(seats).where(seats.c.table == table, seats.c.seat == seat)
    connection.execute(own.values(**columns))
    if "link" in columns:
        ended = (former_links.c.table == table, former_links.c.seat == seat)
        connection.execute(delete(former_links).where(*ended))


def clear_seat(connection: Connection, table: str, seat: int) -> None:
    """Delete what the player of a seat kept there for himself: orders, branches, note, letter settings."""
    for private in (orders, branches):
        connection.execute(delete(private).where(private.c.table == table, private.c.seat == seat))
    change_seat(connection, table, seat, orders=0, wishes="", note="")


def organiser(sitting: Sequence[Any]) -> int | None:
    """The seat of the player who opened the table: the first with an address, or the first that is no bot's."""
    known = [seat.seat for seat in sitting if seat.person is not None]
    nameless = [seat.seat for seat in sitting if seat.status not in ("bot", "open")]
    return next(iter(known + nameless), None)


def organiser_of(table: ColumnElement[str]) -> ScalarSelect[Any]:
    """The same as SQL, for tables where letters go to."""
    other = seats.alias()
    first = select(func.min(other.c.seat)).where(other.c.table == table, other.c.person.is_not(None))
    return first.scalar_subquery()


def judge(connection: Connection, verdicts: Sequence[tuple[str, int, Verdict]]) -> None:
    """Note the verdicts on submissions, each with its table."""
    connection.execute(
        JUDGE, [{"wanted": table, "one": number, **kept(verdict)} for table, number, verdict in verdicts]
    )


def kept(verdict: Verdict) -> dict[str, Any]:
    """A verdict as it is stored with its submission."""
    return {"accepted": verdict.accepted, "said": verdict.why.kept(), "rule": verdict.rule, "seq": verdict.seq}


def insert_new(connection: Connection, into: Table, row: Mapping[str, Any], *, hasty: bool = False) -> Any:
    """The key of a new row; None where there is one like it, which no database's log then tells in its words.

    A hasty one is alone in its transaction and does not wait for the disk.
    """
    return connection.execute(_new(connection.dialect.name, into, hasty), row).scalar_one_or_none()


@functools.cache
def _new(dialect: str, into: Table, hasty: bool) -> Executable:
    insert_into: Any = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}[dialect]
    also = [HASTE] if hasty and dialect == "postgresql" else []
    made: Executable = insert_into(into).on_conflict_do_nothing().returning(*into.primary_key, *also)
    return made


def owe(connection: Connection, table: str, seq: int, letter: Owed, why: Said = NOTHING) -> None:
    """A letter that no entry makes necessary; one that is owed already stays as it is."""
    key = {"table": table, "seq": seq, "seat": letter.seat, "kind": letter.kind}
    same = select(letters.c.id).where(*(letters.c[name] == value for name, value in key.items()))
    if connection.execute(same).first() is None:
        connection.execute(insert(letters), {**key, "due_at": letter.due_at, "said": why.kept()})


def spare_organiser(connection: Connection, table: str) -> None:
    """Owe no invitation to a player who has sat down in opening this table himself; he is there already."""
    seat = organiser(sitting := seats_of(connection, table))
    if seat is None or sitting[seat].status != "taken":
        return
    own = (letters.c.table == table, letters.c.seat == seat, letters.c.kind == "invitation")
    connection.execute(delete(letters).where(*own, letters.c.sent_at.is_(None)))


def look_for_round(connection: Connection, table: str, draws_at: int | None) -> None:
    """When to look for the awaited round of this table the next time."""
    connection.execute(update(tables).where(tables.c.id == table).values(draws_at=draws_at))


def rank(connection: Connection, table: str, places: Sequence[int]) -> None:
    """Store the place of every seat, so that statistics need no replay."""
    connection.execute(SIT, [{"wanted": table, "one": seat, "place": place} for seat, place in enumerate(places)])


def owe_person(connection: Connection, person: int, kind: str, due_at: int, why: Said = NOTHING) -> None:
    """A letter that belongs to a person and not to a seat; one of that kind that is owed already stays as it is."""
    row = {"person": person, "kind": kind, "due_at": due_at, "said": why.kept()}
    with suppress(IntegrityError), connection.begin_nested():
        connection.execute(insert(letters), row)


def release(connection: Connection, table: str, at: int) -> None:
    """Let the letters go of a table that was held until now."""
    connection.execute(update(tables).where(tables.c.id == table).values(held=False))
    waiting = update(letters).where(letters.c.table == table, letters.c.due_at == HELD, letters.c.sent_at.is_(None))
    connection.execute(waiting.values(due_at=at))


def release_person(connection: Connection, person: int, at: int) -> None:
    """Let the letters go that waited for this person's word alone; where the whole table waits, they wait on."""
    seat = (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat) & (seats.c.person == person)
    own = select(seats.c.seat).select_from(seats.join(tables)).where(seat, ~tables.c.held).exists()
    waiting = update(letters).where(own, letters.c.due_at == HELD, letters.c.sent_at.is_(None))
    connection.execute(waiting.values(due_at=at))
