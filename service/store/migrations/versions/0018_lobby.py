"""What a table shows in the lobby: its free seats, and its game while it is played."""

import sqlalchemy as sa
from alembic import op

revision = "0018_lobby"
down_revision = "0017_hints"


def upgrade() -> None:
    for name in ("seeking", "shown"):
        op.add_column("tables", sa.Column(name, sa.Boolean(), server_default=sa.false(), nullable=False))
        once = sa.text(name)
        op.create_index(
            f"tables_{name}", "tables", ["moved_at"], sqlite_where=sa.text(f"{name} = 1"), postgresql_where=once
        )
