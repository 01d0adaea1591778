"""Health checks for the host and his monitoring."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify
from redis import RedisError
from sqlalchemy import func, select

from service.store.schema import letters, submissions, tables
from service.web.rendering import house

ops = Blueprint("ops", __name__)


@ops.get("/healthz")
def health() -> tuple[Response, int]:
    """200 while the database answers; says what waits, and whether Redis is there."""
    here = house()
    counts: dict[str, Any] = {
        "tables": select(func.count()).select_from(tables),
        "submissions_waiting": select(func.count()).where(submissions.c.accepted.is_(None)),
        "letters_owed": select(func.count()).where(letters.c.sent_at.is_(None)),
    }
    with here.store.reading() as connection:
        found = {name: connection.execute(count).scalar_one() for name, count in counts.items()}
    try:
        found["redis"] = bool(here.redis.ping())
    except RedisError:
        found["redis"] = False
    return jsonify(found), 200
