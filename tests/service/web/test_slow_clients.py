"""Clients that send or read slowly, or send without end, hold up no other client and fill no memory."""

import contextlib
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from service.app import App
from service.tables import access, hints, submitting
from service.tables.opening import Invitee
from service.timing import Clock
from service.web import server
from service.web.wsgi_threads import MAX_BODY_BYTES, MAX_HEADER_BYTES, make_environ
from tests import apps
from tests.web_server import serving
from workers import referee
from workers.commands import run

REQUEST_LINE = "POST / HTTP/1.1\r\nHost: x\r\n"
BLOCK = b"x" * 65_536
MAX_BYTES = 64 * 2**20
LARGE_PAGE = b"x" * 16 * 2**20
THREADS = 4
IDLE_S = 0.2


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a server as `depesche serve` starts it, with a page that reads all it is sent."""

    def page(environ: dict[str, Any], start: Any) -> list[bytes]:
        body = environ["wsgi.input"].read()
        start("200 OK", [("Content-Type", "text/plain")])
        return [LARGE_PAGE if environ["PATH_INFO"] == "/large" else b"%d here" % len(body)]

    listener = run.take_port("127.0.0.1", 0)
    number = listener.getsockname()[1]
    with serving(server.create_wsgi_server(page, listener, THREADS)):
        yield number


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server disconnect silent clients after a fifth of a second."""
    monkeypatch.setattr(server, "IDLE_S", IDLE_S)
    monkeypatch.setattr(server, "CHECK_S", IDLE_S / 4)


