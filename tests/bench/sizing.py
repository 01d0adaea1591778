"""The costs of a host: processor time and disk space of a move, and of a letter with its picture.

Other processes disturb processor time less than elapsed time, but on a busy machine it can be three times as much.
"""

import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from sqlalchemy import text

from service.app import App
from service.commands.benches import Measure, register_bench
from service.store.schema import metadata
from service.tables import access
from service.tables.access import Place
from tests import apps
from tests.bench.curves import migrated_servers, time_move
from tests.bench.letters import list_orders, make_unsent, open_tables, run_mail_server
from workers.outgoing import emails, post

MOVES, TABLES = 120, 4


@register_bench
def costs_of_a_move() -> Iterator[Measure]:
    """Processor time of a move from submission to verdict, in one process and in PostgreSQL, and its disk space."""
    with migrated_servers() as settings, apps.run_app(settings, lambda: int(time.time())) as app:
        tables = [apps.start_table(app, 3) for _ in range(TABLES)]
        for places in tables:
            time_move(app, places)
        size, theirs = _database_bytes(app), _postgres_seconds()
        ours = statistics.median(_judge_seconds(app, tables[number % TABLES]) for number in range(MOVES))
        yield Measure("processor for a move, ours", 1_000 * ours, "ms")
        yield Measure("processor for a move, PostgreSQL", 1_000 * (_postgres_seconds() - theirs) / MOVES, "ms")
        yield Measure("stored for a move, with indexes", (_database_bytes(app) - size) / MOVES / 1_024, "kB")


def _judge_seconds(app: App, places: list[Place]) -> float:
    """Return the processor time of a move at this table, without the time to find it."""
    place, move = apps.find_move(app, places)
    before = time.process_time()
    assert apps.submit(app, place, move).accepted
    return time.process_time() - before


def _database_bytes(app: App) -> int:
    """Return the size of the tables and their indexes."""
    names = ", ".join(f"pg_total_relation_size('{name}')" for name in metadata.tables)
    with app.store.reading() as connection:
        return sum(connection.execute(text(f"SELECT {names}")).one())


def _postgres_seconds() -> float:
    """Return the processor time of the PostgreSQL processes that this one started."""
    servers = [one for one in psutil.Process().children(recursive=True) if one.name() == "postgres"]
    return sum(sum(one.cpu_times()[:2]) for one in servers)


@register_bench
def costs_of_a_letter() -> Iterator[Measure]:
    """Processor time of a turn letter until the relay accepts it, with a new picture and with a cached one."""
    with (
        tempfile.TemporaryDirectory() as folder,
        run_mail_server() as relay,
        apps.run_app(apps.make_settings(Path(folder), smtp=relay), apps.FakeTime()) as app,
    ):
        app.relay = relay
        for link in open_tables(app):
            assert apps.submit(app, access.find(app, link), "sit word").accepted
        post.run()
        number = len(list_orders(app, "turn"))
        for what, prepare in (("drawn", emails.render_png.cache_clear), ("known", lambda: None)):
            make_unsent(app, "turn")
            yield Measure(f"processor for a letter, its picture {what}", _send_milliseconds(prepare) / number, "ms")


def _send_milliseconds(prepare: Callable[[], None]) -> float:
    """Send all letters that are due; return the milliseconds of processor time, child processes included."""
    prepare()
    before = time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    post.run()
    return 1_000 * (time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before)
