"""Changes told at once: an open page holds a connection here, which costs the process a socket and no thread.

All that goes over it is the word “look”; the page then asks as if it had looked by itself. A connection is taken from
the web server, which is left with a dead one in its place and lets that go.
"""

from __future__ import annotations

import os
import resource
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import structlog
from redis import RedisError
from waitress.channel import ClientDisconnected

from service import links
from service.app import App

PATH = "/live/"
BEAT = 20  # seconds: less than web servers in front wait for a word
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n"
    b"X-Accel-Buffering: no\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\r\nretry: 3000\n\n"
)
LOOK, STILL_HERE = b"data: look\n\n", b":\n\n"
log = structlog.get_logger()


class HandedOver(ClientDisconnected):
    """What makes the web server treat a client as gone."""


class Live:
    """The connections of open pages, by table and by whether a player or a spectator looks."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._most = _most_files()
        self._held: dict[str, set[socket.socket]] = defaultdict(set)
        self._lock = threading.Lock()
        self._listener: threading.Thread | None = None

    def __len__(self) -> int:
        with self._lock:
            return sum(map(len, self._held.values()))

    def has_room(self) -> bool:
        return len(self) < self._most

    def hold(self, topic: str, connection: socket.socket) -> None:
        """From now on this page is told of changes."""
        with self._lock:
            self._held[topic].add(connection)
            if self._listener is None:
                self._listener = threading.Thread(target=self._listen, name="live", daemon=True)
                self._listener.start()

    def tell(self, topics: Iterable[str], word: bytes = LOOK) -> None:
        """Send this to all pages of these topics; pages that are closed or do not read are dropped."""
        with self._lock:
            for topic in topics:
                held = self._held.get(topic, set())
                for connection in [one for one in held if not _said(one, word)]:
                    connection.close()
                    held.remove(connection)
                if not held:
                    self._held.pop(topic, None)

    def _listen(self) -> None:
        while True:
            try:
                self._hear()
            except (RedisError, OSError) as error:
                log.warning("changes are not heard", error=str(error))
                time.sleep(1)

    def _hear(self) -> None:
        beat = time.monotonic() + BEAT
        for change in self._app.wakeups.changes():
            if change is None:
                self.tell(list(self._held))  # from now on it is heard; something may have been missed before
            elif change:
                self.tell(topics(change))
            if time.monotonic() > beat:
                self.tell(list(self._held), STILL_HERE)
                beat = time.monotonic() + BEAT


def _most_files() -> int:
    """How many connections may be held so that enough are left for everything else."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1_000_000 if soft == resource.RLIM_INFINITY else max(soft // 2, soft - 2_000)


def topics(change: str) -> list[str]:
    """Who is told of a change: all pages of the table, or those of its players alone."""
    table, _, what = change.partition("/")
    return [f"{table}.seat"] if what == "talk" else [f"{table}.seat", f"{table}.watch"]


def _said(connection: socket.socket, word: bytes) -> bool:
    """Whether the page took this and is still there."""
    try:
        connection.send(word, socket.MSG_DONTWAIT)
    except OSError:
        return False
    return not _gone(connection)


def _gone(connection: socket.socket) -> bool:
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


class Door:
    """The pages, and before them the address where a page waits for changes."""

    def __init__(self, pages: Callable[..., Any], app: App) -> None:
        self._pages = pages
        self._app = app
        self._live = Live(app)

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        topic = self._topic(environ)
        if topic is None:
            return self._pages(environ, start)
        connection = _taken(environ) if self._live.has_room() else None
        if connection is None:
            start("503 Service Unavailable", [("Content-Type", "text/plain"), ("Cache-Control", "no-store")])
            return [b"No changes are told here; please ask now and then.\n"]
        try:
            connection.send(HEAD)
        except OSError:
            connection.close()
        else:
            self._live.hold(topic, connection)
        raise HandedOver

    def _topic(self, environ: dict[str, Any]) -> str | None:
        """The topic that the visitor may hear of; None if the address is none of ours."""
        path = environ.get("PATH_INFO", "")
        if not path.startswith(PATH) or environ.get("REQUEST_METHOD") != "GET":
            return None
        token = path.removeprefix(PATH)
        table, kind = links.subject(token, 2)
        return f"{table}.{kind}" if links.same(self._app.links.live(table, kind), token) else None


def _taken(environ: dict[str, Any]) -> socket.socket | None:
    """The visitor's connection, taken from the web server; None where that server does not give it away."""
    channel = getattr(environ.get("waitress.client_disconnected"), "__self__", None)
    theirs = getattr(channel, "socket", None)
    if not isinstance(theirs, socket.socket):
        return None
    try:
        ours = socket.socket(fileno=os.dup(theirs.fileno()))
        dead, other = socket.socketpair()
        os.dup2(dead.fileno(), theirs.fileno(), inheritable=False)
    except OSError:
        return None
    dead.close()
    other.close()
    return ours
