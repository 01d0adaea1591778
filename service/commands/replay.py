"""`depesche replay`: describes an exported log entry by entry, with the board as text."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from engine import record
from engine.canonical_json import convert
from engine.log import redact
from service.commands import terminal
from service.commands.terminal import FINE, Misuse, Parser, Subparsers, add_command, add_json, parse_count

if TYPE_CHECKING:
    from engine.game import Game
    from engine.log import Entry, Export
    from engine.record import Table
    from service.text.drawing import Player
    from service.text.narration import Narrator

ALL_EVENTS_NOTE = "All events are shown; the board is the public one. --seat N shows only what seat N knew."
NO_BOARD = "There is no board: this log leaves out hidden information, so its positions cannot be rebuilt."


class Log(Struct, frozen=True):
    """A log and its reader: a seat, or None for a reader of everything that the log has.

    A log that is not `whole` leaves out what was hidden from the seat or the spectator that it was exported for.
    """

    export: Any
    game: Any
    entries: tuple[Any, ...]
    seats: int
    whole: bool
    seat: int | None


class ReplayMoment(Struct, frozen=True):
    """One entry as its reader may know it, with the board after it."""

    seq: int
    at: int
    seat: int | None
    move: str | None
    events: list[dict[str, Any]]
    sentences: list[str] = field(name="told")
    view: Any = None
    board: str | None = None


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the command `replay`."""
    parser = add_command(
        subparsers,
        "replay",
        print_replay,
        "Describe an exported game entry by entry, with the board as text.",
        "depesche replay game.json",
        "depesche replay game.json --at 17 --seat 0",
    )
    parser.add_argument("file", metavar="FILE", help="a log, as a table's page or `depesche export` gives it")
    parser.add_argument("--at", type=parse_count, metavar="N", help="only the entry with this number")
    parser.add_argument(
        "--seat", type=parse_count, metavar="S", help="only what this seat knew; counted from 0 as in logs"
    )
    add_json(parser)


def print_replay(args: Namespace) -> int:
    """Describe a log entry by entry, as text or as JSON."""
    log = _open_log(args.file, load_log(args.file), args.seat)
    if args.at is not None and args.at >= len(log.entries):
        raise Misuse(f"{args.file} has no entry {args.at}; its entries are 0 to {len(log.entries) - 1}.")
    moments = _collect(iter_moments(log, args.at))
    if args.json:
        terminal.print_json(_describe_log(log, moments))
        return FINE
    terminal.print_line("\n".join(_format_heading(log)))
    for moment in moments:
        terminal.print_line("\n".join(("", *_format_moment(moment))))
    return FINE


def _collect(moments: Iterator[ReplayMoment]) -> list[ReplayMoment]:
    """Collect all moments before anything is printed, so that a faulty log is refused as a whole."""
    from jinja2 import TemplateNotFound

    try:
        return list(moments)
    except TemplateNotFound as missing:
        raise Misuse(f"This game cannot be described: there is no template {missing.name}.") from missing
    except Exception as fault:  # the log is a file from outside: it may hold anything
        why = f"{type(fault).__name__}: {fault}"
        raise Misuse(f"This log cannot be described ({why}); `depesche audit` says what is wrong with it.") from fault


def load_log(file: str) -> Export:
    """Load an exported log from a file."""
    import msgspec

    from engine import log

    try:
        return log.parse_export(terminal.read_file(file))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise Misuse(f"{file} is not a log of Depesche: {error}.") from error


def _open_log(file: str, export: Export, seat: int | None) -> Log:
    """Open the log as this seat knew it, or for None as its reader in the export; raise Misuse if it lacks that."""
    from engine import catalogue
    from engine.table_events import Opened

    game = catalogue.find(export.game, export.edition)
    entries = tuple(_parse_entries(file, game, export))
    first_events = entries[0].events if entries else ()
    opening = first_events[0] if first_events else None
    if not isinstance(opening, Opened):
        raise Misuse(f"{file} does not begin with the opening of a table.")
    if seat is not None and seat >= opening.seats:
        raise Misuse(f"This table has no seat {seat}; its seats are 0 to {opening.seats - 1}.")
    whole = all(exported.whole for exported in export.entries)
    if not whole and seat not in (None, export.seat):
        holder = "a spectator" if export.seat is None else f"seat {export.seat}"
        raise Misuse(f"{file} was exported for {holder} before the end; it does not contain what seat {seat} knew.")
    reader = export.seat if seat is None else seat
    return Log(export, game, entries, opening.seats, whole, reader)


