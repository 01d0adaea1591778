"""An index of the few seats whose players show their finished games."""

import sqlalchemy as sa
from alembic import op

revision = "0006_talk"
down_revision = "0005_account"


def upgrade() -> None:
    op.create_index(
        "seats_released",
        "seats",
        ["table"],
        unique=False,
        sqlite_where=sa.text("released = 1"),
        postgresql_where=sa.text("released"),
    )
