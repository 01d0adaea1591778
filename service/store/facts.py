"""Facts about the house as a whole, a word each: whose links these are, what the host tells everybody."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert, select

from service.store.schema import house


def read(connection: Connection, names: Iterable[str]) -> dict[str, str]:
    """What is noted under these names."""
    rows = connection.execute(select(house.c.name, house.c.value).where(house.c.name.in_(list(names)))).all()
    return {row.name: row.value for row in rows}


def note(connection: Connection, name: str, value: str) -> None:
    """From now on this is so; an empty word takes the fact away."""
    connection.execute(delete(house).where(house.c.name == name))
    if value:
        connection.execute(insert(house), {"name": name, "value": value})
