"""A web server in a thread of this process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from service.web.server import WebServer

STOP_S = 15


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
