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
)

if TYPE_CHECKING:
    from engine.audit import Report
    from engine.log import Export
    from service.text.receipts import Comparison, Receipt


DRIFT_STATUS, DAMAGE_STATUS = 3, 4
# From the gravest verdict to none: the exit status of an audit is that of its gravest verdict.
STATUS_BY_VERDICT = {
    "tampering": WRONG,
    "contradicted": WRONG,
    "damage": DAMAGE_STATUS,
    "drift": DRIFT_STATUS,
    "unusable": MISUSE,
    "sound": FINE,
}
STATUS_HELP = "Exit status: 0 sound, 1 tampered with or contradicted by a receipt, 2 misuse, 3 drift, 4 damage."
RECEIPT = re.compile("([0-9a-f]{8,64})(?:\\.{3}|…)?@([0-9]{1,9})")
MIN_TABLES_FOR_PROCESSES = 50  # fewer are audited sooner than processes start
CHUNK_TABLES = 20


class AuditOutcome(Struct, frozen=True):
    """The outcome of one log; `lines` are for people, the rest is for programs.

    `entries` counts those of the log, `replayed` those whose moves were made again by the rules, and `proven` those
    that are what was sealed. `ruled` says whether the rules of its game are installed, `finding` is the fault in the
    log or None, and `receipts` are the comparisons with receipts.
    """

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
    """Add the command `audit`."""
    parser = add_command(
        subparsers,
        "audit",
        run_audit,
        "Check logs: an unbroken chain, honest draws, legal moves, and the same results under the rules.",
        "depesche audit game.json",
        "depesche audit --all --jobs 4 --resume audited.jsonl --json",
        "depesche audit game.json --receipts letter.eml --receipt 9f86d081...@17",
        "depesche export 1f3a | depesche audit -",
    )
    parser.epilog = f"{parser.epilog}\n\n{STATUS_HELP}"
    parser.add_argument("files", metavar="FILE", nargs="*", help="an exported log; - reads one that is piped in")
    parser.add_argument("--table", metavar="T", action="append", default=[], help="a table of the service")
    parser.add_argument("--all", action="store_true", help="every table of the service")
    parser.add_argument(
        "--jobs", type=terminal.parse_positive, metavar="N", help="processes (one for each core, with many tables)"
    )
    parser.add_argument("--resume", metavar="FILE", help="write sound tables there, and skip those that are there")
    parser.add_argument(
        "--receipt",
        metavar="HASH@LENGTH",
        action="append",
        default=[],
        type=parse_receipt,
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


def parse_receipt(text: str) -> Receipt:
    """Parse a receipt of the command line: the hash, or its beginning, and a number of entries."""
    from service.text.receipts import Receipt

    match = RECEIPT.fullmatch(text.strip().lower())
    if not match:
        raise ArgumentTypeError(
            f"“{text}” is not a receipt; one is 8 to 64 hexadecimal digits, @ and a number of entries"
        )
    return Receipt(match[1], int(match[2]))


def run_audit(args: Namespace) -> int:
    """Audit the named logs and print the outcomes; the exit status is that of the gravest verdict."""
    if not (args.files or args.table or args.all):
        raise Misuse("Name the logs to audit: files, --table T or --all.")
    receipts = _load_receipts(args)
    outcomes = list[dict[str, Any]]()
    counts = Counter[str]()
    compared_count = 0
    for outcome in _audit_logs(args, receipts):
        counts[outcome.verdict] += 1
        compared_count += len(outcome.receipts)
        if args.json:
            outcomes.append(_describe(outcome))
        else:
            _print_outcome(outcome)
    if args.json:
        terminal.print_json(outcomes)
    elif counts.total() > 1:
        parts = (f"{counts[verdict]} {verdict}" for verdict in STATUS_BY_VERDICT if counts[verdict])
        print(f"{counts.total()} logs: {', '.join(parts)}")
    has_read_log = counts["unusable"] + counts["damage"] < counts.total()
    if receipts and not compared_count and has_read_log:
        first_receipt, *_others = receipts
        terminal.print_error(
            f"None of these receipts is from a log named here; they are from table {first_receipt.table}."
        )
        return MISUSE
    for verdict, status in STATUS_BY_VERDICT.items():
        if counts[verdict]:
            return status
    return FINE


def _print_outcome(outcome: AuditOutcome) -> None:
    """Print the lines for people; only the first has the name of the log."""
    print_line = terminal.print_error if outcome.verdict == "unusable" else terminal.print_line
    first, *others = outcome.lines
    print_line(first if outcome.log in first else f"{outcome.log}: {first}")
    for line in others:
        print_line(f"  {line}")


def _describe(outcome: AuditOutcome) -> dict[str, Any]:
    """Return an outcome as the JSON that the command prints; there its lines are called `sentences`."""
    from msgspec import structs

    fields = structs.asdict(outcome)
    sentences = fields.pop("lines")
    return {**fields, "sentences": sentences}


def _load_receipts(args: Namespace) -> tuple[Receipt, ...]:
    """Load the given receipts; one from a letter has its table, a hash alone has none."""
    from service.text import receipts

    given = list(args.receipt)
    for file in args.receipts:
        terminal.read_file(file)  # raises Misuse if that is impossible
        from_file = list(receipts.find_receipts(Path(file)))
        if not from_file:
            raise Misuse(f"{file} has no receipt; every letter from a table has one at its foot.")
        given += from_file
    has_hash_alone = any(not one.table for one in given)
    has_several_logs = args.all or len(args.files) + len(args.table) > 1
    if has_hash_alone and has_several_logs:
        raise Misuse("A receipt without a table can be checked against one log only: name just that one.")
    return tuple(given)


def _audit_logs(args: Namespace, receipts: tuple[Receipt, ...]) -> Iterator[AuditOutcome]:
    """Audit the logs one by one, many tables of the service in several processes."""
    for file in args.files:
        yield audit_log(file, partial(load_log, file), receipts)
    if not (args.table or args.all):
        return
    store = logs.open_log_store(args.database)
    progress = AuditProgress(args.resume)
    listed = store.list_tables() if args.all else ()
    named = dict.fromkeys((*args.table, *listed))  # each once
    tables = [table for table in named if not progress.is_done(store, table)]
    jobs = args.jobs or _choose_jobs(len(tables))
    if jobs > 1:
        outcomes = _audit_in_processes(args.database, tables, receipts, jobs)
    else:
        outcomes = _audit_tables(store, tables, receipts)
    for done, outcome in enumerate(outcomes, 1):
        terminal.show_progress(done, len(tables), "tables")
        progress.add(outcome)
        yield outcome


def _choose_jobs(table_count: int) -> int:
    return (os.cpu_count() or 1) if table_count > MIN_TABLES_FOR_PROCESSES else 1


def _audit_tables(store: logs.LogStore, tables: list[str], receipts: tuple[Receipt, ...]) -> Iterator[AuditOutcome]:
    """Audit these tables one after the other; the log of a running table is checked as the host may see it."""
    for table in tables:
        over = store.is_over(table)
        yield audit_log(table, partial(store.export_whole, table), receipts, running=not over)


def _audit_in_processes(
    database: str | None, tables: list[str], receipts: tuple[Receipt, ...], jobs: int
) -> Iterator[AuditOutcome]:
    """Audit tables in several processes; each opens the database by itself."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    chunks = [tables[start : start + CHUNK_TABLES] for start in range(0, len(tables), CHUNK_TABLES)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for outcomes in pool.map(partial(_audit_chunk, database, receipts=receipts), chunks):
            yield from outcomes


def _audit_chunk(database: str | None, tables: list[str], receipts: tuple[Receipt, ...]) -> list[AuditOutcome]:
    return list(_audit_tables(logs.open_log_store(database), tables, receipts))


class AuditProgress:
    """The file of an audit that can be resumed: a line with the head of each sound table."""

    def __init__(self, file: str | None) -> None:
        self.path = Path(file) if file else None
        # A line is the name of a table, a space and the table's head; the file ends with an empty line.
        lines = self.path.read_text("utf-8").split("\n") if self.path and self.path.exists() else []
        self.heads = dict(line.split(" ", 1) for line in lines if " " in line)

    def is_done(self, store: logs.LogStore, table: str) -> bool:
        """Return whether this log, unchanged, was sound before."""
        return table in self.heads and self.heads[table] == store.export(table).head

    def add(self, outcome: AuditOutcome) -> None:
        """Add the line of a table to the file, if there is one and if the table is sound."""
        if self.path and outcome.sound:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{outcome.log} {outcome.head}\n")


def audit_log(
    name: str, read: Callable[[], Export], receipts: tuple[Receipt, ...], *, running: bool = False
) -> AuditOutcome:
    """Audit the log that `read` returns: unusable if that refuses, damaged if it or the audit raises another error.

    `running` is for a game that has not ended, whose whole log only the host has. No error stops the other audits.
    """
    from engine import audit as audits
    from engine import catalogue
    from engine.refusal import Refused
    from service.internet import beacon
    from service.text.receipts import compare_receipts

    try:
        log = read()
        has_game = log.game in catalogue.find_all()  # without its rules all but the moves is audited
        game = catalogue.find(log.game, log.edition) if has_game else None
    except (Misuse, Refused) as refused:
        return AuditOutcome(name, "unusable", (str(refused),))
    except Exception as fault:
        return AuditOutcome(name, "damage", (f"The log cannot be read ({type(fault).__name__}: {fault}).",))
    try:
        report = audits.audit(game, log, running=running, verify_signature=beacon.is_signed)
        compared = compare_receipts(log, receipts)
    except Exception as fault:
        return AuditOutcome(name, "damage", (f"The log cannot be followed ({type(fault).__name__}: {fault}).",))
    return _make_outcome(name, log, report, compared)


def _make_outcome(name: str, log: Export, report: Report, compared: tuple[Comparison, ...]) -> AuditOutcome:
    """Return the outcome; a fault that was found in the log counts more than a receipt that contradicts it."""
    from engine import audit as audits

    verdict = "sound" if all(one.agrees for one in compared) else "contradicted"
    if report.finding:
        verdict = report.finding.kind
    return AuditOutcome(
        log=name,
        verdict=verdict,
        lines=(*audits.describe(report), *(one.sentence for one in compared)),
        table=log.table,
        game=log.game,
        sound=verdict == "sound",
        entries=report.entries,
        replayed=report.replayed,
        proven=report.proven,
        head=report.head,
        finding=report.finding,
        receipts=compared,
        ruled=report.has_rules,
    )
