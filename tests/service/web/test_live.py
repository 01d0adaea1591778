"""Open pages receive changes over connections that hold no thread of the web server."""

import asyncio
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from redis import Redis

from service.links import Links
from service.tables import access
from service.wakeups import CHANGES
from service.web import live, server
from tests import apps
from tests.services import RunningService
from tests.web_server import serving
from workers.commands import run

THREADS = 8  # of the service under test
SECRET = "a secret that is long enough"
HEARTBEAT = b"%x\r\n%s\r\n" % (len(live.HEARTBEAT), live.HEARTBEAT)


OPEN: list[socket.socket] = []


@pytest.fixture(autouse=True)
def close_pages() -> Iterator[None]:
    """Close the pages that a test has opened after it."""
    yield
    while OPEN:
        OPEN.pop().close()


def open_page(port: int, token: str) -> socket.socket:
    """Open a page that waits for changes, and read the first lines it is sent."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    OPEN.append(connection)
    connection.sendall(f"GET {live.PATH}{token} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    read_until(connection, b"retry: 3000\n\n")
    return connection


def read_until(connection: socket.socket, text: bytes) -> None:
    received = b""
    while text not in received:
        piece = connection.recv(1_000)
        assert piece, received
        received += piece


def is_silent(connection: socket.socket) -> bool:
    connection.settimeout(0.2)
    try:
        return connection.recv(1_000) == HEARTBEAT
    except TimeoutError:
        return True
    finally:
        connection.settimeout(10)


def drain(connections: list[socket.socket]) -> None:
    """Read until nothing that was sent before is on its way."""
    while ready := select.select(connections, [], [], 0.4)[0]:
        for one in ready:
            one.recv(1_000)


@pytest.fixture
def port(service: RunningService) -> int:
    return urlsplit(service.address).port or 0


def test_more_pages_than_threads_all_learn_of_a_move(service: RunningService, port: int) -> None:
    opened = service.start_table()
    links = service.app.links
    tokens = [links.make_live_token(opened.table, kind) for kind in ("seat", "watch")]
    pages = [open_page(port, token) for token in tokens for _ in range(2 * THREADS)]
    drain(pages)
    with urlopen(f"{service.address}/", timeout=5) as answer:
        assert answer.status == 200
    service.submit(opened.links[0], "resign")
    for page in pages:
        read_until(page, live.LOOK_EVENT)


def test_talk_is_announced_to_players_and_not_to_spectators(service: RunningService, port: int) -> None:
    opened = service.start_table()
    tokens = [service.app.links.make_live_token(opened.table, kind) for kind in ("seat", "watch")]
    player, spectator = (open_page(port, token) for token in tokens)
    drain([player, spectator])
    apps.say(service.app, access.find(service.app, opened.links[0]), "Hello")
    read_until(player, live.LOOK_EVENT)
    assert is_silent(spectator)


def test_a_page_sees_no_changes_of_other_tables(service: RunningService, port: int) -> None:
    one, other = service.start_table(), service.start_table()
    page = open_page(port, service.app.links.make_live_token(one.table, "seat"))
    drain([page])
    service.submit(other.links[0], "resign")
    assert is_silent(page)


@pytest.mark.parametrize("change", [lambda token: token[:-1], lambda token: token.replace(".watch.", ".seat.")])
def test_a_wrong_token_is_answered_with_404(service: RunningService, port: int, change: object) -> None:
    token = change(service.app.links.make_live_token(service.start_table().table, "watch"))  # type: ignore[operator]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"GET {live.PATH}{token} HTTP/1.0\r\n\r\n".encode())
        assert connection.recv(1_000).startswith(b"HTTP/1.1 404")


class Client:
    """The other end of an open page's connection; reads nothing while `reads` is not set."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.reads, self.gone = asyncio.Event(), asyncio.Event()
        self.reads.set()

    async def send(self, message: Mapping[str, Any]) -> None:
        await self.reads.wait()
        self.received.append(message.get("body", b""))

    async def receive(self) -> dict[str, str]:
        await self.gone.wait()
        return {"type": "http.disconnect"}


