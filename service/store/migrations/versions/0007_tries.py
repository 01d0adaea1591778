"""How often the referee began to judge a submission that had waited too long."""

import sqlalchemy as sa
from alembic import op

revision = "0007_tries"
down_revision = "0006_talk"


def upgrade() -> None:
    op.add_column("submissions", sa.Column("tries", sa.Integer(), server_default="0", nullable=False))
