"""Clocks that stand still and go on, calendars of people, vacations, and standing orders."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

row_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("people", sa.Column("calendar", sa.Text(), server_default="", nullable=False))
    for name in ("late_at", "clock_from", "clock_left"):
        op.add_column("seats", sa.Column(name, sa.BigInteger(), nullable=True))
    for name in ("misses", "orders"):
        op.add_column("seats", sa.Column(name, sa.Integer(), server_default="0", nullable=False))
    op.execute(_running())
    op.drop_index("seats_due", "seats")
    op.create_index(
        "seats_late",
        "seats",
        ["late_at"],
        unique=False,
        sqlite_where=sa.text("late_at IS NOT NULL"),
        postgresql_where=sa.text("late_at IS NOT NULL"),
    )
    op.create_table(
        "vacations",
        sa.Column("person", row_number, nullable=False),
        sa.Column("first", sa.Text(), nullable=False),
        sa.Column("last", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["people.id"]),
        sa.PrimaryKeyConstraint("person", "first"),
    )
    op.create_table(
        "orders",
        sa.Column("id", row_number, nullable=False),
        sa.Column("table", sa.Text(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("move", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["table"], ["tables.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("orders_seat", "orders", ["table", "seat"], unique=False)


def _running() -> sa.Update:
    """Deadlines that run already go on as they were: all of a pace, from when it began."""
    seats = sa.table("seats", *map(sa.column, ("table", "due_at", "late_at", "clock_from", "clock_left")))
    tables = sa.table("tables", *map(sa.column, ("id", "pace")))
    pace = sa.select(tables.c.pace).where(tables.c.id == seats.c.table).scalar_subquery()
    return (
        sa.update(seats)
        .where(seats.c.due_at.is_not(None))
        .values(late_at=seats.c.due_at, clock_from=seats.c.due_at - pace, clock_left=pace)
    )
