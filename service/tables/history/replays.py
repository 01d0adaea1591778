"""Replays and archive: a game after any of its entries, as its reader could see it then; logs in and out as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, insert, select

from engine import audit, canonical_json, catalogue, log, options, record
from engine.canonical_json import make_decoder
from engine.game import Game, Standing
from engine.log import Export
from engine.options import describe
from engine.refusal import Refused
from service.app import App
from service.internet import beacon
from service.links import Links, hash_token
from service.store import Store, queries
from service.store.rows import EntryRow, TableRow
from service.store.schema import entries, seats, tables
from service.tables import snapshots
from service.tables.access import Place
from service.tables.snapshots import Snapshot, TurnIndex
from service.text import drawing, narration
from service.text.drawing import DrawnBoard, Scene, Stage, list_players
from service.text.languages import translate_in_game
from service.text.narration import Chapter, Narrator
from service.text.templates import get_environment

MAX_TIME_S = 253_402_300_799  # the last second of the year 9999


def export_log(db: Connection, row: TableRow, seat: int | None = None) -> log.Export:
    """Return the log of a table: whole with its seed after the end, before that as its reader may know it.

    The reader has this seat, or is a spectator (None).
    """
    game = catalogue.find(row.game, row.edition) if row.game in catalogue.find_all() else None
    over = row.phase == "over"
    rows = queries.list_entries(db, row.id)
    return log.Export(
        table=row.id,
        game=row.game,
        commitment=row.commitment,
        head=row.head,
        entries=tuple(_export_entry(game, row, stored, seat) for stored in rows),
        format=log.FORMAT,
        seed=row.seed.hex() if over else None,
        seat=None if over else seat,
    )


def export_for_place(db: Connection, place: Place) -> Export:
    """Return the log as the holder of this link may keep it."""
    row = queries.find_table(db, place.table)
    assert row
    return export_log(db, row, place.seat)


def _export_entry(game: Game | None, row: TableRow, stored: EntryRow, seat: int | None) -> log.ExportedEntry:
    """Return an entry as this seat, or a spectator (None), may know it; without `game` the game is not installed."""
    if row.phase == "over":
        return log.ExportedEntry(stored.digest, whole=True, entry=canonical_json.decode_object(stored.body))
    if game is None:
        return _redact_without_game(row, stored)
    entry = log.make_entry_decoder(game).decode(stored.body)
    return log.export_entry(row.seed, entry, log.redact(game, entry, seat), stored.digest)


def _redact_without_game(row: TableRow, stored: EntryRow) -> log.ExportedEntry:
    """Redact an entry of a game that is not installed: only the table's events remain, as any other may be hidden."""
    entry = make_decoder(log.Entry[dict[str, Any]]).decode(stored.body)
    events = tuple(event for event in entry.events if event["type"].startswith("table."))
    redacted = entry if events == entry.events else replace(entry, move=None, draws=(), events=events)
    return log.export_entry(row.seed, entry, redacted, stored.digest)


