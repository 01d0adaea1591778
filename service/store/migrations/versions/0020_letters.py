"""The keys of a letter name its table first, as those of a submission do; a person's own letters have an empty one.

So there is a key for every letter, and none of them may point at a row of `tables` any more. The version before reads
and writes these rows as before: it leaves the table of such a letter out, and asks whether it is empty.
"""

import sqlalchemy as sa
from alembic import op

revision = "0020_letters"
down_revision = "0019_submissions"

UNSENT, PERSONAL = sa.text("sent_at IS NULL"), sa.text("person IS NOT NULL")
NAMES = {"fk": "%(table_name)s_%(column_0_name)s_fkey"}  # SQLite gave its constraint none; PostgreSQL gave this one


def upgrade() -> None:
    for index in ("letters_owed", "letters_personal"):
        op.drop_index(index, "letters")
    with op.batch_alter_table("letters", naming_convention=NAMES) as letters:
        letters.drop_constraint("letters_table_fkey", type_="foreignkey")
    op.execute("""UPDATE letters SET "table" = '' WHERE "table" IS NULL""")
    with op.batch_alter_table("letters") as letters:
        letters.alter_column("table", existing_type=sa.Text(), nullable=False, server_default="")
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint("letters_pkey", "letters", type_="primary")
        op.create_primary_key("letters_pkey", "letters", ["table", "id"])
    op.create_index("letters_number", "letters", ["id"])
    op.create_index("letters_owed", "letters", ["due_at"], sqlite_where=UNSENT, postgresql_where=UNSENT)
    personal = ["table", "person", "kind"]
    op.create_index(
        "letters_personal", "letters", personal, unique=True, sqlite_where=PERSONAL, postgresql_where=PERSONAL
    )
