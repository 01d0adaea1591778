"""A table of a game under development: the page and letter of each seat, and the promises that the game breaks."""

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

from engine import bots, catalogue, log
from engine import table as engine_table
from engine.menu import Move
from service.app import App
from service.memory import Caches
from service.store.schema import tables
from service.tables import judging, opening, snapshots
from service.tables.locked_table import append_command
from service.tables.opening import Invitee, NewTable
from service.tables.snapshots import Snapshot
from service.text import drawing, languages, move_words, rulebook, templates
from service.text.drawing import Scene
from service.text.narration import Narrator
from service.timing import Clock
from workers.outgoing import suggestions, table_letters
from workers.outgoing.letter import LetterRequest
from workers.outgoing.suggestions import MoveWriter

NAMES = ("Anna", "Bert", "Clara", "Dora", "Emil", "Frieda", "Gustav", "Hanna")
SEED = b"the same dice whenever it is drawn again"[:32]  # as long as every seed
MAX_ERROR_CHARS = 300
MAX_SENTENCES = 8  # of the history


class DevSeat(Struct, frozen=True):
    """The board, the moves and the letter of one seat, or of a spectator."""

    name: str
    board: str  # as SVG
    text: str  # the board in characters
    alt: str  # the board described in a sentence
    suggestions: tuple[str, ...]  # the lines in which a letter lists the moves
    letter: str


class DevTable(Struct, frozen=True):
    """A table after some random moves, as each seat sees it."""

    title: str
    made: int  # how many moves
    history: tuple[str, ...]
    seats: tuple[DevSeat, ...]


def clear_caches() -> None:
    """Make the next use of templates, catalogues, words and rules read their files again."""
    for cached in (
        templates.get_environment,
        languages.load_translations,
        move_words.load_dictionary,
        move_words.make_vocabulary,
        rulebook.load_rulebook,
    ):
        cached.cache_clear()


def play(app: App, name: str, seats: int, moves: int, language: str) -> DevTable:
    """Play some random moves, or up to the end, at a new table with the same chance each time."""
    app.caches = Caches()  # what the game drew before its files were changed is forgotten
    guests = [Invitee(guest, f"{guest.lower()}@localhost") for guest in NAMES[:seats]]
    without_deadlines = Clock(pace=0)
    table = NewTable(game=name, chosen={}, guests=guests, clock=without_deadlines, language=language)
    opened = opening.open_table(app, table)
    with app.store.writing() as connection:
        connection.execute(update(tables).where(tables.c.id == opened.table).values(seed=SEED))
    made = _make_moves(app, opened.table, seats, moves)
    with app.store.reading() as db:
        snapshot = snapshots.load_table(app, db, opened.table)
        entries = snapshots.load_entries(db, snapshot, 1 + seats)  # after the opening, and each player's sitting down
    narrator = Narrator(snapshot.game, snapshot.names, language)
    sentences = [narrator.describe(event) for entry in entries for event in _iter_public_events(snapshot, entry)]
    history = tuple(filter(None, sentences))[-MAX_SENTENCES:]
    shown = tuple(_show_seat(app, snapshot, seat, language) for seat in (*range(seats), None))
    return DevTable(snapshot.game.META.title, made, history, shown)


def _iter_public_events(snapshot: Snapshot, entry: Any) -> Iterator[Any]:
    """Yield the events of an entry as a spectator may learn them."""
    for event in entry.events:
        public = log.hear(snapshot.game, event, seat=None)
        if public is not None:
            yield public


def _make_moves(app: App, table: str, seats: int, moves: int) -> int:
    """Let all players sit down, start, and make random moves in one transaction; return how many were made."""
    random = Random(SEED)  # noqa: S311 - any moves will do
    with judging.at_table(app, table) as work:
        sitting = [Move("sit", (str(seat), "word")) for seat in range(seats)]
        work.locked = judging.carry_out_for_server(work.locked, *sitting, Move("start"))
        for made in range(moves):
            game, position = work.locked.game, work.locked.position
            menus = [(seat, engine_table.menu(game, position, seat)) for seat in range(seats)]
            open_menus = [(seat, menu) for seat, menu in menus if menu]
            if not open_menus:
                return made
            seat, menu = random.choice(open_menus)
            work.locked = append_command(work.locked, seat, bots.pick_random_move(menu, random))
    return moves


