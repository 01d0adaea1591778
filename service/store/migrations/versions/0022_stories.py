"""Stories: where a finished game turned and whom luck favoured, asked for once and worked out by a worker."""

import sqlalchemy as sa
from alembic import op

revision = "0022_stories"
down_revision = "0021_fewer_indexes"


def upgrade() -> None:
    op.create_table(
        "stories",
        sa.Column("table", sa.Text(), sa.ForeignKey("tables.id"), primary_key=True),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
    )
    untold = sa.text("body = ''")
    op.create_index("stories_waiting", "stories", ["at"], sqlite_where=untold, postgresql_where=untold)
