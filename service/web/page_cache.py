"""Finished pages, cached whole: a GET of a page that has not changed is answered with the bytes of the last answer.

A view says by `cache_page` what its page is made of. Flask is not called while that is still the same.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import io
import math
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import structlog
from flask import request
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from structlog.contextvars import bind_contextvars, clear_contextvars
from werkzeug.datastructures import Accept, Headers
from werkzeug.http import parse_accept_header, parse_set_header
from werkzeug.wrappers import Request

from service.app import App
from service.lru import LRU
from service.settings import EMBEDDED
from service.store.fingerprints import Fingerprint
from service.web.previews import is_crawler
from service.web.rendering import get_app, is_local_visitor, make_request_id
from service.web.wsgi_threads import WsgiApp

MAX_BYTES = 8 * 2**20
MAX_NOISE_BYTES = 100
KEY_FIELDS = ("PATH_INFO", "HTTP_COOKIE", "HTTP_ACCEPT_LANGUAGE")  # of a request: what its page depends on
SOURCE = "depesche.page_source"  # in the environment of a request: what `cache_page` was given
OWN_HEADERS = ("Set-Cookie", "X-Request-Id")  # headers of one answer alone
CACHE_CONTROL = "private, no-cache"  # a browser keeps the page, and asks each time whether it has changed
log = structlog.get_logger()

LoadFingerprint = Callable[[Connection], Fingerprint]
Key = tuple[Any, ...]


class PageSource(Struct, frozen=True):
    """The source of a page: what it is made of, how to load that again, and how long the page says the right time."""

    fingerprint: Fingerprint
    load: LoadFingerprint
    since: int
    until: float


class CachedPage(Struct, frozen=True):
    """A page that was sent: its source, its headers, and its content as it is and compressed."""

    source: PageSource
    headers: tuple[tuple[str, str], ...]
    etag: str
    content: bytes
    zipped: bytes = b""


class PageAnswer(Struct, frozen=True):
    """An answer to one request."""

    status: str
    headers: list[tuple[str, str]]
    content: bytes


def cache_page(db: Connection, load: LoadFingerprint, until: float = math.inf) -> None:
    """Let the page of this request be sent again while what `load` reads is the same, and the time is before `until`.

    Call it in the transaction that reads the page.
    """
    request.environ[SOURCE] = PageSource(load(db), load, get_app().now(), until)


class PageCache:
    """A WSGI application that answers from memory where it can, and else calls Flask's."""

    def __init__(self, app: App, wsgi_app: WsgiApp) -> None:
        self._app = app
        self._wsgi_app = wsgi_app
        self._pages = LRU[CachedPage](MAX_BYTES)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not _is_cacheable(environ):
            return self._wsgi_app(environ, start_response)
        began, key = time.perf_counter(), self._make_key(environ)
        page = self._pages.get(key)
        if page is not None and self._is_current(page):
            request_id = make_request_id(self._app, environ.get("HTTP_X_REQUEST_ID", ""))
            answer = self._answer(key, page, environ, [("X-Request-Id", request_id)])
            if self._app.settings.logs == "json":
                _log_request(request_id, environ["PATH_INFO"], int(answer.status[:3]), began)
        else:
            answer = self._make_page(key, environ)
        start_response(answer.status, answer.headers)
        return [answer.content]

    def _make_key(self, environ: dict[str, Any]) -> Key:
        """Make the key of a request: equal for two requests only if they get the same page."""
        app = self._app
        sees_mailbox = app.settings.smtp == EMBEDDED and is_local_visitor(app, Request(environ))
        return (*map(environ.get, KEY_FIELDS), sees_mailbox, app.notices.get().banner)

    def _is_current(self, page: CachedPage) -> bool:
        if not page.source.since <= self._app.now() < page.source.until:
            return False
        with suppress(SQLAlchemyError, self._app.store.driver_error), self._app.store.peeking() as db:
            return page.source.load(db) == page.source.fingerprint
        return False  # Flask asks the database again, and says what is wrong

    def _make_page(self, key: Key, environ: dict[str, Any]) -> PageAnswer:
        """Let Flask answer, and cache the page if its view says so."""
        plain = {name: value for name, value in environ.items() if name != "HTTP_ACCEPT_ENCODING"}
        made = _call(self._wsgi_app, plain)
        if SOURCE not in plain or not made.status.startswith("200"):
            return made
        page = _make_cached_page(plain[SOURCE], made)
        self._store(key, page)
        return self._answer(key, page, environ, [one for one in made.headers if one[0] in OWN_HEADERS])

    def _answer(self, key: Key, page: CachedPage, environ: dict[str, Any], once: list[tuple[str, str]]) -> PageAnswer:
        """PageAnswer with a page, as this client can read it; `once` are the headers of this answer alone."""
        headers = [*page.headers, *once]
        if page.etag in environ.get("HTTP_IF_NONE_MATCH", ""):
            return PageAnswer("304 NOT MODIFIED", headers, b"")
        content = page.content
        if accepts_gzip(environ.get("HTTP_ACCEPT_ENCODING", "")):
            content = page.zipped or self._zip(key, page)
            headers.append(("Content-Encoding", "gzip"))
        return PageAnswer("200 OK", [*headers, ("Content-Length", str(len(content)))], content)

    def _zip(self, key: Key, page: CachedPage) -> bytes:
        zipped = zip_with_noise(page.content)
        self._store(key, replace(page, zipped=zipped))
        return zipped

    def _store(self, key: Key, page: CachedPage) -> None:
        """Cache a page; its key counts too, because a visitor chooses the length of cookies."""
        key_size = sum(len(part) for part in key if isinstance(part, str))
        self._pages.put(key, page, key_size + len(page.content) + len(page.zipped))


