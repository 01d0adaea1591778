"""`depesche export` and `depesche import`: logs of tables as files."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from service.commands import terminal
from service.commands.replay import load_log
from service.commands.terminal import (
    FINE,
    MISUSE,
    WRONG,
    Misuse,
    Parser,
    Subparsers,
    add_command,
    add_database,
    add_json,
    parse_count,
)

if TYPE_CHECKING:
    from engine.log import Export


class LogStore(Protocol):
    """The database, as far as logs are exported from it and imported into it."""

    def export(self, table: str, seat: int | None = None) -> Export:
        """Return the log of a table: complete if it has ended, otherwise as the seat or a spectator may know it."""

    def import_(self, export: Export) -> str:
        """Add a log from elsewhere; return the name of the new table."""

    def export_whole(self, table: str) -> Export:
        """Return the complete log, also of a running game, for the host's audit."""

    def is_over(self, table: str) -> bool:
        """Return whether this table has ended."""

    def list_tables(self) -> Iterable[str]:
        """Return all tables, the oldest first."""


def open_log_store(database: str | None, *, create: bool = False) -> LogStore:
    """Open the database at this address, or that of the settings (None); only with `create` it is made or migrated.

    Raise Misuse if it cannot be opened, or without `create` if it is missing or of another version.
    """
    from msgspec.structs import replace
    from sqlalchemy.exc import SQLAlchemyError

    from service import settings
    from service.links import Links
    from service.monitoring import find_first_line
    from service.store import Store
    from service.store.connection import find_database_file
    from service.tables.history.replays import Archive

    loaded = settings.load_settings()
    loaded = replace(loaded, database=database) if database else loaded
    url = loaded.database_url
    file = find_database_file(url)  # None for PostgreSQL
    _user_and_password, _, name = url.rpartition("@")
    if file and not create and not file.exists():
        raise Misuse(f"There is no database at {name}; name it with --database, or set DEPESCHE_FOLDER.")
    try:
        if file and create:
            file.parent.mkdir(parents=True, exist_ok=True)
        store = Store(url)
        if create:
            store.migrate()
        elif not store.is_current():
            raise Misuse(f"The database at {name} is of another version; start the service once to migrate it.")
    except (SQLAlchemyError, OSError) as error:
        raise Misuse(f"The database at {name} cannot be opened: {find_first_line(error)}") from error
    return Archive(store, Links(settings.load_secret(loaded)))


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the commands `export` and `import`."""
    _add_export(subparsers)
    _add_import(subparsers)


def _add_export(subparsers: Subparsers[Parser]) -> None:
    """Add the command `export`."""
    parser = add_command(
        subparsers,
        "export",
        export_log,
        "Write the log of a table as JSON: everything if it has ended, otherwise what a seat may know.",
        "depesche export 1f3a --output game.json",
        "depesche export 1f3a --seat 0",
    )
    parser.add_argument("table", metavar="TABLE", help="the table's name")
    parser.add_argument(
        "--seat", type=parse_count, metavar="S", help="while it is played: for this seat, counted from 0"
    )
    parser.add_argument("--output", metavar="FILE", default="-", help="write it there, not to the screen")
    add_database(parser)


def _add_import(subparsers: Subparsers[Parser]) -> None:
    """Add the command `import`."""
    parser = add_command(
        subparsers,
        "import",
        import_logs,
        "Check finished logs, and add those that replay cleanly to the service.",
        "depesche import game.json",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="an exported log of a finished table")
    add_database(parser)
    add_json(parser)


def export_log(args: Namespace) -> int:
    """Write the log of a table to a file, or to the standard output."""
    content = terminal.format_json(open_log_store(args.database).export(args.table, args.seat))
    if args.output != "-":
        terminal.write_file(args.output, content)
    else:
        sys.stdout.write(content.decode())
    return FINE


def import_logs(args: Namespace) -> int:
    """Import each file whose log replays cleanly, and print why the others do not."""
    logs = [(file, _check_file(file)) for file in args.files]
    has_sound_log = any(not isinstance(log, Rejection) for _, log in logs)
    store = open_log_store(args.database, create=True) if has_sound_log else None
    results = [_import_log(store, file, log) for file, log in logs]
    if args.json:
        terminal.print_json(results)
    for result in results:
        if result.why:
            terminal.print_error(result.why if result.file in result.why else f"{result.file}: {result.why}")
        elif not args.json:
            terminal.print_line(f"{result.file}: table {result.table}")
    verdicts = {result.verdict for result in results}
    if "refused" in verdicts:
        return WRONG
    return MISUSE if "unusable" in verdicts else FINE


class Rejection(Struct, frozen=True):
    """The reason why a file is not imported: it is no log, or its log does not replay cleanly."""

    why: str
    verdict: Literal["unusable", "refused"]


class ImportResult(Struct, frozen=True, omit_defaults=True):
    """The result for one file, as the JSON that the command prints: its new table, or why there is none."""

    file: str
    table: str = ""
    why: str = ""
    verdict: Literal["", "unusable", "refused"] = ""


def _check_file(file: str) -> Export | Rejection:
    """Return the log of a file, or the reason to reject it."""
    from engine.refusal import Refused
    from service.tables.history import replays

    try:
        log = load_log(file)
    except Misuse as misuse:
        return Rejection(str(misuse), "unusable")
    try:
        replays.refuse_unsound_log(log)
    except Refused as refused:
        return Rejection(str(refused), "refused")
    except Exception as fault:  # the log is a file from outside, which may contain anything
        return Rejection(f"The log cannot be followed ({type(fault).__name__}: {fault}).", "refused")
    return log


def _import_log(store: LogStore | None, file: str, log: Export | Rejection) -> ImportResult:
    """Import the log of a file, unless it was rejected; the store may be missing only for a rejection."""
    from engine.refusal import Refused

    if isinstance(log, Rejection):
        return ImportResult(file, why=log.why, verdict=log.verdict)
    assert store
    try:
        return ImportResult(file, table=store.import_(log))
    except Refused as refused:
        return ImportResult(file, why=str(refused), verdict="refused")
