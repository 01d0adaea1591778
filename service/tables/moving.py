"""Moving house: tables go into a file with everything they need, stop here, and are played on elsewhere.

The file holds seeds, nonces and people's addresses, so it is its owner's alone. Links are made with the secret of a
house; those of the old one are known in the new one by their hash, so that letters already sent still lead to the game.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, structs
from msgspec.structs import replace
from sqlalchemy import Connection, delete, insert, select, update

from engine import audit, canonical_json, catalogue, record
from engine.canonical_json import make_decoder
from engine.game import Game
from engine.log import Export, Link
from engine.record import Table
from engine.refusal import Refused
from service import beacon
from service.app import App
from service.links import hash_token
from service.people import register
from service.store import queries
from service.store.batch import OwedLetter
from service.store.rows import SeatRow, TableRow
from service.store.schema import branches, entries, former_links, letters, orders, people, seats, tables, talk

TIMES = ("due_at", "remind_at", "late_at", "clock_from")
STILL = dict.fromkeys(("open_since", *TIMES))


class Person(Struct, frozen=True, forbid_unknown_fields=True):
    """A player as both houses may know him."""

    address: str
    name: str
    language: str
    calendar: str


class CarriedSeat(Struct, frozen=True, forbid_unknown_fields=True):
    """A seat as it was stored; `person` is a place in the file's list, `link` the hash of the link it had."""

    person: int | None
    name: str
    status: str
    link: str
    link_number: int
    open_since: int | None
    due_at: int | None
    remind_at: int | None
    late_at: int | None
    clock_from: int | None
    clock_left: int | None
    misses: int
    orders: int
    wishes: str
    note: str
    released: bool
    place: int | None
    level: str


class TalkRow(Struct, frozen=True, forbid_unknown_fields=True):
    seat: int
    at: int
    text: str


class Order(Struct, frozen=True, forbid_unknown_fields=True):
    seat: int
    move: str
    at: int
    branch: int | None
    after: str


class BranchRow(Struct, frozen=True, forbid_unknown_fields=True):
    id: int
    seat: int
    name: str
    seq: int
    seed: str
    moves: str
    at: int


class Carried(Struct, frozen=True, forbid_unknown_fields=True):
    """One table: its log with everything, and what its players have here besides."""

    log: Export
    pace: int
    watched: bool
    watch: str
    opened_at: int
    moved_at: int
    ended_at: int | None
    draws_at: int | None
    chairs: tuple[CarriedSeat, ...]
    orders: tuple[Order, ...] = ()
    branches: tuple[BranchRow, ...] = ()
    talk: tuple[TalkRow, ...] = ()


class Load(Struct, frozen=True, forbid_unknown_fields=True):
    """What is in the file; `check` is the SHA-256 of all the rest."""

    left: str
    to: str
    at: int
    people: tuple[Person, ...]
    tables: tuple[Carried, ...]
    check: str = ""
    format: Literal["depesche-tables-1"] = "depesche-tables-1"


def packed(load: Load) -> bytes:
    """The file, with its check."""
    return msgspec.json.encode(replace(load, check=_check(load)))


def unpacked(raw: bytes) -> Load:
    """The load of a file; one that was altered or cut is refused."""
    try:
        load = make_decoder(Load).decode(raw)
        json.loads(raw, object_pairs_hook=_once)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Refused("This is no file of tables that move: {why}", why=str(error)[:200]) from None
    if load.check != _check(load):
        raise Refused("This file is not as it was written: its check differs. Move the tables out again.")
    return load


