"""Server-sent events: an open page holds one connection, without a thread, and learns when its table changes.

The only event is `look`: the page then fetches what changed, as it does without this connection now and then.
"""

from __future__ import annotations

import asyncio
import resource
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import structlog

from service import links
from service.app import App
from service.web.wsgi_threads import Receive, Scope, Send, name_network, send_text

PATH = "/live/"
HEARTBEAT_S = 20  # proxies close a connection on which they see nothing for longer
RETRY_S = 1
PAGES_AT_ONCE = 500  # other requests are served between two groups of this number of pages
START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", b"text/event-stream"),
        (b"cache-control", b"no-store"),
        (b"x-accel-buffering", b"no"),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ],
}
RETRY, LOOK_EVENT, HEARTBEAT = b"retry: 3000\n\n", b"data: look\n\n", b":\n\n"
OTHER_FILES = 2_000  # beside open pages: other connections, the database, Redis, logs, templates
MANY_PAGES = 1_000_000  # where the number of files has no limit
NO_ROOM = "This server sends no more changes; please ask now and then.\n"
log = structlog.get_logger()


class OpenPage:
    """The connection of one open page."""

    def __init__(self, send: Send, client: str = "") -> None:
        self._send = send
        self.client = client
        self._has_missed_look = False

    def send(self, text: bytes) -> None:
        """Send a `look` or a heartbeat; in place of a heartbeat a `look`, if the last one could not be sent."""
        body = LOOK_EVENT if self._has_missed_look else text
        is_sent = self._send_now({"type": "http.response.body", "body": body, "more_body": True})
        if body == LOOK_EVENT:
            self._has_missed_look = not is_sent

    def end(self) -> None:
        """Complete the response, which ends the connection."""
        self._send_now({"type": "http.response.body", "body": b""})

    def _send_now(self, message: Mapping[str, Any]) -> bool:
        """Hand a message to the server; return False if the server would have to wait for the client.

        Sending waits for nothing else, so one step completes it. A task for each of thousands of pages takes twice the
        time, and keeps the garbage collector busy.
        """
        sending = self._send(message)
        try:
            sending.send(None)
        except StopIteration:
            return True
        sending.close()
        return False


