"""Moves and pages over HTTP, beside a bare service on the same machine, server and database, in turns."""

from __future__ import annotations

import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, count
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from service.app import App
from service.commands.benches import Measure, register_bench
from service.settings import Settings
from tests import servers
from tests.bench import bare_service
from tests.bench.bench_servers import start_servers
from tests.bench.moves import Game, start_game
from tests.bench.verdict import run_worker

ROOT = Path(__file__).parents[2]
SECONDS, TURNS = 4.0, 2
CROWD, VISITORS = 32, 8
MOVES = 100  # of one planned game
ALONE_GAMES = 30  # that one player plays one after the other
MOST_TIMES_SLOWER, MIN_MOVES_SHARE = 3.5, 0.6
MIN_HOME_SHARE, MIN_TABLE_SHARE = 0.5, 0.7
START_S = 30

Request = tuple[str, str, bytes]
"""Method, path and body of a request."""


class Rate(Struct, frozen=True):
    """Answers per second, and the median of the times that they took."""

    per_second: float
    p50_ms: float


@register_bench
def over_http() -> Iterator[Measure]:
    """Compare verdicts, moves and pages over HTTP with a bare service on the same database; letters wait."""
    with start_servers() as settings, ExitStack() as stack:
        app = App(settings)
        app.open()
        stack.enter_context(run_worker(settings, "referee"))
        games = [start_game(app, number, MOVES) for number in range(CROWD * TURNS + ALONE_GAMES * TURNS)]
        ours = stack.enter_context(serve(settings))
        bare_database = stack.enter_context(servers.fresh_database(settings.database, "bare"))
        bare = stack.enter_context(serve_bare(bare_database))
        yield from _compare_moves(app, games, ours, bare)
        yield from _compare_pages(app, games[0], ours, bare)
        app.close()


def _compare_moves(app: App, games: list[Game], ours: int, bare: int) -> Iterator[Measure]:
    alone = [chain.from_iterable(_list_moves(app, games.pop()) for _ in range(ALONE_GAMES)) for _ in range(TURNS)]
    crowds = [[_list_moves(app, games.pop()) for _ in range(CROWD)] for _ in range(TURNS)]
    theirs, own = _take_turns(lambda _: load(bare, [_make_bare_moves(0)]), lambda turn: load(ours, [alone[turn]]))
    slower = own.p50_ms / theirs.p50_ms
    yield Measure("verdict alone, of a bare transaction, p50", slower, "times", MOST_TIMES_SLOWER, at_most=True)
    yield Measure("verdict alone, p50", own.p50_ms, "ms")
    theirs, own = _take_turns(
        lambda _: load(bare, [_make_bare_moves(number) for number in range(CROWD)]),
        lambda turn: load(ours, crowds[turn]),
    )
    yield Measure(f"moves, {CROWD} at once, of bare", own.per_second / theirs.per_second, "", MIN_MOVES_SHARE)
    yield Measure(f"moves, {CROWD} at once", own.per_second, "/s")


def _compare_pages(app: App, game: Game, ours: int, bare: int) -> Iterator[Measure]:
    place = game[0][0]
    table = f"/t/{app.links.make_seat_token(place.table, place.seat or 0, 0)}"
    for name, path, share in (("home page", "/", MIN_HOME_SHARE), ("table page", table, MIN_TABLE_SHARE)):
        size = len(fetch(ours, path))
        theirs, own = _take_turns(_load_page(bare, f"/page/{size}"), _load_page(ours, path))
        yield Measure(f"{name}, {VISITORS} at once, of bare", own.per_second / theirs.per_second, "", share)
        yield Measure(f"{name}, {VISITORS} at once, {size // 1000} kB", own.per_second, "/s")


def _take_turns(bare: Callable[[int], Rate], ours: Callable[[int], Rate]) -> tuple[Rate, Rate]:
    """Measure both in turns; return the medians, so that a change of the machine's speed meets both."""
    rates = [(bare(turn), ours(turn)) for turn in range(TURNS)]
    return _find_median([one for one, _ in rates]), _find_median([one for _, one in rates])


def _find_median(rates: list[Rate]) -> Rate:
    return Rate(statistics.median(one.per_second for one in rates), statistics.median(one.p50_ms for one in rates))


def _list_moves(app: App, game: Game) -> Iterator[Request]:
    for place, move in game:
        link = app.links.make_seat_token(place.table, place.seat or 0, 0)
        yield "POST", f"/api/v1/t/{link}/moves", json.dumps({"move": move}).encode()


def _make_bare_moves(table: int) -> Iterator[Request]:
    body = json.dumps({"move": "move A12 A4"}).encode()
    return (("POST", f"/moves/{table}/{number % 2}", body) for number in count())


def _load_page(port: int, path: str) -> Callable[[int], Rate]:
    """Return what lets all visitors load a page in one turn."""
    return lambda _: load(port, [_repeat(path)] * VISITORS)


def _repeat(path: str) -> Iterator[Request]:
    return (("GET", path, b"") for _ in count())


def load(port: int, clients: list[Iterator[Request]]) -> Rate:
    """Send the requests of each client over a connection of its own for some seconds."""
    took, ends = list[float](), time.monotonic() + SECONDS

    def run(requests: Iterator[Request]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for request in requests:
            if time.monotonic() > ends:
                break
            begin = time.perf_counter()
            _send(connection, request)
            took.append(time.perf_counter() - begin)
        connection.close()

    threads = [threading.Thread(target=run, args=(requests,)) for requests in clients]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Rate(len(took) / (time.monotonic() - begin), statistics.median(took) * 1_000)


def _send(connection: http.client.HTTPConnection, request: Request) -> bytes:
    method, path, body = request
    connection.request(method, path, body or None, {"Content-Type": "application/json"} if body else {})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 200 or (body and b'"accepted":true' not in content.replace(b" ", b"")):
        raise AssertionError(f"{method} {path} was answered with {answer.status}: {content[:300]!r}")
    return content


def fetch(port: int, path: str) -> bytes:
    return _send(http.client.HTTPConnection("127.0.0.1", port, timeout=30), ("GET", path, b""))


@contextmanager
def serve(settings: Settings) -> Iterator[int]:
    """Run `depesche web` as a host does, in as many processes as the bare service; yield its port."""
    port = servers.free_port()
    chosen = {f"DEPESCHE_{name.upper()}": str(value) for name, value in asdict(settings).items()}
    chosen["DEPESCHE_MOVES_PER_MINUTE"] = "1000000"
    command = [sys.executable, "-m", "service.cli", "web", "--workers", str(bare_service.PROCESSES)]
    command += ["--bind", f"127.0.0.1:{port}"]
    with _run(command, chosen, port):
        yield port


@contextmanager
def serve_bare(database: str) -> Iterator[int]:
    """Run the bare service; yield its port."""
    port = servers.free_port()
    url = database.replace("+psycopg", "")
    with _run([sys.executable, "-m", bare_service.__name__, url, str(port)], {}, port):
        yield port


@contextmanager
def _run(command: list[str], environment: dict[str, str], port: int) -> Iterator[None]:
    """Run a command that listens at this port."""
    with subprocess.Popen(command, env={**os.environ, **environment}, cwd=ROOT) as process:
        try:
            _wait_for(port)
            yield
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    ends = time.monotonic() + START_S
    while time.monotonic() < ends:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"nothing listens at port {port} after {START_S} seconds")
