"""Open pages are told of changes by connections that hold no thread of the web server."""

import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from redis import Redis

from service.links import Links
from service.tables import access, talk
from service.wakeups import CHANGES
from service.web import live
from tests.services import RunningService

THREADS = 8  # of the service under test
SECRET = "a secret that is long enough"


OPEN: list[socket.socket] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Pages that a test has opened are closed after it."""
    yield
    while OPEN:
        OPEN.pop().close()


def told(port: int, token: str) -> socket.socket:
    """A page that waits for changes, past the first lines it is sent."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    OPEN.append(connection)
    connection.sendall(f"GET {live.PATH}{token} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    until_says(connection, b"retry: 3000\n\n")
    return connection


def until_says(connection: socket.socket, word: bytes) -> None:
    said = b""
    while word not in said:
        piece = connection.recv(1_000)
        assert piece, said
        said += piece


def is_silent(connection: socket.socket) -> bool:
    connection.settimeout(0.2)
    try:
        return connection.recv(1_000) == live.STILL_HERE
    except TimeoutError:
        return True
    finally:
        connection.settimeout(10)


def calm(connections: list[socket.socket]) -> None:
    """Until nothing more of what was said before is on its way."""
    while ready := select.select(connections, [], [], 0.4)[0]:
        for one in ready:
            one.recv(1_000)


@pytest.fixture
def port(service: RunningService) -> int:
    return urlsplit(service.address).port or 0


def test_more_pages_wait_than_there_are_threads_and_all_are_told_of_a_move(service: RunningService, port: int) -> None:
    opened = service.start_table()
    links = service.app.links
    pages = [told(port, links.live(opened.table, kind)) for kind in ("seat", "watch") for _ in range(2 * THREADS)]
    calm(pages)
    with urlopen(f"{service.address}/", timeout=5) as answer:
        assert answer.status == 200
    service.submit(opened.links[0], "resign")
    for page in pages:
        until_says(page, live.LOOK)


def test_of_talk_players_are_told_and_spectators_are_not(service: RunningService, port: int) -> None:
    opened = service.start_table()
    player, spectator = (told(port, service.app.links.live(opened.table, kind)) for kind in ("seat", "watch"))
    calm([player, spectator])
    talk.say(service.app, access.find(service.app, opened.links[0]), "Hello")
    until_says(player, live.LOOK)
    assert is_silent(spectator)


def test_of_other_tables_nothing_is_told(service: RunningService, port: int) -> None:
    one, other = service.start_table(), service.start_table()
    page = told(port, service.app.links.live(one.table, "seat"))
    calm([page])
    service.submit(other.links[0], "resign")
    assert is_silent(page)


@pytest.mark.parametrize("change", [lambda token: token[:-1], lambda token: token.replace(".watch.", ".seat.")])
def test_a_wrong_address_is_told_nothing(service: RunningService, port: int, change: object) -> None:
    token = change(service.app.links.live(service.start_table().table, "watch"))  # type: ignore[operator]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"GET {live.PATH}{token} HTTP/1.0\r\n\r\n".encode())
        assert connection.recv(1_000).startswith(b"HTTP/1.0 404")


def test_who_has_gone_is_let_go(service: RunningService) -> None:
    held = live.Live(service.app)
    ours, theirs = socket.socketpair()
    held.hold("table.seat", ours)
    theirs.close()
    held.tell(["table.seat"])
    assert len(held) == 0
    assert ours.fileno() == -1


def test_who_reads_nothing_is_let_go_before_it_holds_others_up(service: RunningService) -> None:
    held = live.Live(service.app)
    ours, theirs = socket.socketpair()
    held.hold("table.seat", ours)
    began = time.monotonic()
    while len(held):
        held.tell(["table.seat"], live.LOOK * 1_000)
        assert time.monotonic() - began < 5
    theirs.close()


def test_where_no_more_can_be_held_a_page_is_told_to_ask(
    service: RunningService, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live.Live, "has_room", lambda _: False)
    token = service.app.links.live(service.start_table().table, "seat")
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"GET {live.PATH}{token} HTTP/1.0\r\n\r\n".encode())
        assert connection.recv(1_000).startswith(b"HTTP/1.0 503")


@contextmanager
def production(folder: Path, redis_url: str) -> Iterator[int]:
    """The pages in a process of their own, with two threads."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {"FOLDER": str(folder), "REDIS": redis_url, "SECRET": SECRET}
    names = {**os.environ, **{f"DEPESCHE_{name}": value for name, value in settings.items()}}
    words = ["web", "--workers", "1", "--threads", "2", "--bind", f"127.0.0.1:{port}"]
    with subprocess.Popen([sys.executable, "-m", "service.cli", *words], env=names, stderr=subprocess.DEVNULL) as web:
        try:
            yield port
        finally:
            web.terminate()


def patiently_told(port: int, token: str) -> socket.socket:
    until = time.monotonic() + 30
    while True:
        try:
            return told(port, token)
        except ConnectionError:
            assert time.monotonic() < until
            time.sleep(0.1)


def test_production_too_holds_more_pages_than_it_has_threads(tmp_path: Path, redis_url: str) -> None:
    token = Links(SECRET).live("abc", "watch")
    with production(tmp_path, redis_url) as port:
        pages = [patiently_told(port, token) for _ in range(9)]
        calm(pages)
        with Redis.from_url(redis_url) as redis:
            redis.publish(CHANGES, "abc/")
        for page in pages:
            until_says(page, live.LOOK)
