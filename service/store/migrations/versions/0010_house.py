"""What a database knows of its house, such as the fingerprint of the secret that its links are made with."""

import sqlalchemy as sa
from alembic import op

revision = "0010_house"
down_revision = "0009_sources"


def upgrade() -> None:
    op.create_table(
        "house",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
