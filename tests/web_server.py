"""A web server in a thread of this process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socket import socket
from typing import Any

import waitress
from waitress import wasyncore


@contextmanager
def serving(application: Any, listener: socket, **chosen: Any) -> Iterator[None]:
    """Answer at a port that is taken already.

    The server ends in its own thread: it may be waiting for the very files that anybody else would close.
    """
    waited_for: dict[int, Any] = {}
    server: Any = waitress.create_server(application, map=waited_for, sockets=[listener], **chosen)
    thread = threading.Thread(target=server.run, name="web server", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.task_dispatcher.shutdown()
        server.trigger.pull_trigger(lambda: wasyncore.close_all(waited_for))
        thread.join(5)
