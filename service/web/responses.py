"""Treatment of every request and response: an id, a log line, headers, compression, and the session cookie."""

from __future__ import annotations

import functools
import gzip
import re
import secrets
import time
from typing import Any

import structlog
from flask import Flask, Response, g, request
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars

from service.web.rendering import get_app

log = structlog.get_logger()
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
RETRY_AFTER_S = 5  # while the database cannot be reached
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)

# Compressed are only answers without a secret beside text that another person could choose: the length of a
# compressed page would tell something of what is on it. Pages with forms go out as they are.
CACHED_ENDPOINTS = frozenset(("static", "lobby.picture"))
OTHER_ENDPOINTS = frozenset(("table.then", "replay.frame", "replay.protocol", "replay.log"))
MIN_COMPRESSED_BYTES = 300
COMMENTS = re.compile(rb"/\*\*(?:(?!\*/).)*\*/ ?|(?:^|(?<=[;,{]))[ \t]*//[^\n]*", re.MULTILINE | re.DOTALL)
LAYOUT = re.compile(rb"(?<=[,;{(\[])\n\s*|^\s+", re.MULTILINE)  # indentation, and ends of lines after these signs


def begin_request() -> None:
    """Give the request an id, which its log lines carry, and those of the workers that it wakes."""
    proposed = request.headers.get("X-Request-Id", "") if get_app().settings.proxies else ""
    g.began = time.perf_counter()
    clear_contextvars()
    bind_contextvars(request=proposed if REQUEST_ID.fullmatch(proposed) else secrets.token_hex(8))


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
    """Forbid foreign code, caching, and a Referer, which would give a link away."""
    response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["X-Request-Id"] = get_contextvars().get("request", "")
    return response


def compress(response: Response) -> Response:
    """Compress a picture, a style, a script or a frame of a replay; scripts lose their comments too."""
    endpoint, is_font = request.endpoint, "font" in (response.mimetype or "")
    if endpoint not in CACHED_ENDPOINTS | OTHER_ENDPOINTS or response.status_code != 200 or is_font:
        return response
    response.vary.add("Accept-Encoding")
    size = response.content_length or MIN_COMPRESSED_BYTES
    if request.accept_encodings.quality("gzip") <= 0 or size < MIN_COMPRESSED_BYTES:
        return response
    response.direct_passthrough = False
    content = response.get_data()
    is_script = request.path.endswith(".js")  # a file that ends in .mjs is read by people, or has another licence
    response.set_data(_zip_once(content, is_script) if endpoint in CACHED_ENDPOINTS else _zip(content, 4))
    response.headers["Content-Encoding"] = "gzip"
    etag, _ = response.get_etag()
    if etag:
        response.set_etag(etag, weak=True)
    return response


@functools.lru_cache(64)
def _zip_once(content: bytes, is_script: bool) -> bytes:
    return _zip(shorten(content) if is_script else content, 9)


def _zip(content: bytes, level: int) -> bytes:
    return gzip.compress(content, level, mtime=0)


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