class Live:
    """The open pages of this process by topic: a table, and whether a player or a spectator looks at it."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._max_pages = find_max_open_pages()
        self._pages: dict[str, set[OpenPage]] = defaultdict(set)  # by topic
        # By client the pages that were not ended, the oldest first; a dictionary, because a set has no order.
        self._clients: dict[str, dict[OpenPage, None]] = defaultdict(dict)
        self._listener: threading.Thread | None = None
        self._closed = False

    def __len__(self) -> int:
        """Return the number of open pages, and of those that were ended and are still connected."""
        return sum(map(len, self._pages.values()))

    def has_room(self) -> bool:
        """Return whether one more page may be open; pages that were ended do not count."""
        return sum(map(len, self._clients.values())) < self._max_pages

    def find_topic(self, scope: Scope) -> str | None:
        """Return the topic whose changes this request asks for; None if it asks for something else."""
        if not scope["path"].startswith(PATH) or scope["method"] != "GET":
            return None
        token = scope["path"].removeprefix(PATH)
        table, kind = links.parse_token(token, count=2)
        is_right = links.is_same_secret(self._app.links.make_live_token(table, kind), token)
        return f"{table}.{kind}" if is_right else None

    def name_client(self, scope: Scope) -> str:
        """Return a name for the network of a client; the trusted proxies in front of this server say who it is."""
        address, _port = scope.get("client") or ("", 0)
        proxies = self._app.settings.proxies
        if proxies:
            forwarded = dict(scope["headers"]).get(b"x-forwarded-for", b"").decode("latin-1").split(",")
            if len(forwarded) >= proxies:  # each of them has appended the address that it saw
                address = forwarded[-proxies].strip()
        return name_network(address)

    async def serve(self, topic: str, receive: Receive, send: Send, client: str = "") -> None:
        """Send the changes of this topic to a page until it closes the connection.

        If there is no room, the client with the most pages loses its oldest one. Answer 503 if no client has more pages
        than this one, or while the server stops.
        """
        has_room = not self._closed and (self.has_room() or self._make_room(client))
        if not has_room:
            await send_text(send, 503, NO_ROOM)
            return
        await send(START)
        await send({"type": "http.response.body", "body": RETRY, "more_body": True})
        page = OpenPage(send, client)
        self._pages[topic].add(page)
        self._clients[client][page] = None
        self._start_listener()
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self._remove(topic, page)

    def _remove(self, topic: str, page: OpenPage) -> None:
        """Remove a page whose connection is closed."""
        self._pages[topic].discard(page)
        if not self._pages[topic]:
            del self._pages[topic]
        self._forget(page)

    def _forget(self, page: OpenPage) -> None:
        """Leave the page out of the count of its client."""
        self._clients[page.client].pop(page, None)
        if not self._clients[page.client]:
            del self._clients[page.client]

    def _make_room(self, client: str) -> bool:
        """End the oldest page of the client that has the most; return False if no client has more than this one."""
        counts = {name: len(pages) for name, pages in self._clients.items()}
        client_with_most = max(counts, key=lambda name: counts[name], default=client)
        if counts.get(client_with_most, 0) <= counts.get(client, 0):
            return False
        page = next(iter(self._clients[client_with_most]))  # the oldest is the first
        self._forget(page)
        page.end()
        return True

    def publish(self, topics: Iterable[str], text: bytes = LOOK_EVENT) -> None:
        """Send this to all pages of these topics."""
        self._send_to([page for topic in topics for page in self._pages.get(topic, ())], text)

    def publish_to_all(self, text: bytes) -> None:
        self.publish(list(self._pages), text)

    def _send_to(self, pages: Sequence[OpenPage], text: bytes) -> None:
        """Send this to the first PAGES_AT_ONCE pages now, and to the others after the requests that wait."""
        if self._closed:
            return
        for page in pages[:PAGES_AT_ONCE]:
            page.send(text)
        if len(pages) > PAGES_AT_ONCE:
            asyncio.get_running_loop().call_soon(self._send_to, pages[PAGES_AT_ONCE:], text)

    def close(self) -> None:
        """End all connections, so that the server can stop."""
        self._closed = True
        for page in [page for pages in self._pages.values() for page in pages]:
            page.end()

    def _start_listener(self) -> None:
        """Start the thread that listens to Redis, if it does not run yet."""
        if self._listener is None:
            loop = asyncio.get_running_loop()
            self._listener = threading.Thread(target=self._listen, args=(loop,), name="live", daemon=True)
            self._listener.start()

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Publish what Redis announces until the server stops; a lost Redis is tried again."""
        while not self._closed:
            try:
                self._listen_once(loop)
            except Exception as error:  # of any kind: the next try may work
                if loop.is_closed():
                    return
                log.warning("cannot receive changes", error=str(error))
                time.sleep(RETRY_S)

    def _listen_once(self, loop: asyncio.AbstractEventLoop) -> None:
        """Publish what Redis announces, with heartbeats between, until the server stops."""
        heartbeat_at = time.monotonic() + HEARTBEAT_S
        for change in self._app.wakeups.iter_changes():
            if self._closed:
                return
            if change is None:  # subscribed from now on; announcements before may have been missed
                loop.call_soon_threadsafe(self.publish_to_all, LOOK_EVENT)
            elif change:  # empty if a second passed without any
                loop.call_soon_threadsafe(self.publish, find_topics(change))
            if time.monotonic() > heartbeat_at:
                loop.call_soon_threadsafe(self.publish_to_all, HEARTBEAT)
                heartbeat_at = time.monotonic() + HEARTBEAT_S


def find_topics(change: str) -> list[str]:
    """Return the topics for an announcement “TABLE/WHAT”: the players and the spectators, or for talk the players."""
    table, _, what = change.partition("/")
    if what == "talk":
        return [f"{table}.seat"]
    return [f"{table}.seat", f"{table}.watch"]


def find_max_open_pages() -> int:
    """Return how many pages may be open: the files that this process may have less OTHER_FILES, but at least half."""
    max_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if max_files == resource.RLIM_INFINITY:
        return MANY_PAGES
    return max(max_files - OTHER_FILES, max_files // 2)
