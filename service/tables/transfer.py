"""Transfer of tables: they leave this server in a file with everything they need, and are played on at another.

The file holds seeds, nonces and people's addresses, so only the host may read it. A server makes links with its secret;
the new one stores the hashes of the old links, so that letters already sent still lead to the game.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, field, structs
from msgspec.structs import replace
from sqlalchemy import Connection, delete, insert, select, update

from engine import audit, canonical_json, catalogue, log, record
from engine.canonical_json import make_decoder
from engine.game import Game
from engine.log import FORMAT, Export, ExportedEntry
from engine.record import Table
from engine.refusal import Refused
from service.app import App
from service.internet import beacon
from service.links import hash_token
from service.people import register
from service.store import queries
from service.store.batch import OwedLetter
from service.store.rows import SeatRow, TableRow
from service.store.schema import branches, entries, former_links, letters, orders, people, seats, tables, talk

# Times of a seat whose clock runs; `open_since` is the entry with which its turn began.
TIMES = ("due_at", "remind_at", "late_at", "clock_from")
NO_TURN = dict.fromkeys(("open_since", *TIMES))


class Person(Struct, frozen=True, forbid_unknown_fields=True):
    """A player, as far as the other server may know."""

    address: str
    name: str
    language: str
    calendar: str


class TransferredSeat(Struct, frozen=True, forbid_unknown_fields=True):
    """A seat as it was stored; `person` is an index of the file's list, `link` the hash of the link it had.

    Files have the name in quotes.
    """

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
    letter_settings: str = field(name="wishes")
    note: str
    released: bool
    place: int | None
    level: str
    proven: bool


class TalkRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A remark of a seat."""

    seat: int
    at: int
    text: str


class OrderRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A standing order; `after` is its condition in JSON, empty if it has none."""

    seat: int
    move: str
    at: int
    branch: int | None
    after: str


class BranchRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A branch that leaves the game after entry `seq`; `seed` is hexadecimal, `moves` is JSON."""

    id: int
    seat: int
    name: str
    seq: int
    seed: str
    moves: str
    at: int


class TransferredTable(Struct, frozen=True, forbid_unknown_fields=True):
    """One table: its whole log, and the other data that its players have on this server.

    Files have the name in quotes.
    """

    log: Export
    pace: int
    allows_spectators: bool = field(name="watched")
    spectator_link: str = field(name="watch")
    opened_at: int
    moved_at: int
    ended_at: int | None
    draws_at: int | None
    seats: tuple[TransferredSeat, ...] = field(name="chairs")
    orders: tuple[OrderRow, ...] = ()
    branches: tuple[BranchRow, ...] = ()
    talk: tuple[TalkRow, ...] = ()


class TransferFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file; `check` is the SHA-256 of the rest. Files have the names in quotes."""

    old_server: str = field(name="left")
    new_server: str = field(name="to")
    at: int
    people: tuple[Person, ...]
    tables: tuple[TransferredTable, ...]
    check: str = ""
    format: Literal["depesche-tables-1"] = "depesche-tables-1"


def dump_file(file: TransferFile) -> bytes:
    """Encode the file, with its check."""
    return msgspec.json.encode(replace(file, check=_compute_check(file)))


def parse_file(raw: bytes) -> TransferFile:
    """Decode the file; raise Refused if it was altered or cut."""
    try:
        file = make_decoder(TransferFile).decode(raw)
        json.loads(raw, object_pairs_hook=_refuse_duplicates)  # which msgspec accepts
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Refused("This is not a file of exported tables: {why}", why=str(error)[:200]) from None
    if file.check != _compute_check(file):
        raise Refused("This file is not as it was written: its check differs. Export the tables again.")
    return file


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> None:
    """Raise ValueError if an object in JSON has a name twice; `json.loads` calls this with the pairs of each object."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name appears twice")


def _compute_check(file: TransferFile) -> str:
    return hashlib.sha256(msgspec.json.encode(replace(file, check=""), order="sorted")).hexdigest()


# Export from the old server


def export_tables(app: App, db: Connection, names: Sequence[str], to: str) -> TransferFile:
    """Return the file with these tables for the server at address `to`; after this transaction none is played here."""
    indexes = dict[int, int]()  # of people: the index in the file by the id in the database
    # Tables are locked in the order of their names, so that two exports cannot deadlock.
    rows = [_lock_row(db, name) for name in sorted(set(names))]
    transferred = tuple(_export_table(db, row, indexes) for row in rows)
    for row in rows:  # only after the export: `_stop` ends the turns, which the file has to contain
        _stop(db, row, to)
    stored = [db.execute(select(people).where(people.c.id == number)).one() for number in indexes]
    persons = tuple(Person(one.address, one.name, one.language, one.calendar) for one in stored)
    return TransferFile(app.settings.address, to, app.now(), persons, transferred)


