"""Comparison with boardgame.io's server from npm: moves of the same small game, sent by the same program."""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from service.commands.benches import Measure, register_bench
from tests import servers
from tests.bench import letters
from tests.bench.peers import install_package

ROOT, SCRIPT = Path(__file__).parents[2], Path(__file__).with_suffix(".mjs")
BOARDGAME_IO = "boardgame.io@0.50.2"
# Its FlatFile stores with node-persist; versions after 3.1.0 write only once a second. With koa-compose 4.2.0 its
# server answers 404 to all requests of the lobby, because routes added to a composed Koa are ignored.
DEPENDENCIES = ("node-persist@3.1.0", "koa-compose@4.1.0")
NAME = "tricks"
ROUNDS = 3
TABLES, GAMES = 16, 4  # tables at once, and games one after the other at each
SINGLE_GAMES = 12  # games at one table, without other players
PRODUCTION = {"NODE_ENV": "production"}
LIMITS = ("OPENS_PER_HOUR", "INVITATIONS_PER_DAY", "MOVES_PER_MINUTE")
PAIRS = (
    ("ours", "FlatFile", "a move"),
    ("looking", "FlatFile", "a move, and the next player's look"),
    ("ours", "memory", "a move, theirs in memory alone"),
)
Server = tuple[str, int]  # its address and its process


class Timings(Struct, frozen=True):
    """Moves per second, milliseconds of each move, and milliseconds of the server's processor for a move."""

    rate: float
    took: list[float]
    cpu: float


@register_bench
def moves_beside_boardgame_io() -> Iterator[Measure]:
    """The game of `depesche new-game` for two players: `depesche serve` compared with boardgame.io's server.

    One Node program plays on both: on Depesche by HTTP until it gets the verdict, on boardgame.io by its own client
    over socket.io until it has the new state. The servers do not do the same. Depesche stores each accepted move in a
    sealed, chained log with fsync, with verifiable draws and the letters to send. boardgame.io publishes the move first
    and then stores the state and the whole log of the match, unsealed: FlatFile in files without fsync, the other store
    only in memory. Its answer contains the new position; Depesche has to be asked for it, menu included, which is the
    second kind of move here. Tables are opened and invitations sent before; the last move of each game, which brings
    letters, is not made. Rates and processor time are those of the best round, latencies those of all rounds.
    """
    with tempfile.TemporaryDirectory() as folder:
        modules, site = install_npm_modules(), install_game(Path(folder))
        rounds = [dict(run_round(modules, site)) for _ in range(ROUNDS)]  # in turn, on the same machine
    for ours, theirs, what in PAIRS:
        many, alone = ([[one[side][kind] for one in rounds] for side in (ours, theirs)] for kind in (0, 1))
        rate, rate_of_theirs = (max(one.rate for one in side) for side in many)
        yield Measure(f"{what}: {TABLES} tables at once", rate, "/s", rate_of_theirs, source="peer")
        cpu, cpu_of_theirs = (min(one.cpu for one in side) for side in many)
        yield Measure(f"{what}: processor of the server", cpu, "ms", cpu_of_theirs, True, "peer")
        shares = [statistics.quantiles([took for one in side for took in one.took], n=100) for side in alone]
        for share in (50, 99):
            took, took_by_theirs = (one[share - 1] for one in shares)
            yield Measure(f"{what}: alone, p{share}", took, "ms", took_by_theirs, True, "peer")


def run_round(modules: Path, site: Path) -> Iterator[tuple[str, tuple[Timings, Timings]]]:
    """Play one round on each server: at many tables at once, and then at one table."""

    def play_both(side: str, server: Server) -> tuple[Timings, Timings]:
        return run_player(modules, side, server, TABLES, GAMES), run_player(modules, side, server, 1, SINGLE_GAMES)

    for side in ("ours", "looking"):
        with run_depesche(site) as server:
            yield side, play_both(side, server)
    for store in ("FlatFile", "memory"):
        with run_peer(modules, stored=store == "FlatFile") as server:
            yield store, play_both("theirs", server)


def install_npm_modules() -> Path:
    """Install boardgame.io; return the folder in which Node finds it."""
    install = ["npm", "install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund"]
    return install_package(
        BOARDGAME_IO, "node, npm and a network with its registry", [*install, BOARDGAME_IO, *DEPENDENCIES]
    )


def install_game(folder: Path) -> Path:
    """Install the game of `depesche new-game` as a package; return the folder of installed packages."""
    site = folder / "site"
    new_game = [sys.executable, "-m", "service.cli", "new-game", NAME]
    subprocess.run(new_game, check=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(site), str(folder / NAME)], check=True, capture_output=True)
    return site


@contextmanager
def run_depesche(site: Path) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder, letters.run_mail_server() as relay:
        given = {"FOLDER": folder, "GAMES": NAME, "SMTP": relay, "CONFIRM": "off", **dict.fromkeys(LIMITS, "1000000")}
        names = {f"DEPESCHE_{name}": value for name, value in given.items()}
        names["PYTHONPATH"] = os.pathsep.join((str(site), str(ROOT)))
        with run_server([sys.executable, "-m", "service.cli", "serve", "--port"], names) as server:
            yield server


@contextmanager
def run_peer(modules: Path, stored: bool) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        names = {"FLATFILE_DIR": folder} if stored else {}
        with run_server(["node", str(SCRIPT), str(modules), "serve"], names) as server:
            yield server


@contextmanager
def run_server(command: list[str], names: dict[str, str]) -> Iterator[Server]:
    """Run a server in a separate process, with its port as the last argument."""
    port, quiet = servers.free_port(), subprocess.DEVNULL
    environment = {**os.environ, **PRODUCTION, **names}
    with subprocess.Popen([*command, str(port)], env=environment, stdout=quiet, stderr=quiet) as process:
        try:
            letters.wait_for(port)
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()


def run_player(modules: Path, side: str, server: Server, at_once: int, games: int) -> Timings:
    command = ["node", str(SCRIPT), str(modules), side, *map(str, (*server, at_once, games))]
    output = subprocess.run(command, env={**os.environ, **PRODUCTION}, check=True, stdout=subprocess.PIPE, timeout=300)
    return msgspec.json.decode(output.stdout, type=Timings)