def _call(wsgi_app: WsgiApp, environ: dict[str, Any]) -> PageAnswer:
    """Call a WSGI application and return its whole answer."""
    started: list[Any] = []
    chunks: Any = wsgi_app(environ, lambda *words: started.append(words))
    try:
        return PageAnswer(started[0][0], started[0][1], b"".join(chunks))
    finally:
        chunks.close()


def _log_request(request_id: str, path: str, status: int, began: float) -> None:
    """Log a request by its route; its path may hold a link, which is a key."""
    clear_contextvars()
    bind_contextvars(request=request_id)
    route, ms = "/" if path == "/" else "/t/<link>", round((time.perf_counter() - began) * 1000, 1)
    log.info("request", method="GET", route=route, status=status, ms=ms)


def _is_cacheable(environ: dict[str, Any]) -> bool:
    """Return whether this is a request for the lobby or for the page of a table, without a query."""
    path = environ["PATH_INFO"]
    is_page = path == "/" or (path.startswith("/t/") and path.count("/") == 2)
    is_plain = environ["REQUEST_METHOD"] == "GET" and not environ.get("QUERY_STRING")
    return is_page and is_plain and not is_crawler(environ.get("HTTP_USER_AGENT", ""))


def _make_cached_page(source: PageSource, made: PageAnswer) -> CachedPage:
    headers, etag = Headers(made.headers), hashlib.sha256(made.content).hexdigest()[:32]
    for name in (*OWN_HEADERS, "Content-Length"):
        headers.remove(name)
    vary = parse_set_header(headers.get("Vary"))
    vary.add("Accept-Encoding")
    headers.update({"Vary": vary.to_header(), "ETag": f'W/"{etag}"', "Cache-Control": CACHE_CONTROL})
    return CachedPage(source, tuple(headers), etag, made.content)


@functools.lru_cache(256)
def accepts_gzip(header: str) -> bool:
    """Return whether a client with this Accept-Encoding reads gzip."""
    return parse_accept_header(header, Accept).quality("gzip") > 0


def zip_with_noise(content: bytes) -> bytes:
    """Compress a page that has a secret beside text that another person chose.

    Its length would tell whether the text occurs in the secret, if the file name in the header were not of random
    length ("Heal the BREACH").
    """
    file = io.BytesIO()
    noise = "x" * (1 + secrets.randbelow(MAX_NOISE_BYTES))
    with gzip.GzipFile(noise, "wb", 5, file, 0) as zipping:
        zipping.write(content)
    return file.getvalue()