def _lock_row(db: Connection, name: str) -> TableRow:
    """Lock a table that leaves; raise Refused if it is not here, or not ready to be transferred."""
    row = queries.lock_table(db, name)
    if row is None:
        raise Refused("There is no table {table}.", table=name)
    if row.moved_to:
        raise Refused("The table {table} is played at {address} already.", table=name, address=row.moved_to)
    if row.awaits_confirmation:
        raise Refused(
            "The table {table} still waits for its organiser to confirm it, and cannot be transferred.", table=name
        )
    return row


def _export_table(db: Connection, row: TableRow, indexes: dict[int, int]) -> TransferredTable:
    """Return a table as the file has it, and give each of its people an index there."""
    whole_entries = tuple(
        ExportedEntry(stored.digest, whole=True, entry=canonical_json.decode_object(stored.body))
        for stored in queries.list_entries(db, row.id)
    )
    whole = Export(
        table=row.id,
        game=row.game,
        commitment=row.commitment,
        head=row.head,
        entries=whole_entries,
        format=FORMAT,
        seed=row.seed.hex(),
        seat=None,
    )
    _audit(whole, over=row.phase == "over")
    return TransferredTable(
        whole,
        row.pace,
        allows_spectators=row.allows_spectators,
        spectator_link=row.spectator_link,
        draws_at=row.draws_at,
        opened_at=row.opened_at,
        moved_at=row.moved_at,
        ended_at=row.ended_at,
        seats=tuple(_export_seat(seat, indexes) for seat in queries.list_seats(db, row.id)),
        orders=_export_rows(db, orders, OrderRow, row.id),
        branches=_export_rows(db, branches, BranchRow, row.id),
        talk=_export_rows(db, talk, TalkRow, row.id),
    )


def _audit(whole: Export, *, over: bool) -> Game:
    """Audit a log: return its game, or raise Refused if the log is not sound."""
    game = catalogue.find(whole.game, whole.edition)
    finding = audit.audit(game, whole, running=not over, verify_signature=beacon.is_signed).finding
    if finding:
        raise Refused("The table {table} cannot be transferred: {why}", table=whole.table, why=finding.sentence)
    return game


def _export_seat(seat: SeatRow, indexes: dict[int, int]) -> TransferredSeat:
    """Return a seat as the file has it, and give its person an index there."""
    person = None if seat.person is None else indexes.setdefault(seat.person, len(indexes))
    rest = {name: getattr(seat, name) for name in TransferredSeat.__struct_fields__ if name != "person"}
    return TransferredSeat(person, **rest)


def _export_rows(db: Connection, source: Any, kind: Any, table: str) -> tuple[Any, ...]:
    """Return the rows of one database table that belong to this game table, as structs of this kind."""
    query = select(source).where(source.c.table == table).order_by(source.c.id)
    rows = db.execute(query).mappings().all()
    return tuple(kind(**{name: _dump_value(row[name]) for name in kind.__struct_fields__}) for row in rows)


def _dump_value(value: Any) -> Any:
    """Return a value of a column as JSON has it: bytes as hexadecimal digits."""
    return value.hex() if isinstance(value, bytes) else value


def _stop(db: Connection, row: TableRow, to: str) -> None:
    """Mark the table as transferred; stop its clocks, its letters, and the wait for a beacon round."""
    db.execute(update(tables).where(tables.c.id == row.id).values(moved_to=to, draws_at=None))
    db.execute(update(seats).where(seats.c.table == row.id).values(**NO_TURN))
    db.execute(delete(letters).where(letters.c.table == row.id, letters.c.sent_at.is_(None)))


# Import into the new server


def import_tables(app: App, db: Connection, file: TransferFile) -> None:
    """Take these tables in: they are played on here, and every player gets the new link by letter."""
    address = app.settings.address.rstrip("/")
    if file.new_server != address:
        raise Refused("These tables go to {there}, and this server is {here}.", there=file.new_server, here=address)
    for one in file.tables:
        _make_room(db, one.log)
    # People are stored in the order of their addresses everywhere, so that two transactions cannot deadlock.
    in_lock_order = sorted((person.address, index) for index, person in enumerate(file.people))
    persons = {index: _import_person(db, file.people[index], app.now()) for _, index in in_lock_order}
    seconds_on_the_way = app.now() - file.at  # by which deadlines move
    for one in file.tables:
        _import_table(app, db, one, persons, seconds_on_the_way)


def _make_room(db: Connection, whole: Export) -> None:
    """Delete the rows of a table that comes back; the links of its seats still lead there.

    Raise Refused if it never left, or if its log does not begin with the log that left.
    """
    row = queries.lock_table(db, whole.table)
    if row is None:
        return
    if not row.moved_to:
        raise Refused("The table {table} is on this server already.", table=whole.table)
    stayed = [one.digest for one in queries.list_entries(db, row.id)]
    if stayed != [exported.digest for exported in whole.entries[: len(stayed)]]:
        raise Refused("The table {table} left this server with another log than it brings back.", table=whole.table)
    for seat in queries.list_seats(db, row.id):
        _store_former_link(db, row.id, seat.seat, seat.link)
    for rows in (seats, entries, orders, branches, talk):
        db.execute(delete(rows).where(rows.c.table == row.id))


