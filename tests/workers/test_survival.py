"""kill -9 at any moment, Redis emptied at any moment: nothing accepted is lost or doubled, and no letter stays owed.

Nothing is imitated here: processes of the service, PostgreSQL, Redis, a mail server, and people who play over HTTP.
"""

import os
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from email import message_from_bytes
from pathlib import Path
from typing import Any

import msgspec
import pytest
from redis import Redis
from sqlalchemy import func, select, update

from engine import audit as audits
from engine import catalogue, record
from engine.log import Export
from service.store import Store, book
from service.store.schema import letters, mailbox, seats, submissions, tables
from tests import chaos
from tests.chaos import Crowd, Vandal
from tests.chaos_faults import faults
from tests.servers import Sink

HOST = "house.example"
SETTINGS = {"secret": "a house for tests", "sender": f"depesche@{HOST}", "patience": 1.0, "thinking": 0.02, "lease": 8}
SHORT, LONG = 6.0, float(os.environ.get("CHAOS_SECONDS", "240"))
TABLES, KILLS = 9, 5
THINKING = 0.25  # in the short runs, so that there are few moves and letters for each fault
LONGEST_WAIT = 45.0  # seconds after any fault until everybody who waited has a verdict


@pytest.mark.timeout(240)
def test_web_workers_clock_and_redis(postgres_url: str, redis_url: str, smtp_sink: Sink, tmp_path: Path) -> None:
    production(postgres_url, redis_url, smtp_sink, tmp_path, SHORT)


@pytest.mark.soak
@pytest.mark.timeout(LONG + 240)
def test_web_workers_clock_and_redis_for_long(
    postgres_url: str, redis_url: str, smtp_sink: Sink, tmp_path: Path
) -> None:
    production(postgres_url, redis_url, smtp_sink, tmp_path, LONG)


@pytest.mark.timeout(240)
def test_the_embedded_service(tmp_path: Path) -> None:
    embedded(tmp_path, SHORT)


@pytest.mark.soak
@pytest.mark.timeout(LONG + 240)
def test_the_embedded_service_for_long(tmp_path: Path) -> None:
    embedded(tmp_path, LONG)


def production(database: str, redis: str, sink: Sink, folder: Path, seconds: float) -> None:
    ports = [chaos.lasting_port(), chaos.lasting_port()]
    webs = [["web", "--workers", "1", "--threads", "8", "--bind", f"127.0.0.1:{port}"] for port in ports]
    commands = [*webs, ["worker"], ["worker"], ["clock"]]
    sink.pause = 0.05  # so that workers are often killed when a letter was taken and is not yet marked
    relay = f"smtp://{sink.hostname}:{sink.port}"
    words = {**SETTINGS, "database": database, "redis": redis, "smtp": relay}
    with (
        chaos.service(folder, commands, **words) as processes,
        Redis.from_url(redis) as server,
        closing(Store(database)) as store,
    ):
        befalls = faults(processes, store, server, sink)
        if seconds == SHORT:
            befalls = {name: befalls[name] for name in ("Redis emptied", "a table held", "connections cut")}
        vandal = Vandal(processes, (0.2, 1.0), befalls)
        crowd = Crowd(ports, THINKING if seconds == SHORT else 0.0)
        played(store, crowd, vandal, seconds)
        received = [str(letter["Message-ID"]) for letter in sink.letters]
        settled(store, crowd, vandal, received)
        assert befalls.keys() <= {name for _, name in vandal.befell}


def embedded(folder: Path, seconds: float) -> None:
    port, database = chaos.lasting_port(), f"sqlite:///{folder / 'depesche.sqlite'}"
    with (
        chaos.service(folder, [["serve", "--port", str(port)]], **SETTINGS) as processes,
        closing(Store(database)) as store,
    ):
        crowd = Crowd([port], THINKING if seconds == SHORT else 0.0)
        vandal = Vandal(processes, (0.0, 1.5), wait=lambda: crowd.ask("GET", "/games"))
        played(store, crowd, vandal, seconds)
        with store.reading() as connection:
            raw = connection.execute(select(mailbox.c.raw)).scalars().all()
        settled(store, crowd, vandal, [str(message_from_bytes(letter)["Message-ID"]) for letter in raw])


def played(store: Store, crowd: Crowd, vandal: Vandal, seconds: float) -> None:
    """Let the crowd play for at least so long among the vandal's doings, and give the service time to settle."""
    crowd.ask("GET", "/games")  # once it is up
    crowd.play(TABLES)
    vandal.start()
    time.sleep(seconds)
    chaos.until(lambda: vandal.kills >= KILLS, "the vandal has struck often enough")
    vandal.leave()
    crowd.leave()
    assert not crowd.errors, crowd.errors[:5]
    assert vandal.ended == [], "a process ended by itself"
    chaos.until(lambda: counted(store, submissions.c.accepted.is_(None)) == 0, "every submission has a verdict")
    hurry(store)
    chaos.until(lambda: counted(store, letters.c.sent_at.is_(None)) == 0, "every letter is sent")
    check_logs(crowd)


