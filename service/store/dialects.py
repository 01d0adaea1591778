"""Statements that SQLite and PostgreSQL write in words of their own."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table


def insert_into(dialect: str, table: Table) -> Any:
    """Return an INSERT that can say what to do about a row with the same key."""
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql  # 2 MB that SQLite does not need

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)
