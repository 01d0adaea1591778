"""Places beside the seats, openings that happen once, and who has proven his address already."""

import sqlalchemy as sa
from alembic import op

revision = "0005_account"
down_revision = "0004"

# Before there were confirmations, who had sat down did so by a letter, or opened the table himself.
PROVEN = """UPDATE people SET confirmed_at = since WHERE confirmed_at IS NULL
AND EXISTS (SELECT 1 FROM seats WHERE seats.person = people.id AND seats.status <> 'invited')"""


def upgrade() -> None:
    op.add_column("seats", sa.Column("place", sa.Integer(), nullable=True))
    op.add_column("tables", sa.Column("opening", sa.Text(), nullable=True))
    op.create_index("tables_opening", "tables", ["opening"], unique=True)
    op.execute(PROVEN)
