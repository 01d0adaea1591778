"""Whose word a submission's key is: what the house calls its own work no player can write, and no key holds a link."""

import hashlib

import sqlalchemy as sa
from alembic import op

revision = "0009_sources"
down_revision = "0008_edition"

OPEN = sa.text("accepted IS NULL")
submissions = sa.table(
    "submissions",
    *(sa.column(name, kind) for name, kind in (("id", sa.BigInteger), ("key", sa.Text), ("source", sa.Text))),
)
WITHOUT_SEAT = 'UPDATE submissions SET key = substr(key, length("table") + length(CAST(seat AS TEXT)) + 3)'


def upgrade() -> None:
    op.drop_index("submissions_open", "submissions")
    op.drop_index("submissions_table", "submissions")
    names = {"uq": "%(table_name)s_%(column_0_name)s_key"}  # SQLite gave its constraint none; PostgreSQL gave this one
    with op.batch_alter_table("submissions", naming_convention=names) as batch:
        batch.add_column(sa.Column("source", sa.Text(), server_default="player", nullable=False))
        batch.drop_constraint("submissions_key_key", type_="unique")
    op.execute(WITHOUT_SEAT)
    _hide_links()
    with op.batch_alter_table("submissions") as batch:
        batch.create_unique_constraint("submissions_once", ["table", "seat", "source", "key"])
    op.create_index("submissions_open", "submissions", ["id"], sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_index("submissions_table", "submissions", ["table"])


def _hide_links() -> None:
    """A seat was taken under a key that held its link; its hash does as well."""
    connection = op.get_bind()
    sat = sa.select(submissions.c.id, submissions.c.key).where(submissions.c.key.startswith("sit/"))
    for row in connection.execute(sat).all():
        link = row.key.removeprefix("sit/")
        key = f"{hashlib.sha256(link.encode()).hexdigest()}/0"
        mine = submissions.update().where(submissions.c.id == row.id)
        connection.execute(mine.values(source="sit", key=key))
