"""A web server in a thread of this process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socket import socket
from typing import Any

import waitress
from waitress import wasyncore


@contextmanager
def serving(application: Any, listener: socket, **settings: Any) -> Iterator[None]:
    """Serve an application at a listening socket until the block ends.

    The server ends in its own thread, because it can be waiting for the files that have to be closed.
    """
    channels: dict[int, Any] = {}
    server: Any = waitress.create_server(application, map=channels, sockets=[listener], **settings)
    thread = threading.Thread(target=server.run, name="web server", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.task_dispatcher.shutdown()
        server.trigger.pull_trigger(lambda: wasyncore.close_all(channels))
        thread.join(5)
