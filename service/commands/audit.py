"""`depesche audit`: logs held against their seals, their seeds, the rules, and the receipts in letters."""

from __future__ import annotations

import os
import re
from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from service.commands import logs, terminal
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
)

if TYPE_CHECKING:
    from engine.audit import Comparison, Receipt, Report
    from engine.log import Export

DRIFTED, DAMAGED = 3, 4
# From the gravest to none: the exit status is that of the gravest verdict found.
STATUS = {
    "tampering": WRONG,
    "contradicted": WRONG,
    "damage": DAMAGED,
    "drift": DRIFTED,
    "unusable": MISUSED,
    "sound": FINE,
}
STATUSES = "Exit status: 0 sound, 1 tampered with or contradicted by a receipt, 2 misuse, 3 drift, 4 damage."
RECEIPT = re.compile("([0-9a-f]{8,64})(?:\\.{3}|…)?@([0-9]{1,9})")
MANY = 50  # tables that are worth more than one process


class Audited(Struct, frozen=True):
    """What became of one log; `lines` are for people, the rest is for programs."""

    log: str
    verdict: str
    lines: tuple[str, ...]
    table: str = ""
    game: str = ""
    sound: bool = False
    entries: int = 0
    replayed: int = 0
    proven: int = 0
    head: str = ""
    finding: Any = None
    receipts: tuple[Any, ...] = ()
    ruled: bool = True


def add(subparsers: Subparsers[Parser]) -> None:
    parser = add_command(
        subparsers,
        "audit",
        audit,
        "Check logs: is the chain whole, was every draw honest, every move legal, would the rules agree?",
        "depesche audit game.json",
        "depesche audit --all --jobs 4 --resume audited.jsonl --json",
        "depesche audit game.json --receipts letter.eml --receipt 9f86d081...@17",
        "depesche export 1f3a | depesche audit -",
    )
    parser.epilog = f"{parser.epilog}\n\n{STATUSES}"
    parser.add_argument("files", metavar="FILE", nargs="*", help="an exported log; - reads one that is piped in")
    parser.add_argument("--table", metavar="T", action="append", default=[], help="a table of the service")
    parser.add_argument("--all", action="store_true", help="every table of the service")
    parser.add_argument(
        "--jobs", type=terminal.positive, metavar="N", help="processes (one for each core, with many tables)"
    )
    parser.add_argument(
        "--resume", metavar="FILE", help="note sound tables there, and pass over those that stand there"
    )
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
    """A receipt as it is written on the command line; of the hash, the beginning will do."""
    from engine.audit import Receipt

    found = RECEIPT.fullmatch(text.strip().lower())
    if not found:
        raise ArgumentTypeError(
            f"“{text}” is not a receipt; one is 8 to 64 hexadecimal digits, @ and a number of entries"
        )
    return Receipt(found[1], int(found[2]))


def audit(args: Namespace) -> int:
    if not (args.files or args.table or args.all):
        raise Misuse("Name the logs to audit: files, --table T or --all.")
    receipts, found, told = _receipts(args), Counter[str](), list[Audited]()
    held = 0
    for outcome in _outcomes(args, receipts):
        found[outcome.verdict] += 1
        held += len(outcome.receipts)
        told += [outcome] if args.json else []
        say = terminal.complain if outcome.verdict == "unusable" else terminal.tell
        for line in _told_once(outcome) if not args.json else ():
            say(line)
    if args.json:
        terminal.print_json([_described(outcome) for outcome in told])
    elif found.total() > 1:
        counts = (f"{found[verdict]} {verdict}" for verdict in STATUS if found[verdict])
        print(f"{found.total()} logs: {', '.join(counts)}")
    if receipts and not held:
        terminal.complain(f"None of these receipts is from a log named here; they are from table {receipts[0].table}.")
        return MISUSED
    return next((status for verdict, status in STATUS.items() if found[verdict]), FINE)


def _told_once(outcome: Audited) -> Iterator[str]:
    """The lines for people: the name of the log stands before the first of them only."""
    for number, line in enumerate(outcome.lines):
        yield f"  {line}" if number else line if outcome.log in line else f"{outcome.log}: {line}"


def _described(outcome: Audited) -> dict[str, Any]:
    from msgspec import structs

    return {name: value for name, value in structs.asdict(outcome).items() if name != "lines"} | {
        "sentences": outcome.lines
    }


