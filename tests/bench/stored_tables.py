"""The cost of a move with a thousand stored tables and with very many, on a real PostgreSQL.

The processor time of referee and database is measured in turns, so that a busy machine disturbs both equally.
PostgreSQL has a quarter of the memory for its pages, as its manual advises.
DEPESCHE_STORED sets the number of tables of the large database, DEPESCHE_STORED_MOVES the moves at each of them, and
DEPESCHE_STORED_PARTS the number of partitions.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from statistics import median

from sqlalchemy import Connection, func, select

from service.app import App
from service.commands.benches import Measure, register_bench
from service.store import maintenance
from service.store.schema import metadata, tables
from service.tables.access import Place
from tests import servers
from tests.bench.bench_servers import make_settings
from tests.bench.moves import Game, start_game
from tests.bench.one_move import Counts, judge
from workers import referee
from workers.jobs import set_app

FEW_TABLES, MANY_TABLES = 1_000, int(os.environ.get("DEPESCHE_STORED", "100000"))
MOVES, PARTS = int(os.environ.get("DEPESCHE_STORED_MOVES", "0")), int(os.environ.get("DEPESCHE_STORED_PARTS", "1"))
ROUNDS, AT_ONCE = 14, 16
MAX_RATIO = 1.2

# Every table is a copy of the first with its whole log and another id. These columns differ in a copy.
RENAMED_COLUMNS = {
    "tables": ("id", "spectator_link", "opening"),
    "seats": ("table", "link"),
    "entries": ("table",),
    "letters": ("table", "id"),
    "submissions": ("table", "id"),
}
COPY = """
INSERT INTO {into} ({columns}) SELECT {values} FROM {into}, generate_series(1, {copies}) AS copy
"""


@register_bench
def stored_tables() -> Iterator[Measure]:
    """Processor time of a move with 1,000 stored tables, and with 100,000."""
    quarter = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') // 2**22}MB"
    with (
        servers.postgres_server(shared_buffers=quarter) as database,
        servers.redis_server() as redis,
        ExitStack() as stack,
    ):
        apps = [stack.enter_context(fill_database(database, redis, number)) for number in (FEW_TABLES, MANY_TABLES)]
        costs: list[list[float]] = [[], []]
        for turn in range(ROUNDS):
            for (app, game), times in zip(apps, costs, strict=True):
                times.append(measure_move(app, game, Random(turn)))  # the first two warm up
        few, many = (median(times[2:]) for times in costs)
        yield Measure(f"CPU of a move, {FEW_TABLES:,} tables stored", 1_000 * few, "ms")
        yield Measure(f"CPU of a move, {MANY_TABLES:,} tables stored", 1_000 * many, "ms")
        yield Measure("the second as a multiple of the first", many / few, "", MAX_RATIO, at_most=True)


@contextmanager
def fill_database(database: str, redis: str, number: int) -> Iterator[tuple[App, Game]]:
    """Make an app with so many tables; yield it and the next move, which is the same at each of them."""
    with servers.fresh_database(database, f"stored_{number}") as own, tempfile.TemporaryDirectory() as folder:
        app = App(make_settings(Path(folder), own, redis))
        app.open()
        set_app(app)
        *before, last = start_game(app, 0, MOVES + 1, referee.run)
        for move in before:
            judge(app, [move], Counts(), False)
        with app.store.writing() as connection:
            if PARTS > 1:
                maintenance.partition_tables(connection, PARTS)
            copy_table(connection, number - 1)
        with app.store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("SET statement_timeout = 0")
            connection.exec_driver_sql("VACUUM ANALYZE")
        yield app, [last]
        app.close()


def copy_table(connection: Connection, copies: int) -> None:
    """Copy the only table so many times, without old submissions and letters; create its keys afterwards."""
    run = connection.exec_driver_sql
    run("SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '1GB'")
    for old in ("letters", "submissions"):
        run(f"DELETE FROM {old} WHERE id < (SELECT max(id) FROM {old})")  # fixed names
    for into, names in RENAMED_COLUMNS.items():
        keys = connection.execute(maintenance.CONSTRAINTS, {"name": into}).all() if into == "entries" else []
        for key in keys:
            run(f"ALTER TABLE {into} DROP CONSTRAINT {key.conname}")
        columns = [column.name for column in metadata.tables[into].columns]
        values = ", ".join(copy_expression(into, column) if column in names else f'"{column}"' for column in columns)
        listed = ", ".join(f'"{column}"' for column in columns)
        run(COPY.format(into=into, columns=listed, values=values, copies=copies))
        for key in keys:
            run(f"ALTER TABLE {into} ADD CONSTRAINT {key.conname} {key.means}")


def copy_expression(into: str, column: str) -> str:
    """Return the SQL expression of a column in a copy: another name, the next number, or NULL."""
    if (into, column) == ("tables", "opening"):
        return "NULL"
    if (into, column) in (("letters", "id"), ("submissions", "id")):
        return f"nextval(pg_get_serial_sequence('{into}', 'id'))"
    return f"\"{column}\" || '.' || copy"


def measure_move(app: App, game: Game, random: Random) -> float:
    """Return the processor time of a move, made at some random tables where no copy has moved yet."""
    set_app(app)
    ((place, move),) = game
    with app.store.reading() as connection:
        most = connection.execute(select(func.count()).select_from(tables)).scalar_one()
        some = [f"{place.table}.{number}" for number in random.sample(range(1, most), 4 * AT_ONCE)]
        length = select(tables.c.length).where(tables.c.id == place.table).scalar_subquery()
        fresh = select(tables.c.id).where(tables.c.id.in_(some), tables.c.length == length).limit(AT_ONCE)
        names = connection.execute(fresh).scalars().all()
    counts = Counts()
    judge(app, [(Place(name, place.seat, ""), move) for name in names], counts, True)
    return (counts.referee_s + counts.database_s) / counts.moves
