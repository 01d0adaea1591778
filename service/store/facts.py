"""Facts about the server as a whole, one word each, such as the fingerprint of its secret."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from service.store.schema import server_facts


def get_facts(connection: Connection, names: Iterable[str]) -> dict[str, str]:
    """Return the facts with these names; those that are not set are left out."""
    columns = server_facts.c
    rows = connection.execute(select(columns.name, columns.value).where(columns.name.in_(list(names)))).all()
    return {row.name: row.value for row in rows}


def set_fact(connection: Connection, name: str, value: str) -> None:
    """Set a fact; an empty value deletes it. Two processes may set one at the same time."""
    if not value:
        connection.execute(delete(server_facts).where(server_facts.c.name == name))
        return
    insert_into: Any = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}[connection.dialect.name]
    row = insert_into(server_facts).values(name=name, value=value)
    connection.execute(row.on_conflict_do_update(index_elements=[server_facts.c.name], set_={"value": value}))
