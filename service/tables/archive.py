"""Logs taken out of the book and put into it."""

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
from service.app import App
from service.links import Links, hash_token
from service.store import Store, queries
from service.store.rows import EntryRow, TableRow
from service.store.schema import entries, seats, tables
from service.tables.access import Place

LATEST = 253_402_300_799  # the last second of the year 9999


def export(connection: Connection, row: TableRow, seat: int | None = None) -> log.Export:
    """The log of a table: whole with its seed after the end, before that as this seat may know it."""
    game = catalogue.find_all().get(row.game) and catalogue.find(row.game, row.edition)
    over = row.phase == "over"
    rows = queries.list_entries(connection, row.id)
    return log.Export(
        table=row.id,
        game=row.game,
        commitment=row.commitment,
        head=row.head,
        entries=tuple(_link(game, row, stored, seat) for stored in rows),
        seed=row.seed.hex() if over else None,
        seat=None if over else seat,
    )


def export_for(app: App, place: Place) -> Export:
    """The log as the holder of this link may keep it."""
    with app.store.reading() as connection:
        row = queries.find_table(connection, place.table)
        assert row
        return export(connection, row, place.seat)


def _link(game: Game | None, row: TableRow, stored: EntryRow, seat: int | None) -> log.Link:
    if row.phase == "over":
        return log.Link(stored.digest, True, canonical_json.decode_object(stored.body))
    if game is None:
        return _without_rules(row, stored)
    entry = record.make_entry_decoder(game).decode(stored.body)
    return log.make_link(row.seed, entry, record.redact(game, entry, seat), stored.digest)


def _without_rules(row: TableRow, stored: EntryRow) -> log.Link:
    """An entry of a game that is not installed: nobody here knows what it hides, so only the table's part is told."""
    entry = make_decoder(log.Entry[dict[str, Any]]).decode(stored.body)
    events = tuple(event for event in entry.events if event["type"].startswith("table."))
    told = entry if events == entry.events else replace(entry, move=None, draws=(), events=events)
    return log.make_link(row.seed, entry, told, stored.digest)


def refuse(brought: Export) -> None:
    """Raise Refused unless this is the log of a finished table that can be replayed here without a doubt."""
    if brought.seed is None:
        raise Refused("Only the log of a finished table can be imported; this one does not disclose its seed yet.")
    if not open_command.TABLE_NAME.fullmatch(brought.table):
        raise Refused("The name of a table is one word of letters and digits, not “{table}”.", table=brought.table)
    catalogue.find(brought.game)  # a game that is not here is no table's of this house, so nothing is said of its log
    finding = audit.audit(
        catalogue.find(brought.game, brought.edition), brought, verify_signature=beacon.is_signed
    ).finding
    if finding:
        raise Refused("This log is not taken: {why}", why=finding.sentence)
    if not all(0 <= link.entry["at"] <= LATEST for link in brought.entries):
        raise Refused("This log is not taken: it tells of times that no calendar knows.")


class Archive:
    """The book of record, as far as whole logs go out of it and into it."""

    def __init__(self, store: Store, links: Links) -> None:
        self._store = store
        self._links = links

    def tables(self) -> Sequence[str]:
        """All tables, the oldest first."""
        with self._store.reading() as connection:
            return connection.execute(select(tables.c.id).order_by(tables.c.opened_at, tables.c.id)).scalars().all()

    def export(self, table: str, seat: int | None = None) -> Export:
        """The log of a table: whole once it has ended, before that as the seat or a spectator may know it."""
        with self._store.reading() as connection:
            row = self._row(connection, table)
            if seat is not None and seat >= row.seats:
                raise Refused(
                    "This table has no seat {seat}; its seats are 0 to {last}.", seat=seat, last=row.seats - 1
                )
            return export(connection, row, seat)

    def is_over(self, table: str) -> bool:
        """Whether this table has ended, as the book says."""
        with self._store.reading() as connection:
            return bool(self._row(connection, table).phase == "over")

    def whole(self, table: str) -> Export:
        """The log with everything, seed included, even while it is played: for the host's own audit only."""
        with self._store.reading() as connection:
            row = self._row(connection, table)
            links = tuple(
                log.Link(stored.digest, True, canonical_json.decode_object(stored.body))
                for stored in queries.list_entries(connection, table)
            )
            return replace(export(connection, row), entries=links, seed=row.seed.hex())

    def import_(self, brought: Export) -> str:
        """Add the log of a finished table, as it is and proven; the result is the table's name here."""
        refuse(brought)
        game = catalogue.find(brought.game, brought.edition)
        bodies = [canonical_json.encode(link.entry) for link in brought.entries]
        ended = record.fold(game, map(record.make_entry_decoder(game).decode, bodies))
        with self._store.writing() as connection:
            if queries.find_table(connection, brought.table):
                raise Refused("The table {table} is in the book already.", table=brought.table)
            connection.execute(insert(tables), self._table(brought, len(ended.seats)))
            connection.execute(insert(seats), [self._seat(brought.table, seat) for seat in range(len(ended.seats))])
            queries.store_places(connection, brought.table, ended.places)
            connection.execute(insert(entries), list(queries.entry_values(brought.table, brought, bodies)))
        return brought.table

    def _row(self, connection: Connection, table: str) -> TableRow:
        row = queries.find_table(connection, table)
        if row is None:
            raise Refused("There is no table {table}.", table=table)
        return row

    def _table(self, brought: Export, count: int) -> dict[str, Any]:
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

    def _seat(self, table: str, seat: int) -> dict[str, Any]:
        link = hash_token(self._links.seat(table, seat, 0))
        return {
            "table": table,
            "seat": seat,
            "name": f"Seat {seat + 1}",
            "status": "taken",
            "link": link,
            "link_number": 0,
        }
