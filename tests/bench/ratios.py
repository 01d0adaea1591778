"""The work of pages, moves, letters and random games, as shares of that of bare programs, in turns in one process.

All figures are processor time, so that other programs on the machine change little. `tests/test_ratios.py` holds
them against `ratios.toml`.
"""

from __future__ import annotations

import http.client
import itertools
import socket
import sqlite3
import statistics
import tempfile
import time
import tomllib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import flask

from engine import bots, catalogue
from service.commands.benches import Measure, register_bench
from service.tables import access
from service.web import server
from tests import apps
from tests.bench import bare_carcassonne, letters
from tests.bench.moves import Game, start_game
from tests.sites import Site
from tests.web_server import serving
from workers import referee
from workers.outgoing import post
from workers.outgoing.table_letters import write

GOALS: Mapping[str, float] = tomllib.loads(Path(__file__).with_name("ratios.toml").read_text())
ROUNDS = 7
WARM_UP_ROUNDS = 2
PAGES, MADE_PAGES, MOVES, GAMES = 300, 8, 8, 20  # of one round
CLIENTS, THREADS = 8, 8
PLANNED_MOVES = MOVES * (ROUNDS + WARM_UP_ROUNDS)
SCHEMA = """
pragma journal_mode = wal;
create table bare_table (id integer primary key, length int not null, head text not null);
create table bare_seat (link text primary key, at int not null, owed int);
create table bare_entry (at int, seq int, body text not null, hash text not null, primary key (at, seq));
create table bare_letter (id integer primary key, at int, kind text, due int);
create table bare_submission (id integer primary key, at int, move text, accepted int);
insert into bare_table values (0, 0, '');
insert into bare_seat values ('0/0', 0, null), ('0/1', 0, null);
"""

Work = Callable[[], object]
CLIENT = object()
"""The result of work that a server does in other threads of this process."""


@register_bench
def ratios() -> Iterator[Measure]:
    """Processor time of bare programs, as a share of what Depesche takes for the same; a minute in all."""
    for name, goal in GOALS.items():
        yield Measure(name, measure(name), "", goal)


def measure(name: str) -> float:
    """Return the share of one kind of work."""
    with WAYS[name]() as (ours, bare):
        shares = list[float]()
        for number in range(ROUNDS + WARM_UP_ROUNDS):
            spent, bare_spent = _spend(ours), _spend(bare)
            shares += [bare_spent / spent] if number >= WARM_UP_ROUNDS else []
        return statistics.median(shares)


def _spend(work: Work) -> float:
    """Return the processor time of some work, without that of this thread if it only waits for a server."""
    start, own = time.process_time(), time.thread_time()
    is_client = work() is CLIENT
    return time.process_time() - start - (time.thread_time() - own if is_client else 0)


@contextmanager
def run_site() -> Iterator[tuple[Site, Game]]:
    """Run an app in this process, with a game whose moves are planned."""
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), moves_per_minute=1_000_000)
        yield site, start_game(site.app, 0, PLANNED_MOVES, referee.run)
        site.app.close()


def make_bare(folder: Path) -> flask.Flask:
    """Make a service that sends pages of any size, and makes the transaction of a move and nothing else."""
    flask_app, db = flask.Flask(__name__), sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    db.executescript(SCHEMA)

    @flask_app.get("/page/<int:size>")
    def page(size: int) -> str:
        return "x" * size

    @flask_app.post("/moves/<int:seat>")
    def move(seat: int) -> flask.Response:
        text, now = flask.request.get_json()["move"], int(time.time())
        body = f"{text} {'x' * 600}"
        db.execute("begin immediate")
        db.execute("select at from bare_seat where link = ?", (f"0/{seat}",)).fetchone()
        length, head = db.execute("select length, head from bare_table where id = 0").fetchone()
        db.execute("insert into bare_submission (at, move, accepted) values (0, ?, 1)", (text,))
        db.execute("insert into bare_entry values (0, ?, ?, ?)", (length, body, head))
        db.execute("insert into bare_letter (at, kind, due) values (0, 'turn', ?)", (now,))
        db.execute("update bare_seat set owed = ? where link = ?", (now, f"0/{1 - seat}"))
        db.execute("update bare_table set length = ?, head = ? where id = 0", (length + 1, body[:64]))
        db.execute("commit")
        return flask.jsonify(accepted=True, length=length + 1)

    return flask_app


