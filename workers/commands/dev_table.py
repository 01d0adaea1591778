"""A table of a game that is being written: what each seat sees and gets, and which promises the game breaks."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from msgspec import Struct
from sqlalchemy import update

from engine import bots, catalogue, record
from engine import table as engine_table
from engine.menu import Move
from service.app import App
from service.lru import Caches
from service.store.schema import tables
from service.tables import judging, opening, snapshots
from service.tables.locked_table import append_command
from service.tables.opening import Invited
from service.tables.snapshots import Snapshot
from service.text import drawing, languages, rulebook, words
from service.text.drawing import Scene, Voice
from workers.outgoing import answer_hints, envelopes, letters
from workers.outgoing.answer_hints import Pen

NAMES = ("Anna", "Bert", "Clara", "Dora", "Emil", "Frieda", "Gustav", "Hanna")
SEED = b"the same dice whenever it is drawn again"[:32]


class DevSeat(Struct, frozen=True):
    """What one seat, or a spectator, sees and gets at this moment."""

    name: str
    board: str
    text: str
    alt: str
    hints: tuple[str, ...]
    letter: str


class DevTable(Struct, frozen=True):
    """A table after so many random moves, as each seat sees it."""

    title: str
    made: int
    told: tuple[str, ...]
    seats: tuple[DevSeat, ...]


def forget() -> None:
    """Read templates, catalogues, words and rules again when they are next asked for."""
    for cached in (drawing.environment, languages.translations, words.dictionary, rulebook.read):
        cached.cache_clear()


def table(app: App, name: str, seats: int, moves: int, language: str) -> DevTable:
    """A new table with the same luck each time, after so many random moves or at its end."""
    app.caches = Caches()
    guests = [Invited(guest, f"{guest.lower()}@localhost") for guest in NAMES[:seats]]
    opened = opening.open_table(app, name, {}, guests, 0, language)
    with app.store.writing() as connection:
        connection.execute(update(tables).where(tables.c.id == opened.table).values(seed=SEED))
    made = _played(app, opened.table, seats, moves)
    look = snapshots.look(app, opened.table)
    voice = Voice(look.game, look.names, language)
    told = [voice.tell(event) for entry in snapshots.entries(app, look, seats + 1) for event in _heard(look, entry)]
    shown = tuple(_seat(app, look, seat, language) for seat in (*range(seats), None))
    return DevTable(look.game.META.title, made, tuple(filter(None, told))[-8:], shown)


def _heard(look: Snapshot, entry: Any) -> Iterator[Any]:
    heard = (record.hear(look.game, event, None) for event in entry.events)
    return (event for event in heard if event is not None)


def _played(app: App, table: str, seats: int, moves: int) -> int:
    """Seat everybody, begin, and make random moves in one transaction; the result is how many there were."""
    random = Random(SEED)  # noqa: S311 - any moves will do
    with judging.at_table(app, table) as work:
        sitting = [Move("sit", (str(seat), "word")) for seat in range(seats)]
        work.locked = judging.carry_out_for_server(work.locked, *sitting, Move("start"))
        for made in range(moves):
            game, at = work.locked.game, work.locked.table
            open_menus = [(seat, menu) for seat in range(seats) if (menu := engine_table.menu(game, at, seat))]
            if not open_menus:
                return made
            seat, menu = random.choice(open_menus)
            work.locked = append_command(work.locked, seat, bots.pick_random_move(menu, random))
    return moves


def _seat(app: App, look: Snapshot, seat: int | None, language: str) -> DevSeat:
    menu = snapshots.open_menu(look.game, look.table, seat)
    view = look.game.view(look.table.state, seat)
    scene = Scene(look.game, view, drawing.players(look.names), seat, menu, language)
    voice = Voice(look.game, look.names, language, seat)
    return DevSeat(
        "a spectator" if seat is None else look.names[seat],
        drawing.board_svg(scene),
        drawing.board_text(scene),
        voice.alt(view),
        tuple(_hints(look, menu, voice, language)),
        "" if seat is None or not menu else _letter(app, look, seat, language),
    )


def _hints(look: Snapshot, menu: Any, voice: Voice, language: str) -> Iterator[str]:
    for hint in answer_hints.of(menu, Pen(look.game, look.names, language), voice):
        yield hint.label
        yield from (f"  {line}" for line in hint.lines)


def _letter(app: App, look: Snapshot, seat: int, language: str) -> str:
    row = look.seats[seat]
    order = envelopes.LetterOrder(
        look.row.id, row.open_since or 0, seat, "turn", "anna@localhost", row.name, language, plain=True
    )
    letter = letters.write(app, order)
    body = letter.get_body(("plain",)) if letter else None
    return str(body.get_content()) if body else ""


def broken(name: str, root: Path) -> list[str]:
    """The promises of the contract that the game breaks at its first table; without pytest none is tried."""
    try:
        from engine.contract import suite
    except ImportError:
        return []
    from service import contract

    faults = dict[str, list[str]]()
    for promise in (*_tests(suite), *_tests(contract)):
        if fault := _tried(promise, name, root):
            faults.setdefault(fault, []).append(promise.__name__.removeprefix("test_").replace("_", " "))
    return [f"{fault}\nbreaks: {'; '.join(promises)}" for fault, promises in faults.items()]


def _tests(module: ModuleType) -> Iterator[Callable[..., None]]:
    for name, function in vars(module).items():
        if name.startswith("test_") and function.__module__ == module.__name__:
            yield function


def _tried(promise: Callable[..., None], name: str, root: Path) -> str:
    """What went wrong, in one line; nothing where all is well."""
    from engine.contract import cases, plugin, suite

    try:
        game = catalogue.find(name)
        given: dict[str, Any] = {"game": game, "case": cases.make_cases([game])[0], "seed": suite.SEEDS[0]}
        wanted = inspect.signature(promise).parameters
        if "invariants" in wanted:
            given["invariants"] = plugin.load_check(root, name)
        promise(**{word: given[word] for word in wanted})
    except Exception as fault:
        return where(fault)
    return ""


def where(fault: BaseException) -> str:
    """The fault and the line of it, in one line."""
    frames = traceback.extract_tb(fault.__traceback__)
    at = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}: {frames[-1].line})" if frames else ""
    return f"{type(fault).__name__}: {str(fault).partition(chr(10))[0][:300]}{at}"
