"""Finished pages, cached whole: a GET of a page that has not changed is answered with the bytes of the last answer.

A view says by `cache_page` what its page is made of. Flask is not called while that is still the same.
`page_requests.py` answers most of them without a thread.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import structlog
from flask import request
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from structlog.contextvars import bind_contextvars, clear_contextvars
from werkzeug.datastructures import Headers
from werkzeug.http import parse_set_header
from werkzeug.wrappers import Request

from service.app import App
from service.memory import LRU
from service.settings import EMBEDDED
from service.store.fingerprints import Fingerprint, Parts
from service.web.compression import choose_encoding, compress_with_noise
from service.web.current_request import get_app, is_crawler, is_local_visitor, make_request_id
from service.web.wsgi_threads import WsgiApp

MAX_BYTES = 8 * 2**20
PAGE_SOURCE = "depesche.page_source"  # in the environment of a request: what `cache_page` was given
OWN_HEADERS = ("Set-Cookie", "X-Request-Id")  # headers of one answer alone
ETAG_CHARS = 32
CACHE_CONTROL = "private, no-cache"  # a browser keeps the page, and asks each time whether it has changed
log = structlog.get_logger()


class PageKey(Struct, frozen=True):
    """The parts of a request on which its page depends: two requests with equal keys get the same page."""

    path: str
    cookie: str | None  # the header; None without one
    languages: str | None  # the header Accept-Language; None without one
    sees_mailbox: bool  # whether pages show this visitor a link to the local mailbox

    @property
    def size(self) -> int:
        """How many bytes the key takes in the cache."""
        return len(self.path) + len(self.cookie or "") + len(self.languages or "")


class PageSource(Struct, frozen=True):
    """The source of a page: if its parts are the same, and the time is in its span, the page is the same."""

    parts: Parts  # which rows of the database the page shows
    fingerprint: Fingerprint  # the values in these rows when the page was made
    since: int
    until: float  # the first moment at which a time on the page is wrong; infinite if none is ever


class CachedPage(Struct, frozen=True):
    """A page that was sent, with the headers that all its answers have."""

    source: PageSource
    banner: str  # the host's notice on it
    headers: tuple[tuple[str, str], ...]
    etag: str
    content: bytes
    compressed: tuple[tuple[str, bytes], ...] = ()  # encodings so far, each with the compressed content

    @property
    def size(self) -> int:
        """How many bytes the page takes in the cache, in all its encodings."""
        return len(self.content) + sum(len(content) for _, content in self.compressed)


class PageAnswer(Struct, frozen=True):
    """An answer to one request."""

    status: str  # as in “200 OK”
    headers: list[tuple[str, str]]
    content: bytes

    @property
    def status_code(self) -> int:
        return int(self.status[:3])


def cache_page(db: Connection, parts: Parts, until: float = math.inf) -> None:
    """Let the page of this request be sent again while its parts are the same, and the time is before `until`.

    Call it in the transaction that reads the page.
    """
    request.environ[PAGE_SOURCE] = PageSource(parts, parts.load(db), get_app().now(), until)


class PageCache:
    """A WSGI application that answers from memory where it can, and else calls Flask's."""

    def __init__(self, app: App, wsgi_app: WsgiApp) -> None:
        self._app = app
        self._wsgi_app = wsgi_app
        self._pages = LRU[CachedPage](MAX_BYTES)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer from memory a page that is still the same; let Flask answer all other requests."""
        if not _is_cacheable(environ):
            return self._wsgi_app(environ, start_response)
        began, key = time.perf_counter(), self._make_key(environ)
        page = self.find(key)
        if page is not None and self._is_current(page):
            answer = self._answer(key, page, environ)
            log_answer(self._app, environ["PATH_INFO"], answer, began)
        else:
            answer = self._make_page(key, environ)
        start_response(answer.status, answer.headers)
        return [answer.content]

    def _make_key(self, environ: dict[str, Any]) -> PageKey:
        """Make the key under which the page of this request is cached."""
        sees_mailbox = self._app.settings.smtp == EMBEDDED and is_local_visitor(self._app, Request(environ))
        cookie, languages = environ.get("HTTP_COOKIE"), environ.get("HTTP_ACCEPT_LANGUAGE")
        return PageKey(environ["PATH_INFO"], cookie, languages, sees_mailbox)

    def find(self, key: PageKey) -> CachedPage | None:
        """Return the page with this key; None if there is none, or if the times on it are wrong by now.

        What else it shows may have changed: see `check_all`.
        """
        page = self._pages.get(key)
        if page is None:
            return None
        are_times_right = page.source.since <= self._app.now() < page.source.until
        return page if are_times_right else None

    def _is_current(self, page: CachedPage) -> bool:
        """Return whether all that the page shows is still the same."""
        [is_current] = self.check_all([page])
        return is_current

    def check_all(self, pages: Sequence[CachedPage]) -> list[bool]:
        """Return for each page whether all that it shows is still the same; equal parts are loaded once."""
        fingerprints = dict[Parts, Fingerprint]()
        banner = self._app.notices.get().banner
        with suppress(SQLAlchemyError), self._app.store.peeking() as db:
            for parts in {page.source.parts for page in pages}:
                fingerprints[parts] = parts.load(db)
        # A page without a fingerprint, because the database failed, is left to Flask, which says what is wrong.
        return [
            page.banner == banner and fingerprints.get(page.source.parts) == page.source.fingerprint for page in pages
        ]

    def _make_page(self, key: PageKey, environ: dict[str, Any]) -> PageAnswer:
        """Let Flask answer, and cache the page if its view says so.

        Flask does not learn how the client wants it compressed: the page is cached as it is.
        """
        flask_environ = {name: value for name, value in environ.items() if name != "HTTP_ACCEPT_ENCODING"}
        banner = self._app.notices.get().banner  # first: if it changes from here on, the page is not current
        flask_answer = _call(self._wsgi_app, flask_environ)
        is_to_be_cached = PAGE_SOURCE in flask_environ  # the view has called `cache_page`
        if not is_to_be_cached or flask_answer.status_code != 200:
            return flask_answer
        page = _make_cached_page(flask_environ[PAGE_SOURCE], banner, flask_answer)
        self._store(key, page)
        answer = self._answer(key, page, environ)
        # The cookies and the id of the request are those that Flask set.
        shared = [(name, value) for name, value in answer.headers if name not in OWN_HEADERS]
        own = [(name, value) for name, value in flask_answer.headers if name in OWN_HEADERS]
        return replace(answer, headers=[*shared, *own])

    def _answer(self, key: PageKey, page: CachedPage, environ: dict[str, Any]) -> PageAnswer:
        """Answer a request with a page, and compress it if that was not done yet."""
        encoding = choose_encoding(environ.get("HTTP_ACCEPT_ENCODING", ""))
        if encoding and encoding not in dict(page.compressed):
            compressed = (encoding, compress_with_noise(page.content, encoding))
            page = replace(page, compressed=(*page.compressed, compressed))
            self._store(key, page)
        request_id = make_request_id(self._app, environ.get("HTTP_X_REQUEST_ID", ""))
        return make_answer(page, encoding, environ.get("HTTP_IF_NONE_MATCH", ""), request_id)

    def _store(self, key: PageKey, page: CachedPage) -> None:
        """Cache a page; its key counts too, because a visitor chooses the length of cookies."""
        self._pages.put(key, page, key.size + page.size)


def make_answer(page: CachedPage, encoding: str, if_none_match: str, request_id: str) -> PageAnswer:
    """Make the answer with a page that is compressed in this encoding; 304 if `If-None-Match` names the page."""
    headers = [*page.headers, ("X-Request-Id", request_id)]
    if page.etag in if_none_match:  # a part of the header, which may name several pages
        return PageAnswer("304 NOT MODIFIED", headers, b"")
    content = page.content
    if encoding:
        content = dict(page.compressed)[encoding]
        headers.append(("Content-Encoding", encoding))
    headers.append(("Content-Length", str(len(content))))
    return PageAnswer("200 OK", headers, content)


def _call(wsgi_app: WsgiApp, environ: dict[str, Any]) -> PageAnswer:
    """Call a WSGI application and return its whole answer."""
    started: list[Any] = []
    chunks: Any = wsgi_app(environ, lambda *arguments: started.append(arguments))
    try:
        status, headers, *_ = started[0]
        return PageAnswer(status, headers, b"".join(chunks))
    finally:
        chunks.close()


def log_answer(app: App, path: str, answer: PageAnswer, began: float) -> None:
    """Log a request by its route if the host wants that; its path may hold a link, which is a key."""
    if app.settings.logs == "json":
        clear_contextvars()
        bind_contextvars(request=dict(answer.headers)["X-Request-Id"])
        route = "/" if path == "/" else "/t/<link>"
        ms = round((time.perf_counter() - began) * 1000, 1)
        log.info("request", method="GET", route=route, status=answer.status_code, ms=ms)


def _is_cacheable(environ: dict[str, Any]) -> bool:
    """Return whether this is a request for the lobby or for the page of a table, without a query."""
    is_plain = environ["REQUEST_METHOD"] == "GET" and not environ.get("QUERY_STRING")
    return is_plain and is_page(environ["PATH_INFO"]) and not is_crawler(environ.get("HTTP_USER_AGENT", ""))


def is_page(path: str) -> bool:
    """Return whether this is the path of the lobby, or of the page of a table: “/t/” and a link, and nothing more."""
    return path == "/" or (path.startswith("/t/") and path.count("/") == 2)


def _make_cached_page(source: PageSource, banner: str, flask_answer: PageAnswer) -> CachedPage:
    """Make a page of Flask's answer, without the headers of that answer alone."""
    headers = Headers(flask_answer.headers)
    etag = hashlib.sha256(flask_answer.content).hexdigest()[:ETAG_CHARS]
    for name in (*OWN_HEADERS, "Content-Length"):
        headers.remove(name)
    vary = parse_set_header(headers.get("Vary"))
    vary.add("Accept-Encoding")
    headers.update({"Vary": vary.to_header(), "ETag": f'W/"{etag}"', "Cache-Control": CACHE_CONTROL})
    return CachedPage(source, banner, tuple(headers), etag, flask_answer.content)
