"""Whole logs: exported from the database and imported into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, insert, select

from engine import audit, canonical_json, catalogue, log, open_command, record
from engine.canonical_json import make_decoder
from engine.game import Game
from engine.log import Export
from engine.refusal import Refused
from service import beacon
from service.links import Links, hash_token
from service.store import Store, queries
from service.store.rows import EntryRow, TableRow
from service.store.schema import entries, seats, tables
from service.tables.access import Place

MAX_TIME_S = 253_402_300_799  # the last second of the year 9999


def export_log(db: Connection, row: TableRow, seat: int | None = None) -> log.Export:
    """Return the log of a table: whole with its seed after the end, before that as this seat may know it."""
    game = catalogue.find_all().get(row.game) and catalogue.find(row.game, row.edition)
    over = row.phase == "over"
    rows = queries.list_entries(db, row.id)
    return log.Export(
        table=row.id,
        game=row.game,
        commitment=row.commitment,
        head=row.head,
        entries=tuple(_make_link(game, row, stored, seat) for stored in rows),
        seed=row.seed.hex() if over else None,
        seat=None if over else seat,
    )


def export_for_place(db: Connection, place: Place) -> Export:
    """Return the log as the holder of this link may keep it."""
    row = queries.find_table(db, place.table)
    assert row
    return export_log(db, row, place.seat)


def _make_link(game: Game | None, row: TableRow, stored: EntryRow, seat: int | None) -> log.Link:
    if row.phase == "over":
        return log.Link(stored.digest, True, canonical_json.decode_object(stored.body))
    if game is None:
        return _redact_without_game(row, stored)
    entry = record.make_entry_decoder(game).decode(stored.body)
    return log.make_link(row.seed, entry, record.redact(game, entry, seat), stored.digest)


def _redact_without_game(row: TableRow, stored: EntryRow) -> log.Link:
    """Redact an entry of a game that is not installed: only the table's events remain, as any other may be hidden."""
    entry = make_decoder(log.Entry[dict[str, Any]]).decode(stored.body)
    events = tuple(event for event in entry.events if event["type"].startswith("table."))
    redacted = entry if events == entry.events else replace(entry, move=None, draws=(), events=events)
    return log.make_link(row.seed, entry, redacted, stored.digest)


def refuse_unsound(brought: Export) -> None:
    """Raise Refused unless this is the log of a finished table, and its audit finds nothing wrong."""
    if brought.seed is None:
        raise Refused("Only the log of a finished table can be imported; this one does not disclose its seed yet.")
    if not open_command.TABLE_NAME.fullmatch(brought.table):
        raise Refused("The name of a table is one word of letters and digits, not “{table}”.", table=brought.table)
    catalogue.find(brought.game)  # raises NotInstalled for a game that this server does not have
    finding = audit.audit(
        catalogue.find(brought.game, brought.edition), brought, verify_signature=beacon.is_signed
    ).finding
    if finding:
        raise Refused("This log is not taken: {why}", why=finding.sentence)
    if not all(0 <= link.entry["at"] <= MAX_TIME_S for link in brought.entries):
        raise Refused("This log is not taken: it tells of times that no calendar knows.")


class Archive:
    """Exports and imports whole logs."""

    def __init__(self, store: Store, links: Links) -> None:
        self._store = store
        self._links = links

    def list_tables(self) -> Sequence[str]:
        """Return the names of all tables, the oldest first."""
        with self._store.reading() as db:
            return db.execute(select(tables.c.id).order_by(tables.c.opened_at, tables.c.id)).scalars().all()

    def export(self, table: str, seat: int | None = None) -> Export:
        """Return the log of a table: whole once it has ended, before that as the seat or a spectator may know it."""
        with self._store.reading() as db:
            row = self._find_row(db, table)
            if seat is not None and seat >= row.seats:
                raise Refused(
                    "This table has no seat {seat}; its seats are 0 to {last}.", seat=seat, last=row.seats - 1
                )
            return export_log(db, row, seat)

    def is_over(self, table: str) -> bool:
        """Return whether this table has ended."""
        with self._store.reading() as db:
            return bool(self._find_row(db, table).phase == "over")

    def export_whole(self, table: str) -> Export:
        """Return the whole log with its seed, even while it is played: for the host's own audit only."""
        with self._store.reading() as db:
            row = self._find_row(db, table)
            links = tuple(
                log.Link(stored.digest, True, canonical_json.decode_object(stored.body))
                for stored in queries.list_entries(db, table)
            )
            return replace(export_log(db, row), entries=links, seed=row.seed.hex())

    def import_(self, brought: Export) -> str:
        """Audit and store the log of a finished table; return the table's name."""
        refuse_unsound(brought)
        game = catalogue.find(brought.game, brought.edition)
        bodies = [canonical_json.encode(link.entry) for link in brought.entries]
        ended = record.fold(game, map(record.make_entry_decoder(game).decode, bodies))
        with self._store.writing() as db:
            if queries.find_table(db, brought.table):
                raise Refused("The table {table} is in the book already.", table=brought.table)
            db.execute(insert(tables), self._make_table_row(brought, len(ended.seats)))
            db.execute(insert(seats), [self._make_seat_row(brought.table, seat) for seat in range(len(ended.seats))])
            queries.store_places(db, brought.table, ended.places)
            db.execute(insert(entries), list(queries.entry_values(brought.table, brought, bodies)))
        return brought.table

    def _find_row(self, db: Connection, table: str) -> TableRow:
        row = queries.find_table(db, table)
        if row is None:
            raise Refused("There is no table {table}.", table=table)
        return row

    def _make_table_row(self, brought: Export, count: int) -> dict[str, Any]:
        times = [int(link.entry["at"]) for link in brought.entries]
        return {
            "id": brought.table,
            "game": brought.game,
            "edition": brought.edition,
            "seats": count,
            "seed": bytes.fromhex(brought.seed or ""),
            "commitment": brought.commitment,
            "phase": "over",
            "length": len(brought.entries),
            "head": brought.head,
            "pace": 0,
            "watch": hash_token(self._links.watch(brought.table)),
            "opened_at": times[0],
            "moved_at": times[-1],
            "ended_at": times[-1],
        }

    def _make_seat_row(self, table: str, seat: int) -> dict[str, Any]:
        link = hash_token(self._links.seat(table, seat, 0))
        return {
            "table": table,
            "seat": seat,
            "name": f"Seat {seat + 1}",
            "status": "taken",
            "link": link,
            "link_number": 0,
        }
