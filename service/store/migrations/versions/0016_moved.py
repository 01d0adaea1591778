"""Where a table lives that has moved to another house, and the links it had in the one that it came from."""

import sqlalchemy as sa
from alembic import op

revision = "0016_moved"
down_revision = "0015_draws"


def upgrade() -> None:
    op.add_column("tables", sa.Column("moved_to", sa.Text(), server_default="", nullable=False))
    op.create_table(
        "former_links",
        sa.Column("link", sa.Text(), primary_key=True),
        sa.Column("table", sa.Text(), sa.ForeignKey("tables.id"), nullable=False),
        sa.Column("seat", sa.Integer()),
    )
