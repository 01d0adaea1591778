"""Whether a person chose the language of his letters himself; of those known until now that is taken for granted."""

import sqlalchemy as sa
from alembic import op

revision = "0013_tongues"
down_revision = "0011_levels"


def upgrade() -> None:
    op.add_column("people", sa.Column("chose", sa.Boolean(), server_default=sa.text("true"), nullable=False))
