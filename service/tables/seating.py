"""A person holds at most one seat of a table, and no two players of it share a name."""

from __future__ import annotations

from engine.refusal import Refused
from service.people import names
from service.store import queries
from service.tables.locked_table import LockedTable


def refuse_twice(locked: LockedTable, seat: int, person: int, name: str) -> None:
    """Refuse a person who plays at this table already, and a name that another player has."""
    for other in queries.list_seats(locked.flush(), locked.row.id):
        if other.seat == seat:
            continue
        if other.person == person and other.status in ("taken", "invited"):
            raise Refused("You have a seat at this table already; its link is in the letter you have from it.")
        if names.fold_name(other.name) == names.fold_name(name):
            raise Refused("Somebody at this table is called {name} already; please take another name.", name=name)