def refuse_unsound_log(export: Export) -> None:
    """Raise Refused unless this is the log of a finished table, and its audit finds nothing wrong."""
    if export.seed is None:
        raise Refused("Only the log of a finished table can be imported; this one does not disclose its seed yet.")
    if not options.TABLE_NAME.fullmatch(export.table):
        raise Refused("The name of a table is one word of letters and digits, not “{table}”.", table=export.table)
    catalogue.find(export.game)  # its refusal says which games there are, and which setting allows this one
    game = catalogue.find(export.game, export.edition)
    finding = audit.audit(game, export, verify_signature=beacon.is_signed).finding
    if finding:
        raise Refused("This log is not taken: {why}", why=finding.sentence)
    if not all(0 <= exported.entry["at"] <= MAX_TIME_S for exported in export.entries):
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
            whole_entries = tuple(
                log.ExportedEntry(stored.digest, whole=True, entry=canonical_json.decode_object(stored.body))
                for stored in queries.list_entries(db, table)
            )
            return replace(export_log(db, row), entries=whole_entries, seed=row.seed.hex())

    def import_(self, export: Export) -> str:
        """Audit and store the log of a finished table; return the table's name.

        Raise Refused if the log is not sound, or if the table is stored here already.
        """
        refuse_unsound_log(export)
        game = catalogue.find(export.game, export.edition)
        bodies = [canonical_json.encode(exported.entry) for exported in export.entries]
        ended = record.fold(game, map(log.make_entry_decoder(game).decode, bodies))
        with self._store.writing() as db:
            if queries.find_table(db, export.table):
                raise Refused("The table {table} is stored here already.", table=export.table)
            db.execute(insert(tables), self._make_table_row(export, len(ended.seats)))
            db.execute(insert(seats), [self._make_seat_row(export.table, seat) for seat in range(len(ended.seats))])
            queries.store_places(db, export.table, ended.places)
            db.execute(insert(entries), list(queries.make_entry_rows(export.table, export, bodies)))
        return export.table

    def _find_row(self, db: Connection, table: str) -> TableRow:
        """Find the row of a table; raise Refused if there is none."""
        row = queries.find_table(db, table)
        if row is None:
            raise Refused("There is no table {table}.", table=table)
        return row

    def _make_table_row(self, export: Export, seat_count: int) -> dict[str, Any]:
        """Make the row of a finished table from its log; its times are those of its first and last entry."""
        times = [int(exported.entry["at"]) for exported in export.entries]
        return {
            "id": export.table,
            "game": export.game,
            "edition": export.edition,
            "seats": seat_count,
            "seed": bytes.fromhex(export.seed or ""),
            "commitment": export.commitment,
            "phase": "over",
            "length": len(export.entries),
            "head": export.head,
            "pace": 0,
            "spectator_link": hash_token(self._links.make_watch_token(export.table)),
            "opened_at": times[0],
            "moved_at": times[-1],
            "ended_at": times[-1],
        }

    def _make_seat_row(self, table: str, seat: int) -> dict[str, Any]:
        """Make the row of a seat, whose player the log does not name."""
        link = hash_token(self._links.make_seat_token(table, seat, number=0))
        return {
            "table": table,
            "seat": seat,
            "name": f"Seat {seat + 1}",
            "status": "taken",
            "link": link,
            "link_number": 0,
        }


NEARBY_ENTRIES = 4  # entries shown before this one and after it


class Viewpoint(Struct, frozen=True):
    """The reader of a replay: the seat whose view it shows (None: what all may see), and the language."""

    seat: int | None
    language: str


class Frame(Struct, frozen=True):
    """One position with the entry that led to it; the replay goes from entry `first` to entry `last`.

    `around` are the entries nearby in prose, `rounds` the entries that begin rounds, and `since` is the first entry
    after the reader's last one.
    """

    at: int
    first: int
    last: int
    board: DrawnBoard
    standing: Sequence[Standing]
    around: tuple[Chapter, ...]
    receipt: str
    rounds: tuple[int, ...]
    since: int | None

    @property
    def chapter(self) -> Chapter | None:
        """This entry in prose; None if it shows the reader nothing."""
        for chapter in self.around:
            if chapter.seq == self.at:
                return chapter
        return None

    @property
    def round(self) -> int:
        """The number of this round; 0 before the first round begins."""
        return sum(start <= self.at for start in self.rounds)

    @property
    def before(self) -> int | None:
        """The entry that began this round, or if this is that entry, the round before; None if there is none."""
        return max((start for start in self.rounds if start < self.at), default=None)

    @property
    def after(self) -> int | None:
        """The entry that begins the next round; None in the last one."""
        return min((start for start in self.rounds if start > self.at), default=None)


class PastStage(Struct, frozen=True):
    """The stage of a table after entry `at`, and that entry in prose; the game goes from entry `first` to `last`."""

    at: int
    first: int
    last: int
    stage: Stage
    standing: Sequence[Standing]
    chapters: tuple[Chapter, ...]


def load_frame(
    app: App, db: Connection, table: Snapshot, reader: Viewpoint, entry_number: int | None, begin: int | None = None
) -> Frame:
    """Return the position after an entry, with what a replay shows beside it.

    A replay goes over the whole game, or from its entry `begin` to the end. Without an `entry_number`, it shows its
    first entry if there is a `begin`, else its last. A number outside of the replay, or a `begin` outside of the game,
    means the nearest entry inside.
    """
    index, start_of_game = _load_turns(app, db, table)
    last = table.row.length - 1
    first = start_of_game if begin is None else min(max(begin, start_of_game), last)
    if entry_number is None:
        entry_number = last if begin is None else first
    at = min(max(entry_number, first), last)
    then = snapshots.load_past(app, db, table, at)
    scene = _make_scene(table, reader, then.state)
    narrator = _make_narrator(table, reader, scene.view)
    nearby = snapshots.load_entries(db, table, max(at - NEARBY_ENTRIES, first), at + NEARBY_ENTRIES + 1)
    position_length = at + 1  # the entries from 0 to `at`
    return Frame(
        at,
        first,
        last,
        board=drawing.draw_board(app.caches.boards, (table.row.id, position_length), scene, narrator),
        standing=table.game.standing(then.state),
        around=narration.describe_entries(table.game, nearby, narrator, reader.seat),
        receipt=snapshots.load_receipt(db, table, at),
        rounds=tuple(seq for seq in index.list_round_starts(reader.seat) if seq >= first),
        since=index.find_first_after(reader.seat),
    )


