"""Pages and forms: one file for each errand a visitor may have."""

from __future__ import annotations

from typing import Any

import structlog
from flask import Flask, Response, request
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import HTTPException

from engine.refusal import Refused
from service.desk import Unknown
from service.drawing import TEMPLATES
from service.house import House
from service.languages import Said
from service.settings import EMBEDDED
from service.web.api import api
from service.web.choice import choice
from service.web.lobby import lobby
from service.web.mailbox import mailbox
from service.web.ops import ops
from service.web.pages import problem
from service.web.substitutes import substitutes
from service.web.table import table
from service.web.whatif import whatif

log = structlog.get_logger()
LARGEST = 64 * 1024
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
SENTENCES = {
    400: Said("This request could not be read; please go back to the page and try again."),
    404: Said("There is nothing at this address; please use the newest link you have."),
    405: Said("This address is only for looking at; please use the buttons on the page."),
    413: Said("That is far too much text for a move; please write a few words."),
    415: Said("Please send JSON, with the header Content-Type: application/json."),
    429: Said("That was a little too much at once; please wait a while and try again."),
}
OLD = Said("This page has grown old; please go back, load it again, and send the form once more.")
FAULT = Said("Something went wrong on our side. Nothing was changed; please try again in a moment.")


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
    for blueprint in (lobby, table, substitutes, api, ops, mailbox, choice, whatif):
        app.register_blueprint(blueprint)
    _limit(app, house)
    app.register_error_handler(Exception, _failed)
    app.after_request(_headers)
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
    status, said = _said(error)
    if request.path.startswith("/api/"):
        rule = error.rule if isinstance(error, Refused) else ""
        return {"refused": str(said), "rule": rule}, status
    return problem(said, status)


def _said(error: Exception) -> tuple[int, Said]:
    match error:
        case Unknown():
            return 404, Said.of(error)
        case Refused():
            return 422, Said.of(error)
        case CSRFError():
            return 400, OLD
        case HTTPException(code=int(code)):
            return code, SENTENCES.get(code, Said(str(error.description)))
    log.error("page failed", path=request.path, exc_info=error)
    return 500, FAULT


def _headers(response: Response) -> Response:
    """Links are keys, so they never leave in a Referer; and nothing foreign runs on our pages."""
    response.headers.setdefault("Content-Security-Policy", POLICY)
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["X-Robots-Tag"] = "noindex"
    return response
