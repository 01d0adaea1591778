"""What people wish for, letters that belong to no table, held and open tables, table talk, and branches of what if."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

row_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _people_and_tables()
    _letters_to_people()
    op.create_table(
        "talk",
        sa.Column("id", row_number, nullable=False),
        sa.Column("table", sa.Text(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["table"], ["tables.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("talk_table", "talk", ["table", "id"], unique=False)
    op.create_table(
        "branches",
        sa.Column("id", row_number, nullable=False),
        sa.Column("table", sa.Text(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.Column("moves", sa.Text(), server_default="[]", nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["table"], ["tables.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("branches_seat", "branches", ["table", "seat"], unique=False)


def _people_and_tables() -> None:
    for name in ("wishes", "bounce"):
        op.add_column("people", sa.Column(name, sa.Text(), server_default="", nullable=False))
    for name in ("confirmed_at", "bounced_at", "signed_at"):
        op.add_column("people", sa.Column(name, sa.BigInteger(), nullable=True))
    op.add_column("people", sa.Column("sessions", sa.Integer(), server_default="0", nullable=False))
    for name in ("wishes", "note"):
        op.add_column("seats", sa.Column(name, sa.Text(), server_default="", nullable=False))
    op.add_column("seats", sa.Column("released", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.add_column("tables", sa.Column("held", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.add_column("tables", sa.Column("watched", sa.Boolean(), server_default=sa.text("true"), nullable=False))
    op.add_column("orders", sa.Column("branch", row_number, nullable=True))
    op.add_column("orders", sa.Column("after", sa.Text(), server_default="", nullable=False))


def _letters_to_people() -> None:
    op.drop_index("letters_owed", "letters")
    with op.batch_alter_table("letters") as letters:
        letters.add_column(sa.Column("person", row_number, nullable=True))
        for name, kind in (("table", sa.Text()), ("seq", sa.Integer()), ("seat", sa.Integer())):
            letters.alter_column(name, existing_type=kind, nullable=True)
        letters.create_foreign_key("letters_person", "people", ["person"], ["id"])
    op.create_index(
        "letters_owed",
        "letters",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("sent_at IS NULL"),
        postgresql_where=sa.text("sent_at IS NULL"),
    )
    op.create_index(
        "letters_personal",
        "letters",
        ["person", "kind"],
        unique=True,
        sqlite_where=sa.text("person IS NOT NULL"),
        postgresql_where=sa.text("person IS NOT NULL"),
    )
