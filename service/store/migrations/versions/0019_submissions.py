"""The key of a submission names its table first, so that PostgreSQL can spread tables over machines.

SQLite keeps the number alone, which is where its rows lie. Processes of the version before look submissions up by their
number; the index on it is theirs.
"""

from alembic import op

revision = "0019_submissions"
down_revision = "0018_lobby"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint("submissions_pkey", "submissions", type_="primary")
        op.create_primary_key("submissions_pkey", "submissions", ["table", "id"])
    op.create_index("submissions_number", "submissions", ["id"])