def _parse_entries(file: str, game: Game, export: Export) -> Iterator[Entry[Any]]:
    """Yield the entries of a log; raise Misuse at the first that the rules of today do not know."""
    import msgspec

    from engine.log import get_entry_type

    for number, exported in enumerate(export.entries):
        try:
            yield convert(exported.entry, get_entry_type(game))
        except msgspec.ValidationError as error:
            raise Misuse(f"Entry {number} of {file} cannot be read by today's rules: {error}.") from error


def iter_moments(log: Log, only: int | None = None) -> Iterator[ReplayMoment]:
    """Yield each entry, or only the one with the number `only`, as the reader knew it."""
    from service.text import drawing, narration

    names = [f"Seat {seat + 1}" for seat in range(log.seats)]
    narrator = narration.Narrator(log.game, names, me=log.seat)
    players = drawing.list_players(names)
    for entry, table in zip(log.entries, _iter_tables(log, only), strict=False):  # the tables end with entry `only`
        if only is not None and entry.seq != only:
            continue
        redacted = _redact(log, entry)
        sentences = _describe_events(narrator, redacted.events)
        events = _to_builtins(redacted.events)
        moment = ReplayMoment(redacted.seq, redacted.at, redacted.seat, redacted.move, events, sentences)
        if table is not None and table.state is not None:  # before the start there is no board
            moment = _add_board(log, moment, table, players)
        yield moment


def _iter_tables(log: Log, last: int | None) -> Iterator[Table | None]:
    """Yield the table after each entry up to entry `last`, or after all; None for each if they cannot be rebuilt."""
    if not log.whole:
        yield from [None] * len(log.entries)
        return
    entry_count = None if last is None else last + 1  # None for all
    tables = record.fold_each(log.game, log.entries, entry_count)
    yield from islice(tables, 1, None)  # the first is the empty table before all entries


def _redact(log: Log, entry: Entry[Any]) -> Entry[Any]:
    """Leave out what the seat did not know; without a seat, or if the export left it out already, change nothing."""
    if log.seat is None or not log.whole:
        return entry
    return redact(log.game, entry, log.seat)


def _to_builtins(events: Sequence[Any]) -> list[dict[str, Any]]:
    """Return events as values for JSON."""
    import msgspec

    return [msgspec.to_builtins(event, str_keys=True) for event in events]


def _describe_events(narrator: Narrator, events: Sequence[Any]) -> list[str]:
    return [sentence for event in events if (sentence := narrator.describe(event))]


def _add_board(log: Log, moment: ReplayMoment, table: Table, players: tuple[Player, ...]) -> ReplayMoment:
    """Add the view of the position, and its board as text."""
    import msgspec
    from msgspec.structs import replace

    from service.text import drawing

    view = log.game.view(table.state, log.seat)
    board = drawing.draw_board_text(drawing.Scene(log.game, view, players, log.seat))
    return replace(moment, view=msgspec.to_builtins(view, str_keys=True), board=board)


def _describe_log(log: Log, moments: list[ReplayMoment]) -> dict[str, Any]:
    """Return a log as the JSON that the command prints."""
    return {
        "table": log.export.table,
        "game": log.export.game,
        "seats": log.seats,
        "seat": log.seat,
        "finished": log.export.seed is not None,
        "head": log.export.head,
        "no_board": "" if log.whole else NO_BOARD,
        "entries": moments,
    }


def _format_heading(log: Log) -> Iterator[str]:
    """Yield the lines about a whole log."""
    export = log.export
    yield f"{log.game.META.title}, table {export.table}: {log.seats} seats, {len(log.entries)} entries"
    yield f"Receipt {export.head}{'' if export.seed else ' (not finished)'}"
    if not log.whole:
        yield NO_BOARD
    elif log.seat is None:
        yield ALL_EVENTS_NOTE
    else:
        yield f"As {_name_seat(log.seat)} saw it (seat {log.seat} of the log)."


def _format_moment(moment: ReplayMoment) -> Iterator[str]:
    """Yield the lines about one entry."""
    yield f"--- entry {moment.seq}, {_name_seat(moment.seat)}: {moment.move or '(hidden)'}"
    yield from moment.sentences
    if moment.board:
        yield from ("", moment.board.rstrip("\n"))


def _name_seat(seat: int | None) -> str:
    return "the server" if seat is None else f"Seat {seat + 1}"