def _receipts(args: Namespace) -> tuple[Receipt, ...]:
    """The receipts that were named; letters say which table they are from, a bare hash does not."""
    from service.text import receipts

    given = list(args.receipt)
    for file in args.receipts:
        terminal.read(file)
        found = list(receipts.find_receipts(Path(file)))
        if not found:
            raise Misuse(f"{file} holds no receipt; one stands at the foot of every letter from a table.")
        given += found
    if not all(one.table for one in given) and (args.all or len(args.files) + len(args.table) > 1):
        raise Misuse("A receipt that does not say its table is held against one log: name just that one.")
    return tuple(given)


def _outcomes(args: Namespace, receipts: tuple[Receipt, ...]) -> Iterator[Audited]:
    """One log after the other, those of the service with progress and by several processes."""
    for file in args.files:
        yield judged(file, partial(load, file), receipts)
    if not (args.table or args.all):
        return
    book = logs.open_book(args.database)
    passed = Passed(args.resume)
    named = dict.fromkeys((*args.table, *(book.list_tables() if args.all else ())))
    tables = [table for table in named if not passed.over(book, table)]
    jobs = args.jobs or (os.cpu_count() or 1 if len(tables) > MANY else 1)
    each = _side_by_side(args.database, tables, receipts, jobs) if jobs > 1 else _in_turn(book, tables, receipts)
    for done, outcome in enumerate(each, 1):
        terminal.progress(done, len(tables), "tables")
        passed.note(outcome)
        yield outcome


def _in_turn(book: logs.Book, tables: list[str], receipts: tuple[Receipt, ...]) -> Iterator[Audited]:
    for table in tables:
        over = book.is_over(table)
        yield judged(table, partial(book.export_whole, table), receipts, running=not over)


def _side_by_side(
    database: str | None, tables: list[str], receipts: tuple[Receipt, ...], jobs: int
) -> Iterator[Audited]:
    """Each process opens the book for itself."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    chunks = [tables[start : start + 20] for start in range(0, len(tables), 20)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for outcomes in pool.map(_chunk, [database] * len(chunks), chunks, [receipts] * len(chunks)):
            yield from outcomes


def _chunk(database: str | None, tables: list[str], receipts: tuple[Receipt, ...]) -> list[Audited]:
    return list(_in_turn(logs.open_book(database), tables, receipts))


class Passed:
    """The file of an audit that may be broken off: a line for each table that was sound, with the head it had."""

    def __init__(self, file: str | None) -> None:
        self.path = Path(file) if file else None
        lines = self.path.read_text("utf-8").split("\n") if self.path and self.path.exists() else []
        self.heads = dict(line.split(" ", 1) for line in lines if " " in line)

    def over(self, book: logs.Book, table: str) -> bool:
        """Whether this very log was found sound before."""
        return table in self.heads and self.heads[table] == book.export(table).head

    def note(self, outcome: Audited) -> None:
        if self.path and outcome.sound:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{outcome.log} {outcome.head}\n")


def judged(name: str, read: Callable[[], Export], receipts: tuple[Receipt, ...], *, running: bool = False) -> Audited:
    """The outcome of one log; what cannot be read or followed is damaged, and the others are audited all the same."""
    from engine import audit as audits
    from engine import catalogue
    from engine.refusal import Refused
    from service import beacon

    try:
        log = read()
        known = log.game in catalogue.find_all()  # without its rules all but the moves is audited
        game = catalogue.find(log.game, log.edition) if known else None
    except (Misuse, Refused) as refused:
        return Audited(name, "unusable", (str(refused),))
    except Exception as fault:
        return Audited(name, "damage", (f"The log cannot be read ({type(fault).__name__}: {fault}).",))
    try:
        report = audits.audit(game, log, running=running, verify_signature=beacon.is_signed)
        compared = audits.compare_receipts(log, receipts)
    except Exception as fault:
        return Audited(name, "damage", (f"The log cannot be followed ({type(fault).__name__}: {fault}).",))
    return _outcome(name, log, report, compared)


def _outcome(name: str, log: Export, report: Report, compared: tuple[Comparison, ...]) -> Audited:
    from engine import audit as audits

    agreed = all(one.agrees for one in compared)
    verdict = report.finding.kind if report.finding else "sound" if agreed else "contradicted"
    lines = (*audits.describe(report), *(one.sentence for one in compared))
    sealed = (report.entries, report.replayed, report.proven, report.head)
    return Audited(
        name,
        verdict,
        lines,
        log.table,
        log.game,
        verdict == "sound",
        *sealed,
        report.finding,
        compared,
        report.has_rules,
    )