def connect(port: int, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    with suppress(ConnectionError):  # the server answers before all is sent
        connection.sendall(sent)
    return connection


def answer(port: int, sent: bytes) -> bytes:
    """Send this and return the answer, up to the end of the connection."""
    with connect(port, sent) as connection, suppress(ConnectionResetError):
        received = b""
        while piece := connection.recv(65_536):
            received += piece
    return received


def fetch(port: int) -> bytes:
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as client:
        client.request("GET", "/")
        return client.getresponse().read()


@pytest.mark.parametrize("beginning", [b"GET / HT", REQUEST_LINE.encode() + b"Content-Length: 60000\r\n\r\nabc"])
def test_hundreds_of_slow_senders_do_not_hold_up_another_client(port: int, beginning: bytes) -> None:
    slow = [connect(port, beginning) for _ in range(300)]
    assert fetch(port) == b"0 here"
    for one in slow:
        one.close()


def test_more_clients_that_never_read_than_threads_do_not_hold_up_another(port: int) -> None:
    slow = [connect(port, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(2 * THREADS)]
    assert fetch(port) == b"0 here"
    for one in slow:
        one.close()


@pytest.mark.parametrize(
    ("header", "block"),
    [(f"Content-Length: {10 * MAX_BYTES}", BLOCK), ("Transfer-Encoding: chunked", b"10000\r\n" + BLOCK + b"\r\n")],
    ids=["announced", "chunked"],
)
def test_an_endless_body_is_cut_off_early(port: int, header: str, block: bytes) -> None:
    taken = 0
    with connect(port, f"{REQUEST_LINE}{header}\r\n\r\n".encode()) as client, suppress(OSError):
        while taken < MAX_BYTES:
            taken += client.send(block)
    assert taken < MAX_BYTES / 2


def test_an_endless_header_is_cut_off_early(port: int) -> None:
    taken = 0
    with connect(port, REQUEST_LINE.encode() + b"X-Long: ") as client, suppress(OSError):
        while taken < MAX_BYTES:
            taken += client.send(BLOCK)
    assert taken < MAX_BYTES / 2


@pytest.mark.parametrize(
    ("size", "status"), [(MAX_BODY_BYTES, b"200 OK"), (MAX_BODY_BYTES + 1, b"413 "), (0, b"200 OK")]
)
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_has_a_largest_size(port: int, size: int, status: bytes, chunked: bool) -> None:
    header = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}"
    body = b"%x\r\n%s\r\n" % (size, b"x" * size) * bool(size) + b"0\r\n\r\n" if chunked else b"x" * size
    sent = f"{REQUEST_LINE}Connection: close\r\n{header}\r\n\r\n".encode() + body
    received = answer(port, sent)
    assert received.startswith(b"HTTP/1.1 " + status)
    assert status != b"200 OK" or received.endswith(b"%d here" % size)


@pytest.mark.parametrize(("size", "status"), [(MAX_HEADER_BYTES // 2, b"200 OK"), (MAX_HEADER_BYTES, b"431 ")])
def test_headers_have_a_largest_size(port: int, size: int, status: bytes) -> None:
    header = b"X-Long: " + b"x" * size
    received = answer(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + header + b"\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 " + status)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n\r\n",
        REQUEST_LINE.encode() + b"Content-Length: 60000\r\n\r\nabc",
    ],
    ids=["nothing", "half a header", "a whole request", "an empty line more", "half a body"],
)
def test_a_client_that_sends_nothing_more_is_disconnected(port: int, beginning: bytes) -> None:
    since = time.monotonic()
    assert answer(port, beginning) == b"" or beginning.endswith(b"\r\n")
    assert 0.8 * IDLE_S < time.monotonic() - since < 5


@pytest.mark.usefixtures("impatient")
def test_a_client_that_reads_nothing_is_disconnected(port: int) -> None:
    with connect(port, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n") as client:
        time.sleep(4 * IDLE_S)
        received = 0
        with suppress(ConnectionResetError):
            while piece := client.recv(2**20):
                received += len(piece)
    assert received < len(LARGE_PAGE)


@pytest.mark.usefixtures("impatient")
def test_a_client_that_reads_slowly_gets_all(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole takes longer than a client may be silent, and a piece may be held up for half a second."""
    monkeypatch.setattr(server, "IDLE_S", 0.6)
    with connect(port, b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") as client:
        received = 0
        while piece := client.recv(2**20):
            received += len(piece)
            time.sleep(0.05)
    assert received > len(LARGE_PAGE)


def test_what_a_client_says_as_if_a_proxy_said_it_is_left_out() -> None:
    headers = [(b"x-forwarded-for", b"1.2.3.4"), (b"x_forwarded_for", b"1.2.3.4"), (b"accept", b"a"), (b"accept", b"b")]
    scope = {
        "method": "GET", "raw_path": b"//t/%C3%A9", "query_string": b"a=1", "http_version": "1.1", "scheme": "http",
        "headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    environ = make_environ(scope, b"", trust_proxy=False)
    assert "HTTP_X_FORWARDED_FOR" not in environ
    assert environ["HTTP_ACCEPT"] == "a, b"
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/t/é"
    assert make_environ(scope, b"", trust_proxy=True)["HTTP_X_FORWARDED_FOR"] == "1.2.3.4"


@pytest.mark.parametrize(
    "request_text",
    [
        "GET /mailbox HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.7\r\nConnection: close\r\n\r\n",
        "GET /mailbox HTTP/1.1\r\nHost: localhost\r\nForwarded: for=192.0.2.7\r\nConnection: close\r\n\r\n",
        "GET /mailbox HTTP/1.0\r\nHost: 127.0.0.1:8765\r\n\r\n",  # nginx, with a proxy_pass and nothing else
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n",
    ],
)
def test_behind_a_proxy_that_the_settings_do_not_name_no_visitor_is_local(app: App, request_text: str) -> None:
    listener = run.take_port("127.0.0.1", 0)
    number = listener.getsockname()[1]
    with serving(server.create_server(app, listener, THREADS)):
        assert b" 404 " in answer(number, request_text.encode()).splitlines()[0]
        for path in ("/mailbox", "/metrics"):
            plain = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            assert b" 200 " in answer(number, plain.encode()).splitlines()[0]


FEW_FILES = 400
SMALL_SERVER = """
import resource, sys
from service.web import server
from workers.commands import run
resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))
def page(environ, start):
    start("200 OK", [("Content-Type", "text/plain")])
    return [b"here"]
listener = run.take_port("127.0.0.1", 0)
print(listener.getsockname()[1], flush=True)
server.create_wsgi_server(page, listener, 4).serve_requests()
"""


@pytest.fixture(scope="module")
def small_server() -> Iterator[int]:
    """The port of a server in a process of its own that may have few files."""
    command = [sys.executable, "-c", SMALL_SERVER.format(files=FEW_FILES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("host", "beginning"),
    [
        ("127.0.0.1", ""),
        ("127.0.0.2", ""),
        ("127.0.0.2", "GET / HTTP/1.1\r\nHo"),
        ("127.0.0.2", REQUEST_LINE + "Content-Length: 9\r\n\r\nx"),
    ],
)
def test_too_many_idle_connections_keep_no_visitor_out(small_server: int, beginning: str, host: str) -> None:
    with contextlib.ExitStack() as idle:
        for _ in range(3 * FEW_FILES // 2):
            crowd = socket.create_connection(("127.0.0.1", small_server), 10, (host, 0))
            idle.enter_context(closing(crowd))
            with suppress(ConnectionError):
                crowd.sendall(beginning.encode())
        began = time.monotonic()
        assert fetch(small_server) == b"here"
        assert time.monotonic() - began < 2


def test_a_client_that_asks_keeps_its_connection_while_another_opens_many(small_server: int) -> None:
    with closing(HTTPConnection("127.0.0.1", small_server, timeout=10, source_address=("127.0.0.9", 0))) as client:
        client.connect()
        line = client.sock
        with contextlib.ExitStack() as idle:
            for number in range(3 * FEW_FILES // 2):
                idle.enter_context(closing(connect(small_server, b"")))
                if number % 100 == 0:
                    client.request("GET", "/")
                    assert client.getresponse().read() == b"here"
        assert client.sock is line


def test_pending_hints_hold_no_thread(tmp_path: Path) -> None:
    with apps.run_app(apps.make_settings(tmp_path, verdict_wait=5.0), apps.FakeTime()) as app:
        paths = list[str]()
        for _ in range(3 * THREADS):
            guests = [Invitee(name, f"{name}@example.org", secrets.token_hex(8), "person") for name in ("anna", "bert")]
            opened = apps.open_new(app, "kaiser", {}, guests, Clock(0, hints=True))
            places = [access.find(app, link) for link in opened.links]
            for place in places:
                submitting.submit(app, place, "sit word")
            referee.run()
            paths.append(f"/api/v1/t/{apps.find_move(app, places)[0].link}/hint")
        listener = run.take_port("127.0.0.1", 0)
        number = listener.getsockname()[1]
        with serving(server.create_server(app, listener, THREADS)), contextlib.ExitStack() as asking:
            for path in paths:
                asking.enter_context(closing(connect(number, f"POST {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())))
            began = time.monotonic()
            assert b" 200 " in answer(number, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")[:20]
            assert time.monotonic() - began < 2
        assert len(apps.run_query(app, hints.list_unanswered)) == len(paths)
