"""How strong the bot of a seat plays; empty is normal."""

import sqlalchemy as sa
from alembic import op

revision = "0011_levels"
down_revision = "0010_house"


def upgrade() -> None:
    op.add_column("seats", sa.Column("level", sa.Text(), server_default="", nullable=False))
