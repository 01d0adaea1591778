"""Partitions of the largest PostgreSQL tables, by the game table that a row belongs to.

Every key of these tables contains the game table, so that PostgreSQL can check it inside one partition.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

from engine.refusal import Refused

PARTITIONED_TABLES = ("entries", "submissions", "letters")
MAX_PARTITIONS = 256

CONSTRAINTS = text(
    "SELECT conname, pg_get_constraintdef(oid) AS means FROM pg_constraint"
    " WHERE conrelid = CAST(:name AS regclass) AND contype IN ('p', 'u', 'f') ORDER BY contype DESC, conname"
)
INDEXES = text(
    "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = CAST(:name AS regclass)"
    " AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)"
)
SEQUENCES = text(
    "SELECT attname, pg_get_serial_sequence(:name, attname) AS sequence FROM pg_attribute"
    " WHERE attrelid = CAST(:name AS regclass) AND attnum > 0 AND NOT attisdropped"
)
PARTS = text("SELECT count(*) FROM pg_inherits WHERE inhparent = CAST(:name AS regclass)")


def count_partitions(connection: Connection) -> int:
    """Return the number of partitions of the largest tables; 1 if they are not partitioned."""
    return int(connection.execute(PARTS, {"name": PARTITIONED_TABLES[0]}).scalar_one()) or 1


def partition_tables(connection: Connection, parts: int) -> None:
    """Split the largest tables into partitions, or join them again (`parts` is 1); they are locked meanwhile."""
    if connection.dialect.name != "postgresql":
        raise Refused("SQLite keeps its database in one file; only PostgreSQL has partitions.")
    if not 1 <= parts <= MAX_PARTITIONS:
        raise Refused("Choose 1 to {most} partitions; one for each processor core is plenty.", most=MAX_PARTITIONS)
    if parts == count_partitions(connection):
        raise Refused("There is nothing to do: there are as many partitions already.")
    connection.exec_driver_sql("SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = 0")
    connection.exec_driver_sql(f"LOCK {', '.join(PARTITIONED_TABLES)}")
    for name in PARTITIONED_TABLES:
        _partition(connection, name, parts)


def _partition(connection: Connection, name: str, parts: int) -> None:
    """Copy a table, then give the copy its name, keys and indexes; building these after the rows is quicker."""
    constraints = connection.execute(CONSTRAINTS, {"name": name}).all()
    indexes = connection.execute(INDEXES, {"name": name}).scalars().all()
    owned = [row for row in connection.execute(SEQUENCES, {"name": name}) if row.sequence]
    run = connection.exec_driver_sql
    how = ' PARTITION BY HASH ("table")' if parts > 1 else ""
    run(f"CREATE TABLE copied (LIKE {name} INCLUDING DEFAULTS){how}")
    for number in range(parts if parts > 1 else 0):
        part = f"{name}_{number}_of_{parts}"
        run(f"CREATE TABLE {part} PARTITION OF copied FOR VALUES WITH (MODULUS {parts}, REMAINDER {number})")
    run(f"INSERT INTO copied SELECT * FROM {name}")  # noqa: S608  # no text from outside
    for row in owned:
        run(f"ALTER SEQUENCE {row.sequence} OWNED BY copied.{row.attname}")
    run(f"DROP TABLE {name}")
    run(f"ALTER TABLE copied RENAME TO {name}")
    for row in constraints:
        run(f'ALTER TABLE {name} ADD CONSTRAINT "{row.conname}" {row.means}')
    for made in indexes:
        run(made.replace(" ON ONLY ", " ON "))
