"""Under faults of every kind no accepted move is lost or doubled, and every verdict and letter arrives.

Everything is real, except that the pictures in letters are empty: processes of the service, PostgreSQL with fsync,
Redis, a mail relay, and players who play all games by page, JSON interface and mail.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import select

from engine import catalogue
from service.store import Store
from service.store.schema import mailbox
from tests.chaos import faults, ledger, machines, processes
from tests.chaos.crowd import Crowd, Mails, longest_waits
from tests.chaos.faults import FaultInjector
from tests.conftest import or_skip

SETTINGS = {"secret": "a house for tests", "verdict_wait": 1.0, "thinking": 0.02, "lease": ledger.LEASE_S}
SOAK_S = float(os.environ.get("CHAOS_SECONDS", "240"))
MOVES, FAULTS = int(os.environ.get("CHAOS_MOVES", "0")), int(os.environ.get("CHAOS_FAULTS", "0"))
TABLES, FEW_TABLES = 8, 4
MIN_MOVES = 40
SHORT_RUN_FAULTS = (
    "PostgreSQL crashed",
    "Redis down",
    "the relay drops the connection",
    "worker killed",
    "web killed",
    "slow visitors",
)
Enough = Callable[[Crowd, FaultInjector], bool]


@pytest.mark.release
@pytest.mark.timeout(600)  # every wait in it has an end of its own
def test_web_workers_clock_inbox_and_their_servers(tmp_path: Path) -> None:
    def enough(crowd: Crowd, injector: FaultInjector) -> bool:
        return len(injector.injected) >= len(SHORT_RUN_FAULTS) and count_accepted(crowd) >= MIN_MOVES

    run_production(tmp_path, FEW_TABLES, enough, SHORT_RUN_FAULTS)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_web_workers_clock_inbox_and_their_servers_for_long(tmp_path: Path) -> None:
    """Run until the requested numbers of moves and faults are reached, or until the time is up."""
    start, longest = time.monotonic(), SOAK_S

    def enough(crowd: Crowd, injector: FaultInjector) -> bool:
        is_limited = bool(MOVES or FAULTS)
        done = count_accepted(crowd) >= MOVES and len(injector.injected) >= FAULTS
        return (is_limited and done) or time.monotonic() > start + longest

    run_production(tmp_path, TABLES, enough)


@pytest.mark.release
@pytest.mark.timeout(900)
def test_the_embedded_service(tmp_path: Path) -> None:
    run_embedded(tmp_path, lambda crowd, injector: len(injector.injected) >= 3 and count_accepted(crowd) >= MIN_MOVES)


@pytest.mark.soak
@pytest.mark.timeout(SOAK_S + 300)
def test_the_embedded_service_for_long(tmp_path: Path) -> None:
    end = time.monotonic() + SOAK_S
    run_embedded(tmp_path, lambda crowd, injector: time.monotonic() > end)


def run_production(folder: Path, tables: int, enough: Enough, only: Sequence[str] = ()) -> None:
    ports, mail_port = (
        [processes.pick_stable_port(), processes.pick_stable_port()][: 1 if only else 2],
        processes.pick_stable_port(),
    )
    with (
        or_skip(machines.killable_postgres) as postgres,
        or_skip(machines.killable_redis) as (redis_server, redis_url),
        machines.faulty_relay() as relay,
        closing(Store(postgres.url)) as store,
        Redis.from_url(redis_url) as redis,
    ):
        relay.pause = 0.02  # so that workers are often killed between sending a letter and marking it as sent
        given = {"database": postgres.url, "redis": redis_url, "smtp": f"smtp://{relay.hostname}:{relay.port}"}
        given |= {"sender": f"depesche@{ledger.HOST}"}
        webs = [["web", "--workers", "1", "--threads", "8", "--bind", f"127.0.0.1:{port}"] for port in ports]
        parts = [*webs, *[["worker"]] * len(webs), ["clock"], ["inbound", "--bind", f"127.0.0.1:{mail_port}"]]
        store.migrate()
        with processes.run_service(folder, parts, **SETTINGS, **given) as running:
            chosen_faults = {
                **faults.process_faults(running),
                **faults.visitor_faults(ports),
                **faults.postgres_faults(postgres, store),
                **faults.redis_faults(redis_server, redis),
                **faults.relay_faults(relay),
            }
            chosen_faults = {name: fault for name, fault in chosen_faults.items() if not only or name in only}
            crowd = Crowd(ports, tuple(catalogue.find_all()), Mails(mail_port, relay, store, ledger.HOST))
            injector = FaultInjector(
                running,
                chosen_faults,
                (0.8, 1.6) if only else (1.0, 3.0),
                (lambda: wait_until_up(crowd)) if only else None,
            )
            play(crowd, injector, tables, enough, store)
            ledger.wait_until_settled(store)
            doubled = ledger.check_all(store, crowd, [letter.id for letter in relay.received])
            report(crowd, injector, len(relay.received), doubled)
        ledger.check_process_logs(running)
        assert chosen_faults.keys() <= {name for _, name in injector.injected}


def run_embedded(folder: Path, enough: Enough) -> None:
    port, database = processes.pick_stable_port(), f"sqlite:///{folder / 'depesche.sqlite'}"
    given = {**SETTINGS, "sender": f"depesche@{ledger.HOST}"}
    with (
        processes.run_service(folder, [["serve", "--port", str(port)]], **given) as running,
        closing(Store(database)) as store,
    ):
        crowd = Crowd([port], tuple(catalogue.find_all()))
        injector = FaultInjector(running, faults.process_faults(running), (0.2, 1.5), lambda: wait_until_up(crowd))
        play(crowd, injector, FEW_TABLES, enough, store)
        ledger.wait_until_settled(store)
        with store.reading() as connection:
            raw = connection.execute(select(mailbox.c.raw)).scalars().all()
        received = [str(message_from_bytes(letter)["Message-ID"]) for letter in raw]
        report(crowd, injector, len(received), ledger.check_all(store, crowd, received))
    ledger.check_process_logs(running)


def play(crowd: Crowd, injector: FaultInjector, tables: int, enough: Enough, store: Store) -> None:
    """Let the crowd play while faults are injected, until it is enough; then stop both."""
    wait_until_up(crowd)
    crowd.play(tables)
    injector.start()
    while not enough(crowd, injector) and injector.is_alive() and not crowd.errors:
        time.sleep(0.2)
    injector.stop()
    crowd.stop()
    assert not crowd.errors, (crowd.errors[:5], injector.injected[-20:], ledger.describe_pending(store))
    assert not injector.unexpected_exits, "a process ended by itself"


def wait_until_up(crowd: Crowd) -> Any:
    return crowd.ask("GET", "/api/v1/games").json


def count_accepted(crowd: Crowd) -> int:
    return sum(one.accepted for one in crowd.records)


def report(crowd: Crowd, injector: FaultInjector, letters: int, doubled: int) -> None:
    """Print the faults with the longest waits for a verdict, and the totals."""
    waits = longest_waits(injector.injected, crowd)
    times = Counter(name for _, name in injector.injected)
    for name, wait in sorted(waits.items(), key=lambda one: -one[1]):
        print(f"{times[name]:5} x {name}: longest wait {wait:.1f} s")
    ways = Counter(one.source for one in crowd.records)
    print(f"processes that ended by themselves: {dict(injector.exits)}")
    print(
        f"{len(injector.injected)} faults; {len(crowd.links)} tables, {len(crowd.records)} submissions {dict(ways)}, "
        f"{count_accepted(crowd)} accepted, {sum(one.requests > 1 for one in crowd.records)} repeated; "
        f"{letters} letters, {doubled} of them doubled"
    )
    assert count_accepted(crowd) >= MIN_MOVES
