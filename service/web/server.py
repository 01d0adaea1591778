"""The web server: uvicorn, with Flask in a pool of threads and server-sent events without one.

Clients that send or read slowly hold up no other: headers and bodies are limited, and connections on which nothing
moves are closed.
"""

from __future__ import annotations

import asyncio
import ctypes
import functools
import resource
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import HANDLED_SIGNALS

from service.app import App
from service.web import make_move_limit, wire
from service.web.live import Live, find_max_open_pages
from service.web.move_requests import MoveRequests
from service.web.page_requests import PageRequests
from service.web.wsgi_threads import MAX_HEADER_BYTES, Receive, Scope, Send, ThreadedWsgi, WsgiApp, read_request

IDLE_S = 20  # a client that neither sends nor reads for this long is disconnected
CHECK_S = 5
STOP_S = 10  # requests that are still running this long after a stop are abandoned
ACCEPT_S = 0.05
ACCEPTED_AT_ONCE = 32  # between two batches the server makes room, before it runs out of files
BACKLOG = 1_024  # clients that wait to be accepted
OTHER_CONNECTIONS = 1_000  # beside those of open pages
OTHER_FILES = 128  # beside connections: the database, Redis, logs, templates
SPARE_SHARE = 20  # under pressure one connection in this number is closed, so that room is made for several at once
MAX_FILES = 65_536
M_ARENA_MAX = -8  # of glibc's malloc.h


