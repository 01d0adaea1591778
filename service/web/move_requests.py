"""Requests that bring a move: the event loop answers them and awaits the verdict, so that none of them holds a thread.

A request that is unusual in any way, or that fails, is left to Flask, whose views do the same.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import structlog
from msgspec import Struct
from structlog.contextvars import bind_contextvars, clear_contextvars
from werkzeug.datastructures import MultiDict
from werkzeug.utils import redirect
from werkzeug.wrappers import Request

from engine.canonical_json import make_decoder
from engine.refusal import Refused
from service.app import App
from service.links import hash_token
from service.store.queries import Verdict
from service.tables import submitting
from service.tables.move_intake import LinkedMove, MoveIntake, Outcome
from service.tables.submitting import StoredSubmission
from service.web.api.operations import JSON, make_verdict_answer
from service.web.api.routes import Command
from service.web.rate_limits import ALLOWANCE, Allowance, Limit, RateLimits
from service.web.rendering import choose_language, make_request_id
from service.web.responses import FAILURE, HEADERS, is_own_form
from service.web.table_pages import parse_move
from service.web.wsgi_threads import Scope, Send, ThreadedWsgi, make_environ

PATH = re.compile(r"(?P<api>/api/v1)?/t/(?P<link>[a-z0-9.]{1,100})(?P<moves>/moves)?")
FORM = "application/x-www-form-urlencoded"
MAX_BODY_BYTES = 16 * 1024  # a longer one is no usual move
log = structlog.get_logger()


class MoveRequest(Struct, frozen=True):
    """A request that brings a move, from a program or from the form of a page."""

    scope: Scope
    body: bytes
    is_form: bool
    move: LinkedMove
    began: float


class MoveRequests:
    """Answers requests; those without a usual move by a WSGI application in threads."""

    def __init__(self, app: App, pages: ThreadedWsgi, limits: RateLimits, limit: Limit) -> None:
        self._app = app
        self._pages = pages
        self._limits, self._limit = limits, limit
        self._intake = MoveIntake(app)

    async def answer(self, scope: Scope, body: bytes, send: Send) -> None:
        """Answer a request whose body is complete."""
        request = self._parse(scope, body)
        if request is None:
            await self._pages.answer(scope, body, send)
            return
        allowance = await self._count(request)
        outcome = None if allowance.is_exceeded else await self._store(request)
        try:
            if isinstance(outcome, StoredSubmission):
                await self._answer_verdict(request, outcome, allowance, send)
                return
        except Exception as error:
            outcome = error
        await self._pages.answer(scope, body, send, {ALLOWANCE: allowance, FAILURE: outcome})

    def _parse(self, scope: Scope, body: bytes) -> MoveRequest | None:
        """Parse a request that brings a move; return None if it is another one, or an unusual one."""
        path = PATH.fullmatch(scope["raw_path"].decode("latin-1")) if scope["method"] == "POST" else None
        if path is None or bool(path["api"]) != bool(path["moves"]) or scope["query_string"]:
            return None
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        is_form, kind = not path["api"], headers.get("content-type", "").partition(";")[0]
        if len(body) > MAX_BODY_BYTES or kind != (FORM if is_form else JSON):
            return None
        if is_form and not is_own_form(self._app, headers):
            return None
        try:
            text, key, seen = _parse_form(body) if is_form else _parse_command(body)
            words, key = submitting.clean_move(text), submitting.make_key(key)
        except (Refused, ValueError, RecursionError, msgspec.MsgspecError):
            return None
        if not key.isprintable():
            return None
        request_id = make_request_id(self._app, headers.get("x-request-id", ""))
        move = LinkedMove(path["link"], words, key, seen, request_id)
        return MoveRequest(scope, body, is_form, move, time.perf_counter())

    async def _count(self, request: MoveRequest) -> Allowance:
        """Count the move; in a thread if other processes have to be asked how many they have counted."""
        key = hash_token(request.move.link)
        if not self._limits.must_sync(self._limit, key):
            return self._limits.use(self._limit, key)
        return await self._pages.run(self._limits.use, self._limit, key)

    async def _store(self, request: MoveRequest) -> Outcome:
        outcome = asyncio.get_running_loop().create_future()
        self._intake.add(request.move, partial(_resolve_soon, outcome))
        stored: Outcome = await outcome
        return stored

    async def _answer_verdict(
        self, request: MoveRequest, stored: StoredSubmission, allowance: Allowance, send: Send
    ) -> None:
        verdict = await self._wait(stored)
        status, headers, content = self._make_answer(request, stored.number, verdict)
        headers |= {**HEADERS, "X-Request-Id": request.move.request, **allowance.make_headers()}
        self._log(request, status)
        await send_answer(send, status, headers, content)

    async def _wait(self, stored: StoredSubmission) -> Verdict | None:
        """Wait for the verdict as `submitting.wait_for_verdict` does."""
        message = asyncio.get_running_loop().create_future()
        receive = partial(_resolve_soon, message)
        began, verdicts = time.perf_counter(), self._app.verdicts
        verdicts.call(stored.number, receive)
        try:
            async with asyncio.timeout(verdicts.limit_wait(self._app.settings.verdict_wait)):
                verdict = submitting.decode_verdict(await message, stored)
        except TimeoutError:
            verdicts.forget(stored.number, receive)
            verdict = None
        if verdict is None:
            verdict = await self._pages.run(submitting.load_verdict, self._app, stored)
        self._app.metrics.time("verdict_seconds", "page", time.perf_counter() - began)
        return verdict

    def _make_answer(
        self, request: MoveRequest, number: int, verdict: Verdict | None
    ) -> tuple[int, dict[str, str], bytes]:
        """Make the answer of the view for this request."""
        link = request.move.link
        if request.is_form:
            response = redirect(f"/t/{link}?said={number}", 303)
            headers = {"Content-Type": response.content_type, "Location": response.location}
            return 303, headers, response.get_data()
        in_language = "" if verdict is None or verdict.accepted else _choose_language(request)
        answer = make_verdict_answer(link, number, verdict, in_language)
        return answer.status, {"Content-Type": JSON, **answer.headers}, msgspec.json.encode(answer.content)

    def _log(self, request: MoveRequest, status: int) -> None:
        self._app.metrics.flush_soon()
        if self._app.settings.logs == "json":
            clear_contextvars()
            bind_contextvars(request=request.move.request)
            route, ms = (
                "/t/<link>" if request.is_form else "/api/v1/t/<link>/moves",
                time.perf_counter() - request.began,
            )
            log.info("request", method="POST", route=route, status=status, ms=round(ms * 1_000, 1))


def _parse_command(body: bytes) -> tuple[str, str, int | None]:
    """Return text, key and last seen entry of a program's move."""
    command = make_decoder(Command).decode(body)
    return command.move, command.key, command.seen


def _parse_form(body: bytes) -> tuple[str, str, int | None]:
    """Return text, key and last seen entry of the move in a form."""
    return parse_move(MultiDict(parse_qsl(body.decode(), keep_blank_values=True)))


def _choose_language(request: MoveRequest) -> str:
    return choose_language(Request(make_environ(request.scope, request.body, trust_proxy=False)))


def _resolve_soon(future: asyncio.Future[Any], value: object) -> None:
    """Set the result of a future from another thread."""
    with suppress(RuntimeError):  # the loop is closed, because the server has stopped
        future.get_loop().call_soon_threadsafe(_resolve, future, value)


def _resolve(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)


async def send_answer(send: Send, status: int, headers: Mapping[str, str], content: bytes) -> None:
    encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    encoded.append((b"content-length", str(len(content)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": content})
