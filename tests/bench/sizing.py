"""What a host pays for: time of the processor and room on the disk for a move, and for a letter with its picture.

Others on the machine disturb the processor's time less than the clock's, but beside many it may be three times as much.
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
from service.benches import Measure, bench
from service.store.schema import metadata
from service.tables import access
from service.tables.access import Place
from tests import apps
from tests.bench.curves import one, stage
from tests.bench.letters import again, mail_server, opened, order_of
from workers.outgoing import pictures, post

MOVES, TABLES = 120, 4


@bench
def costs_of_a_move() -> Iterator[Measure]:
    """A move from being handed in to its verdict, in one process beside PostgreSQL: processor, and room for good."""
    with stage() as settings, apps.run_app(settings, lambda: int(time.time())) as app:
        played = [apps.start_table(app, 3) for _ in range(TABLES)]
        for places in played:
            one(app, places)
        room, theirs = _room(app), _of_postgres()
        ours = statistics.median(_judging(app, played[number % TABLES]) for number in range(MOVES))
        yield Measure("processor for a move, ours", 1_000 * ours, "ms")
        yield Measure("processor for a move, PostgreSQL", 1_000 * (_of_postgres() - theirs) / MOVES, "ms")
        yield Measure("stored for a move, with indexes", (_room(app) - room) / MOVES / 1_024, "kB")


def _judging(app: App, places: list[Place]) -> float:
    """Seconds of the processor for a move at this table; finding one is not counted."""
    place, move = apps.find_move(app, places)
    before = time.process_time()
    assert apps.submit(app, place, move).accepted
    return time.process_time() - before


def _room(app: App) -> int:
    """What our tables and their indexes take, in bytes."""
    names = ", ".join(f"pg_total_relation_size('{name}')" for name in metadata.tables)
    with app.store.reading() as connection:
        return sum(connection.execute(text(f"SELECT {names}")).one())


def _of_postgres() -> float:
    """Seconds of the processor that the servers we started have taken, in our connections."""
    servers = [one for one in psutil.Process().children(recursive=True) if one.name() == "postgres"]
    return sum(sum(one.cpu_times()[:2]) for one in servers)


@bench
def costs_of_a_letter() -> Iterator[Measure]:
    """A turn letter from its row to the relay's thanks: with its picture drawn, and with one drawn before."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mail_server() as relay,
        apps.run_app(apps.make_settings(Path(folder), smtp=relay), apps.FakeTime()) as app,
    ):
        app.relay = relay
        for link in opened(app):
            assert apps.submit(app, access.find(app, link), "sit word").accepted
        post.run()
        number = len(order_of(app, "turn"))
        for what, prepare in (("drawn", pictures.png.cache_clear), ("known", lambda: None)):
            again(app, "turn")
            yield Measure(f"processor for a letter, its picture {what}", _spent(prepare) / number, "ms")


def _spent(prepare: Callable[[], None]) -> float:
    """Milliseconds of the processor for all letters that are owed, in this process and in those it waited for."""
    prepare()
    before = time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    post.run()
    return 1_000 * (time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before)
