"""Compare the players' records with the database, the logs and the letters: nothing is lost, doubled or wrong."""

import time
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec
from sqlalchemy import func, select, update

from engine import audit as audits
from engine import catalogue, log
from engine.log import Export
from service.store import Store, queries
from service.store.schema import letters, mails, seats, submissions, tables
from service.tables.locked_table import BOT_STATUSES
from tests.chaos.crowd import Crowd
from tests.chaos.faults import CLOCK_SHIFTS_S
from tests.chaos.processes import Process, wait_until_none
from workers.incoming.mail_results import MailResult

HOST = "depesche.example"
LEASE_S = 8  # how long a worker may take for a letter
BY_SERVER = ("open", "bot", "start")  # entries without a submission
STALE_REASONS = ("changed", "turn", "earlier", "over")  # words of a refusal because another move was quicker
LOST = "was lost when the server had a fault"  # a refusal because the database crashed before it wrote to the disk
MAX_LOG_CHARS = 2_000_000  # of the log file of one process


def wait_until_settled(store: Store) -> None:
    """Wait until every submission has a verdict, every mail is processed, every bot has moved, every letter is sent."""
    wait_until_none(lambda: count_rows(store, submissions.c.accepted.is_(None)), "every submission has a verdict")
    wait_until_none(lambda: count_rows(store, mails.c.read_at.is_(None)), "every mail is read")
    bots = (seats.c.open_since.is_not(None), seats.c.status.in_(BOT_STATUSES))
    wait_until_none(lambda: count_rows(store, *bots), "every bot has moved")
    _make_letters_due(store)
    unsent = _describe_unsent(store)
    wait_until_none(lambda: count_rows(store, letters.c.sent_at.is_(None)), f"every letter is sent {unsent}")


def _make_letters_due(store: Store) -> None:
    """Make due now the letters that the relay refused, and those that a shifted clock postponed."""
    refused = (letters.c.outcome != "") & ~letters.c.outcome.startswith("in hand")
    postponed = letters.c.due_at > int(time.time()) + LEASE_S
    with store.writing() as connection:
        connection.execute(update(letters).where(letters.c.sent_at.is_(None), refused | postponed).values(due_at=0))


def _describe_unsent(store: Store) -> str:
    """Describe the letters that are not sent yet by outcome and number of attempts."""
    with store.reading() as connection:
        rows = connection.execute(select(letters).where(letters.c.sent_at.is_(None))).all()
    return str(Counter((row.outcome[:60], row.tries, row.due_at > time.time()) for row in rows))


def describe_pending(store: Store) -> str:
    """Describe the pending bots and submissions, for the message of a failed run."""
    bots = select(seats).where(seats.c.open_since.is_not(None), seats.c.status.in_(BOT_STATUSES))
    with store.reading() as connection:
        pending = connection.execute(select(submissions).where(submissions.c.accepted.is_(None))).all()
        return f"bots: {connection.execute(bots).all()}; submissions: {pending}"


def count_rows(store: Store, *conditions: Any) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).where(*conditions)).scalar_one())


def check_all(store: Store, crowd: Crowd, received: Sequence[str]) -> int:
    """Assert that nothing is missing or doubled; return how many letters came twice, as they may."""
    _check_verdicts(store, crowd)
    _check_mails(store, crowd)
    _check_logs(store, crowd)
    return _check_letters(store, received)


def _check_verdicts(store: Store, crowd: Crowd) -> None:
    """Check that the players' records agree with the submissions in the database."""
    with store.reading() as connection:
        rows = connection.execute(select(submissions)).all()
    by_key = {(row.table, row.seat, row.source, row.key): row for row in rows}
    assert len(by_key) == len(rows)
    for one in crowd.records:
        key = f"{one.key}/0" if one.source == "mail" else one.key
        row = by_key.get((one.table, one.seat, one.source, key))
        if row is None:  # a mail that came too late for the referee, or a move that its player knows to be lost
            assert one.source == "mail" or LOST in one.reason, one
            assert not one.accepted, one
        else:
            assert (row.accepted, row.seq) == (one.accepted, one.seq), one
        assert one.accepted or any(word in one.reason for word in (*STALE_REASONS, LOST)), one


def _check_mails(store: Store, crowd: Crowd) -> None:
    """Check that every mail that was accepted is stored once, and that its moves agree with the submissions."""
    with store.reading() as connection:
        rows = connection.execute(select(mails)).all()
    assert crowd.mailed <= {row.key for row in rows}
    done = [line for row in rows for line in msgspec.json.decode(row.report, type=MailResult).lines]
    assert len([line for line in done if line.outcome == "done"]) == count_rows(
        store, submissions.c.source == "mail", submissions.c.accepted
    )


def _check_logs(store: Store, crowd: Crowd) -> None:
    """Check that each entry is by the server or of one accepted submission, and that each log passes its audit."""
    with store.reading() as connection:
        rows = connection.execute(select(tables)).all()
    assert crowd.links.keys() <= {row.id for row in rows}
    for row in rows:
        _check_log(store, row)
        if row.id in crowd.links:
            _audit(crowd, crowd.links[row.id])


def _check_log(store: Store, table: Any) -> None:
    with store.reading() as connection:
        stored = queries.list_entries(connection, table.id)
        own = select(submissions).where(submissions.c.table == table.id, submissions.c.accepted)
        accepted = {row.seq: row for row in connection.execute(own).all()}
        count = connection.execute(select(func.count()).select_from(own.subquery())).scalar_one()
    assert [entry.seq for entry in stored] == list(range(table.length))
    assert stored[-1].hash == table.head
    assert len(accepted) == count, "two submissions became one entry"
    decoder = log.make_entry_decoder(catalogue.find(table.game, table.edition))
    for entry in map(decoder.decode, (row.body for row in stored)):
        row = accepted.pop(entry.seq, None)
        if row is None:
            assert entry.seat is None, entry
            assert entry.move.split()[0] in BY_SERVER, entry
        elif entry.move.split()[0] == "sit":
            assert entry.move.startswith(f"sit {row.seat} "), entry
        else:
            assert (entry.seat, entry.move) == (row.seat, row.move), entry
    assert not accepted, "an accepted submission is no entry"


def _audit(crowd: Crowd, link: str) -> None:
    export = msgspec.json.decode(crowd.ask("GET", f"/api/v1/t/{link}/log").body, type=Export)
    report = audits.audit(catalogue.find(export.game), export)
    assert report.finding is None, report


def _check_letters(store: Store, received: Sequence[str]) -> int:
    """Check that letters marked as sent arrived and no others; return how many arrived twice."""
    with store.reading() as connection:
        rows = connection.execute(select(letters).order_by(letters.c.table)).all()
        turns = {(row.table, row.seat): row for row in connection.execute(select(seats)).all()}
    assert {row.outcome for row in rows} <= {"sent", "overtaken"}, Counter(row.outcome for row in rows)
    by_id = {message_id(row): row for row in rows}
    assert len(by_id) == len(rows)
    arrived = Counter(received)
    unexpected = arrived.keys() - by_id.keys()
    assert not unexpected, unexpected
    assert not [name for name, row in by_id.items() if row.outcome == "sent" and name not in arrived]
    for table, late in groupby(filter(lambda row: row.outcome == "overtaken", rows), lambda row: row.table):
        entries = _list_entries(store, table)
        for row in late:
            _check_overtaken(row, turns[table, row.seat], entries)
    assert all(row.outcome == "sent" for row in rows if row.kind == "over"), "a game ended without a letter"
    return arrived.total() - len(arrived)


def _list_entries(store: Store, table: str) -> list[tuple[int, int | None, int]]:
    """Return number, seat and time of every entry of a table."""
    with store.reading() as connection:
        bodies = [msgspec.json.decode(entry.body) for entry in queries.list_entries(connection, table)]
    return [(body["seq"], body["seat"], body["at"]) for body in bodies]


def _check_overtaken(letter: Any, seat: Any, entries: Sequence[tuple[int, int | None, int]]) -> None:
    """Check that a letter was withdrawn only after its turn was over, as far as clocks agree."""
    assert letter.kind.partition("/")[0] in ("turn", "invitation"), letter
    if letter.kind == "turn":
        assert seat.open_since != letter.seq, ("this turn still waits", letter)
        later = [(mover, at) for seq, mover, at in entries if seq > letter.seq]
        own = [at for mover, at in later if mover == letter.seat]
        ended = min(own or [at for _, at in later])
        assert ended <= letter.sent_at + 2 * max(CLOCK_SHIFTS_S), ("overtaken before its time", letter, ended)


def message_id(row: Any) -> str:
    """Return the Message-ID of a letter."""
    if row.kind == "invitation":
        return f"<{row.table}.{row.seat}.table@{HOST}>"
    return f"<{row.table}.{row.seq}.{row.seat}.{row.kind.replace('/', '.')}@{HOST}>"


def check_process_logs(processes: Sequence[Process]) -> None:
    """Check that the log files of the processes are short and have no traceback of Depesche."""
    for process in processes:
        text = process.log.read_text(errors="replace")
        assert len(text) < MAX_LOG_CHARS, f"{process.log}: {len(text)} characters"
        tracebacks = [part for part in text.split("Traceback")[1:] if "resource_tracker.py" not in part]  # Python's own
        assert not tracebacks, f"{process.log}: {tracebacks[0][:9_000]}"
