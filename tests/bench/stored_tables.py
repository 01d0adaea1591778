"""What a move costs where a thousand tables are stored and where very many are, on PostgreSQL, really stored.

The processor's time of referee and database is compared, in turns, so that a busy machine bends both alike. PostgreSQL
has a quarter of the memory for its pages, as its manual advises.
DEPESCHE_STORED says how many tables the large house has, DEPESCHE_STORED_MOVES how many moves were made at each, and
DEPESCHE_STORED_PARTS in how many parts it lies.
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
from service.benches import Measure, bench
from service.store import partitions
from service.store.schema import metadata, tables
from service.tables.access import Place
from tests import servers
from tests.bench.moves import Game, begun
from tests.bench.one_move import Counts, judge
from tests.bench.stand import unlimited
from workers import referee
from workers.jobs import work_for

FEW, MANY = 1_000, int(os.environ.get("DEPESCHE_STORED", "100000"))
MOVES, PARTS = int(os.environ.get("DEPESCHE_STORED_MOVES", "0")), int(os.environ.get("DEPESCHE_STORED_PARTS", "1"))
ROUNDS, AT_ONCE = 14, 16
RATIO = 1.2

# Every table is a copy of the first, with its whole log, under another name.
NAMES = {
    "tables": ("id", "watch", "opening"),
    "seats": ("table", "link"),
    "entries": ("table",),
    "letters": ("table", "id"),
    "submissions": ("table", "id"),
}
COPY = """
INSERT INTO {into} ({columns}) SELECT {values} FROM {into}, generate_series(1, {copies}) AS copy
"""


@bench
def stored_tables() -> Iterator[Measure]:
    """The processor's time of a move with 1,000 stored tables, and with 100,000."""
    quarter = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') // 2**22}MB"
    with (
        servers.postgres_server(shared_buffers=quarter) as database,
        servers.redis_server() as redis,
        ExitStack() as stack,
    ):
        apps = [stack.enter_context(filled(database, redis, number)) for number in (FEW, MANY)]
        costs: list[list[float]] = [[], []]
        for turn in range(ROUNDS):
            for (app, game), found in zip(apps, costs, strict=True):
                found.append(cost(app, game, Random(turn)))  # the first are for loading everything
        few, many = (median(found[2:]) for found in costs)
        yield Measure(f"CPU of a move, {FEW:,} tables stored", 1_000 * few, "ms")
        yield Measure(f"CPU of a move, {MANY:,} tables stored", 1_000 * many, "ms")
        yield Measure("the second as a multiple of the first", many / few, "", RATIO, at_most=True)


@contextmanager
def filled(database: str, redis: str, number: int) -> Iterator[tuple[App, Game]]:
    """A house with so many tables, and the moves that can be made next at each of them."""
    with servers.fresh_database(database, f"stored_{number}") as own, tempfile.TemporaryDirectory() as folder:
        app = App(unlimited(Path(folder), own, redis))
        app.open()
        work_for(app)
        *before, last = begun(app, 0, MOVES + 1, referee.run)
        for move in before:
            judge(app, [move], Counts(), False)
        with app.store.writing() as connection:
            if PARTS > 1:
                partitions.divide(connection, PARTS)
            fill(connection, number - 1)
        with app.store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("SET statement_timeout = 0")
            connection.exec_driver_sql("VACUUM ANALYZE")
        yield app, [last]
        app.close()


def fill(connection: Connection, copies: int) -> None:
    """Copy the only table so often, without submissions and letters of moves long past; keys are made afterwards."""
    run = connection.exec_driver_sql
    run("SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '1GB'")
    for old in ("letters", "submissions"):
        run(f"DELETE FROM {old} WHERE id < (SELECT max(id) FROM {old})")  # names of ours
    for into, names in NAMES.items():
        keys = connection.execute(partitions.CONSTRAINTS, {"name": into}).all() if into == "entries" else []
        for key in keys:
            run(f"ALTER TABLE {into} DROP CONSTRAINT {key.conname}")
        columns = [column.name for column in metadata.tables[into].columns]
        values = ", ".join(renamed(into, column) if column in names else f'"{column}"' for column in columns)
        listed = ", ".join(f'"{column}"' for column in columns)
        run(COPY.format(into=into, columns=listed, values=values, copies=copies))
        for key in keys:
            run(f"ALTER TABLE {into} ADD CONSTRAINT {key.conname} {key.means}")


def renamed(into: str, column: str) -> str:
    """What a copy has there instead: a name of its own, the next number, or nothing."""
    if (into, column) == ("tables", "opening"):
        return "NULL"
    if (into, column) in (("letters", "id"), ("submissions", "id")):
        return f"nextval(pg_get_serial_sequence('{into}', 'id'))"
    return f"\"{column}\" || '.' || copy"


def cost(app: App, game: Game, random: Random) -> float:
    """Seconds of the processor for a move at some tables, any of all, where nobody has moved yet."""
    work_for(app)
    ((place, move),) = game
    with app.store.reading() as connection:
        most = connection.execute(select(func.count()).select_from(tables)).scalar_one()
        some = [f"{place.table}.{number}" for number in random.sample(range(1, most), 4 * AT_ONCE)]
        length = select(tables.c.length).where(tables.c.id == place.table).scalar_subquery()
        fresh = select(tables.c.id).where(tables.c.id.in_(some), tables.c.length == length).limit(AT_ONCE)
        names = connection.execute(fresh).scalars().all()
    counts = Counts()
    judge(app, [(Place(name, place.seat, ""), move) for name in names], counts, True)
    return (counts.ours + counts.theirs) / counts.moves
