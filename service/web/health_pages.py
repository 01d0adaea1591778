"""Health checks for the host and his monitoring."""

from __future__ import annotations

import shutil
from typing import Any

import structlog
from flask import Blueprint, Response, jsonify
from redis import RedisError
from sqlalchemy import delete, func, insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from service.app import App
from service.settings import EMBEDDED
from service.store.schema import letters, submissions, tables
from service.store.schema import server_facts as facts
from service.web.rendering import get_app

LEAST_ROOM = 16 * 2**20
log = structlog.get_logger()
ops = Blueprint("ops", __name__)


@ops.get("/healthz")
def health() -> tuple[Response, int]:
    """200 while the database takes what is written; says what waits, and whether there is a Redis for all."""
    app = get_app()
    found: dict[str, Any] = {"redis": _redis(app), "database": _writes(app)}
    if found["database"]:
        found |= _waiting(app)
    return jsonify(found), 200 if found["database"] else 503


@ops.get("/readyz")
def ready() -> tuple[Response, int]:
    """200 while this process can serve pages: its database has the shape that it knows, and moves will be judged."""
    app = get_app()
    try:
        found: dict[str, Any] = {"database": app.store.is_current(), "redis": _redis(app)}
    except SQLAlchemyError:
        found = {"database": False, "redis": _redis(app)}
    return jsonify(found), 200 if all(found.values()) else 503


def _writes(app: App) -> bool:
    """Whether the database takes a row, by writing one: a full disk is noticed before a player is in trouble."""
    if app.store.url.startswith("sqlite:///") and shutil.disk_usage(app.settings.folder).free < LEAST_ROOM:
        return False
    try:
        with app.store.noting() as connection:
            connection.execute(delete(facts).where(facts.c.name == "health"))
            connection.execute(insert(facts), {"name": "health", "value": str(app.now())})
    except IntegrityError:
        return True  # another check wrote at the same moment, so the database does take rows
    except SQLAlchemyError as error:
        log.warning("database takes nothing", error=str(error.args[0]).partition("\n")[0])
        return False
    return True


def _redis(app: App) -> bool | str:
    """Whether the shared Redis answers; a Redis inside this process is reported as embedded."""
    if app.settings.redis == EMBEDDED:
        return EMBEDDED
    try:
        return bool(app.redis.ping())
    except RedisError:
        return False


def _waiting(app: App) -> dict[str, int]:
    counts: dict[str, Any] = {
        "tables": select(func.count()).select_from(tables),
        "submissions_waiting": select(func.count()).where(submissions.c.accepted.is_(None)),
        "letters_owed": select(func.count()).where(letters.c.sent_at.is_(None)),
    }
    with app.store.reading() as connection:
        return {name: int(connection.execute(count).scalar_one()) for name, count in counts.items()}
