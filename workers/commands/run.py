"""The commands that run the service: all in one process, or each part in processes of its own."""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.refusal import Refused
from service import memory
from service.commands.terminal import Parser, Subparsers, add_command, parse_positive

if TYPE_CHECKING:
    from service.app import App
    from service.settings import Settings


ADDRESS = re.compile(r"[^\s<>'\"(){},;]+@")  # up to the host name of a mail server or database
EMBEDDED_THREADS = 8  # of the web server
BACKLOG = 1_024
DEMO_WAIT_S = 5


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the commands that run the service, or a part of it."""
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
    worker.add_argument("--queues", default="referee,post,bots", help="which jobs to do, each in a process of its own")
    add_command(
        subparsers,
        "clock",
        run_clock,
        "Watch deadlines and repeat lost wake-ups; production, one is enough, more do no harm.",
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
    """Add the command `serve`."""
    serve = add_command(
        subparsers,
        "serve",
        run_serve,
        "Run everything in one process: pages, referee, post, clock, and a local mailbox.",
        "depesche serve --demo",
        "depesche serve --host 0.0.0.0 --port 80 --folder /var/lib/depesche",
    )
    serve.add_argument("--host", help="address to listen on (DEPESCHE_HOST)")
    serve.add_argument("--port", type=parse_positive, help="port to listen on (DEPESCHE_PORT)")
    serve.add_argument("--folder", help="where the database and the secret live (DEPESCHE_FOLDER)")
    serve.add_argument("--demo", action="store_true", help="open a table against a bot and print its address")


def _add_web(subparsers: Subparsers[Parser]) -> None:
    """Add the command `web`."""
    web = add_command(
        subparsers,
        "web",
        run_web,
        "Serve the pages; production, on any number of machines.",
        "depesche web --bind 0.0.0.0:8000 --workers 4",
    )
    web.add_argument("--workers", type=parse_positive, default=2, help="processes")
    web.add_argument("--threads", type=parse_positive, default=16, help="threads in each process")
    web.add_argument("--bind", help="address and port, for instance 0.0.0.0:8000")


def configure_logs(form: str) -> None:
    """Set the form of log lines: `json` for programs, or `plain` for people.

    Tracebacks leave out variables, which may hold seeds, links and addresses.
    """
    import structlog

    processors: list[Any]
    *processors, _renderer = structlog.get_config()["processors"]
    if form == "json":
        processors = [one for one in processors if not isinstance(one, structlog.processors.TimeStamper)]
        processors += [
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _hide_addresses,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ]
    else:
        colours = sys.stdout.isatty()
        plain = structlog.dev.plain_traceback
        processors += [_hide_addresses, structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=plain)]
    structlog.configure(processors=processors)


def _hide_addresses(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Hide the addresses of people in a log line; they come with errors, for instance of a mail server.

    The host does not need them: a line about a letter has its number.
    """
    shown = {name: ADDRESS.sub("…@", value) for name, value in line.items() if isinstance(value, str)}
    return {**line, **shown}


def load_settings(options: argparse.Namespace) -> Settings:
    """Load the settings, and set the form of log lines; the command line takes precedence over the environment."""
    from service import settings

    arguments = {name: getattr(options, name, None) for name in ("folder", "host", "port")}
    variables = {f"DEPESCHE_{name.upper()}": str(value) for name, value in arguments.items() if value is not None}
    no_files = {f"{name}_FILE": "" for name in variables}  # a variable and its _FILE must not both be set
    loaded = settings.load_settings({**os.environ, **no_files, **variables})
    configure_logs(loaded.logs)
    return loaded


def _load_shared_settings(options: argparse.Namespace) -> Settings:
    """Load the settings of one process of several, which need a Redis to wake each other."""
    from service.settings import EMBEDDED

    settings = load_settings(options)
    if settings.redis == EMBEDDED:
        raise Refused(
            "This is one process of several, which need one Redis between them: name it with DEPESCHE_REDIS, "
            "such as redis://127.0.0.1/0; or run everything in one process with: depesche serve"
        )
    return settings


@memory.put_off_collections()
def run_serve(options: argparse.Namespace) -> int:
    """Run everything in this process."""
    from service.app import App
    from service.settings import EMBEDDED
    from service.web import server, start_warm_up
    from workers.processes import run_embedded

    settings = load_settings(options)
    server.save_memory()
    server.raise_file_limit()
    with take_port(settings.host, settings.port) as listener, lock_folder(settings):
        app = App(settings)
        _open(app)
        web_server = server.create_server(app, listener, EMBEDDED_THREADS)
        with run_embedded(app):
            if options.demo:
                _say(f"A table against a bot is open: {open_demo_table(app)}")
            _say(f"Depesche is open at {settings.address}/ (stop with Ctrl-C)")
            if settings.smtp == EMBEDDED:
                _say(f"Every letter can be read at {settings.address}/mailbox")
            memory.collect_from_now_on()
            start_warm_up()
            web_server.serve_requests()
    return 0


def _open(app: App) -> None:
    """Open the app; close it if that fails."""
    try:
        app.open()
    except BaseException:
        app.close()
        raise