def _store_former_link(db: Connection, table: str, seat: int | None, link: str) -> None:
    """Let a link of the old server lead to this seat, or for None to a spectator's place."""
    queries.insert_new(db, former_links, {"link": link, "table": table, "seat": seat})


def _import_person(db: Connection, one: Person, at: int) -> int:
    """Return the id of this person; a person whom this server knows already keeps the settings from here."""
    address = register.clean_address(one.address)
    by_address = select(people.c.id).where(people.c.address == address)
    is_new = db.execute(by_address).scalar_one_or_none() is None
    number = register.find_or_create_person(db, address, one.name, at, one.language)
    if is_new:
        db.execute(update(people).where(people.c.id == number).values(calendar=one.calendar))
    return number


def _import_table(app: App, db: Connection, one: TransferredTable, persons: dict[int, int], elapsed: int) -> None:
    """Store a table with all that belongs to it, and owe its players letters with their new links.

    `persons` are the ids of the file's people by their indexes in it, `elapsed` the seconds since it was exported.
    """
    whole, name = one.log, one.log.table
    game = _audit(whole, over=one.ended_at is not None)
    bodies = [canonical_json.encode(exported.entry) for exported in whole.entries]
    position = record.fold(game, map(log.make_entry_decoder(game).decode, bodies))
    if len(position.seats) != len(one.seats) or whole.seed is None:
        raise Refused("The table {table} cannot be transferred: its seats are not those of its log.", table=name)
    row = _make_table_row(app, one, position)
    # A table that was transferred away from here before still has its row.
    if not db.execute(update(tables).where(tables.c.id == name).values(**row, moved_to="")).rowcount:
        db.execute(insert(tables), row)
    db.execute(insert(seats), list(_make_seat_rows(app, one, persons, elapsed)))
    db.execute(insert(entries), list(queries.make_entry_rows(name, whole, bodies)))
    for seat, exported in enumerate(one.seats):
        _store_former_link(db, name, seat, exported.link)
    _store_former_link(db, name, seat=None, link=one.spectator_link)
    _import_rows(db, one)
    for seat, exported in enumerate(one.seats):
        if exported.person is not None:
            queries.owe_letter(db, name, len(bodies) - 1, OwedLetter(seat, "rehoused", app.now()))


def _make_table_row(app: App, came: TransferredTable, position: Table) -> dict[str, Any]:
    """Make the row of a table that comes from another server; `position` is that after its last entry."""
    log = came.log
    return {
        "id": log.table,
        "game": log.game,
        "edition": position.edition,
        "seats": len(position.seats),
        "seed": bytes.fromhex(log.seed or ""),
        "commitment": log.commitment,
        "phase": position.phase,
        "length": position.length,
        "head": log.head,
        "pace": came.pace,
        "spectator_link": hash_token(app.links.make_watch_token(log.table)),
        "allows_spectators": came.allows_spectators,
        "opened_at": came.opened_at,
        "moved_at": came.moved_at,
        "ended_at": came.ended_at,
        "draws_at": came.draws_at,
    }


def _make_seat_rows(app: App, one: TransferredTable, persons: dict[int, int], elapsed: int) -> Iterable[dict[str, Any]]:
    """Yield the rows of the seats, with links of this server; the time of the transfer counts for no player."""
    for number, exported in enumerate(one.seats):
        row = structs.asdict(exported)
        # The clock of the old server may be ahead, so that `elapsed` is below 0.
        later = {name: row[name] + max(0, elapsed) for name in TIMES if row[name] is not None}
        link_number = exported.link_number + 1  # a number that neither server has used yet
        link = hash_token(app.links.make_seat_token(one.log.table, number, link_number))
        person = None if exported.person is None else persons.get(exported.person)
        own = {
            "table": one.log.table,
            "seat": number,
            "person": person,
            "proven": exported.proven or not app.settings.confirms,
        }
        yield {**row, **later, **own, "link": link, "link_number": link_number}


def _import_rows(db: Connection, one: TransferredTable) -> None:
    """Store talk, what-if branches and standing orders; branches get new numbers, also in the orders made from them."""
    name = one.log.table
    new_numbers = dict[int, int]()  # of the branches, by the numbers in the file
    for remark in one.talk:
        number = db.execute(insert(talk).returning(talk.c.id), {**structs.asdict(remark), "table": name}).scalar_one()
        db.execute(update(tables).where(tables.c.id == name).values(last_remark=number))
    for branch in one.branches:
        row = {**structs.asdict(branch), "table": name, "seed": bytes.fromhex(branch.seed)}
        del row["id"]
        made = db.execute(insert(branches).returning(branches.c.id), row)
        new_numbers[branch.id] = int(made.scalar_one())
    for order in one.orders:
        new_number = None if order.branch is None else new_numbers.get(order.branch)
        row = {**structs.asdict(order), "table": name, "branch": new_number}
        db.execute(insert(orders), row)
