"""Treatment of every request and response: an id, a log line, headers, compression, session cookie, and error pages."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
import structlog
from flask import Flask, Response, g, request, url_for
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars
from werkzeug.datastructures import Headers
from werkzeug.exceptions import Forbidden, HTTPException

from engine.catalogue import NotInstalled
from engine.refusal import Refused
from service.app import App
from service.monitoring import find_first_line
from service.store.connection import is_unavailable
from service.tables.access import TransferredAway, Unknown
from service.text.languages import Sentence, translate
from service.web import compression
from service.web.api.operations import JSON, Garbled, Refusal
from service.web.compression import choose_encoding, compress_with_noise
from service.web.rendering import get_app, get_language, make_request_id, render_problem

log = structlog.get_logger()
RETRY_AFTER_S = 5  # while the database cannot be reached
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)

# The length of a compressed page would tell something of a secret beside text that another person could choose. So the
# pages of a table get noise, and other pages with forms go out as they are.
CACHED_ENDPOINTS = frozenset(("static", "lobby.send_picture"))
NOISY_ENDPOINTS = frozenset(("table.show",))
OTHER_ENDPOINTS = frozenset(("table.show_earlier", "replay.show_frame", "replay.send_text", "replay.log"))
MIN_COMPRESSED_BYTES = 300
COMMENTS = re.compile(rb"/\*\*(?:(?!\*/).)*\*/ ?|(?:^|(?<=[;,{]))[ \t]*//[^\n]*", re.MULTILINE | re.DOTALL)
LAYOUT = re.compile(rb"(?<=[,;{(\[])\n\s*|^\s+", re.MULTILINE)  # indentation, and ends of lines after these signs


HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",  # "no-referrer" would hide the Origin of our own forms too
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
FAILURE = "depesche.failure"  # in the environment of a request that failed before Flask was called: its exception


def begin_request() -> None:
    """Give the request an id, which its log lines carry, and those of the workers that it wakes."""
    g.began = time.perf_counter()
    clear_contextvars()
    bind_contextvars(request=make_request_id(get_app(), request.headers.get("X-Request-Id", "")))
    if request.environ.get(FAILURE):
        raise request.environ[FAILURE]


STOP_VIEW = "preferences.stop"  # mail programs stop letters by themselves (RFC 8058)
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


def refuse_foreign_form() -> None:
    """Raise Forbidden if a page of another site made the browser send this form.

    Browsers say so themselves: in Sec-Fetch-Site, or over plain HTTP in Origin. Programs send neither.
    """
    is_program = request.endpoint == STOP_VIEW or request.blueprint == "api"
    if request.method in SAFE_METHODS or is_program:
        return
    if not is_own_form(get_app(), request.headers):
        raise Forbidden


def is_own_form(app: App, headers: Mapping[str, str] | Headers) -> bool:
    """Return whether a form with these headers comes from a page of this server, or from a program."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    own_hosts = (headers.get("host"), urlsplit(app.settings.address).netloc)
    return site in ("same-origin", "none") if site else origin is None or origin.partition("://")[2] in own_hosts


def log_request(response: Response) -> Response:
    """Log the request by its route; its path may hold a link, which is a key."""
    ms = round((time.perf_counter() - g.began) * 1000, 1)
    log.info("request", method=request.method, route=str(request.url_rule), status=response.status_code, ms=ms)
    return response


def set_retry_after(response: Response) -> Response:
    """Say when to come back, if the answer asks for that, and only then."""
    if response.status_code == 503:
        response.headers["Retry-After"] = str(RETRY_AFTER_S)
    elif response.status_code != 429:
        response.headers.pop("Retry-After", None)
    return response


