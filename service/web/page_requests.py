"""Requests for pages that are cached: the event loop answers them, so that none of them holds a thread.

Whether the pages are still the same is asked in one thread, for all requests that have come meanwhile together. All
other requests, and those for pages that have changed, are left to Flask.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Struct
from werkzeug.wrappers import Request

from service.app import App
from service.settings import EMBEDDED
from service.web.compression import choose_encoding
from service.web.current_request import is_crawler, is_local_visitor, make_request_id
from service.web.page_cache import CachedPage, PageCache, PageKey, is_page, log_answer, make_answer
from service.web.wsgi_threads import MAX_HEADER_BYTES, Scope, Send, make_environ, measure_header

BODY_HEADERS = {b"transfer-encoding", b"expect"}


class PageRequest(Struct, frozen=True):
    """A request for a page: its path and headers, and how the page may be compressed."""

    path: str
    headers: Mapping[bytes, str]  # by their names in small letters
    encoding: str  # empty if the page is to be sent as it is
    sees_mailbox: bool  # whether pages show this visitor a link to the local mailbox

    def get_header(self, header: bytes) -> str:
        """Return a header of the request; empty if there is none."""
        return self.headers.get(header, "")


class PageRequests:
    """Answers requests for pages that are cached and still right."""

    def __init__(self, app: App, cache: PageCache) -> None:
        self._app = app
        self._cache = cache
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="page check")
        self._waiting: list[tuple[CachedPage, asyncio.Future[bool]]] = []  # to be checked, with their outcomes
        self._check: asyncio.Task[None] | None = None  # None while nothing is checked

    async def answer(self, scope: Scope, send: Send) -> bool:
        """Answer a request for a cached page that is still right; return False for all others, which Flask answers."""
        began, request = time.perf_counter(), self._parse(scope)
        if request is None:
            return False
        cookie, languages = request.headers.get(b"cookie"), request.headers.get(b"accept-language")
        page = self._cache.find(PageKey(request.path, cookie, languages, request.sees_mailbox))
        if page is None:
            return False
        must_compress = request.encoding != "" and request.encoding not in dict(page.compressed)
        if must_compress or not await self._is_current(page):
            return False
        request_id = make_request_id(self._app, request.get_header(b"x-request-id"))
        answer = make_answer(page, request.encoding, request.get_header(b"if-none-match"), request_id)
        log_answer(self._app, request.path, answer, began)
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers]
        await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": answer.content})
        return True

    def _parse(self, scope: Scope) -> PageRequest | None:
        """Parse a request for a page; return None if it is another one, or an unusual one."""
        path, given_headers = scope["path"], scope["headers"]
        has_escape = b"%" in scope["raw_path"]
        if scope["method"] != "GET" or scope["query_string"] or has_escape or not is_page(path):
            return None
        headers = {name: value.decode("latin-1") for name, value in given_headers}
        has_body = not BODY_HEADERS.isdisjoint(headers) or headers.get(b"content-length", "0") != "0"
        repeats_header = len(headers) < len(given_headers)
        if has_body or repeats_header or measure_header(scope) > MAX_HEADER_BYTES:
            return None
        if is_crawler(headers.get(b"user-agent", "")):
            return None
        sees_mailbox = False
        if self._app.settings.smtp == EMBEDDED:
            if self._app.settings.proxies:  # only Flask reads what they say of the visitor
                return None
            sees_mailbox = is_local_visitor(self._app, Request(make_environ(scope, b"", trust_proxy=False)))
        return PageRequest(path, headers, choose_encoding(headers.get(b"accept-encoding", "")), sees_mailbox)

    async def _is_current(self, page: CachedPage) -> bool:
        """Return whether the page is still the same, by what was loaded after this request came."""
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[bool] = loop.create_future()
        self._waiting.append((page, outcome))
        if self._check is None:
            self._check = loop.create_task(self._check_all())
        return await outcome

    async def _check_all(self) -> None:
        """Check the pages of all waiting requests, until none waits."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting, []
            pages = [page for page, _ in batch]
            answers: list[Any]
            try:
                answers = await loop.run_in_executor(self._thread, self._cache.check_all, pages)
            except Exception:  # as if no page were current: Flask then says what is wrong
                answers = [False] * len(pages)
            for (_, outcome), is_current in zip(batch, answers, strict=True):
                if not outcome.done():  # the client may have gone
                    outcome.set_result(is_current)
        self._check = None