def load_past_stage(
    app: App, db: Connection, table: Snapshot, reader: Viewpoint, entry_number: int | None
) -> PastStage:
    """Return the stage after this entry; after the last one for None or a later number, and never before the game."""
    _, first = _load_turns(app, db, table)
    last = table.row.length - 1
    at = last if entry_number is None else min(max(entry_number, first), last)
    then = snapshots.load_past(app, db, table, at)
    scene = _make_scene(table, reader, then.state)
    narrator = _make_narrator(table, reader, scene.view)
    entry = snapshots.load_entries(db, table, at, at + 1)
    position_length = at + 1  # the entries from 0 to `at`
    return PastStage(
        at,
        first,
        last,
        stage=drawing.draw_staged_board(
            app.caches.staged_boards, (table.row.id, position_length), scene, narrator
        ).stage,
        standing=table.game.standing(then.state),
        chapters=narration.describe_entries(table.game, entry, narrator, reader.seat),
    )


def _load_turns(app: App, db: Connection, table: Snapshot) -> tuple[TurnIndex, int]:
    """Return which seat moved when, and the entry that began the game; raise Refused before the game."""
    index = snapshots.load_turn_index(app.caches, db, table.row)
    if index.first is None:
        raise Refused("There is nothing to replay yet; the game has not begun.")
    return index, index.first


def _make_narrator(table: Snapshot, reader: Viewpoint, view: Any = None) -> Narrator:
    return Narrator(table.game, table.names, reader.language, reader.seat, view=view)


def _make_scene(table: Snapshot, reader: Viewpoint, state: Any) -> Scene:
    """Make the scene of an earlier state as this reader saw it; nothing can be done in it."""
    view = table.game.view(state, reader.seat)
    return Scene(table.game, view, list_players(table.names), reader.seat, menu=(), language=reader.language)


class TranscriptLine(Struct, frozen=True):
    """An entry of a transcript: its seat's player, its command, and sentences about its events.

    The player is empty if the server made the command; the move is empty if this reader may not see it.
    """

    seq: int
    at: int
    who: str
    move: str
    sentences: tuple[str, ...]


def write_transcript(db: Connection, table: Snapshot, reader: Viewpoint) -> str:
    """Return the whole game in plain text: everything after the end, before that what this reader may know."""
    is_over = table.position.phase == "over"
    meta = table.game.META
    template = get_environment(reader.language).get_template("table/log.txt")
    return template.render(
        title=translate_in_game(reader.language, meta.name, meta.title),
        meta=meta,
        row=table.row,
        players=table.names,
        options=[
            (translate_in_game(reader.language, meta.name, option.label), table.position.options[option.name])
            for option in describe(meta.options)
            if option.name in table.position.options
        ],
        is_over=is_over,
        has_beacon=table.position.beacon is not None,
        lines=_list_transcript_lines(db, table, reader),
        places=sorted((place, table.names[seat]) for seat, place in enumerate(table.position.places)),
        seed=table.row.seed.hex() if is_over else "",
    )


def _list_transcript_lines(db: Connection, table: Snapshot, reader: Viewpoint) -> Iterator[TranscriptLine]:
    """Yield a line for each entry, as far as the reader may know it."""
    narrator = _make_narrator(table, reader)
    for entry in snapshots.load_entries(db, table):
        visible = entry if table.position.phase == "over" else log.redact(table.game, entry, reader.seat)
        sentences = tuple(sentence for event in visible.events if (sentence := narrator.describe(event)))
        who = "" if visible.seat is None else table.names[visible.seat]
        yield TranscriptLine(visible.seq, visible.at, who, visible.move or "", sentences)
