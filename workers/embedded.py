"""The embedded service: workers, clock and mail servers as threads of one process, beside the web server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from service.app import App
from service.hosting import local_mailbox
from service.settings import EMBEDDED, parse_listening_address
from workers import process_pool, processes
from workers.incoming import inbox, mailbox_polling
from workers.jobs import request_stop, set_app

STOP_S = 5  # how long the threads may take to end
JOIN_S = 0.02


@contextmanager
def embedded(app: App) -> Iterator[None]:
    """Run everything but the web server in threads, and end them afterwards."""
    stop, servers = threading.Event(), _start_mail_servers(app)
    set_app(app)
    process_pool.start()
    threads = _start_threads(app, stop)
    try:
        yield
    finally:
        stop.set()
        request_stop()
        process_pool.stop()
        _wake_until_ended(app, threads)
        for server in servers:
            server.stop()


def _start_threads(app: App, stop: threading.Event) -> list[threading.Thread]:
    threads = [
        threading.Thread(target=processes.run_thread, args=(app, [queue], stop), name=queue, daemon=True)
        for queue in processes.QUEUES
    ]
    threads.append(threading.Thread(target=processes.run_clock, args=(app, stop), name="clock", daemon=True))
    if app.settings.imap:
        threads.append(threading.Thread(target=mailbox_polling.watch, args=(app, stop), name="imap", daemon=True))
    for thread in threads:
        thread.start()
    return threads


def _wake_until_ended(app: App, threads: Sequence[threading.Thread]) -> None:
    """Wake the workers until they see the stop: a worker that was about to wait needs a second wake-up."""
    until = time.monotonic() + STOP_S
    while any(thread.is_alive() for thread in threads) and time.monotonic() < until:
        for queue in processes.QUEUES:
            app.wakeups.wake(queue)
        for thread in threads:
            thread.join(JOIN_S)


def _start_mail_servers(app: App) -> list[Any]:
    """Start the local mailbox and its inbox if there is no relay, and the inbox that the settings ask for."""
    servers: list[Any] = []
    if app.settings.smtp == EMBEDDED:
        servers += [local_mailbox.start(app), inbox.make_smtp_server(app, "127.0.0.1", local_mailbox.find_free_port())]
        servers[1].start()
        app.relay, app.inbound = (f"smtp://127.0.0.1:{server.port}" for server in servers)
    if app.settings.inbound:
        servers.append(inbox.make_lmtp_server(app, *parse_listening_address("DEPESCHE_INBOUND", app.settings.inbound)))
        servers[-1].start()
    return servers
