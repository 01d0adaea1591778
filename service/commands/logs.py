"""`depesche export` and `import`: logs, carried about."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct, structs

from service.commands import terminal
from service.commands.replay import load
from service.commands.terminal import (
    FINE,
    MISUSED,
    WRONG,
    Misuse,
    Parser,
    Subparsers,
    add_command,
    add_database,
    add_json,
    counted,
)

if TYPE_CHECKING:
    from engine.log import Export


class Book(Protocol):
    """The book of record, as far as logs are taken out of it and put into it."""

    def export(self, table: str, seat: int | None = None) -> Export:
        """The log of a table: whole once it has ended, before that as the seat or a spectator may know it."""

    def import_(self, export: Export) -> str:
        """Add a log from elsewhere; the result is the table's name here."""

    def export_whole(self, table: str) -> Export:
        """The log with everything, even while it is played: for the host's own audit."""

    def is_over(self, table: str) -> bool:
        """Whether this table has ended, as the book says."""

    def list_tables(self) -> Iterable[str]:
        """All tables, the oldest first."""


def open_book(database: str | None, make: bool = False) -> Book:
    """The book of record of the service with these settings, or of this database.

    Only where something is to be put into it is it made, or brought to today's shape; who reads changes nothing.
    """
    from msgspec.structs import replace
    from sqlalchemy.exc import SQLAlchemyError

    from service import settings
    from service.links import Links
    from service.monitoring import first_line
    from service.store import Store
    from service.tables.history.archive import Archive

    found = settings.load_settings()
    found = replace(found, database=database) if database else found
    url = found.database_url
    named = url.rpartition("@")[2]
    if url.startswith("sqlite:///") and not (make or Path(url.removeprefix("sqlite:///")).exists()):
        raise Misuse(f"There is no book of record at {named}; name it with --database, or set DEPESCHE_FOLDER.")
    try:
        if make and url.startswith("sqlite:///"):
            Path(url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
        store = Store(url)
        if make:
            store.migrate()
        elif not store.is_current():
            raise Misuse(f"The book of record at {named} is of another version; start the service once to renew it.")
    except (SQLAlchemyError, OSError) as error:
        raise Misuse(f"The book of record at {named} cannot be opened: {first_line(error)}") from error
    return Archive(store, Links(settings.load_secret(found)))


def add(subparsers: Subparsers[Parser]) -> None:
    _add_export(subparsers)
    _add_import(subparsers)


def _add_export(subparsers: Subparsers[Parser]) -> None:
    parser = add_command(
        subparsers,
        "export",
        export,
        "Write the log of a table as JSON: everything once it has ended, before that what a seat may know.",
        "depesche export 1f3a --output game.json",
        "depesche export 1f3a --seat 0",
    )
    parser.add_argument("table", metavar="TABLE", help="the table's name")
    parser.add_argument("--seat", type=counted, metavar="S", help="while it is played: for this seat, counted from 0")
    parser.add_argument("--output", metavar="FILE", default="-", help="write it there, not to the screen")
    add_database(parser)


def _add_import(subparsers: Subparsers[Parser]) -> None:
    parser = add_command(
        subparsers,
        "import",
        import_,
        "Check finished logs, and add those that replay cleanly to the service.",
        "depesche import game.json",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="an exported log of a finished table")
    add_database(parser)
    add_json(parser)


def export(args: Namespace) -> int:
    content = terminal.json_bytes(open_book(args.database).export(args.table, args.seat))
    if args.output != "-":
        terminal.write(args.output, content)
    else:
        sys.stdout.write(content.decode())
    return FINE


def import_(args: Namespace) -> int:
    """Each file by itself: what replays cleanly is added, of the others it is said why not."""
    files = [(file, _taken(file)) for file in args.files]
    book = open_book(args.database, make=True) if not all(isinstance(log, NotTaken) for _, log in files) else None
    found = [{"file": file} | _imported(book, log) for file, log in files]
    if args.json:
        terminal.print_json(found)
    for one in found:
        if "why" in one:
            terminal.complain(one["why"] if one["file"] in one["why"] else f"{one['file']}: {one['why']}")
        elif not args.json:
            terminal.tell(f"{one['file']}: table {one['table']}")
    verdicts = {one.get("verdict", "taken") for one in found}
    return WRONG if "refused" in verdicts else MISUSED if "unusable" in verdicts else FINE


class NotTaken(Struct, frozen=True):
    """Why a file adds no table: it is no log, or no log that replays cleanly."""

    why: str
    verdict: Literal["unusable", "refused"]


def _taken(file: str) -> Export | NotTaken:
    """A log that may be added, or why it may not."""
    from engine.refusal import Refused
    from service.tables.history import archive

    try:
        log = load(file)
    except Misuse as misuse:
        return NotTaken(str(misuse), "unusable")
    try:
        archive.refuse_unsound(log)
    except Refused as refused:
        return NotTaken(str(refused), "refused")
    except Exception as fault:  # the log is somebody's file: anything may stand in it
        return NotTaken(f"The log cannot be followed ({type(fault).__name__}: {fault}).", "refused")
    return log


def _imported(book: Book | None, log: Export | NotTaken) -> dict[str, str]:
    from engine.refusal import Refused

    if isinstance(log, NotTaken):
        return structs.asdict(log)
    assert book
    try:
        return {"table": book.import_(log)}
    except Refused as refused:
        return {"why": str(refused), "verdict": "refused"}