def set_headers(response: Response) -> Response:
    """Forbid foreign code, caching, and a Referer to other sites, which would give a link away."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["X-Request-Id"] = get_contextvars().get("request", "")
    return response


def compress(response: Response) -> Response:
    """Compress a picture, a style, a script, a table or a frame of a replay; scripts lose their comments too."""
    endpoint, is_font = request.endpoint, "font" in (response.mimetype or "")
    if endpoint not in CACHED_ENDPOINTS | NOISY_ENDPOINTS | OTHER_ENDPOINTS or response.status_code != 200 or is_font:
        return response
    response.vary.add("Accept-Encoding")
    size = response.content_length or MIN_COMPRESSED_BYTES
    encoding = choose_encoding(request.headers.get("Accept-Encoding", ""))
    if not encoding or size < MIN_COMPRESSED_BYTES:
        return response
    response.direct_passthrough = False
    content = response.get_data()
    is_script = request.path.endswith(".js")  # a file that ends in .mjs is read by people, or has another licence
    if endpoint in NOISY_ENDPOINTS:
        response.set_data(compress_with_noise(content, encoding))
    elif endpoint in CACHED_ENDPOINTS:
        response.set_data(_compress_once(content, encoding, is_script))
    else:
        response.set_data(compression.compress(content, encoding))
    response.headers["Content-Encoding"] = encoding
    etag, _ = response.get_etag()
    if etag:
        response.set_etag(etag, weak=True)
    return response


@functools.lru_cache(64)
def _compress_once(content: bytes, encoding: str, is_script: bool) -> bytes:
    return compression.compress(shorten(content) if is_script else content, encoding, best=True)


def shorten(script: bytes) -> bytes:
    """Return a script without comments and without layout.

    Its strings may not go over several lines, and not hold what looks like a comment.
    """
    return LAYOUT.sub(b"", COMMENTS.sub(b"", script))


class LenientSigner(TimestampSigner):
    """Accepts a cookie that was signed a moment in the future.

    A clock can be set back, and the clocks of two machines differ; Flask would take the cookie for a forgery, sign the
    visitor out and refuse all open forms. The signature proves the cookie; its time only says when it is too old.
    """

    def unsign(self, signed_value: str | bytes, max_age: int | None = None, return_timestamp: bool = False) -> Any:
        try:
            return super().unsign(signed_value, max_age, return_timestamp)  # type: ignore[call-overload]  # of a bool
        except SignatureExpired as expired:
            if expired.date_signed and expired.date_signed > self.timestamp_to_datetime(self.get_timestamp()):
                return super().unsign(signed_value, None, return_timestamp)  # type: ignore[call-overload]
            raise


class LenientSessions(SecureCookieSessionInterface):
    """Sessions in signed cookies, with the lenient signer."""

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        serializer = super().get_signing_serializer(app)
        if serializer:
            serializer.signer = LenientSigner
        return serializer


SENTENCES = {
    400: Sentence("This request could not be read; please go back to the page and try again."),
    403: Sentence("Another website sent this form. Please open the page here, and send it again."),
    404: Sentence("There is nothing at this address; please use the newest link you have."),
    405: Sentence("This address is only for looking at; please use the buttons on the page."),
    413: Sentence("That is far too much text for a move; please write a few words."),
    415: Sentence("Please send JSON, with the header Content-Type: application/json."),
    429: Sentence("That was a little too much at once; please wait a while and try again."),
}
SENTENCES_FOR_PROGRAMS = SENTENCES | {
    404: Sentence("There is nothing at this address; the page /api tells what there is."),
    405: Sentence("This cannot be done here; the header Allow says what can, and the page /api how."),
    413: Sentence("That is too much; a request has at most 64 kB."),
}
FAULT = Sentence("Something went wrong on our side. Please look again to see what was done before you repeat it.")
NO_DATABASE = Sentence("Our records cannot be reached just now. Please look again in a moment to see what was done.")


def answer_error(error: Exception) -> Any:
    """Answer an error with a page, or with JSON on the interface for programs."""
    if request.path.startswith("/api/"):
        status, sentence = _explain(error, SENTENCES_FOR_PROGRAMS)
        refusal = Refusal(translate(get_language(), sentence), error.rule if isinstance(error, Refused) else "")
        return msgspec.json.encode(refusal), status, _make_headers_for_programs(error)
    status, sentence = _explain(error, SENTENCES)
    moved_to = f"{error.server}/t/{error.link}" if isinstance(error, TransferredAway) and error.link else ""
    return render_problem(sentence, status, _log_address(error), moved_to)


def _log_address(error: Exception) -> str:
    """Return the address of the log if the game of this table is not installed; else an empty text."""
    link = (request.view_args or {}).get("link")
    return url_for("replay.log", link=link) if link and isinstance(error, NotInstalled) else ""


def _make_headers_for_programs(error: Exception) -> dict[str, str]:
    """Return the headers of a refusal: the allowed methods, how long to wait, where a table was transferred to."""
    headers = dict(error.get_response().headers) if isinstance(error, HTTPException) else {}
    if isinstance(error, TransferredAway) and error.link:  # the other server knows the same link
        before, _, after = request.path.partition(error.link)
        headers["Location"] = f"{error.server}{before}{error.link}{after}"
    return {**headers, "Content-Type": JSON, "Cache-Control": "no-store"}


def _explain(error: Exception, sentences: Mapping[int, Sentence]) -> tuple[int, Sentence]:
    """Return the status and the sentence for an error; log it if it is a fault of the server."""
    match error:
        case TransferredAway():
            return 410, Sentence.from_refusal(error)
        case Unknown():
            return 404, Sentence.from_refusal(error)
        case Garbled():
            return 400, Sentence.from_refusal(error)
        case Refused():
            return 422, Sentence.from_refusal(error)
        case HTTPException(code=int(code)):
            return code, sentences.get(code, Sentence(str(error.description)))
        case DataError():  # PostgreSQL stores no text with a NUL in it
            return 400, sentences[400]
        case OperationalError() | NoConnection():
            if not (isinstance(error, OperationalError) and is_unavailable(error)):
                log.warning("database too slow", route=str(request.url_rule), error=find_first_line(error))
            return 503, NO_DATABASE
    log.error("page failed", route=str(request.url_rule), exc_info=error)
    return 500, FAULT
