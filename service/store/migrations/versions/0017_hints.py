"""Hints: a good move for a seat at one position, asked for by its player and found by a bot."""

import sqlalchemy as sa
from alembic import op

revision = "0017_hints"
down_revision = "0016_moved"


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "hints",
        sa.Column("id", number, primary_key=True),
        sa.Column("table", sa.Text(), sa.ForeignKey("tables.id"), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("move", sa.Text(), server_default="", nullable=False),
        sa.UniqueConstraint("table", "seat", "length", name="hints_once"),
    )
    unfound = sa.text("move = ''")
    op.create_index("hints_waiting", "hints", ["id"], sqlite_where=unfound, postgresql_where=unfound)
