"""People, tables, seats, entries, submissions, letters, and the local mailbox."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

row_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "mailbox",
        sa.Column("id", row_number, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("recipient", sa.Text(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("mailbox_recipient", "mailbox", ["recipient"], unique=False)
    op.create_table(
        "people",
        sa.Column("id", row_number, nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), server_default="en", nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("address"),
    )
    op.create_table(
        "tables",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("pace", sa.Integer(), nullable=False),
        sa.Column("watch", sa.Text(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("moved_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("watch"),
    )
    op.create_table(
        "entries",
        sa.Column("table", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["table"],
            ["tables.id"],
        ),
        sa.PrimaryKeyConstraint("table", "seq"),
    )
    op.create_table(
        "letters",
        sa.Column("id", row_number, nullable=False),
        sa.Column("table", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("sent_at", sa.BigInteger(), nullable=True),
        sa.Column("outcome", sa.Text(), server_default="", nullable=False),
        sa.Column("said", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["table"],
            ["tables.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("table", "seq", "seat", "kind", name="letters_once"),
    )
    op.create_index(
        "letters_owed",
        "letters",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("sent_at IS NULL"),
        postgresql_where=sa.text("sent_at IS NULL"),
    )
    op.create_table(
        "seats",
        sa.Column("table", sa.Text(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("person", row_number, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("link", sa.Text(), nullable=False),
        sa.Column("link_number", sa.Integer(), nullable=False),
        sa.Column("open_since", sa.Integer(), nullable=True),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("remind_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["person"],
            ["people.id"],
        ),
        sa.ForeignKeyConstraint(
            ["table"],
            ["tables.id"],
        ),
        sa.PrimaryKeyConstraint("table", "seat"),
        sa.UniqueConstraint("link"),
    )
    op.create_index(
        "seats_due",
        "seats",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_index("seats_person", "seats", ["person"], unique=False)
    op.create_index(
        "seats_remind",
        "seats",
        ["remind_at"],
        unique=False,
        sqlite_where=sa.text("remind_at IS NOT NULL"),
        postgresql_where=sa.text("remind_at IS NOT NULL"),
    )
    op.create_index(
        "seats_stand_in",
        "seats",
        ["table"],
        unique=False,
        sqlite_where=sa.text("open_since IS NOT NULL AND status IN ('bot', 'resigned')"),
        postgresql_where=sa.text("open_since IS NOT NULL AND status IN ('bot', 'resigned')"),
    )
    op.create_table(
        "submissions",
        sa.Column("id", row_number, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("table", sa.Text(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("move", sa.Text(), nullable=False),
        sa.Column("seen", sa.Integer(), nullable=True),
        sa.Column("by_mail", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("accepted", sa.Boolean(), nullable=True),
        sa.Column("said", sa.Text(), server_default="", nullable=False),
        sa.Column("rule", sa.Text(), server_default="", nullable=False),
        sa.Column("seq", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["table"],
            ["tables.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index(
        "submissions_open",
        "submissions",
        ["id"],
        unique=False,
        sqlite_where=sa.text("accepted IS NULL"),
        postgresql_where=sa.text("accepted IS NULL"),
    )
    op.create_index("submissions_table", "submissions", ["table"], unique=False)
