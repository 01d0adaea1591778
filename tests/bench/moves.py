"""Accepted moves per second at many tables at once, compared with bare transactions of the same shape."""

import itertools
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from random import Random
from urllib.parse import parse_qs, urlsplit

import psutil
import psycopg
from msgspec import Struct

from engine import bots, chance
from engine import table as tables
from service.app import App
from service.commands.benches import Measure, register_bench
from service.tables import access, submitting
from service.tables.access import Place
from service.tables.opening import Invitee
from service.tables.snapshots import Snapshot
from service.tables.submitting import LinkedMove, MoveIntake, Outcome, StoredSubmission
from tests import apps, servers
from tests.bench.bench_servers import start_servers
from tests.bench.verdict import run_worker

TABLES, TURNS, TURN_MOVES, WARM_UP_MOVES = 64, 4, 25, 10
MOVES = TURNS * TURN_MOVES + WARM_UP_MOVES  # of one planned game
REFEREES = 1  # with so few cores, more referees would only judge smaller batches
MIN_SHARE = 0.4
PGBENCH_S, TURN_MAX_S = 2, 60

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
    """Accepted moves per second with PostgreSQL with fsync, Redis and referees, in turns with bare transactions.

    The moves are handed in as the web processes do it, without HTTP.
    """
    with start_servers() as settings, ExitStack() as stack:
        app = App(settings)
        app.open()
        stack.callback(app.close)
        for _ in range(REFEREES):
            stack.enter_context(run_worker(settings, "referee"))
        crowd = Crowd(app, [start_game(app, number) for number in range(TABLES)])
        bare = stack.enter_context(servers.fresh_database(settings.database, "bare"))
        prepare_pgbench(bare)
        crowd.play(WARM_UP_MOVES)
        turns = [(measure(crowd.play), measure(lambda: run_pgbench(bare, settings.folder))) for _ in range(TURNS)]
    ours, theirs = ([turn[side] for turn in turns] for side in (0, 1))
    share = statistics.median(own.per_second / bare.per_second for own, bare in turns)
    yield Measure("accepted moves, of what pgbench reaches with 4 clients", share, "", MIN_SHARE)
    yield Measure(f"accepted moves, {TABLES} tables at once", find_median(ours).per_second, "/s")
    yield Measure("transactions of this shape in pgbench", find_median(theirs).per_second, "/s")
    work = statistics.median(bare.cpu_ms / own.cpu_ms for own, bare in turns)
    yield Measure("processor for a transaction in pgbench, of that for a move", work, "")
    yield Measure("processor for a move, all processes", find_median(ours).cpu_ms, "ms")


class Rate(Struct, frozen=True):
    """Moves or transactions per second, and the processor time of one in all processes that this one started."""

    per_second: float
    cpu_ms: float


def find_median(rates: Sequence[Rate]) -> Rate:
    return Rate(statistics.median(one.per_second for one in rates), statistics.median(one.cpu_ms for one in rates))


def measure(work: Callable[[], int]) -> Rate:
    """Do work that returns a number of moves or transactions, and return its rate."""
    begin, before = time.perf_counter(), read_cpu_seconds()
    number = work()
    return Rate(number / (time.perf_counter() - begin), 1_000 * (read_cpu_seconds() - before) / number)


def read_cpu_seconds() -> float:
    """Return the processor time of this process and of all that it started, those that have ended included."""
    own, seconds = psutil.Process(), 0.0
    for process in (own, *own.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it has ended just now, and counts for its parent
            seconds += sum(process.cpu_times()[:4])
    return seconds


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


class Crowd:
    """Players who send moves at many tables, each the next one when the verdict on the one before arrives."""

    def __init__(self, app: App, games: Sequence[Game]) -> None:
        self._app, self._intake = app, MoveIntake(app)
        self._games = [iter(game) for game in games]
        self._results = SimpleQueue[Exception | None]()

    def play(self, moves: int = TURN_MOVES) -> int:
        """Play so many moves at each table; return how many were accepted. Raise the first failure."""
        for game in self._games:
            self._send_next(list(itertools.islice(game, moves)))
        for _ in self._games:
            if failure := self._results.get(timeout=TURN_MAX_S):
                raise failure
        return moves * len(self._games)

    def _send_next(self, moves: Game) -> None:
        """Hand in the first of these moves, and the others after it."""
        if not moves:
            self._results.put(None)
            return
        place, move = moves[0]
        linked = LinkedMove(place.link, move, submitting.make_key(""), None)
        self._intake.add(linked, partial(self._wait_for_verdict, moves))

    def _wait_for_verdict(self, moves: Game, outcome: Outcome) -> None:
        if isinstance(outcome, StoredSubmission):
            self._app.verdicts.add_receiver(outcome.number, partial(self._go_on, moves, outcome))
        else:
            self._results.put(AssertionError(f"{moves[0]} was not stored: {outcome!r}"))

    def _go_on(self, moves: Game, submitted: StoredSubmission, message: bytes) -> None:
        verdict = submitting.decode_verdict(message, submitted)
        if verdict and verdict.accepted:
            self._send_next(moves[1:])
        else:
            self._results.put(AssertionError(f"{moves[0]} was not accepted: {verdict}"))


def prepare_pgbench(url: str) -> None:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(SCHEMA.encode())
        connection.execute("vacuum analyze")


def run_pgbench(url: str, folder: Path) -> int:
    """Make bare transactions with four clients for some seconds; return how many."""
    program = servers.find_postgres_programs() / "pgbench"
    address, script = urlsplit(url), folder / "shape.sql"
    script.write_text(SHAPE)
    where = ["-h", parse_qs(address.query)["host"][0], "-U", "postgres", address.path[1:]]
    command = [str(program), "-n", "-f", str(script), "-c", "4", "-j", "2", "-T", str(PGBENCH_S), "-M", "prepared"]
    output = subprocess.run([*command, *where], capture_output=True, text=True, check=True, timeout=TURN_MAX_S).stdout
    number = re.search(r"transactions actually processed: (\d+)", output)
    assert number, output
    return int(number[1])
