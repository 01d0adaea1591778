"""Clients that send slowly, or without end, hold nobody else up and fill no memory."""

import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from typing import Any

import pytest

from service.commands.run import SLOW_CLIENTS
from tests.web_server import serving

FIRST = "POST / HTTP/1.1\r\nHost: x\r\n"
BLOCK = b"x" * 65_536
MOST = 64 * 2**20


@pytest.fixture
def port() -> Iterator[int]:
    """A server as `depesche serve` starts it, with a page that reads everything it is sent."""

    def page(environ: dict[str, Any], start: Any) -> list[bytes]:
        environ["wsgi.input"].read()
        start("200 OK", [("Content-Type", "text/plain")])
        return [b"here"]

    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    with serving(page, listener, threads=4, **SLOW_CLIENTS):
        yield listener.getsockname()[1]


@pytest.mark.parametrize("begun", [b"GET / HT", FIRST.encode() + b"Content-Length: 60000\r\n\r\nabc"])
def test_hundreds_who_send_slowly_shut_nobody_out(port: int, begun: bytes) -> None:
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]
    for one in slow:
        one.sendall(begun)
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as client:
        client.request("GET", "/")
        assert client.getresponse().read() == b"here"
    for one in slow:
        one.close()


@pytest.mark.parametrize(
    ("header", "block"),
    [(f"Content-Length: {10 * MOST}", BLOCK), ("Transfer-Encoding: chunked", b"10000\r\n" + BLOCK + b"\r\n")],
    ids=["announced", "chunked"],
)
def test_a_body_without_end_is_cut_off_early(port: int, header: str, block: bytes) -> None:
    taken = 0
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client, suppress(OSError):
        client.sendall(f"{FIRST}{header}\r\n\r\n".encode())
        while taken < MOST:
            taken += client.send(block)
    assert taken < MOST / 2
