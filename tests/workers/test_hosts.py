"""A service on several hosts, one of which is cut off and comes back while everybody plays on.

Each host runs web, worker, clock and inbound mail; database, Redis and relay are on another host.
"""

import os
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from redis import Redis

from engine import catalogue
from service.store import Store
from tests.chaos import faults, hosts, ledger, machines, processes
from tests.chaos.crowd import Crowd, Mails
from tests.chaos.faults import FaultInjector
from tests.conftest import or_skip
from tests.workers.test_survival import SETTINGS, count_accepted, play, report, wait_until_up

FAULTS = int(os.environ.get("CHAOS_FAULTS", "10"))
WEB_PORT, MAIL_PORT = 8000, 8024
TABLES, MIN_MOVES = 6, 40


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_hosts_that_are_cut_off_and_come_back(tmp_path: Path) -> None:
    with (
        or_skip(lambda: hosts.build_network(2)) as network,
        or_skip(lambda: machines.killable_postgres(network.address)) as postgres,
        or_skip(lambda: machines.killable_redis(network.address)) as (redis_server, redis_url),
        machines.faulty_relay(network.address) as relay,
        closing(Store(postgres.url)) as store,
        Redis.from_url(redis_url) as redis,
    ):
        given = {"database": postgres.remote_url, "redis": redis_url}
        given |= {"smtp": f"smtp://{relay.hostname}:{relay.port}", "sender": f"depesche@{ledger.HOST}", **SETTINGS}
        first, second = network.hosts
        with ExitStack() as stack:
            running = list[list[processes.Process]]()
            for host in network.hosts:
                folder = tmp_path / host.name
                folder.mkdir()
                own = processes.run_service(folder, parts(host), processes.ROOT, [host.command_prefix] * 4, **given)
                running.append(stack.enter_context(own))
                wait_until_up(Crowd([(host.address, WEB_PORT)], ()))
            of_first, of_second = running
            assert store.is_current()
            pages = [(host.address, WEB_PORT) for host in network.hosts]
            mails = Mails((second.address, MAIL_PORT), relay, store, ledger.HOST)
            crowd = Crowd(pages, tuple(catalogue.find_all()), mails)
            chosen_faults = {
                "the first host cut off": first.cut_off,
                "the second host cut off": second.cut_off,
                **faults.process_faults([*of_first, *of_second]),
                **faults.redis_faults(redis_server, redis),
                **faults.relay_faults(relay),
            }
            injector = FaultInjector([*of_first, *of_second], chosen_faults, (1.0, 3.0))
            play(crowd, injector, TABLES, _is_enough, store)
            ledger.wait_until_settled(store)
            taken = [letter.id for letter in relay.received]
            report(crowd, injector, len(taken), ledger.check_all(store, crowd, taken))
        ledger.check_process_logs([*of_first, *of_second])


def parts(host: hosts.Host) -> list[list[str]]:
    web = ["web", "--workers", "1", "--threads", "8", "--bind", f"{host.address}:{WEB_PORT}"]
    return [web, ["worker"], ["clock"], ["inbound", "--bind", f"{host.address}:{MAIL_PORT}"]]


def _is_enough(crowd: Crowd, injector: FaultInjector) -> bool:
    return len(injector.injected) >= FAULTS and count_accepted(crowd) >= MIN_MOVES
