"""`depesche audit`, `export` and `import`: logs, checked and carried about."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from service.commands import terminal
from service.commands.replay import load
from service.commands.terminal import (
    FINE,
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
    from engine.audit import Report
    from engine.log import Export


class Book(Protocol):
    """The book of record, as far as logs are taken out of it and put into it."""

    def export(self, table: str, seat: int | None = None) -> Export:
        """The log of a table: whole once it has ended, before that as the seat or a spectator may know it."""

    def import_(self, export: Export) -> str:
        """Add a log from elsewhere; the result is the table's name here."""

    def whole(self, table: str) -> Export:
        """The log with everything, even while it is played: for the host's own audit."""

    def tables(self) -> Iterable[str]:
        """All tables, the oldest first."""


def open_book(database: str | None, make: bool = False) -> Book:
    """The book of record of the service with these settings, or of this database; made only where that is meant."""
    from msgspec.structs import replace
    from sqlalchemy.exc import SQLAlchemyError

    from service import settings
    from service.archive import Archive
    from service.links import Links
    from service.store import Store

    found = settings.read()
    found = replace(found, database=database) if database else found
    url = found.database_url
    if url.startswith("sqlite:///") and not (make or Path(url.removeprefix("sqlite:///")).exists()):
        raise Misuse(f"There is no book of record at {url}; name it with --database, or set DEPESCHE_FOLDER.")
    try:
        store = Store(url)
        store.migrate()
    except (SQLAlchemyError, OSError) as error:
        raise Misuse(f"The book of record at {url} cannot be opened: {error}") from error
    return Archive(store, Links(settings.keep_secret(found)))


def add(subparsers: Subparsers[Parser]) -> None:
    _add_audit(subparsers)
    _add_export(subparsers)
    _add_import(subparsers)


def _add_audit(subparsers: Subparsers[Parser]) -> None:
    parser = add_command(
        subparsers,
        "audit",
        audit,
        "Check logs: is the chain whole, was every draw honest, every move legal, would today's rules agree?",
        "depesche audit game.json",
        "depesche audit --all --json",
    )
    parser.add_argument("files", metavar="FILE", nargs="*", help="an exported log")
    parser.add_argument("--table", metavar="T", action="append", default=[], help="a table of the service")
    parser.add_argument("--all", action="store_true", help="every table of the service")
    add_database(parser)
    add_json(parser)


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
    parser.add_argument("--output", metavar="FILE", help="write it there, not to the screen")
    add_database(parser)


def _add_import(subparsers: Subparsers[Parser]) -> None:
    parser = add_command(
        subparsers,
        "import",
        import_,
        "Check finished logs and add them to the service.",
        "depesche import game.json",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="an exported log of a finished table")
    add_database(parser)
    add_json(parser)


def audit(args: Namespace) -> int:
    if not (args.files or args.table or args.all):
        raise Misuse("Name the logs to audit: files, --table T or --all.")
    status, found = FINE, list[dict[str, Any]]()
    for name, log in _logs(args):
        report = audited(name, log)
        status = WRONG if report.finding else status
        if args.json:
            found.append({"log": name, **_described(log, report)})
        else:
            _say(name, report)
    if args.json:
        terminal.print_json(found)
    return status


def _logs(args: Namespace) -> Iterator[tuple[str, Export]]:
    for file in args.files:
        yield file, load(file)
    if args.table or args.all:
        book = open_book(args.database)
        for table in dict.fromkeys((*args.table, *(book.tables() if args.all else ()))):
            yield table, book.whole(table)


def audited(name: str, log: Export) -> Report:
    """The report on a log; one that cannot even be followed is as bad as one that was tampered with."""
    from engine import audit as audits
    from engine import catalogue
    from engine.refusal import Refused

    try:
        game = catalogue.find(log.game)
    except Refused as refused:
        raise Misuse(f"{name}: {refused}") from refused
    try:
        return audits.audit(game, log)
    except Exception as fault:
        sentence = f"The log cannot be followed ({type(fault).__name__}: {fault})."
        return audits.Report(len(log.entries), 0, log.head, audits.Finding(0, "tampering", sentence))


def _described(log: Export, report: Report) -> dict[str, Any]:
    return {
        "table": log.table,
        "game": log.game,
        "sound": report.finding is None,
        "entries": report.entries,
        "replayed": report.replayed,
        "head": report.head,
        "finding": report.finding,
    }


def _say(name: str, report: Report) -> None:
    from engine import audit as audits

    for sentence in audits.sentences(report):
        print(f"{name}: {sentence}")


def export(args: Namespace) -> int:
    content = terminal.json_bytes(open_book(args.database).export(args.table, args.seat))
    if args.output:
        terminal.write(args.output, content)
    else:
        sys.stdout.write(content.decode())
    return FINE


def import_(args: Namespace) -> int:
    """Nothing is added unless every file is a whole log that nobody tampered with."""
    logs = [(file, load(file)) for file in args.files]
    for file, log in logs:
        if log.seed is None or not all(link.whole for link in log.entries):
            raise Misuse(f"{file} is not the log of a finished table, so it cannot be checked as a whole.")
    reports = [(file, audited(file, log)) for file, log in logs]
    tampered = [(file, report) for file, report in reports if report.finding and report.finding.kind == "tampering"]
    for file, report in tampered:
        _say(file, report)
    if tampered:
        return WRONG
    book = open_book(args.database, make=True)
    names = [{"file": file, "table": book.import_(log)} for file, log in logs]
    if args.json:
        terminal.print_json(names)
    else:
        print("\n".join(f"{name['file']}: table {name['table']}" for name in names))
    return FINE
