"""The entrance of moves: the event loop stores a move and awaits its verdict, so that none of them holds a thread.

A move is read, and its verdict answered, by the functions that Flask's views use. The event loop makes the usual move:
the first with its key, of a link that plays here. Flask answers every other request, and a move that fails.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from functools import partial

import structlog
from msgspec import Struct
from structlog.contextvars import bind_contextvars, clear_contextvars
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from engine.refusal import Refused
from service.app import App
from service.links import hash_token
from service.store.batch import Verdict
from service.tables import submitting
from service.tables.submitting import LinkedMove, MoveIntake, MoveText, Outcome, StoredSubmission
from service.wakeups import resolve_soon
from service.web import table_pages
from service.web.api import operations
from service.web.current_request import FAILURE, HEADERS, is_own_form, make_request_id
from service.web.rate_limits import ALLOWANCE, Allowance, Limit, RateLimits
from service.web.wsgi_threads import Scope, Send, ThreadedWsgi, make_environ

LINK = r"(?P<link>[a-z0-9.]{1,100})"
MAX_MOVE_BYTES = 16 * 1024  # a longer body is no usual move
log = structlog.get_logger()


class MoveKind(Struct, frozen=True):
    """A kind of request that brings a move: its path, and the functions that read it and answer with its verdict."""

    path: re.Pattern[str]
    route: str
    read: Callable[[Request], MoveText]
    answer: Callable[[Request, str, int, Verdict | None], Response]


FORM = MoveKind(
    path=re.compile(f"/t/{LINK}"),
    route="/t/<link>",
    read=table_pages.read_move,
    answer=table_pages.answer_move,
)
COMMAND = MoveKind(
    path=re.compile(f"/api/v1/t/{LINK}/moves"),
    route="/api/v1/t/<link>/moves",
    read=operations.read_move,
    answer=operations.answer_move,
)


class MoveRequest(Struct, frozen=True):
    """A request that brings a move."""

    kind: MoveKind
    http: Request
    move: LinkedMove
    began: float  # by the clock `time.perf_counter`, in seconds


class MoveRequests:
    """Answers requests: a usual move by itself, and all others by Flask in threads."""

    def __init__(self, app: App, flask_threads: ThreadedWsgi, limits: RateLimits, limit: Limit) -> None:
        self._app = app
        self._flask_threads = flask_threads
        self._limits, self._limit = limits, limit
        self._intake = MoveIntake(app)

    async def answer(self, scope: Scope, body: bytes, send: Send) -> None:
        """Answer a request whose body is complete.

        Flask answers what is no move, a move beyond the limit, and a move that could not be stored.
        """
        request = self._parse(scope, body)
        if request is None:
            await self._flask_threads.answer(scope, body, send)
            return
        allowance = await self._count(request)
        failure: Exception | None = None
        if not allowance.is_exceeded:
            try:
                stored = await self._store(request)
                if stored is not None:
                    await self._answer_stored(request, stored, allowance, send)
                    return
            except Exception as error:
                failure = error
        # Flask does not count the move again, and answers its failure.
        await self._flask_threads.answer(scope, body, send, {ALLOWANCE: allowance, FAILURE: failure})

    def _parse(self, scope: Scope, body: bytes) -> MoveRequest | None:
        """Parse a request that brings a move; return None if it is another one, or an unusual one."""
        began, path = time.perf_counter(), scope["raw_path"].decode("latin-1")
        kind = FORM
        match = FORM.path.fullmatch(path)
        if match is None:
            kind = COMMAND
            match = COMMAND.path.fullmatch(path)
        if match is None or scope["method"] != "POST" or len(body) > MAX_MOVE_BYTES:
            return None
        http = Request(make_environ(scope, body, trust_proxy=False))
        if kind is FORM and not is_own_form(self._app, http.headers):
            return None
        request_id = make_request_id(self._app, http.headers.get("X-Request-Id", ""))
        try:
            text, key, seen = kind.read(http)
            move = LinkedMove(match["link"], submitting.clean_move(text), submitting.make_key(key), seen, request_id)
        except (Refused, HTTPException):
            return None
        if not move.key.isprintable():  # PostgreSQL stores no text with a NUL in it; Flask answers with the error
            return None
        return MoveRequest(kind, http, move, began)

    async def _count(self, request: MoveRequest) -> Allowance:
        """Count the move; in a thread if other processes have to be asked how many they have counted."""
        key = hash_token(request.move.link)
        if not self._limits.must_sync(self._limit, key):
            return self._limits.use(self._limit, key)
        return await self._flask_threads.run(self._limits.use, self._limit, key)

    async def _store(self, request: MoveRequest) -> StoredSubmission | None:
        """Store the move, or raise the error of the intake.

        Return None if Flask has to answer: for a link that does not play here, or a key that is known.
        """
        outcome = asyncio.get_running_loop().create_future()
        self._intake.add(request.move, partial(resolve_soon, outcome))
        stored: Outcome = await outcome
        if isinstance(stored, Exception):
            raise stored
        return stored

    async def _answer_stored(
        self, request: MoveRequest, stored: StoredSubmission, allowance: Allowance, send: Send
    ) -> None:
        """Wait for the verdict on a move, and answer with it."""
        verdict = await self._wait(stored)
        response = request.kind.answer(request.http, request.move.link, stored.number, verdict)
        await self._send(request, response, allowance, send)

    async def _wait(self, stored: StoredSubmission) -> Verdict | None:
        """Wait for the verdict as `submitting.wait_for_verdict` does; return None if there is none in time."""
        began = time.perf_counter()
        message = await self._app.verdicts.wait_in_loop(stored.number, self._app.settings.verdict_wait)
        verdict = submitting.decode_verdict(message, stored)
        if verdict is None:
            verdict = await self._flask_threads.run(submitting.load_verdict, self._app, stored)
        self._app.metrics.add_duration("verdict_seconds", "page", time.perf_counter() - began)
        return verdict

    async def _send(self, request: MoveRequest, response: Response, allowance: Allowance, send: Send) -> None:
        """Send an answer with the headers that Flask's answers have."""
        self._log(request, response.status_code)
        common_headers = {**HEADERS, "X-Request-Id": request.move.request, **allowance.make_headers()}
        all_headers = {**dict(response.headers), **common_headers}
        headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in all_headers.items()]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": response.get_data()})

    def _log(self, request: MoveRequest, status: int) -> None:
        """Log the request if the host wants that, and have the metrics stored soon, as after Flask's requests."""
        self._app.metrics.flush_soon()
        if self._app.settings.logs == "json":
            clear_contextvars()
            bind_contextvars(request=request.move.request)
            ms = round((time.perf_counter() - request.began) * 1_000, 1)
            log.info("request", method="POST", route=request.kind.route, status=status, ms=ms)