@pytest.fixture
def pages(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> live.Live:
    monkeypatch.setattr(live.Live, "_start_listener", lambda _: None)
    return live.Live(service.app)


async def let_run() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_page_that_is_gone_is_forgotten(pages: live.Live) -> None:
    async def visit() -> None:
        client = Client()
        task = asyncio.create_task(pages.serve("table.seat", client.receive, client.send))
        await let_run()
        assert len(pages) == 1
        client.gone.set()
        await task
        assert len(pages) == 0

    asyncio.run(visit())


def test_a_page_that_reads_nothing_holds_up_no_other_and_sees_a_change_later(pages: live.Live) -> None:
    async def visit() -> None:
        slow, quick = Client(), Client()
        tasks = [asyncio.create_task(pages.serve("table.seat", one.receive, one.send)) for one in (slow, quick)]
        await let_run()
        slow.reads.clear()
        for text in (live.HEARTBEAT, live.LOOK_EVENT, live.LOOK_EVENT, live.HEARTBEAT):
            pages.publish(["table.seat"], text)
            await let_run()
        assert quick.received[-4:] == [live.HEARTBEAT, live.LOOK_EVENT, live.LOOK_EVENT, live.HEARTBEAT]
        assert slow.received[-1] == live.RETRY
        slow.reads.set()
        pages.publish_to_all(live.HEARTBEAT)
        pages.publish_to_all(live.HEARTBEAT)
        assert slow.received[-2:] == [live.LOOK_EVENT, live.HEARTBEAT]
        for one in (slow, quick):
            one.gone.set()
        await asyncio.gather(*tasks)

    asyncio.run(visit())


def test_more_pages_than_are_served_at_once_all_get_a_change(pages: live.Live) -> None:
    async def visit() -> None:
        clients = [Client() for _ in range(2 * live.PAGES_AT_ONCE + 1)]
        tasks = [asyncio.create_task(pages.serve("table.watch", one.receive, one.send)) for one in clients]
        await let_run()
        pages.publish(["table.watch"])
        await let_run()
        assert all(one.received[-1] == live.LOOK_EVENT for one in clients)
        for one in clients:
            one.gone.set()
        await asyncio.gather(*tasks)

    asyncio.run(visit())


def test_open_pages_do_not_hold_up_a_stop(service: RunningService) -> None:
    listener = run.take_port("127.0.0.1", 0)
    port = listener.getsockname()[1]
    with serving(server.create_server(service.app, listener, THREADS)):
        page = open_page(port, service.app.links.make_live_token("abc", "watch"))
        since = time.monotonic()
    assert time.monotonic() - since < 5
    read_until(page, b"0\r\n\r\n")  # a whole answer, after which the page connects again


def test_a_server_without_room_answers_with_503(
    service: RunningService, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live.Live, "has_room", lambda _: False)
    token = service.app.links.make_live_token(service.start_table().table, "seat")
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"GET {live.PATH}{token} HTTP/1.0\r\n\r\n".encode())
        assert connection.recv(1_000).startswith(b"HTTP/1.1 503")


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


def open_page_patiently(port: int, token: str) -> socket.socket:
    until = time.monotonic() + 30
    while True:
        try:
            return open_page(port, token)
        except ConnectionError:
            assert time.monotonic() < until
            time.sleep(0.1)


def test_production_too_holds_more_pages_than_it_has_threads(tmp_path: Path, redis_url: str) -> None:
    token = Links(SECRET).make_live_token("abc", "watch")
    with production(tmp_path, redis_url) as port:
        pages = [open_page_patiently(port, token) for _ in range(9)]
        drain(pages)
        with Redis.from_url(redis_url) as redis:
            redis.publish(CHANGES, "abc/")
        for page in pages:
            read_until(page, live.LOOK_EVENT)


def test_a_client_with_many_pages_gives_way_to_others(pages: live.Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_max_pages", 5)

    async def visit() -> None:
        crowd = [Client() for _ in range(5)]
        tasks = [asyncio.create_task(pages.serve("t.seat", one.receive, one.send, "crowd")) for one in crowd]
        await let_run()
        refused, others = Client(), [Client() for _ in range(2)]
        await pages.serve("t.seat", refused.receive, refused.send, "crowd")
        assert refused.received[-1] == live.NO_ROOM.encode()  # the crowd itself gets no more
        tasks += [asyncio.create_task(pages.serve("t.seat", one.receive, one.send, "other")) for one in others]
        await let_run()
        assert [one.received[-1] for one in crowd[:3]] == [b"", b"", live.RETRY]
        assert [one.received[-1] for one in others] == [live.RETRY] * 2
        for one in (*crowd, *others):
            one.gone.set()
        await asyncio.gather(*tasks)
        assert len(pages) == 0

    asyncio.run(visit())


@pytest.mark.parametrize(
    ("proxies", "said", "client"),
    [
        (0, b"192.0.2.9", "198.51.100.1/32"),
        (1, b"10.0.0.1, 192.0.2.9", "192.0.2.9/32"),
        (2, b"192.0.2.9, 203.0.113.4", "192.0.2.9/32"),
        (1, b"2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        (1, b"", ""),
    ],
)
def test_a_client_is_named_by_the_proxies_that_are_trusted(
    tmp_path: Path, proxies: int, said: bytes, client: str
) -> None:
    with apps.run_app(apps.make_settings(tmp_path, proxies=proxies), apps.FakeTime()) as app:
        scope = {"client": ("198.51.100.1", 7), "headers": [(b"x-forwarded-for", said)]}
        assert live.Live(app).name_client(scope) == client
