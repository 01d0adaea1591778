"""Replays: a game as it stood after any entry, as its reader could see it then, and all of it as plain text."""

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

AROUND = 4


class Viewpoint(Struct, frozen=True):
    """The reader of a replay: the seat whose eyes he looks through (None: what all may see), and his language."""

    eyes: int | None
    language: str


class Frame(Struct, frozen=True):
    """One position with what led to it and where one may go from here; `first` to `last` is as far as one can."""

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
        """This entry in prose, where it tells the reader anything."""
        return next((one for one in self.around if one.seq == self.at), None)

    @property
    def round(self) -> int:
        """Which round this is; 0 is what comes before the first."""
        return sum(begun <= self.at for begun in self.rounds)

    @property
    def before(self) -> int | None:
        """Where this round began; from there, where the one before it did."""
        return max((begun for begun in self.rounds if begun < self.at), default=None)

    @property
    def after(self) -> int | None:
        """Where the next round begins."""
        return min((begun for begun in self.rounds if begun > self.at), default=None)


class World(Struct, frozen=True):
    """One position for the stage of a table, with what was told of the entry that led to it."""

    at: int
    first: int
    last: int
    stage: Stage
    standing: Sequence[Standing]
    chapters: tuple[Chapter, ...]


def load_frame(
    app: App, db: Connection, look: Snapshot, reader: Viewpoint, asked: int | None, begin: int | None = None
) -> Frame:
    """The position after the entry asked for, or after the last one; not before `begin`, where that is given."""
    index, begun = _load_start(app, db, look)
    last = look.row.length - 1
    first = min(max(begun, begin or 0), last)
    at = min(max((first if begin else last) if asked is None else asked, first), last)
    then = snapshots.load_past(app, db, look, at)
    scene = _scene(look, reader, then.state)
    narrator = _narrator(look, reader, scene.view)
    nearby = snapshots.load_entries(db, look, max(at - AROUND, begun), at + AROUND + 1)
    return Frame(
        at,
        first,
        last,
        board=drawing.draw_board(app.caches.boards, (look.row.id, at + 1), scene, narrator),
        standing=look.game.standing(then.state),
        around=tuple(narration.describe_entries(look.game, nearby, narrator, reader.eyes)),
        receipt=snapshots.load_receipt(db, look, at),
        rounds=tuple(begun for begun in index.rounds(reader.eyes) if begun >= first),
        since=index.since(reader.eyes),
    )


def load_world(app: App, db: Connection, look: Snapshot, reader: Viewpoint, asked: int | None) -> World:
    """The world after the entry asked for, or after the last one."""
    first, last = _load_start(app, db, look)[1], look.row.length - 1
    at = last if asked is None else min(max(asked, first), last)
    then = snapshots.load_past(app, db, look, at)
    scene = _scene(look, reader, then.state)
    narrator = _narrator(look, reader, scene.view)
    return World(
        at,
        first,
        last,
        stage=drawing.draw_staged_board(app.caches.stages, (look.row.id, at + 1), scene, narrator).stage,
        standing=look.game.standing(then.state),
        chapters=tuple(
            narration.describe_entries(look.game, snapshots.load_entries(db, look, at, at + 1), narrator, reader.eyes)
        ),
    )


def _load_start(app: App, db: Connection, look: Snapshot) -> tuple[TurnIndex, int]:
    """Return who moved when, and the entry with which the game started."""
    index = positions.load_turn_index(app.caches, db, look.row)
    if index.first is None:
        raise Refused("There is nothing to replay yet; the game has not begun.")
    return index, index.first


def _narrator(look: Snapshot, reader: Viewpoint, view: Any = None) -> Narrator:
    return Narrator(look.game, look.names, reader.language, reader.eyes, view=view)


def _scene(look: Snapshot, reader: Viewpoint, state: Any) -> Scene:
    view = look.game.view(state, reader.eyes)
    return Scene(look.game, view, list_players(look.names), reader.eyes, (), reader.language)


class ProtocolLine(Struct, frozen=True):
    """An entry of a protocol: who said what when, and what came of it; a move that is not for this reader is empty."""

    seq: int
    at: int
    who: str
    move: str
    sentences: tuple[str, ...]


def write_protocol(db: Connection, look: Snapshot, reader: Viewpoint) -> str:
    """Return the whole game in plain text: after the end everything, before that what this reader may know."""
    over, meta = look.table.phase == "over", look.game.META
    template = get_environment(reader.language).get_template("table/protocol.txt")
    return template.render(
        title=translate_in_game(reader.language, meta.name, meta.title),
        meta=meta,
        row=look.row,
        players=look.names,
        options=[
            (translate_in_game(reader.language, meta.name, option.label), look.table.options[option.name])
            for option in describe(meta.options)
            if option.name in look.table.options
        ],
        over=over,
        public=look.table.beacon is not None,
        lines=_lines(db, look, reader),
        places=sorted((place, look.names[seat]) for seat, place in enumerate(look.table.places)),
        standing=look.game.standing(look.table.state) if over else (),
        seed=look.row.seed.hex() if over else "",
    )


def _lines(db: Connection, look: Snapshot, reader: Viewpoint) -> Iterator[ProtocolLine]:
    narrator = _narrator(look, reader)
    for entry in snapshots.load_entries(db, look):
        known = entry if look.table.phase == "over" else record.redact(look.game, entry, reader.eyes)
        sentences = tuple(told for event in known.events if (told := narrator.describe(event)))
        who = "" if known.seat is None else look.names[known.seat]
        yield ProtocolLine(known.seq, known.at, who, known.move or "", sentences)
