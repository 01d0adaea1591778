"""Running the service: all in one process, or its parts as processes of their own."""

from __future__ import annotations

import argparse
import fcntl
import logging
import os
import re
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from engine.refusal import Refused
from service.commands.terminal import Parser, Subparsers, add_command, positive

if TYPE_CHECKING:
    from service.app import App
    from service.settings import Settings


ADDRESS = re.compile(r"[^\s<>'\"(){},;]+@")  # up to the name of the mail server, or of the database

# Whoever sends slowly, or much, holds nobody else up: many may be connected, the silent are let go, and what is longer
# than any request of ours is not taken in.
SLOW_CLIENTS = {
    "connection_limit": 1_000,
    "channel_timeout": 20,
    "cleanup_interval": 5,
    "max_request_header_size": 16 * 1024,
    "max_request_body_size": 128 * 1024,
    "asyncore_use_poll": True,  # `select` knows no connection beyond the 1,024th, and open pages have one each
}
MOST_FILES = 65_536


def add(subparsers: Subparsers[Parser]) -> None:
    _add_serve(subparsers)
    _add_web(subparsers)
    worker = add_command(
        subparsers,
        "worker",
        run_worker,
        "Judge moves, send letters and play for bots; production, as many as you like.",
        "depesche worker",
        "depesche worker --queues bots",
    )
    worker.add_argument(
        "--queues", default="referee,post,bots", help="which bells to answer, each in a process of its own"
    )
    add_command(
        subparsers,
        "clock",
        run_clock,
        "Watch deadlines and ring forgotten bells; production, one is enough, more do no harm.",
        "depesche clock",
    )
    inbound = add_command(
        subparsers,
        "inbound",
        run_inbound,
        "Receive answers by mail: an LMTP server behind your mail server.",
        "depesche inbound --bind 127.0.0.1:8024",
    )
    inbound.add_argument("--bind", default="127.0.0.1:8024", help="address and port to listen on")
    inbound.add_argument("--smtp", action="store_true", help="speak SMTP, not LMTP")
    add_command(
        subparsers,
        "imap",
        run_imap,
        "Fetch answers from an ordinary mailbox (DEPESCHE_IMAP), where no mail server hands them over.",
        "depesche imap",
    )


def _add_serve(subparsers: Subparsers[Parser]) -> None:
    serve = add_command(
        subparsers,
        "serve",
        run_serve,
        "Run everything in one process: pages, referee, post, clock, and a local mailbox.",
        "depesche serve --demo",
        "depesche serve --host 0.0.0.0 --port 80 --folder /var/lib/depesche",
    )
    serve.add_argument("--host", help="address to listen on (DEPESCHE_HOST)")
    serve.add_argument("--port", type=positive, help="port to listen on (DEPESCHE_PORT)")
    serve.add_argument("--folder", help="where the database and the secret live (DEPESCHE_FOLDER)")
    serve.add_argument("--demo", action="store_true", help="open a table against a bot and print its address")


def _add_web(subparsers: Subparsers[Parser]) -> None:
    web = add_command(
        subparsers,
        "web",
        run_web,
        "Serve the pages; production, on any number of machines.",
        "depesche web --bind 0.0.0.0:8000 --workers 4",
    )
    web.add_argument("--workers", type=positive, default=2, help="processes")
    web.add_argument("--threads", type=positive, default=16, help="threads in each process")
    web.add_argument("--bind", help="address and port, for instance 0.0.0.0:8000")


def write_logs(form: str) -> None:
    """What went wrong is told without the values of variables, for among them are seeds, links and addresses."""
    import structlog

    before: list[Any]
    *before, _ = structlog.get_config()["processors"]
    if form == "json":
        last: list[Any] = [
            structlog.processors.format_exc_info,
            _without_addresses,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ]
        before = [one for one in before if not isinstance(one, structlog.processors.TimeStamper)]
        before.append(structlog.processors.TimeStamper(fmt="iso", utc=True))
    else:
        colours, plain = sys.stdout.isatty(), structlog.dev.plain_traceback
        last = [_without_addresses, structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=plain)]
    structlog.configure(processors=[*before, *last])


