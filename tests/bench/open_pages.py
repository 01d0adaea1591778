"""Pages that are open and wait: what each costs one process of the service, and how soon all of them are told."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from msgspec import Struct

from service.benches import Measure, bench
from service.commands.run import many_files
from service.links import Links
from service.web import live

SECRET = "a secret that is long enough"
MOST = 8_000  # or as many as this machine allows
QUIET = 45  # seconds: two rounds of the word that says the service is still there
TICKS = os.sysconf("SC_CLK_TCK")


@bench
def open_pages() -> Iterator[Measure]:
    """Memory and processor time for open pages, the time until all are told, and a page fetched meanwhile."""
    many_files()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as (process, port):
        link = sat_down(port)
        fetched(port)
        before = memory(process)
        begun = time.perf_counter()
        pages = opened(port, Links(SECRET).live(link.table, "seat"))
        count = len(pages)
        yield Measure("open pages held by one process", count, "pages")
        yield Measure("opening one", (time.perf_counter() - begun) * 1e3 / count, "ms")
        yield Measure("memory for each", (memory(process) - before) / count, "kB", 10, at_most=True)
        spent = busy(process)
        time.sleep(QUIET)
        share = 100 * (busy(process) - spent) / QUIET
        yield Measure("of one core for all of them, while nothing happens", share, "%", 10, at_most=True)
        yield Measure("the first page fetched meanwhile", fetched(port), "ms", 100, at_most=True)
        yield Measure("one move told to all", told(pages, link) * 1e3, "ms", 2_000, at_most=True)
        for page in pages:
            page.close()


@contextlib.contextmanager
def served(folder: Path) -> Iterator[tuple[int, int]]:
    """A service in a process of its own, and its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    names = {**os.environ, "DEPESCHE_FOLDER": str(folder), "DEPESCHE_SECRET": SECRET, "DEPESCHE_PORT": str(port)}
    words = [sys.executable, "-m", "service.cli", "serve"]
    with subprocess.Popen(words, env=names, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as service:
        try:
            until_open(port)
            yield service.pid, port
        finally:
            service.terminate()


def until_open(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise TimeoutError(port)


class Link(Struct, frozen=True):
    """A seat at a table of this service."""

    table: str
    address: str


def asked(address: str, body: dict[str, Any] | None = None) -> Any:
    sent = None if body is None else json.dumps(body).encode()
    with urlopen(Request(address, sent, {"Content-Type": "application/json"}), timeout=60) as answer:  # our own
        return json.load(answer)


def sat_down(port: int) -> Link:
    """A game against a bot that has begun."""
    api = f"http://127.0.0.1:{port}/api/v1"
    players = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Bot"}]
    table = asked(f"{api}/tables", {"game": "kaiser", "players": players})
    link = f"{api}/t/{table['links'][0]}"
    asked(f"{link}/sit", {"nonce": "word"})
    return Link(table["table"], link)


def fetched(port: int) -> float:
    """Milliseconds for the first page, the best of five."""
    took = []
    for _ in range(5):
        begun = time.perf_counter()
        with urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
            answer.read()
        took.append((time.perf_counter() - begun) * 1e3)
    return min(took)


def opened(port: int, token: str) -> list[socket.socket]:
    """As many waiting pages of one table as can be had."""
    pages = list[socket.socket]()
    with contextlib.suppress(OSError):
        while len(pages) < MOST:
            page = socket.create_connection(("127.0.0.1", port), timeout=20)
            page.sendall(f"GET {live.PATH}{token} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            if not page.recv(1_000).startswith(b"HTTP/1.1 200"):
                page.close()
                break
            pages.append(page)
    return pages


def told(pages: list[socket.socket], link: Link) -> float:
    """Seconds from the answer to a move until the last page knows of it."""
    for page in pages:
        page.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            page.recv(1_000)
    asked(f"{link.address}/moves", {"move": "resign"})
    begun = time.perf_counter()
    for page in pages:
        page.settimeout(30)
        said = b""
        while live.LOOK not in said:
            said += page.recv(1_000)
    return time.perf_counter() - begun


def memory(process: int) -> float:
    """Resident memory in kB."""
    status = Path(f"/proc/{process}/status").read_text("ascii")
    return float(status.partition("VmRSS:")[2].split()[0])


def busy(process: int) -> float:
    """Seconds of processor time so far."""
    user, system = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICKS
