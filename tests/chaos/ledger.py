"""What people wrote down, held against the book, the logs and the letters: nothing lost, doubled, or untrue."""

import time
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec
from sqlalchemy import func, select, update

from engine import audit as audits
from engine import catalogue, record
from engine.log import Export
from service.store import Store, queries
from service.store.schema import letters, mails, seats, submissions, tables
from service.tables.clerk import BOT_STATUSES
from tests.chaos.crowd import Crowd
from tests.chaos.faults import CLOCKS_OFF
from tests.chaos.processes import Process, until_none
from workers.incoming.mail_reports import MailReport

HOST = "house.example"
LEASE = 8  # seconds that a letter is in hand
BY_SERVER = ("open", "bot", "start")  # entries that nobody hands in
OUTDATED = ("changed", "turn", "earlier", "over")  # why a good move is refused: another was quicker
LONGEST_LOG = 2_000_000  # bytes that one process may write about all that befell it


def settle(store: Store) -> None:
    """Wait until the service has done by itself all that it owes: verdicts, mails, bots' moves, letters."""
    until_none(lambda: counted(store, submissions.c.accepted.is_(None)), "every submission has a verdict")
    until_none(lambda: counted(store, mails.c.read_at.is_(None)), "every mail is read")
    bots = (seats.c.open_since.is_not(None), seats.c.status.in_(BOT_STATUSES))
    until_none(lambda: counted(store, *bots), "every bot has moved")
    _hurry(store)
    until_none(lambda: counted(store, letters.c.sent_at.is_(None)), f"every letter is sent {_unsent(store)}")


def _hurry(store: Store) -> None:
    """What the relay refused would be tried again in minutes, what a wrong clock put off later; their time has come."""
    refused = (letters.c.outcome != "") & ~letters.c.outcome.startswith("in hand")
    wrong_clock = letters.c.due_at > int(time.time()) + LEASE
    with store.writing() as connection:
        connection.execute(update(letters).where(letters.c.sent_at.is_(None), refused | wrong_clock).values(due_at=0))


def _unsent(store: Store) -> str:
    """What was said of the letters that are not sent yet."""
    with store.reading() as connection:
        rows = connection.execute(select(letters).where(letters.c.sent_at.is_(None))).all()
    return str(Counter((row.outcome[:60], row.tries, row.due_at > time.time()) for row in rows))


def waiting(store: Store) -> str:
    """What the service owes just now, for whoever wonders why nothing happens."""
    bots = select(seats).where(seats.c.open_since.is_not(None), seats.c.status.in_(BOT_STATUSES))
    with store.reading() as connection:
        unheard = connection.execute(select(submissions).where(submissions.c.accepted.is_(None))).all()
        return f"bots: {connection.execute(bots).all()}; submissions: {unheard}"


def counted(store: Store, *conditions: Any) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).where(*conditions)).scalar_one())


def check(store: Store, crowd: Crowd, received: Sequence[str]) -> int:
    """Assert that nothing is missing or doubled; return how many letters came twice, as they may."""
    _check_told(store, crowd)
    _check_mails(store, crowd)
    _check_logs(store, crowd)
    return _check_letters(store, received)


def _check_told(store: Store, crowd: Crowd) -> None:
    """What people were told is what is written."""
    with store.reading() as connection:
        rows = connection.execute(select(submissions)).all()
    known = {(row.table, row.seat, row.source, row.key): row for row in rows}
    assert len(known) == len(rows)
    for heard in crowd.heard:
        key = f"{heard.key}/0" if heard.source == "mail" else heard.key
        row = known.get((heard.table, heard.seat, heard.source, key))
        if row is None:  # a mail that no referee saw, because it came too late
            assert heard.source == "mail", heard
            assert not heard.accepted, heard
        else:
            assert (row.accepted, row.seq) == (heard.accepted, heard.seq), heard
        assert heard.accepted or any(word in heard.said for word in OUTDATED), heard


def _check_mails(store: Store, crowd: Crowd) -> None:
    """Every mail that was thanked for is there once and was read, and nobody else's."""
    with store.reading() as connection:
        rows = connection.execute(select(mails)).all()
    assert crowd.mailed <= {row.key for row in rows}
    done = [line for row in rows for line in msgspec.json.decode(row.report, type=MailReport).lines]
    assert len([line for line in done if line.outcome == "done"]) == counted(
        store, submissions.c.source == "mail", submissions.c.accepted
    )


def _check_logs(store: Store, crowd: Crowd) -> None:
    """Each entry is of the house or one accepted submission, each such submission one entry; every chain is sound."""
    with store.reading() as connection:
        rows = connection.execute(select(tables)).all()
    assert crowd.links.keys() <= {row.id for row in rows}
    for row in rows:
        _check_log(store, row)
        if row.id in crowd.links:
            _audit(crowd, crowd.links[row.id])


def _check_log(store: Store, table: Any) -> None:
    with store.reading() as connection:
        stored = queries.entries_of(connection, table.id)
        own = select(submissions).where(submissions.c.table == table.id, submissions.c.accepted)
        accepted = {row.seq: row for row in connection.execute(own).all()}
        count = connection.execute(select(func.count()).select_from(own.subquery())).scalar_one()
    assert [entry.seq for entry in stored] == list(range(table.length))
    assert stored[-1].hash == table.head
    assert len(accepted) == count, "two submissions became one entry"
    decoder = record.decoder(catalogue.find(table.game, table.edition))
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
    """Letters marked as sent have arrived, those that came were owed, the overtaken were; how many came twice."""
    with store.reading() as connection:
        rows = connection.execute(select(letters).order_by(letters.c.table)).all()
        turns = {(row.table, row.seat): row for row in connection.execute(select(seats)).all()}
    assert {row.outcome for row in rows} <= {"sent", "overtaken"}, Counter(row.outcome for row in rows)
    owed = {message_id(row): row for row in rows}
    assert len(owed) == len(rows)
    arrived = Counter(received)
    astray = arrived.keys() - owed.keys()
    assert not astray, astray
    assert not [name for name, row in owed.items() if row.outcome == "sent" and name not in arrived]
    for table, late in groupby(filter(lambda row: row.outcome == "overtaken", rows), lambda row: row.table):
        moments = _moments(store, table)
        for row in late:
            _check_overtaken(row, turns[table, row.seat], moments)
    assert all(row.outcome == "sent" for row in rows if row.kind == "over"), "a game ended and nobody was told"
    return arrived.total() - len(arrived)


def _moments(store: Store, table: str) -> list[tuple[int, int | None, int]]:
    """The number, seat and time of every entry of a table."""
    with store.reading() as connection:
        bodies = [msgspec.json.decode(entry.body) for entry in queries.entries_of(connection, table)]
    return [(body["seq"], body["seat"], body["at"]) for body in bodies]


def _check_overtaken(letter: Any, seat: Any, moments: Sequence[tuple[int, int | None, int]]) -> None:
    """A letter about a turn need not come once that turn is over: not before, as far as clocks can tell."""
    assert letter.kind.partition("/")[0] in ("turn", "invitation"), letter
    if letter.kind == "turn":
        assert seat.open_since != letter.seq, ("this turn still waits", letter)
        later = [(mover, at) for seq, mover, at in moments if seq > letter.seq]
        own = [at for mover, at in later if mover == letter.seat]
        ended = min(own or [at for _, at in later])
        assert ended <= letter.sent_at + 2 * max(CLOCKS_OFF), ("overtaken before its time", letter, ended)


def message_id(row: Any) -> str:
    """How a letter is recognised, wherever it comes from."""
    if row.kind == "invitation":
        return f"<{row.table}.{row.seat}.table@{HOST}>"
    return f"<{row.table}.{row.seq}.{row.seat}.{row.kind.replace('/', '.')}@{HOST}>"


def check_own_logs(processes: Sequence[Process]) -> None:
    """What the processes wrote about it all: bounded, and no trace of a fault of ours."""
    for process in processes:
        text = process.log.read_text(errors="replace")
        assert len(text) < LONGEST_LOG, f"{process.log}: {len(text)} characters"
        ours = [part for part in text.split("Traceback")[1:] if "resource_tracker.py" not in part]  # that is Python's
        assert not ours, f"{process.log}: {ours[0][:9_000]}"
