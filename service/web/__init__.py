"""Pages and forms: one file for each errand a visitor may have."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import structlog
from flask import Flask, Response, request
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import HTTPException

from engine.refusal import Refused
from service.desk import Unknown
from service.drawing import TEMPLATES, environment
from service.house import House
from service.settings import EMBEDDED
from service.web.api import api
from service.web.lobby import lobby
from service.web.mailbox import mailbox
from service.web.ops import ops
from service.web.pages import LANGUAGES, problem
from service.web.substitutes import substitutes
from service.web.table import table

log = structlog.get_logger()
LARGEST = 64 * 1024
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
SENTENCES = {
    400: "This request could not be read; please go back to the page and try again.",
    404: "There is nothing at this address; please use the newest link you have.",
    405: "This address is only for looking at; please use the buttons on the page.",
    413: "That is far too much text for a move; please write a few words.",
    415: "Please send JSON, with the header Content-Type: application/json.",
    429: "That was a little too much at once; please wait a while and try again.",
}


def wire(house: House) -> Flask:
    """Everything a web process needs, put together."""
    app = Flask("service", static_folder=str(TEMPLATES / "static"), static_url_path="/static")
    app.extensions["house"] = house
    app.config.update(
        SECRET_KEY=house.secret,
        MAX_CONTENT_LENGTH=LARGEST,
        MAX_FORM_MEMORY_SIZE=LARGEST,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=house.settings.address.startswith("https"),
        WTF_CSRF_TIME_LIMIT=None,
    )
    csrf = CSRFProtect(app)
    csrf.exempt(api)
    for blueprint in (lobby, table, substitutes, api, ops, mailbox):
        app.register_blueprint(blueprint)
    _limit(app, house)
    app.register_error_handler(Exception, _failed)
    app.after_request(_headers)
    for language in LANGUAGES:
        environment(language).filters["when"] = when
    return app


def _limit(app: Flask, house: House) -> None:
    """Nobody opens more tables in an hour than people would."""
    where = "memory://" if house.settings.redis == EMBEDDED else house.settings.redis
    limiter = Limiter(get_remote_address, app=app, storage_uri=where, swallow_errors=True)
    often = f"{house.settings.opens_per_hour} per hour"
    for name in ("lobby.open_table", "api.open_table", "substitutes.take"):
        limited: Any = limiter.limit(often)(app.view_functions[name])
        app.view_functions[name] = limited


def _failed(error: Exception) -> Any:
    """One sentence, on a page or as JSON, that says what to do instead."""
    status, sentence = _said(error)
    if request.path.startswith("/api/"):
        rule = error.rule if isinstance(error, Refused) else ""
        return {"refused": sentence, "rule": rule}, status
    return problem(sentence, status)


def _said(error: Exception) -> tuple[int, str]:
    match error:
        case Unknown():
            return 404, str(error)
        case Refused():
            return 422, str(error)
        case CSRFError():
            return 400, "This page has grown old; please go back, load it again, and send the form once more."
        case HTTPException(code=int(code)):
            return code, SENTENCES.get(code, str(error.description))
    log.error("page failed", path=request.path, exc_info=error)
    return 500, "Something went wrong on our side. Nothing was changed; please try again in a moment."


def _headers(response: Response) -> Response:
    """Links are keys, so they never leave in a Referer; and nothing foreign runs on our pages."""
    response.headers.setdefault("Content-Security-Policy", POLICY)
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def when(at: int) -> str:
    """A moment as people write it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
