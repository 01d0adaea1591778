"""`depesche audit`, `export` and `import`: logs, checked and carried about."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from service import numbers
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
    from engine.audit import Comparison, Receipt, Report
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
    from service.links import Links
    from service.store import Store
    from service.tables.archive import Archive

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
        "depesche audit game.json --receipts letter.eml --receipt 9f86d081...@17",
    )
    parser.add_argument("files", metavar="FILE", nargs="*", help="an exported log")
    parser.add_argument("--table", metavar="T", action="append", default=[], help="a table of the service")
    parser.add_argument("--all", action="store_true", help="every table of the service")
    parser.add_argument(
        "--receipt",
        metavar="HASH@LENGTH",
        action="append",
        default=[],
        type=receipt,
        help="a receipt from a letter, which the log has to agree with: the hash, and after how many entries",
    )
    parser.add_argument(
        "--receipts",
        metavar="FILE",
        action="append",
        default=[],
        help="a saved letter (.eml), a mailbox (mbox) or a text whose receipts the log has to agree with",
    )
    add_database(parser)
    add_json(parser)


def receipt(text: str) -> Receipt:
    """A receipt as it is written on the command line."""
    from engine.audit import Receipt
    from engine.form import HASH

    found, _, length = text.strip().lower().partition("@")
    number = numbers.read(length)
    if not HASH.fullmatch(found) or number is None:
        raise ArgumentTypeError(f"“{text}” is not a receipt; one is 64 hexadecimal digits, @ and a number of entries")
    return Receipt(found, number)


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
    receipts = _receipts(args)
    status, found, held = FINE, list[dict[str, Any]](), 0
    for name, log in _logs(args):
        report, comparisons = audited(log), _compared(log, receipts)
        held += len(comparisons)
        status = WRONG if report.finding or not all(one.agrees for one in comparisons) else status
        if args.json:
            found.append({"log": name, **_described(log, report, comparisons)})
        else:
            _say(name, report, comparisons)
    if args.json:
        terminal.print_json(found)
    if receipts and not held:
        terminal.complain(f"None of these receipts is from a log named here; they are from table {receipts[0].table}.")
        return MISUSED
    return status


def _receipts(args: Namespace) -> tuple[Receipt, ...]:
    """The receipts that were named; letters say which table they are from, a bare hash does not."""
    from service import receipts

    given = list(args.receipt)
    for file in args.receipts:
        terminal.read(file)
        found = list(receipts.found(Path(file)))
        if not found:
            raise Misuse(f"{file} holds no receipt; one stands at the foot of every letter from a table.")
        given += found
    if not all(one.table for one in given) and (args.all or len(args.files) + len(args.table) > 1):
        raise Misuse("A receipt that does not say its table is held against one log: name just that one.")
    return tuple(given)


def _compared(log: Export, receipts: tuple[Receipt, ...]) -> tuple[Comparison, ...]:
    """The receipts held against a log; one whose digests are none agrees with nothing."""
    from engine import audit as audits

    try:
        return audits.compared(log, receipts)
    except ValueError:
        return tuple(audits.Comparison(one, False, "The log has digests that are none.") for one in receipts)


def _logs(args: Namespace) -> Iterator[tuple[str, Export]]:
    for file in args.files:
        yield file, load(file)
    if args.table or args.all:
        book = open_book(args.database)
        for table in dict.fromkeys((*args.table, *(book.tables() if args.all else ()))):
            yield table, book.whole(table)


def audited(log: Export) -> Report:
    """The report on a log; one that cannot even be followed is as bad as one that was tampered with."""
    from engine import audit as audits
    from engine import catalogue

    try:
        return audits.audit(catalogue.games().get(log.game), log)
    except Exception as fault:
        sentence = f"The log cannot be followed ({type(fault).__name__}: {fault})."
        return audits.Report(len(log.entries), 0, log.head, audits.Finding(0, "tampering", sentence))


def _described(log: Export, report: Report, comparisons: tuple[Comparison, ...]) -> dict[str, Any]:
    return {
        "table": log.table,
        "game": log.game,
        "sound": report.finding is None and all(one.agrees for one in comparisons),
        "entries": report.entries,
        "replayed": report.replayed,
        "ruled": report.ruled,
        "head": report.head,
        "finding": report.finding,
        "receipts": comparisons,
    }


def _say(name: str, report: Report, comparisons: tuple[Comparison, ...] = ()) -> None:
    from engine import audit as audits

    for sentence in (*audits.sentences(report), *(one.sentence for one in comparisons)):
        print(f"{name}: {sentence}")


def export(args: Namespace) -> int:
    content = terminal.json_bytes(open_book(args.database).export(args.table, args.seat))
    if args.output:
        terminal.write(args.output, content)
    else:
        sys.stdout.write(content.decode())
    return FINE


def import_(args: Namespace) -> int:
    """Nothing is added unless every file is a whole and sound log."""
    logs = [(file, load(file)) for file in args.files]
    for file, log in logs:
        if log.seed is None or not all(link.whole for link in log.entries):
            raise Misuse(f"{file} is not the log of a finished table, so it cannot be checked as a whole.")
    reports = [(file, audited(log)) for file, log in logs]
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