@contextmanager
def compare_page(find_path: Callable[[Site, Game], str], times: int) -> Iterator[tuple[Work, Work]]:
    """Yield the work of sending this page so many times, and the work of sending as many bytes."""
    with run_site() as (site, game), tempfile.TemporaryDirectory() as folder:
        path, client = find_path(site, game), site.flask_app.test_client()
        bare, size = make_bare(Path(folder)).test_client(), len(client.get(path).data)
        yield (
            lambda: [client.get(path).data for _ in range(times)],
            lambda: [bare.get(f"/page/{size}").data for _ in range(times)],
        )


@contextmanager
def compare_served_page(find_path: Callable[[Site, Game], str]) -> Iterator[tuple[Work, Work]]:
    """Yield the work of serving this page over HTTP to some clients at once, and of serving as many bytes."""
    with run_site() as (site, game), tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path, listeners = find_path(site, game), [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        bare = server.create_wsgi_server(make_bare(Path(folder)).wsgi_app, listeners[1], THREADS)
        for one in (server.create_server(site.app, listeners[0], THREADS), bare):
            stack.enter_context(serving(one))
        ports = [listener.getsockname()[1] for listener in listeners]
        clients = [[stack.enter_context(connect(port)) for _ in range(CLIENTS)] for port in ports]
        size = len(fetch_all(clients[0][:1], path)[0])

        def load(clients: list[http.client.HTTPConnection], path: str) -> object:
            for _ in range(PAGES // CLIENTS):
                fetch_all(clients, path)
            return CLIENT

        yield lambda: load(clients[0], path), lambda: load(clients[1], f"/page/{size}")


def connect(port: int) -> closing[http.client.HTTPConnection]:
    return closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30))


def fetch_all(clients: Sequence[http.client.HTTPConnection], path: str) -> list[bytes]:
    """Fetch a page by all of these connections at once."""
    for client in clients:
        client.request("GET", path)
    return [client.getresponse().read() for client in clients]


@contextmanager
def compare_moves() -> Iterator[tuple[Work, Work]]:
    """Yield the work of some moves through the JSON interface until their verdicts, and of as many bare ones."""
    with run_site() as (site, game), tempfile.TemporaryDirectory() as folder:
        client, bare, moves = site.flask_app.test_client(), make_bare(Path(folder)).test_client(), iter(game)

        def play() -> None:
            for place, move in itertools.islice(moves, MOVES):
                answer = client.post(f"/api/v1/t/{place.link}/moves", json={"move": move})
                assert answer.json
                assert answer.json["accepted"], answer.text

        yield play, lambda: [bare.post("/moves/0", json={"move": "move A12 A4"}) for _ in range(MOVES)]


@contextmanager
def compare_letters(kind: str) -> Iterator[tuple[Work, Work]]:
    """Yield the work of sending some letters, and of sending their parts by the standard library."""
    with (
        tempfile.TemporaryDirectory() as folder,
        letters.run_mail_server() as relay,
        apps.run_app(apps.make_settings(Path(folder), smtp=relay), apps.FakeTime()) as app,
    ):
        app.relay, links = relay, letters.open_tables(app)
        for link in links if kind == "turn" else ():
            assert apps.submit(app, access.find(app, link), "sit word").accepted
        messages = [message for order in letters.list_orders(app, kind) if (message := write(app, order))]
        parts: list[dict[str, Any]] = [letters.split_parts(message) for message in messages]

        def send() -> None:
            letters.make_unsent(app, kind)
            post.run()

        yield send, lambda: letters.send_bare(relay, parts)


def find_table(site: Site, game: Game) -> str:
    return f"/t/{access.find(site.app, game[0][0].link).link}"


@contextmanager
def compare_random_games() -> Iterator[tuple[Work, Work]]:
    """Yield the work of random games of base Carcassonne for two, and of as many on lists that change in place."""
    game = catalogue.find("carcassonne")
    options = game.META.options(messages=False)

    def play() -> None:
        for number in range(GAMES):
            deque(bots.play_out(game, options, 2, b"game %d" % number), maxlen=0)

    yield play, lambda: [bare_carcassonne.play(Random(number)) for number in range(GAMES)]


WAYS: Mapping[str, Callable[[], AbstractContextManager[tuple[Work, Work]]]] = {
    "home page": lambda: compare_page(lambda _, __: "/", PAGES),
    "table page": lambda: compare_page(find_table, PAGES),
    "home page over HTTP": lambda: compare_served_page(lambda _, __: "/"),
    "table page over HTTP": lambda: compare_served_page(find_table),
    "table page that is made": lambda: compare_page(lambda site, game: f"{find_table(site, game)}?new", MADE_PAGES),
    "move": compare_moves,
    "letter with text and HTML": lambda: compare_letters("invitation"),
    "letter with a known picture": lambda: compare_letters("turn"),
    "random game of Carcassonne": compare_random_games,
}
