"""The whole schema. Until 1.0 it is taken from `schema.py` and changed in place; the release writes it out here."""

from alembic import op

from service.store.schema import REVISION, metadata

revision = REVISION
down_revision = None

FILL_PERCENT = {"tables": 85, "seats": 70}  # how full a page is at first; the rest is for rows changed in place
SPREAD = ("submissions", "letters")  # keys begin with the table, so that PostgreSQL can partition by it


def upgrade() -> None:
    metadata.create_all(op.get_bind())
    if op.get_bind().dialect.name != "postgresql":
        return
    for name in SPREAD:
        op.drop_constraint(f"{name}_pkey", name, type_="primary")
        op.create_primary_key(f"{name}_pkey", name, ["table", "id"])
    for name, percent in FILL_PERCENT.items():
        op.execute(f"ALTER TABLE {name} SET (fillfactor = {percent})")
