"""The costs of open pages for one process of the service, and the time until all of them are notified."""

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

from service.commands.benches import Measure, register_bench
from service.links import Links
from service.web import live, server

SECRET = "a secret that is long enough"
MAX_PAGES = 8_000  # or as many as this machine allows
QUIET_S = 45  # two keep-alives
# A host has no rich, which a package for tests brings, and which structlog would load: 4 MB.
AS_INSTALLED = "import sys; sys.modules['rich'] = None; from service.cli import main; sys.exit(main())"
TICKS = os.sysconf("SC_CLK_TCK")


@register_bench
def open_pages() -> Iterator[Measure]:
    """Memory and processor time of open pages, the time until all are notified, and of a page requested meanwhile."""
    server.raise_file_limit()
    with tempfile.TemporaryDirectory() as folder, run_service(Path(folder)) as (process, port):
        link = start_game(port)
        time_page(port)
        before = read_memory_kb(process)
        start = time.perf_counter()
        pages = hold_pages(port, Links(SECRET).make_live_token(link.table, "seat"))
        count = len(pages)
        yield Measure("open pages held by one process", count, "pages")
        yield Measure("opening one", (time.perf_counter() - start) * 1e3 / count, "ms")
        yield Measure("memory for each", (read_memory_kb(process) - before) / count, "kB", 20, at_most=True)
        spent = read_cpu_seconds(process)
        time.sleep(QUIET_S)
        share = 100 * (read_cpu_seconds(process) - spent) / QUIET_S
        yield Measure("of one core for all of them, while nothing happens", share, "%", 10, at_most=True)
        yield Measure("the first page fetched meanwhile", time_page(port), "ms", 100, at_most=True)
        yield Measure("one move told to all", time_notification(pages, link) * 1e3, "ms", 300, at_most=True)
        for page in pages:
            page.close()


@contextlib.contextmanager
def run_service(folder: Path) -> Iterator[tuple[int, int]]:
    """Run a service in a separate process; yield its process id and port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    names = {**os.environ, "DEPESCHE_FOLDER": str(folder), "DEPESCHE_SECRET": SECRET, "DEPESCHE_PORT": str(port)}
    names.pop("PYTHONDONTWRITEBYTECODE", None)  # a service keeps its compiled modules and templates
    words = [sys.executable, "-c", AS_INSTALLED, "serve"]
    with subprocess.Popen(words, env=names, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as service:
        try:
            wait_until_open(port)
            time_page(port, 1)
            yield service.pid, port
        finally:
            service.terminate()


def wait_until_open(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.01)
    raise TimeoutError(port)


class Link(Struct, frozen=True):
    """A seat at a table of this service."""

    table: str
    address: str


def request_json(address: str, body: dict[str, Any] | None = None) -> Any:
    sent = None if body is None else json.dumps(body).encode()
    with urlopen(
        Request(address, sent, {"Content-Type": "application/json"}), timeout=60
    ) as answer:  # the service under test
        return json.load(answer)


def start_game(port: int) -> Link:
    """Start a game against a bot."""
    api = f"http://127.0.0.1:{port}/api/v1"
    players = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Bot"}]
    table = request_json(f"{api}/tables", {"game": "kaiser", "players": players})
    link = f"{api}/t/{table['links'][0]}"
    request_json(f"{link}/sit", {"nonce": "word"})
    return Link(table["table"], link)


def time_page(port: int, tries: int = 5) -> float:
    """Return the milliseconds of a request of the first page, the best of some."""
    took = []
    for _ in range(tries):
        start = time.perf_counter()
        with urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
            answer.read()
        took.append((time.perf_counter() - start) * 1e3)
    return min(took)


def hold_pages(port: int, token: str) -> list[socket.socket]:
    """Open pages of one table until the machine or MAX_PAGES stops it."""
    pages = list[socket.socket]()
    with contextlib.suppress(OSError):
        while len(pages) < MAX_PAGES:
            page = socket.create_connection(("127.0.0.1", port), timeout=20)
            page.sendall(f"GET {live.PATH}{token} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            if not page.recv(1_000).startswith(b"HTTP/1.1 200"):
                page.close()
                break
            pages.append(page)
    return pages


def time_notification(pages: list[socket.socket], link: Link) -> float:
    """Return the seconds from the answer to a move until the last page is notified."""
    for page in pages:
        page.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            page.recv(1_000)
    request_json(f"{link.address}/moves", {"move": "resign"})
    start = time.perf_counter()
    for page in pages:
        page.settimeout(30)
        received = b""
        while live.LOOK_EVENT not in received:
            received += page.recv(1_000)
    return time.perf_counter() - start


def read_memory_kb(process: int) -> float:
    """Return the resident memory."""
    status = Path(f"/proc/{process}/status").read_text("ascii")
    return float(status.partition("VmRSS:")[2].split()[0])


def read_cpu_seconds(process: int) -> float:
    """Return the processor time so far."""
    user, system = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICKS
