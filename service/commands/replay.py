"""`depesche replay`: an exported log told entry by entry, with the board in letters."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from engine import record
from engine.canonical_json import convert
from service.commands import terminal
from service.commands.terminal import FINE, Misuse, Parser, Subparsers, add_command, add_json, counted

if TYPE_CHECKING:
    from engine.game import Game
    from engine.log import Entry, Export
    from engine.record import Table
    from service.text.drawing import Player
    from service.text.narration import Narrator

OPEN = "Everything that happened is told; the board is the one everybody may see. --seat N shows what seat N knew."
NO_BOARD = "There is no board: this log keeps hidden things back, so the positions cannot be rebuilt from it."


class Log(Struct, frozen=True):
    """A log that has been read, and who reads it: a seat, or everybody's eyes where that is None."""

    export: Any
    game: Any
    entries: tuple[Any, ...]
    seats: int
    whole: bool
    seat: int | None
    omniscient: bool


class ReplayMoment(Struct, frozen=True):
    """One entry as its reader may know it, with what it looked like afterwards."""

    seq: int
    at: int
    seat: int | None
    move: str | None
    events: list[dict[str, Any]]
    told: list[str]
    view: Any = None
    board: str | None = None


def add(subparsers: Subparsers[Parser]) -> None:
    parser = add_command(
        subparsers,
        "replay",
        replay,
        "Tell an exported game entry by entry, with the board in letters.",
        "depesche replay game.json",
        "depesche replay game.json --at 17 --seat 0",
    )
    parser.add_argument("file", metavar="FILE", help="a log, as a table's page or `depesche export` gives it")
    parser.add_argument("--at", type=counted, metavar="N", help="only the entry with this number")
    parser.add_argument("--seat", type=counted, metavar="S", help="only what this seat knew; counted from 0 as in logs")
    add_json(parser)


def replay(args: Namespace) -> int:
    log = _opened(args.file, load(args.file), args.seat)
    if args.at is not None and args.at >= len(log.entries):
        raise Misuse(f"{args.file} has no entry {args.at}; its entries are 0 to {len(log.entries) - 1}.")
    told = _all(moments(log, args.at))
    if args.json:
        terminal.print_json(_described(log, told))
        return FINE
    terminal.tell("\n".join(_heading(log)))
    for moment in told:
        terminal.tell("\n".join(("", *_lines(moment))))
    return FINE


def _all(told: Iterator[ReplayMoment]) -> list[ReplayMoment]:
    """All of it before anything is printed, so that a log that cannot be told is refused as a whole."""
    from jinja2 import TemplateNotFound

    try:
        return list(told)
    except TemplateNotFound as missing:
        raise Misuse(f"This game cannot be told: there is no template {missing.name}.") from missing
    except Exception as fault:  # the log is a file from outside: it may hold anything
        why = f"{type(fault).__name__}: {fault}"
        raise Misuse(f"This log cannot be told ({why}); `depesche audit` says what is wrong with it.") from fault


def load(file: str) -> Export:
    """An exported log from a file."""
    import msgspec

    from engine import log

    try:
        return log.parse_export(terminal.read(file))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise Misuse(f"{file} is not a log of Depesche: {error}.") from error


def _opened(file: str, export: Export, seat: int | None) -> Log:
    """The log for this reader; refuses where it does not hold what that seat knew."""
    from engine import catalogue
    from engine.table_events import (
        Opened,
    )

    game = catalogue.find(export.game, export.edition)
    entries = tuple(_entries(file, game, export))
    opening = entries[0].events[0] if entries and entries[0].events else None
    if not isinstance(opening, Opened):
        raise Misuse(f"{file} does not begin with the opening of a table.")
    if seat is not None and seat >= opening.seats:
        raise Misuse(f"This table has no seat {seat}; its seats are 0 to {opening.seats - 1}.")
    whole = all(link.whole for link in export.entries)
    if not whole and seat not in (None, export.seat):
        holder = "a spectator" if export.seat is None else f"seat {export.seat}"
        raise Misuse(f"{file} was exported for {holder} before the end; it does not hold what seat {seat} knew.")
    seat = export.seat if seat is None else seat
    return Log(export, game, entries, opening.seats, whole, seat, seat is None)


def _entries(file: str, game: Game, export: Export) -> Iterator[Entry[Any]]:
    import msgspec

    from engine.record import get_entry_type

    for number, link in enumerate(export.entries):
        try:
            yield convert(link.entry, get_entry_type(game))
        except msgspec.ValidationError as error:
            raise Misuse(f"Entry {number} of {file} cannot be read by today's rules: {error}.") from error


def moments(log: Log, only: int | None = None) -> Iterator[ReplayMoment]:
    """Every entry, or only this one, with what the reader learned from it."""
    from service.text import drawing, narration

    names = [f"Seat {seat + 1}" for seat in range(log.seats)]
    narrator = narration.Narrator(log.game, names, me=log.seat)
    players = drawing.list_players(names)
    for entry, table in zip(log.entries, _tables(log, only), strict=False):
        if only is not None and entry.seq != only:
            continue
        heard = _heard(log, entry)
        moment = ReplayMoment(
            heard.seq, heard.at, heard.seat, heard.move, _plain(heard.events), _told(narrator, heard.events)
        )
        yield moment if table is None or table.state is None else _pictured(log, moment, table, players)


def _tables(log: Log, only: int | None) -> Iterator[Table | None]:
    """The table after each entry, or None where it cannot be rebuilt."""
    from engine import record

    if not log.whole:
        yield from [None] * len(log.entries)
        return
    tables = record.fold_each(log.game, log.entries, None if only is None else only + 1)
    yield from islice(tables, 1, None)


def _heard(log: Log, entry: Entry[Any]) -> Entry[Any]:

    return record.redact(log.game, entry, log.seat) if log.whole and not log.omniscient else entry


def _plain(events: Sequence[Any]) -> list[dict[str, Any]]:
    import msgspec

    return [msgspec.to_builtins(event, str_keys=True) for event in events]


def _told(narrator: Narrator, events: Sequence[Any]) -> list[str]:
    return [sentence for event in events if (sentence := narrator.describe(event))]


def _pictured(log: Log, moment: ReplayMoment, table: Table, players: tuple[Player, ...]) -> ReplayMoment:
    import msgspec
    from msgspec.structs import replace

    from service.text import drawing

    view = log.game.view(table.state, log.seat)
    board = drawing.draw_board_text(drawing.Scene(log.game, view, players, log.seat))
    return replace(moment, view=msgspec.to_builtins(view, str_keys=True), board=board)


def _described(log: Log, told: list[ReplayMoment]) -> dict[str, Any]:
    return {
        "table": log.export.table,
        "game": log.export.game,
        "seats": log.seats,
        "seat": log.seat,
        "finished": log.export.seed is not None,
        "head": log.export.head,
        "no_board": "" if log.whole else NO_BOARD,
        "entries": told,
    }


def _heading(log: Log) -> Iterator[str]:
    export = log.export
    yield f"{log.game.META.title}, table {export.table}: {log.seats} seats, {len(log.entries)} entries"
    yield f"Receipt {export.head}{'' if export.seed else ' (not finished)'}"
    if not log.whole:
        yield NO_BOARD
    elif log.omniscient:
        yield OPEN
    else:
        yield f"As {_who(log.seat)} saw it (seat {log.seat} of the log)."


def _lines(moment: ReplayMoment) -> Iterator[str]:
    yield f"--- entry {moment.seq}, {_who(moment.seat)}: {moment.move or '(hidden)'}"
    yield from moment.told
    if moment.board:
        yield from ("", moment.board.rstrip("\n"))


def _who(seat: int | None) -> str:
    return "the house" if seat is None else f"Seat {seat + 1}"
