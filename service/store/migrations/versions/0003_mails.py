"""Mails: answers that came by mail, their own lines, and what became of them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

row_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "mails",
        sa.Column("id", row_number, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("table", sa.Text(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("person", row_number, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("message_id", sa.Text(), server_default="", nullable=False),
        sa.Column("answers", sa.Integer(), nullable=True),
        sa.Column("lines", sa.Text(), nullable=False),
        sa.Column("read_at", sa.BigInteger(), nullable=True),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        sa.Column("report", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["person"], ["people.id"]),
        sa.ForeignKeyConstraint(["table"], ["tables.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index(
        "mails_waiting",
        "mails",
        ["id"],
        unique=False,
        sqlite_where=sa.text("read_at IS NULL"),
        postgresql_where=sa.text("read_at IS NULL"),
    )
    op.create_index("mails_person", "mails", ["person", "answered_at"], unique=False)
    op.create_index("mails_table", "mails", ["table"], unique=False)
