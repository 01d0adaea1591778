"""A web server in a thread of this process, and an app behind it whose requests are counted and sent."""

import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from unittest import mock

from service.app import App
from service.web import server as web_servers
from service.web.server import WebServer
from service.web.wsgi_threads import ThreadedWsgi

STOP_S = 15
THREADS = 4
Answer = tuple[int, dict[str, str], bytes]
"""The status of an answer, its headers by their names in small letters, and its content."""


class ServedApp:
    """An app behind a web server; `flask_calls` counts the requests that the event loop leaves to Flask's threads."""

    def __init__(self, app: App) -> None:
        self.app, self.port, self.flask_calls = app, 0, 0

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Send a request over a connection of its own; `_` in the name of a header is a hyphen."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, body, {name.replace("_", "-"): text for name, text in headers.items()})
            answer = connection.getresponse()
            return answer.status, {name.lower(): text for name, text in answer.getheaders()}, answer.read()

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve the app until the block ends."""
        answer = ThreadedWsgi.answer

        async def count(*words: object, **others: object) -> None:
            self.flask_calls += 1
            await answer(*words, **others)  # type: ignore[arg-type]

        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        with (
            mock.patch.object(ThreadedWsgi, "answer", count),
            serving(web_servers.create_server(self.app, listener, THREADS)),
        ):
            yield


@contextmanager
def serving(server: WebServer) -> Iterator[None]:
    """Serve requests in a thread until the block ends."""
    thread = threading.Thread(target=server.serve_requests, name="web server", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(STOP_S)