def _without_addresses(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Mail servers name the recipient when they refuse; the number of the letter says enough."""
    shown = {name: ADDRESS.sub("…@", value) for name, value in line.items() if isinstance(value, str)}
    return {**line, **shown}


def _settings(options: argparse.Namespace) -> Settings:
    """The settings of the environment; what the command line says stands above it."""
    from service import settings

    said = {name: getattr(options, name, None) for name in ("folder", "host", "port")}
    above = {f"DEPESCHE_{name.upper()}": str(value) for name, value in said.items() if value is not None}
    files = {f"{name}_FILE": "" for name in above}
    found = settings.read({**os.environ, **files, **above})
    write_logs(found.logs)
    return found


def many_files() -> None:
    """As many connections as this machine lets one process have: an open page holds one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def _shared(options: argparse.Namespace) -> Settings:
    """The settings of one process of several: without one Redis for all of them no bell would ever be heard."""
    from service.settings import EMBEDDED

    found = _settings(options)
    if found.redis == EMBEDDED:
        raise Refused(
            "This is one process of several, which need one Redis between them: name it with DEPESCHE_REDIS, "
            "such as redis://127.0.0.1/0; or run everything in one process with: depesche serve"
        )
    return found


def run_serve(options: argparse.Namespace) -> int:
    """The embedded service: everything in this process."""
    from service.app import App
    from service.settings import EMBEDDED
    from service.web import warm_up

    settings = _settings(options)
    many_files()
    with listening(settings.host, settings.port) as listener, only_one(settings):
        app = App(settings)
        _make_ready(app)
        warm_up.beside()
        server = _server(app, listener, 8)
        with embedded(app):
            if options.demo:
                _say(f"A table against a bot is laid: {demonstration(app)}")
            _say(f"Depesche is open at {settings.address}/ (stop with Ctrl-C)")
            if settings.smtp == EMBEDDED:
                _say(f"Every letter can be read at {settings.address}/mailbox")
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
            server.run()
    return 0


def _make_ready(app: App) -> None:
    """Open the app; close it where that fails."""
    try:
        app.open()
    except BaseException:
        app.close()
        raise


def _server(app: App, listener: socket.socket, threads: int) -> Any:
    """The web server at a port that is taken already."""
    import waitress.server

    from service import create_app

    return waitress.server.create_server(create_app(app), sockets=[listener], threads=threads, **_chosen(app.settings))


def _chosen(settings: Settings) -> dict[str, Any]:
    """How our web servers deal with visitors."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a short line of visitors is no news
    return {**SLOW_CLIENTS, "ident": None, "clear_untrusted_proxy_headers": not settings.proxies}


@contextmanager
def embedded(app: App) -> Iterator[None]:
    """The workers, the clock and, where there is no relay, the mail server, as threads of this process."""
    from workers import process_pool, processes
    from workers.incoming import mailbox_polling
    from workers.jobs import finish, work_for

    stop, servers = threading.Event(), _mail_servers(app)
    work_for(app)
    process_pool.start()
    threads = [
        threading.Thread(target=processes.run_thread, args=(app, [queue], stop), name=queue)
        for queue in processes.QUEUES
    ]
    threads.append(threading.Thread(target=processes.run_clock, args=(app, stop), name="clock"))
    if app.settings.imap:
        threads.append(threading.Thread(target=mailbox_polling.watch, args=(app, stop), name="imap"))
    for thread in threads:
        thread.daemon = True
        thread.start()
    try:
        yield
    finally:
        stop.set()
        finish()
        process_pool.stop()
        _wake_until_ended(app, threads)
        for server in servers:
            server.stop()


def _wake_until_ended(app: App, threads: Sequence[threading.Thread]) -> None:
    """Bells wake the workers to see the stop; one that was about to wait for its next bell needs another."""
    from workers import processes

    until = time.monotonic() + 5
    while any(thread.is_alive() for thread in threads) and time.monotonic() < until:
        for queue in processes.QUEUES:
            app.wakeups.wake(queue)
        for thread in threads:
            thread.join(0.02)


def _mail_servers(app: App) -> list[Any]:
    """Without a relay a mailbox for what we send and an ear for its answers; and the ear that the host asks for."""
    from service import local_mailbox
    from service.settings import EMBEDDED, listening_address
    from workers.incoming import inbox

    servers: list[Any] = []
    if app.settings.smtp == EMBEDDED:
        servers += [local_mailbox.start(app), inbox.smtp(app, "127.0.0.1", local_mailbox.find_free_port())]
        servers[1].start()
        app.relay, app.inbound = (f"smtp://127.0.0.1:{server.port}" for server in servers)
    if app.settings.inbound:
        servers.append(inbox.lmtp(app, *listening_address("DEPESCHE_INBOUND", app.settings.inbound)))
        servers[-1].start()
    return servers


@contextmanager
def only_one(settings: Settings) -> Iterator[IO[str]]:
    """SQLite is for one process: a second one in the same folder is turned away."""
    settings.folder.mkdir(parents=True, exist_ok=True)
    with (settings.folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused(
                "Another service is using the folder {folder}; stop it first, or choose another folder with --folder.",
                folder=settings.folder,
            ) from None
        yield lock


def demonstration(app: App) -> str:
    """The address of a seat at a table against a bot, opened the first time and found again afterwards."""
    from service.tables import access, opening, submitting
    from service.tables.opening import Invited

    note = app.settings.folder / "demonstration"
    if not note.exists():
        guests = [Invited("Guest", "guest@localhost"), Invited("Bot")]
        opened = opening.open_table(app, "kaiser", {}, guests, 0)
        place = access.find(app, opened.links[0])
        submitting.verdict(app, submitting.submit(app, place, "sit demonstration", "sit"), 5)
        note.write_text(opened.links[0], "ascii")
    return f"{app.settings.address}/t/{note.read_text('ascii').strip()}"


def run_web(options: argparse.Namespace) -> int:
    """The pages, in several processes at one address; one that dies is replaced."""
    from service.app import App
    from service.settings import listening_address
    from workers import processes

    settings = _shared(options)
    host, port = listening_address("--bind", options.bind or f"{settings.host}:{settings.port}")
    with listening(host, port) as listener:
        app = App(settings)
        _make_ready(app)
        app.close()  # every process opens its own
        _say(f"Depesche is open at {host}:{port}")
        names = [f"web {number + 1}" for number in range(options.workers)]
        processes.run_each(names, lambda _: _serve_pages(settings, listener, options.threads))
    return 0


def listening(host: str, port: int) -> socket.socket:
    """A port taken for this process and those that it starts."""
    try:
        (family, *_, address), *_ = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        return socket.create_server(address[:2], family=family, backlog=1_024)
    except OSError as error:
        raise Refused(
            "{host}:{port} cannot be listened on ({why}); choose another address or port.",
            host=host,
            port=port,
            why=error.strerror or error,
        ) from error


def _serve_pages(settings: Settings, listener: socket.socket, threads: int) -> None:
    """Answer at this port until told to stop, and then finish the requests in hand."""
    from service.app import App
    from service.web import warm_up

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    warm_up.beside()
    _server(App(settings), listener, threads).run()


def run_worker(options: argparse.Namespace) -> int:
    """A worker process for each bell."""
    from service.app import App
    from workers import processes

    queues = [name.strip() for name in options.queues.split(",")]
    unknown = set(queues) - set(processes.QUEUES)
    if unknown:
        raise Refused(
            "There is no bell “{name}”; the bells are {known}.",
            name=", ".join(sorted(unknown)),
            known=", ".join(processes.QUEUES),
        )
    settings = _shared(options)
    app = App(settings)
    _make_ready(app)
    if len(queues) == 1:
        processes.run_worker(app, queues)
        return 0
    app.close()  # every process opens its own
    processes.run_each(queues, lambda queue: processes.run_worker(App(settings), [queue]))
    return 0


def run_clock(options: argparse.Namespace) -> int:
    """The clock as a process."""
    from service.app import App
    from workers import processes
    from workers.jobs import work_for

    app, stop = App(_shared(options)), threading.Event()
    _make_ready(app)
    work_for(app)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    processes.run_clock(app, stop)
    return 0


def run_inbound(options: argparse.Namespace) -> int:
    """The server for answers by mail."""
    from service.app import App
    from service.settings import listening_address
    from workers.incoming import inbox

    host, port = listening_address("--bind", options.bind)
    listening(host, port).close()  # before anything is made; the mail server opens it again
    app, stop = App(_shared(options)), threading.Event()
    _make_ready(app)
    receiver = (inbox.smtp if options.smtp else inbox.lmtp)(app, host, port)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    receiver.start()
    _say(f"Answers are received at {options.bind} ({'SMTP' if options.smtp else 'LMTP'})")
    stop.wait()
    receiver.stop()
    return 0


def run_imap(options: argparse.Namespace) -> int:
    """The fetcher of answers as a process."""
    from service.app import App
    from workers.incoming import mailbox_polling

    settings, stop = _shared(options), threading.Event()
    if not settings.imap:
        raise Refused("Say which mailbox: set DEPESCHE_IMAP to an address like imaps://user:password@host/INBOX.")
    app = App(settings)
    app.open()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    _say(f"Answers are fetched from {settings.imap.rpartition('@')[2]}")
    mailbox_polling.watch(app, stop)
    return 0


def _say(line: str) -> None:
    print(line, flush=True)
