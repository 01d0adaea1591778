"""Replays: a game after any of its entries, as its reader could see it then, and all of it as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from engine import record
from engine.game import Standing
from engine.options import describe
from engine.refusal import Refused
from service.app import App
from service.tables import positions, snapshots
from service.tables.positions import TurnIndex
from service.tables.snapshots import Snapshot
from service.text import drawing, narration
from service.text.drawing import DrawnBoard, Scene, Stage, list_players
from service.text.languages import translate_in_game
from service.text.narration import Chapter, Narrator
from service.text.templates import get_environment

AROUND = 4  # entries shown before this one and after it


class Viewpoint(Struct, frozen=True):
    """The reader of a replay: the seat whose view it shows (None: what all may see), and the language."""

    eyes: int | None
    language: str


class Frame(Struct, frozen=True):
    """One position with the entry that led to it; the replay goes from entry `first` to entry `last`."""

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
        return next((one for one in self.around if one.seq == self.at), None)

    @property
    def round(self) -> int:
        """The number of this round; 0 before the first round begins."""
        return sum(start <= self.at for start in self.rounds)

    @property
    def before(self) -> int | None:
        """The entry that began this round, or if this is that entry, the round before."""
        return max((start for start in self.rounds if start < self.at), default=None)

    @property
    def after(self) -> int | None:
        """The entry that begins the next round."""
        return min((start for start in self.rounds if start > self.at), default=None)


class World(Struct, frozen=True):
    """One position for the stage of a table, with the entry that led to it in prose."""

    at: int
    first: int
    last: int
    stage: Stage
    standing: Sequence[Standing]
    chapters: tuple[Chapter, ...]


def load_frame(
    app: App, db: Connection, table: Snapshot, reader: Viewpoint, asked: int | None, begin: int | None = None
) -> Frame:
    """Return the position after entry `asked`, by default after the last one, but not before entry `begin`."""
    index, start = _load_turns(app, db, table)
    last = table.row.length - 1
    first = min(max(start, begin or 0), last)
    at = min(max((first if begin else last) if asked is None else asked, first), last)
    then = snapshots.load_past(app, db, table, at)
    scene = _make_scene(table, reader, then.state)
    narrator = _make_narrator(table, reader, scene.view)
    nearby = snapshots.load_entries(db, table, max(at - AROUND, start), at + AROUND + 1)
    return Frame(
        at,
        first,
        last,
        board=drawing.draw_board(app.caches.boards, (table.row.id, at + 1), scene, narrator),
        standing=table.game.standing(then.state),
        around=tuple(narration.describe_entries(table.game, nearby, narrator, reader.eyes)),
        receipt=snapshots.load_receipt(db, table, at),
        rounds=tuple(seq for seq in index.list_round_starts(reader.eyes) if seq >= first),
        since=index.find_first_after(reader.eyes),
    )


def load_world(app: App, db: Connection, table: Snapshot, reader: Viewpoint, asked: int | None) -> World:
    """Return the world after entry `asked`, by default after the last one."""
    first, last = _load_turns(app, db, table)[1], table.row.length - 1
    at = last if asked is None else min(max(asked, first), last)
    then = snapshots.load_past(app, db, table, at)
    scene = _make_scene(table, reader, then.state)
    narrator = _make_narrator(table, reader, scene.view)
    entry = snapshots.load_entries(db, table, at, at + 1)
    return World(
        at,
        first,
        last,
        stage=drawing.draw_staged_board(app.caches.stages, (table.row.id, at + 1), scene, narrator).stage,
        standing=table.game.standing(then.state),
        chapters=tuple(narration.describe_entries(table.game, entry, narrator, reader.eyes)),
    )


def _load_turns(app: App, db: Connection, table: Snapshot) -> tuple[TurnIndex, int]:
    """Return which seat moved when, and the entry that began the game."""
    index = positions.load_turn_index(app.caches, db, table.row)
    if index.first is None:
        raise Refused("There is nothing to replay yet; the game has not begun.")
    return index, index.first


def _make_narrator(table: Snapshot, reader: Viewpoint, view: Any = None) -> Narrator:
    return Narrator(table.game, table.names, reader.language, reader.eyes, view=view)


def _make_scene(table: Snapshot, reader: Viewpoint, state: Any) -> Scene:
    view = table.game.view(state, reader.eyes)
    return Scene(table.game, view, list_players(table.names), reader.eyes, (), reader.language)


class ProtocolLine(Struct, frozen=True):
    """An entry of a protocol: its seat's player, its command, and sentences about its events.

    The move is empty if this reader may not see it.
    """

    seq: int
    at: int
    who: str
    move: str
    sentences: tuple[str, ...]


def write_protocol(db: Connection, table: Snapshot, reader: Viewpoint) -> str:
    """Return the whole game in plain text: everything after the end, before that what this reader may know."""
    is_over, meta = table.table.phase == "over", table.game.META
    template = get_environment(reader.language).get_template("table/protocol.txt")
    return template.render(
        title=translate_in_game(reader.language, meta.name, meta.title),
        meta=meta,
        row=table.row,
        players=table.names,
        options=[
            (translate_in_game(reader.language, meta.name, option.label), table.table.options[option.name])
            for option in describe(meta.options)
            if option.name in table.table.options
        ],
        over=is_over,
        public=table.table.beacon is not None,
        lines=_list_protocol_lines(db, table, reader),
        places=sorted((place, table.names[seat]) for seat, place in enumerate(table.table.places)),
        standing=table.game.standing(table.table.state) if is_over else (),
        seed=table.row.seed.hex() if is_over else "",
    )


def _list_protocol_lines(db: Connection, table: Snapshot, reader: Viewpoint) -> Iterator[ProtocolLine]:
    narrator = _make_narrator(table, reader)
    for entry in snapshots.load_entries(db, table):
        visible = entry if table.table.phase == "over" else record.redact(table.game, entry, reader.eyes)
        sentences = tuple(sentence for event in visible.events if (sentence := narrator.describe(event)))
        who = "" if visible.seat is None else table.names[visible.seat]
        yield ProtocolLine(visible.seq, visible.at, who, visible.move or "", sentences)