def _once(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("something is told twice")


def _check(load: Load) -> str:
    return hashlib.sha256(msgspec.json.encode(replace(load, check=""), order="sorted")).hexdigest()


# Out of the old house


def leave(app: App, connection: Connection, names: Sequence[str], to: str) -> Load:
    """Take these tables out: from this transaction on they are not played here any more."""
    known = dict[int, int]()
    rows = [_row(connection, name) for name in sorted(set(names))]
    carried = tuple(_carried(connection, row, known) for row in rows)
    for row in rows:
        _stop(connection, row, to)
    who = [connection.execute(select(people).where(people.c.id == number)).one() for number in known]
    folk = tuple(Person(one.address, one.name, one.language, one.calendar) for one in who)
    return Load(app.settings.address, to, app.now(), folk, carried)


def _row(connection: Connection, name: str) -> TableRow:
    row = queries.lock_table(connection, name)
    if row is None:
        raise Refused("There is no table {table}.", table=name)
    if row.moved_to:
        raise Refused("The table {table} lives at {address} already.", table=name, address=row.moved_to)
    if row.held:
        raise Refused("The table {table} still waits for its opener's word, and cannot move.", table=name)
    return row


def _carried(connection: Connection, row: TableRow, known: dict[int, int]) -> Carried:
    links = tuple(
        Link(one.digest, True, canonical_json.decode_object(one.body))
        for one in queries.list_entries(connection, row.id)
    )
    whole = Export(row.id, row.game, row.commitment, row.head, links, seed=row.seed.hex())
    _audited(whole, over=row.phase == "over")
    sitting = queries.list_seats(connection, row.id)
    return Carried(
        whole,
        row.pace,
        watched=row.watched,
        watch=row.watch,
        draws_at=row.draws_at,
        opened_at=row.opened_at,
        moved_at=row.moved_at,
        ended_at=row.ended_at,
        chairs=tuple(_carried_seat(seat, known) for seat in sitting),
        orders=_of(connection, orders, Order, row.id),
        branches=_of(connection, branches, BranchRow, row.id),
        talk=_of(connection, talk, TalkRow, row.id),
    )


def _audited(whole: Export, *, over: bool) -> Game:
    """The game of a log that is sound; any other is not carried about."""
    game = catalogue.find(whole.game, whole.edition)
    finding = audit.audit(game, whole, running=not over, verify_signature=beacon.is_signed).finding
    if finding:
        raise Refused("The table {table} cannot move: {why}", table=whole.table, why=finding.sentence)
    return game


def _carried_seat(seat: SeatRow, known: dict[int, int]) -> CarriedSeat:
    person = None if seat.person is None else known.setdefault(seat.person, len(known))
    rest = {name: getattr(seat, name) for name in CarriedSeat.__struct_fields__ if name != "person"}
    return CarriedSeat(person, **rest)


def _of(connection: Connection, source: Any, kind: Any, table: str) -> tuple[Any, ...]:
    """All rows of a table of the database that belong to this table of the house."""
    wanted = select(source).where(source.c.table == table).order_by(source.c.id)
    rows = connection.execute(wanted).mappings().all()
    plain = ({name: row[name] for name in kind.__struct_fields__} for row in rows)
    return tuple(kind(**{name: _text(value) for name, value in row.items()}) for row in plain)


def _text(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def _stop(connection: Connection, row: TableRow, to: str) -> None:
    """Nothing is played here any more: no clock runs, no letter leaves, no round is looked for."""
    connection.execute(update(tables).where(tables.c.id == row.id).values(moved_to=to, draws_at=None))
    connection.execute(update(seats).where(seats.c.table == row.id).values(**STILL))
    connection.execute(delete(letters).where(letters.c.table == row.id, letters.c.sent_at.is_(None)))


# Into the new house


def arrive(app: App, connection: Connection, load: Load) -> None:
    """Take these tables in: they are played on here, and every player gets the new link by letter."""
    here = app.settings.address.rstrip("/")
    if load.to != here:
        raise Refused("These tables move to {there}, and this house is {here}.", there=load.to, here=here)
    for carried in load.tables:
        _make_room(connection, carried.log)
    named = sorted((one.address, number) for number, one in enumerate(load.people))
    known = {number: _person(connection, load.people[number], app.now()) for _, number in named}
    for carried in load.tables:
        _settle(app, connection, carried, known, app.now() - load.at)


def _make_room(connection: Connection, whole: Export) -> None:
    """A table that once left from here comes back with all that was played here; any other must be new here."""
    row = queries.lock_table(connection, whole.table)
    if row is None:
        return
    if not row.moved_to:
        raise Refused("The table {table} is in this house already.", table=whole.table)
    stayed = [one.digest for one in queries.list_entries(connection, row.id)]
    if stayed != [link.digest for link in whole.entries[: len(stayed)]]:
        raise Refused("The table {table} left this house with another log than it brings back.", table=whole.table)
    for seat in queries.list_seats(connection, row.id):
        _remember(connection, row.id, seat.seat, seat.link)
    for rows in (seats, entries, orders, branches, talk):
        connection.execute(delete(rows).where(rows.c.table == row.id))


def _remember(connection: Connection, table: str, seat: int | None, link: str) -> None:
    """A link in letters already sent leads to this seat, or for None to a spectator's place."""
    queries.insert_new(connection, former_links, {"link": link, "table": table, "seat": seat})


def _person(connection: Connection, one: Person, at: int) -> int:
    """This person here; who is known here already keeps what he has chosen."""
    address = register.clean_address(one.address)
    new = select(people.c.id).where(people.c.address == address)
    is_new = connection.execute(new).scalar_one_or_none() is None
    number = register.find_or_create_person(connection, address, one.name, at, one.language)
    if is_new:
        connection.execute(update(people).where(people.c.id == number).values(calendar=one.calendar))
    return number


def _settle(app: App, connection: Connection, carried: Carried, known: dict[int, int], away: int) -> None:
    whole, name = carried.log, carried.log.table
    game = _audited(whole, over=carried.ended_at is not None)
    bodies = [canonical_json.encode(link.entry) for link in whole.entries]
    position = record.fold(game, map(record.make_entry_decoder(game).decode, bodies))
    if len(position.seats) != len(carried.chairs) or whole.seed is None:
        raise Refused("The table {table} cannot move: its seats are not those of its log.", table=name)
    row = _table_row(app, carried, position)
    if not connection.execute(update(tables).where(tables.c.id == name).values(**row, moved_to="")).rowcount:
        connection.execute(insert(tables), row)
    connection.execute(insert(seats), list(_seat_rows(app, carried, known, away)))
    connection.execute(insert(entries), list(queries.entry_values(name, whole, bodies)))
    for seat, chair in enumerate(carried.chairs):
        _remember(connection, name, seat, chair.link)
    _remember(connection, name, None, carried.watch)
    _unpack(connection, carried)
    for seat, chair in enumerate(carried.chairs):
        if chair.person is not None:
            queries.owe_letter(connection, name, len(bodies) - 1, OwedLetter(seat, "rehoused", app.now()))


def _table_row(app: App, carried: Carried, position: Table) -> dict[str, Any]:
    whole = carried.log
    return {
        "id": whole.table,
        "game": whole.game,
        "edition": position.edition,
        "seats": len(position.seats),
        "seed": bytes.fromhex(whole.seed or ""),
        "commitment": whole.commitment,
        "phase": position.phase,
        "length": position.length,
        "head": whole.head,
        "pace": carried.pace,
        "watch": hash_token(app.links.watch(whole.table)),
        "watched": carried.watched,
        "opened_at": carried.opened_at,
        "moved_at": carried.moved_at,
        "ended_at": carried.ended_at,
        "draws_at": carried.draws_at,
    }


def _seat_rows(app: App, carried: Carried, known: dict[int, int], away: int) -> Iterable[dict[str, Any]]:
    """The seats with links of this house; the time on the way is nobody's."""
    for number, chair in enumerate(carried.chairs):
        row = structs.asdict(chair)
        late = {name: row[name] + max(0, away) for name in TIMES if row[name] is not None}
        link_number = chair.link_number + 1  # one that neither house has made yet
        link = hash_token(app.links.seat(carried.log.table, number, link_number))
        person = None if chair.person is None else known.get(chair.person)
        own = {"table": carried.log.table, "seat": number, "person": person}
        yield {**row, **late, **own, "link": link, "link_number": link_number}


def _unpack(connection: Connection, carried: Carried) -> None:
    """Talk, what-if branches and standing orders, whose branches have other numbers here."""
    name, numbers = carried.log.table, dict[int | None, int | None]()
    for remark in carried.talk:
        connection.execute(insert(talk), {**structs.asdict(remark), "table": name})
    for branch in carried.branches:
        row = {**structs.asdict(branch), "table": name, "seed": bytes.fromhex(branch.seed)}
        del row["id"]
        made = connection.execute(insert(branches).returning(branches.c.id), row)
        numbers[branch.id] = int(made.scalar_one())
    for order in carried.orders:
        row = {**structs.asdict(order), "table": name, "branch": numbers.get(order.branch)}
        connection.execute(insert(orders), row)