def _show_seat(app: App, snapshot: Snapshot, seat: int | None, language: str) -> DevSeat:
    """Return the table as a seat, or a spectator, sees it; a seat that has moves also gets a letter."""
    menu = snapshots.open_menu(snapshot.game, snapshot.position, seat)
    view = snapshot.game.view(snapshot.position.state, seat)
    scene = Scene(snapshot.game, view, drawing.list_players(snapshot.names), seat, menu, language)
    narrator = Narrator(snapshot.game, snapshot.names, language, seat)
    return DevSeat(
        name="a spectator" if seat is None else snapshot.names[seat],
        board=drawing.draw_board_svg(scene),
        text=drawing.draw_board_text(scene),
        alt=narrator.describe_board(view),
        suggestions=tuple(_iter_suggestions(snapshot, menu, narrator, language)),
        letter=_write_letter(app, snapshot, seat, language) if menu and seat is not None else "",
    )


def _iter_suggestions(snapshot: Snapshot, menu: Any, narrator: Narrator, language: str) -> Iterator[str]:
    """Yield the moves as a letter suggests them: each verb, and indented below it its lines."""
    for verb in suggestions.list_verbs(menu, MoveWriter(snapshot.game, snapshot.names, language), narrator):
        yield verb.label
        yield from (f"  {line.text}" for line in verb.lines)


def _write_letter(app: App, snapshot: Snapshot, seat: int, language: str) -> str:
    """Return the text of the letter that tells a seat of its turn; empty if there is none."""
    row = snapshot.seats[seat]
    request = LetterRequest(
        table=snapshot.row.id,
        seq=row.open_since or 0,  # the entry with which its turn began
        seat=seat,
        kind="turn",
        address="anna@localhost",
        name=row.name,
        language=language,
        plain=True,
    )
    letter = table_letters.write(app, request)
    body = letter.get_body(("plain",)) if letter else None
    return str(body.get_content()) if body else ""


def find_broken_promises(name: str, root: Path) -> list[str]:
    """Return the promises of the contract that the game breaks at its first table; without pytest none is checked.

    The tests of the game, with its invariants, are below `root`.
    """
    try:
        from engine.contract import suite
    except ImportError:
        return []
    from service import contract

    faults = dict[str, list[str]]()
    for promise in (*_iter_tests(suite), *_iter_tests(contract)):
        if fault := _check_promise(promise, name, root):
            faults.setdefault(fault, []).append(promise.__name__.removeprefix("test_").replace("_", " "))
    return [f"{fault}\nbreaks: {'; '.join(promises)}" for fault, promises in faults.items()]


def _iter_tests(module: ModuleType) -> Iterator[Callable[..., None]]:
    """Yield the tests that a module defines itself."""
    for name, function in vars(module).items():
        if name.startswith("test_") and function.__module__ == module.__name__:
            yield function


def _check_promise(promise: Callable[..., None], name: str, root: Path) -> str:
    """Check one promise, with arguments as pytest gives them; return the error in one line, empty if there is none."""
    from engine.contract import cases, plugin, suite

    try:
        game = catalogue.find(name)
        given: dict[str, Any] = {"game": game, "case": cases.make_cases([game])[0], "seed": suite.SEEDS[0]}
        parameters = inspect.signature(promise).parameters
        if "invariants" in parameters:
            given["invariants"] = plugin.load_check(root, name)
        promise(**{parameter: given[parameter] for parameter in parameters})
    except Exception as fault:
        return describe_error(fault)
    return ""


def describe_error(fault: BaseException) -> str:
    """Return the error and its place in one line."""
    first_line, *_others = str(fault).split("\n")
    sentence = f"{type(fault).__name__}: {first_line[:MAX_ERROR_CHARS]}"
    frames = traceback.extract_tb(fault.__traceback__)
    if not frames:
        return sentence
    last = frames[-1]
    return f"{sentence} ({Path(last.filename).name}, line {last.lineno}: {last.line})"
