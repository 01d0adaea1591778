"""Pages and forms, one blueprint for each kind of page; the web application is put together here."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec
import structlog
from flask import Flask, Response, g, request, url_for
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_wtf.csrf import CSRFError, CSRFProtect
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars
from werkzeug.exceptions import HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import IntegerConverter, ValidationError

from engine.catalogue import NotInstalled
from engine.refusal import Refused
from service.app import App
from service.links import hashed
from service.outages import first_line
from service.settings import EMBEDDED
from service.store.connection import is_unavailable
from service.tables.access import Moved, Unknown
from service.text.languages import Said, say
from service.text.template_files import TEMPLATES
from service.web.account_pages import account
from service.web.api.json_types import Refusal
from service.web.api.operations import JSON, Garbled
from service.web.api.reference_pages import manual
from service.web.api.routes import api
from service.web.compression import compress
from service.web.cookies import LenientCookies
from service.web.host_pages import host, mailbox
from service.web.joining_pages import joining
from service.web.lobby_pages import lobby
from service.web.monitoring import monitoring
from service.web.new_table_pages import new_table
from service.web.preferences_pages import language_choice, letters
from service.web.rendering import get_app, language, problem
from service.web.replay_pages import gallery, replay, verify
from service.web.rules_pages import learning, rules
from service.web.seat_pages import seat_forms
from service.web.table_pages import table
from service.web.what_if_pages import whatif

log = structlog.get_logger()
LARGEST = 64 * 1024
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
DIGITS = 18  # of the largest numbers that a database can look for
STOPS = "300 per minute"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
BLUEPRINTS = (
    lobby,
    new_table,
    rules,
    learning,
    table,
    seat_forms,
    joining,
    replay,
    gallery,
    whatif,
    letters,
    account,
    api,
    manual,
    monitoring,
    host,
    verify,
    mailbox,
    language_choice,
)
LIMITED = (
    "new_table.open_table",
    "new_table.open_bot_game",
    "new_table.play_again",
    "api.open_table",
    "joining.join",
    "joining.take_seat",
    "account.correct",
    "account.send_link",
)
MOVING = ("api.sit", "api.submit", "api.hint", "table.sit", "table.move", "table.hint")
SENTENCES = {
    400: Said("This request could not be read; please go back to the page and try again."),
    404: Said("There is nothing at this address; please use the newest link you have."),
    405: Said("This address is only for looking at; please use the buttons on the page."),
    413: Said("That is far too much text for a move; please write a few words."),
    415: Said("Please send JSON, with the header Content-Type: application/json."),
    429: Said("That was a little too much at once; please wait a while and try again."),
}
FOR_PROGRAMS = SENTENCES | {
    404: Said("There is nothing at this address; the page /api tells what there is."),
    405: Said("This cannot be done here; the header Allow says what can, and the page /api how."),
    413: Said("That is too much; a request has at most 64 kB."),
}
OLD = Said("This page has grown old; please go back, load it again, and send the form once more.")
FAULT = Said("Something went wrong on our side. Please look again to see what was done before you repeat it.")
BUSY = Said("Our records cannot be reached just now. Please look again in a moment to see what was done.")
SHORTLY = 5  # seconds until a busy house may be asked again


class Number(IntegerConverter):
    """A number in an address; one that is too long for any row is answered with 404."""

    def to_python(self, value: str) -> int:
        if len(value) > DIGITS:
            raise ValidationError
        return int(super().to_python(value))


def wire(app: App) -> Flask:
    """Everything a web process needs, put together."""
    flask_app = Flask("service", static_folder=str(TEMPLATES / "static"), static_url_path="/static")
    flask_app.extensions["app"] = app
    flask_app.session_interface = LenientCookies()
    flask_app.config.update(
        SECRET_KEY=app.secret,
        MAX_CONTENT_LENGTH=LARGEST,
        MAX_FORM_MEMORY_SIZE=LARGEST,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_HTTPONLY=True,
        PERMANENT_SESSION_LIFETIME=timedelta(days=90),
        SESSION_COOKIE_SECURE=app.settings.address.startswith("https"),
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_SSL_STRICT=False,  # it wants a Referer, and our pages let browsers send none
    )
    flask_app.url_map.converters["int"] = Number
    csrf = CSRFProtect(flask_app)
    csrf.exempt(api)
    for blueprint in BLUEPRINTS:
        flask_app.register_blueprint(blueprint)
    csrf.exempt(flask_app.view_functions["preferences.stop"])  # mail programs stop letters by themselves (RFC 8058)
    flask_app.before_request(_name_request)
    if app.settings.logs == "json":
        flask_app.after_request(_log_request)
    flask_app.after_request(_waiting)  # what is named first here is done last
    _limit(flask_app, app)
    flask_app.register_error_handler(Exception, _failed)
    flask_app.after_request(_headers)
    flask_app.after_request(compress)
    flask_app.teardown_request(lambda _: app.metrics.hand_over())
    if app.settings.proxies:
        behind = app.settings.proxies
        flask_app.wsgi_app = ProxyFix(flask_app.wsgi_app, x_for=behind, x_proto=behind)  # type: ignore[method-assign]
    return flask_app


def _name_request() -> None:
    """Give each request an id, which its own log lines and those of the workers it rings for carry."""
    asked = request.headers.get("X-Request-Id", "") if get_app().settings.proxies else ""
    g.began = time.perf_counter()
    clear_contextvars()
    bind_contextvars(request=asked if REQUEST_ID.fullmatch(asked) else secrets.token_hex(8))


def _log_request(response: Response) -> Response:
    """A line for each request; it names the route, for the path holds links."""
    took = round((time.perf_counter() - g.began) * 1000, 1)
    log.info("request", method=request.method, route=str(request.url_rule), status=response.status_code, ms=took)
    return response


def _limit(flask_app: Flask, app: App) -> None:
    """Rate limits: so many new tables an hour for each visitor, so many moves a minute for each link."""
    where = "memory://" if app.settings.redis == EMBEDDED else app.settings.redis
    limiter = Limiter(get_remote_address, app=flask_app, storage_uri=where, swallow_errors=True, headers_enabled=True)
    often = f"{app.settings.opens_per_hour} per hour"
    for name in LIMITED:
        limited: Any = limiter.limit(often)(flask_app.view_functions[name])
        flask_app.view_functions[name] = limited
    stop: Any = limiter.limit(STOPS)(
        flask_app.view_functions["preferences.stop"]
    )  # a mail provider stops for many people
    flask_app.view_functions["preferences.stop"] = stop
    for name in MOVING:
        pace = limiter.limit(f"{app.settings.moves_per_minute} per minute", key_func=_by_link)
        flask_app.view_functions[name] = pace(flask_app.view_functions[name])  # type: ignore[assignment]


def _by_link() -> str:
    """The key of the rate limit: the hash of the link, which itself is stored nowhere."""
    return hashed(str((request.view_args or {}).get("link")))


def _failed(error: Exception) -> Any:
    """One sentence, on a page or as JSON, that says what to do instead."""
    for_program = request.path.startswith("/api/")
    status, said = _said(error, FOR_PROGRAMS if for_program else SENTENCES)
    if for_program:
        refusal = Refusal(say(language(), said), error.rule if isinstance(error, Refused) else "")
        return msgspec.json.encode(refusal), status, _told(error)
    moved = f"{error.server}/t/{error.link}" if isinstance(error, Moved) and error.link else ""
    return problem(said, status, _log(error), moved)


def _log(error: Exception) -> str:
    """The address of the log if the game of this table is not installed; else empty."""
    link = (request.view_args or {}).get("link")
    return url_for("replay.log", link=link) if link and isinstance(error, NotInstalled) else ""


def _told(error: Exception) -> dict[str, str]:
    """The headers of a refusal, among them which methods there are and how long to wait."""
    own = dict(error.get_response().headers) if isinstance(error, HTTPException) else {}
    if isinstance(error, Moved) and error.link:  # the same link is known there
        path = request.path.partition(error.link)
        own["Location"] = f"{error.server}{path[0]}{error.link}{path[2]}"
    return {**own, "Content-Type": JSON, "Cache-Control": "no-store"}


def _said(error: Exception, sentences: Mapping[int, Said]) -> tuple[int, Said]:
    match error:
        case Moved():
            return 410, Said.of(error)
        case Unknown():
            return 404, Said.of(error)
        case Garbled():
            return 400, Said.of(error)
        case Refused():
            return 422, Said.of(error)
        case CSRFError():
            return 400, OLD
        case HTTPException(code=int(code)):
            return code, sentences.get(code, Said(str(error.description)))
        case DataError():  # PostgreSQL keeps no text with a NUL in it
            return 400, sentences[400]
        case OperationalError() | NoConnection():
            if not (isinstance(error, OperationalError) and is_unavailable(error)):
                log.warning("database too slow", route=str(request.url_rule), error=first_line(error))
            return 503, BUSY
    log.error("page failed", route=str(request.url_rule), exc_info=error)
    return 500, FAULT


def _waiting(response: Response) -> Response:
    """Only answers that ask to come back later say when."""
    if response.status_code == 503:
        response.headers["Retry-After"] = str(SHORTLY)
    elif response.status_code != 429:
        response.headers.pop("Retry-After", None)
    return response


def _headers(response: Response) -> Response:
    """Links are capabilities, so no Referer carries them; our pages run no foreign code and are not cached."""
    response.headers.setdefault("Content-Security-Policy", POLICY)
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["X-Request-Id"] = get_contextvars().get("request", "")
    return response
