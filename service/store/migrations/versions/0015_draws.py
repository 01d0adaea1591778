"""When to look for the round of the public beacon that a table's move waits for."""

import sqlalchemy as sa
from alembic import op

revision = "0015_draws"
down_revision = "0013_tongues"
WAITING = sa.text("draws_at IS NOT NULL")


def upgrade() -> None:
    op.add_column("tables", sa.Column("draws_at", sa.BigInteger()))
    op.create_index("tables_draw", "tables", ["draws_at"], sqlite_where=WAITING, postgresql_where=WAITING)