def find_max_connections() -> int:
    """Return how many connections a process may have: OTHER_CONNECTIONS beside open pages, as far as files allow it.

    OTHER_FILES of the files that it may open stay free, or half of all files if they are few.
    """
    max_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = find_max_open_pages() + OTHER_CONNECTIONS
    if max_files == resource.RLIM_INFINITY:
        return most
    return min(most, max(max_files - OTHER_FILES, max_files // 2))


class WebApp:
    """The ASGI application: streams `/live/<token>`, and answers cached pages, moves and all other requests."""

    def __init__(self, requests: MoveRequests, pages: PageRequests, live: Live) -> None:
        self._requests = requests
        self._pages = pages
        self._live = live

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a stream of changes or a cached page; all else goes to the entrance of moves, and to Flask."""
        topic = self._live.find_topic(scope)
        if topic is not None:
            await self._live.serve(topic, receive, send, self._live.name_client(scope))
            return
        if await self._pages.answer(scope, send):
            return
        body = await read_request(scope, receive, send)
        if body is not None:
            await self._requests.answer(scope, body, send)


class Connection(HttpToolsProtocol):
    """The connection of one client; closed if the client has to send or read and does neither for IDLE_S seconds."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its parent
        """Begin to watch the connection; close others if there are too many."""
        super().connection_made(transport)
        self._reads_header = False
        self._header_bytes = 0
        self._unsent_before = 0  # bytes at the last check
        self.active_at = self.loop.time()
        self._idle_check = self.loop.call_later(CHECK_S, self._check_idle)
        if len(self.connections) >= find_max_connections():
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._idle_check.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Note that the client sends, and refuse a header that is too long."""
        self.active_at = self.loop.time()
        super().data_received(data)
        if self._reads_header and not self.transport.is_closing():
            self._header_bytes += len(data)
            if self._header_bytes > MAX_HEADER_BYTES:
                self._refuse_header()

    def on_message_begin(self) -> None:
        """Begin to count the bytes of a header, and set the date that the answer has."""
        self._reads_header = True
        self.server_state.default_headers = list_dated_headers(int(time.time()))
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._reads_header, self._header_bytes = False, 0
        super().on_headers_complete()

    def _is_between_requests(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _make_room(self) -> None:
        """Close some connections whose client has to send, beginning with the client that has most of them.

        Of one client, the longest idle ones are closed first. This new connection counts too, so there is always one
        to close.
        """
        waiting = [one for one in self.connections if isinstance(one, Connection) and one.has_to_send()]
        counts = Counter(one.client_address for one in waiting)
        waiting.sort(key=lambda one: (-counts[one.client_address], one.active_at))
        for one in waiting[: max(1, len(self.connections) // SPARE_SHARE)]:
            one.transport.abort()
            self.connections.discard(one)

    @property
    def client_address(self) -> str:
        """The address of the client; empty if it is not known."""
        return self.client[0] if self.client else ""

    def has_to_send(self) -> bool:
        """Return whether the server waits for this client: for a request, or for the rest of one."""
        return self._is_between_requests() or bool(self.cycle.more_body)

    def _refuse_header(self) -> None:
        """Answer 400; while the answer to an earlier request is on its way, just close the connection."""
        if self._is_between_requests():
            self.send_400_response("The headers of this request are too large.")
        else:
            self.transport.abort()

    def _check_idle(self) -> None:
        """Disconnect a client that has to send or to read, and has done neither for IDLE_S seconds."""
        unsent = self.transport.get_write_buffer_size()
        has_read = unsent < self._unsent_before
        is_awaited = unsent > 0 or self.has_to_send()
        if has_read or not is_awaited:
            self.active_at = self.loop.time()
        self._unsent_before = unsent
        if self.loop.time() - self.active_at >= IDLE_S:
            self.transport.abort()
        else:
            delay = CHECK_S if is_awaited else IDLE_S  # from now on, a client that is not awaited cannot be idle before
            self._idle_check = self.loop.call_later(delay, self._check_idle)


class WebServer(uvicorn.Server):
    """Serves an application at the port of a bound socket, until a signal comes or `should_exit` is set."""

    _loop: asyncio.AbstractEventLoop | None = None  # uvicorn sets `should_exit`, which reads it, in its constructor

    def __init__(self, application: Any, listener: socket.socket, on_stop: Callable[[], None] = lambda: None) -> None:
        """Set up uvicorn for an application; `on_stop` is called when it has to stop, before requests are finished."""
        config = uvicorn.Config(
            application,
            http=Connection,
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,  # Flask's ProxyFix reads them
            server_header=False,
            backlog=ACCEPTED_AT_ONCE,
            timeout_keep_alive=IDLE_S,
            timeout_graceful_shutdown=STOP_S,
        )
        self._stop = asyncio.Event()
        super().__init__(config)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else the end of an answer may wait 40 ms
        self._listener = listener
        self._on_stop = on_stop

    def serve_requests(self) -> None:
        """Serve until a signal comes or `should_exit` is set, and then finish the requests in hand."""
        self.run([self._listener])

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002  # uvicorn's arguments
        """Stop on a signal; uvicorn would raise it once more afterwards, which would skip the caller's cleaning up."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listener.listen(BACKLOG)  # asyncio has set it to the number that it accepts at once

    @property
    def should_exit(self) -> bool:
        """Whether the server has to stop; setting it, which uvicorn does too, ends the main loop at once."""
        return self._should_exit

    @should_exit.setter
    def should_exit(self, value: bool) -> None:
        self._should_exit = value
        if value and self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed already
                self._loop.call_soon_threadsafe(self._stop.set)

    async def main_loop(self) -> None:
        """Wait until the server has to stop; uvicorn's own loop wakes ten times a second, for 0.14 % of a core."""
        self._loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in HANDLED_SIGNALS:  # a handler of the loop wakes it, also if another thread gets the signal
                self._loop.add_signal_handler(number, self.handle_exit, number, None)
        if not self.should_exit:
            await self._stop.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections, end open pages, and finish the requests in hand."""
        for server in self.servers:
            server.close()
        await asyncio.sleep(ACCEPT_S)  # a connection that is just being accepted would be overlooked
        self._on_stop()
        await super().shutdown(sockets)


@functools.lru_cache(1)
def list_dated_headers(second: int) -> list[tuple[bytes, bytes]]:
    """Return the header with the date that answers of this second have."""
    return [(b"date", formatdate(second, usegmt=True).encode())]


def create_server(app: App, listener: socket.socket, threads: int) -> WebServer:
    """Create the server of all pages, at the port to which `listener` is bound."""
    live, flask_app = Live(app), wire(app)
    flask_threads = ThreadedWsgi(flask_app, threads, trust_proxy=bool(app.settings.proxies))
    requests = MoveRequests(app, flask_threads, flask_app.extensions["limits"], make_move_limit(app))
    cached_pages = PageRequests(app, flask_app.extensions["pages"])
    return WebServer(WebApp(requests, cached_pages, live), listener, live.close)


def create_wsgi_server(
    wsgi_app: WsgiApp, listener: socket.socket, threads: int, on_stop: Callable[[], None] = lambda: None
) -> WebServer:
    """Create a server of a WSGI application alone, which calls `on_stop` before it stops."""
    return WebServer(ThreadedWsgi(wsgi_app, threads), listener, on_stop)


def save_memory() -> None:
    """Let all threads allocate memory from one arena: if each had one, as glibc has it, they would stay half empty.

    Threads of Python do not compete for it, because only one of them runs at a time.
    """
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def raise_file_limit() -> None:
    """Allow this process as many open connections as the machine lets it have: each open page holds one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
