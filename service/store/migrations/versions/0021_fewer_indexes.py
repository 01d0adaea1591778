"""No index of `tables` names what a move changes, so its row is changed in place; submissions have two indexes less.

The lobby's held the time of the last move, so that PostgreSQL entered the row anew in every index with every move.
`submissions_table` says what `submissions_once` does, and `submissions_number` was for processes of the version before
0019. Processes of the version before this one find the lobby's games without an index.
"""

import sqlalchemy as sa
from alembic import op

revision = "0021_fewer_indexes"
down_revision = "0020_letters"

ROOM = {"tables": 85, "seats": 70}  # percent of a page that is filled at first


def upgrade() -> None:
    for name in ("seeking", "shown"):
        op.drop_index(f"tables_{name}", "tables")
    op.create_index(
        "tables_seeking",
        "tables",
        ["opened_at"],
        sqlite_where=sa.text("seeking = 1"),
        postgresql_where=sa.text("seeking"),
    )
    op.create_index(
        "tables_shown",
        "tables",
        ["opened_at"],
        sqlite_where=sa.text("shown = 1 AND ended_at IS NULL"),
        postgresql_where=sa.text("shown AND ended_at IS NULL"),
    )
    for name in ("submissions_table", "submissions_number"):
        op.drop_index(name, "submissions")
    if op.get_bind().dialect.name == "postgresql":
        for table, filled in ROOM.items():
            op.execute(f"ALTER TABLE {table} SET (fillfactor = {filled})")
