"""Facts about the house as a whole, a word each: whose links these are, what the host tells everybody."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from service.store.schema import server_facts


def read(connection: Connection, names: Iterable[str]) -> dict[str, str]:
    """What is noted under these names."""
    columns = server_facts.c
    rows = connection.execute(select(columns.name, columns.value).where(columns.name.in_(list(names)))).all()
    return {row.name: row.value for row in rows}


def note(connection: Connection, name: str, value: str) -> None:
    """From now on this is so, also where two processes say it at once; an empty word takes the fact away."""
    if not value:
        connection.execute(delete(server_facts).where(server_facts.c.name == name))
        return
    insert_into: Any = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}[connection.dialect.name]
    row = insert_into(server_facts).values(name=name, value=value)
    connection.execute(row.on_conflict_do_update(index_elements=[server_facts.c.name], set_={"value": value}))
