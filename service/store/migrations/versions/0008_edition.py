"""Which edition of its game's rules a table was opened with; until now there was one of each game."""

import sqlalchemy as sa
from alembic import op

revision = "0008_edition"
down_revision = "0007_tries"


def upgrade() -> None:
    op.add_column("tables", sa.Column("edition", sa.Integer(), server_default="1", nullable=False))