@contextmanager
def lock_folder(settings: Settings) -> Iterator[None]:
    """Lock the folder meanwhile; raise Refused if another process has, because SQLite is for one process."""
    settings.folder.mkdir(parents=True, exist_ok=True)
    with (settings.folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused(
                "Another service is using the folder {folder}; stop it first, or choose another folder with --folder.",
                folder=settings.folder,
            ) from None
        yield


def open_demo_table(app: App) -> str:
    """Return the address of a seat at a table against a bot.

    The table is opened the first time; then its link is in the file `demonstration`.
    """
    from service.tables import access, opening, submitting
    from service.tables.opening import Invitee, NewTable
    from service.timing import Clock

    note = app.settings.folder / "demonstration"
    if not note.exists():
        guests = [Invitee("Guest", "guest@localhost"), Invitee("Bot")]
        without_deadlines = Clock(pace=0)
        opened = opening.open_table(app, NewTable(game="kaiser", chosen={}, guests=guests, clock=without_deadlines))
        place = access.find(app, opened.links[0])
        submission = submitting.submit(app, place, "sit demonstration", key="sit")
        submitting.wait_for_verdict(app, submission, DEMO_WAIT_S)
        note.write_text(opened.links[0], "ascii")
    return f"{app.settings.address}/t/{note.read_text('ascii').strip()}"


@memory.put_off_collections()
def run_web(options: argparse.Namespace) -> int:
    """Serve the pages in several processes at one port; a process that dies is replaced."""
    from service.app import App
    from service.settings import parse_listening_address
    from service.web import server
    from workers import processes

    settings = _load_shared_settings(options)
    server.save_memory()
    server.raise_file_limit()
    host, port = parse_listening_address("--bind", options.bind or f"{settings.host}:{settings.port}")
    with take_port(host, port) as listener:
        app = App(settings)
        _open(app)  # here, so that the database is migrated once, or the start refused
        app.close()  # every process makes an app of its own
        _say(f"Depesche is open at {host}:{port}")
        memory.collect_from_now_on()
        names = [f"web {number + 1}" for number in range(options.workers)]
        processes.run_each(names, lambda _: _prepare_pages(settings, listener, options.threads))
    return 0


def take_port(host: str, port: int) -> socket.socket:
    """Listen at a port, for this process and those that it starts; raise Refused if that is impossible."""
    try:
        first, *_ = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        family, *_, address = first
        host_and_port = address[:2]  # an address of IPv6 has two further parts
        return socket.create_server(host_and_port, family=family, backlog=BACKLOG)
    except OSError as error:
        raise Refused(
            "{host}:{port} cannot be listened on ({why}); choose another address or port.",
            host=host,
            port=port,
            why=error.strerror or error,
        ) from error


def _prepare_pages(settings: Settings, listener: socket.socket, threads: int) -> Callable[[], None]:
    """Return the function that serves the pages at this port until a signal comes."""
    from service.app import App
    from service.web import server, start_warm_up

    web_server = server.create_server(App(settings), listener, threads)
    start_warm_up()
    return web_server.serve_requests


@memory.put_off_collections()
def run_worker(options: argparse.Namespace) -> int:
    """Run a worker process for each queue."""
    from service.app import App
    from service.wakeups import JOBS
    from workers import processes

    queues = [name.strip() for name in options.queues.split(",")]
    unknown = set(queues) - set(JOBS)
    if unknown:
        raise Refused(
            "There is no queue “{name}”; the queues are {known}.",
            name=", ".join(sorted(unknown)),
            known=", ".join(JOBS),
        )
    settings = _load_shared_settings(options)
    app = App(settings)
    _open(app)  # here, so that the database is migrated once, or the start refused
    memory.collect_from_now_on()
    if len(queues) == 1:
        processes.run_worker(app, queues[0])
        return 0
    app.close()  # every process makes an app of its own
    processes.run_each(queues, lambda queue: partial(processes.run_worker, App(settings), queue))
    return 0


def run_clock(options: argparse.Namespace) -> int:
    """Run the clock, which watches deadlines and repeats lost wake-ups."""
    from service.app import App
    from workers import processes
    from workers.jobs import set_app

    app = App(_load_shared_settings(options))
    _open(app)
    set_app(app)
    processes.run_clock(app, _stop_on_signal())
    return 0


def run_inbound(options: argparse.Namespace) -> int:
    """Run the mail server that receives answers."""
    from service.app import App
    from service.settings import parse_listening_address
    from workers.incoming import inbox

    host, port = parse_listening_address("--bind", options.bind)
    take_port(host, port).close()  # refused before anything else is done; the mail server opens it again
    app = App(_load_shared_settings(options))
    _open(app)
    make_server = inbox.make_smtp_server if options.smtp else inbox.make_lmtp_server
    receiver = make_server(app, host, port)
    stop = _stop_on_signal()
    receiver.start()
    _say(f"Answers are received at {options.bind} ({'SMTP' if options.smtp else 'LMTP'})")
    stop.wait()
    receiver.stop()
    return 0


def run_imap(options: argparse.Namespace) -> int:
    """Fetch answers from a mailbox."""
    from service.app import App
    from workers.incoming import mailbox_polling

    settings = _load_shared_settings(options)
    if not settings.imap:
        raise Refused("Say which mailbox: set DEPESCHE_IMAP to an address like imaps://user:password@host/INBOX.")
    app = App(settings)
    _open(app)
    stop = _stop_on_signal()
    mailbox = settings.imap.rpartition("@")[2]  # without user and password
    _say(f"Answers are fetched from {mailbox}")
    mailbox_polling.watch(app, stop)
    return 0


def _stop_on_signal() -> threading.Event:
    """Return an event that SIGTERM and Ctrl-C set."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _say(line: str) -> None:
    print(line, flush=True)