def hurry(store: Store) -> None:
    """What the relay refused for now would be tried again in some minutes; its time has come."""
    refused = (letters.c.sent_at.is_(None), letters.c.outcome != "", ~letters.c.outcome.startswith("in hand"))
    with store.writing() as connection:
        connection.execute(update(letters).where(*refused).values(due_at=0))


def counted(store: Store, condition: Any) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).where(condition)).scalar_one())


def check_logs(crowd: Crowd) -> None:
    """Every log passes its audit as it is handed out."""
    for link in crowd.links.values():
        answer = crowd.ask("GET", f"/t/{link}/log")
        export = msgspec.convert(answer.body, Export)
        report = audits.audit(catalogue.find(export.game), export)
        assert report.finding is None, report


def settled(store: Store, crowd: Crowd, vandal: Vandal, received: Sequence[str]) -> None:
    """Nothing is missing and nothing is there twice."""
    check_submissions(store, crowd)
    check_tables(store)
    doubled = check_letters(store, received)
    accepted = sum(one.accepted for one in crowd.heard)
    waits = chaos.longest_waits(vandal, crowd)
    print(f"longest waits: {', '.join(f'{name} {wait:.1f} s' for name, wait in waits.items())}")
    assert max(waits.values()) < LONGEST_WAIT, waits
    print(
        f"{vandal.kills} kills, {len(vandal.befell)} faults; {len(crowd.links)} tables, "
        f"{len(crowd.heard)} submissions heard, {accepted} accepted, "
        f"{sum(one.requests > 1 for one in crowd.heard)} repeated; {len(received)} letters, {doubled} of them doubled"
    )
    assert vandal.kills >= KILLS
    assert accepted >= 20


def check_submissions(store: Store, crowd: Crowd) -> None:
    """What people were told is what is written, and each accepted submission is one entry of its table's log."""
    with store.reading() as connection:
        rows = {(row.table, row.seat, row.key): row for row in connection.execute(select(submissions)).all()}
        for heard in crowd.heard:
            row = rows[heard.table, heard.seat, heard.key]
            assert (row.accepted, row.seq) == (heard.accepted, heard.seq)
            assert heard.accepted or "changed" in heard.said, heard.said
        places = Counter((row.table, row.seq) for row in rows.values() if row.accepted)
        assert set(places.values()) == {1}
        for row in filter(lambda row: row.accepted, rows.values()):
            (stored,) = book.entries_of(connection, row.table, row.seq, row.seq + 1)
            entry = record.decoder(catalogue.find("kaiser")).decode(stored.body)
            sat = entry.seat is None and entry.move.startswith(f"sit {row.seat} ")
            assert sat or (entry.seat, entry.move) == (row.seat, row.move)


def check_tables(store: Store) -> None:
    """A table's log has an entry for its opening, its bots, its start, each accepted submission, and nothing else."""
    with store.reading() as connection:
        for table in connection.execute(select(tables)).all():
            stored = book.entries_of(connection, table.id)
            assert [entry.seq for entry in stored] == list(range(table.length))
            assert stored[-1].hash == table.head
            own = (submissions.c.table == table.id, submissions.c.accepted)
            accepted = connection.execute(select(func.count()).where(*own)).scalar_one()
            bots = (seats.c.table == table.id, seats.c.person.is_(None))
            seated = connection.execute(select(func.count()).where(*bots)).scalar_one()
            started = table.phase in ("playing", "over")
            assert table.length == 1 + seated + started + accepted


def check_letters(store: Store, received: Sequence[str]) -> int:
    """Every letter that is marked as sent has arrived, every one that arrived was owed; how many came twice."""
    with store.reading() as connection:
        rows = connection.execute(select(letters)).all()
    assert {row.outcome for row in rows} <= {"sent", "overtaken"}
    owed = {message_id(row): row for row in rows}
    assert len(owed) == len(rows)
    arrived = Counter(received)
    assert arrived.keys() <= owed.keys()
    missing = [name for name, row in owed.items() if row.outcome == "sent" and name not in arrived]
    assert not missing
    return arrived.total() - len(arrived)


def message_id(row: Any) -> str:
    """How a letter is recognised, wherever it comes from."""
    if row.kind == "invitation":
        return f"<{row.table}.{row.seat}.table@{HOST}>"
    return f"<{row.table}.{row.seq}.{row.seat}.{row.kind}@{HOST}>"
