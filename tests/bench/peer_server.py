"""boardgame.io's server from npm beside our service: moves of the same small game, handed in by the same program."""

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

from service.benches import Measure, bench
from tests import servers
from tests.bench import letters
from tests.bench.peers import fetched

ROOT, SCRIPT = Path(__file__).parents[2], Path(__file__).with_suffix(".mjs")
BOARDGAME_IO = "boardgame.io@0.50.2"
# Its FlatFile stores with node-persist: 3.1.0, for later ones write once a second. With koa-compose 4.2.0 its server
# answers 404 to all of the lobby's requests, for what is added to a Koa after it was composed is no longer found.
BESIDE_IT = ("node-persist@3.1.0", "koa-compose@4.1.0")
NAME = "tricks"
ROUNDS = 3
AT_ONCE, GAMES = 16, 4  # tables at once, and how many one after the other at each
ALONE = 12  # games, with nobody else playing
PRODUCTION = {"NODE_ENV": "production"}
LIMITS = ("OPENS_PER_HOUR", "INVITATIONS_PER_DAY", "MOVES_PER_MINUTE")
PAIRS = (
    ("ours", "FlatFile", "a move"),
    ("looking", "FlatFile", "a move, and the next player's look"),
    ("ours", "memory", "a move, theirs in memory alone"),
)
Server = tuple[str, int]  # its address and its process


class Played(Struct, frozen=True):
    """What the program that plays found: moves a second, milliseconds of each, and those of the server's processor."""

    rate: float
    took: list[float]
    cpu: float


@bench
def moves_beside_boardgame_io() -> Iterator[Measure]:
    """The game of `depesche new-game` for two: `depesche serve` beside boardgame.io's server, each over its own wire.

    One Node program plays at both: ours by HTTP until it hears the verdict, theirs by boardgame.io's own client over
    socket.io until it has the new state. They do not do the same. Ours has each accepted move in a sealed, chained log
    on a disk that was waited for (fsync), with draws that can be proven and letters owed. Theirs tells the move first
    and then writes the state and the whole log of the match, unsealed: FlatFile into files without fsync, the other
    store nowhere but in memory. Their answer brings the new position; ours has to be asked for it, which is the second
    kind of move here, menu included. Tables are laid and invitations sent before; the last move of each game, which
    brings letters, is not made. Rates and processor time are those of the best round, latencies of all together.
    """
    with tempfile.TemporaryDirectory() as folder:
        modules, site = npm_modules(), our_game(Path(folder))
        rounds = [dict(sides(modules, site)) for _ in range(ROUNDS)]  # in turn, on the same machine
    for ours, theirs, what in PAIRS:
        many, alone = ([[one[side][kind] for one in rounds] for side in (ours, theirs)] for kind in (0, 1))
        rate, rate_of_theirs = (max(one.rate for one in side) for side in many)
        yield Measure(f"{what}: {AT_ONCE} tables at once", rate, "/s", rate_of_theirs, source="peer")
        cpu, cpu_of_theirs = (min(one.cpu for one in side) for side in many)
        yield Measure(f"{what}: processor of the server", cpu, "ms", cpu_of_theirs, True, "peer")
        shares = [statistics.quantiles([took for one in side for took in one.took], n=100) for side in alone]
        for share in (50, 99):
            took, took_by_theirs = (one[share - 1] for one in shares)
            yield Measure(f"{what}: alone, p{share}", took, "ms", took_by_theirs, True, "peer")


def sides(modules: Path, site: Path) -> Iterator[tuple[str, tuple[Played, Played]]]:
    """One round: each side at many tables at once, and then with nobody else playing."""

    def both(side: str, server: Server) -> tuple[Played, Played]:
        return played(modules, side, server, AT_ONCE, GAMES), played(modules, side, server, 1, ALONE)

    for side in ("ours", "looking"):
        with ours_open(site) as server:
            yield side, both(side, server)
    for store in ("FlatFile", "memory"):
        with theirs_open(modules, stored=store == "FlatFile") as server:
            yield store, both("theirs", server)


def npm_modules() -> Path:
    """The folder in which Node finds boardgame.io."""
    install = ["npm", "install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund"]
    return fetched(BOARDGAME_IO, "node, npm and a network with its registry", [*install, BOARDGAME_IO, *BESIDE_IT])


def our_game(folder: Path) -> Path:
    """Where the same game of ours is installed, as a package of its own."""
    site = folder / "site"
    made = [sys.executable, "-m", "service.cli", "new-game", NAME]
    subprocess.run(made, check=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(site), str(folder / NAME)], check=True, capture_output=True)
    return site


@contextmanager
def ours_open(site: Path) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder, letters.mail_server() as relay:
        chosen = {"FOLDER": folder, "GAMES": NAME, "SMTP": relay, "CONFIRM": "off", **dict.fromkeys(LIMITS, "1000000")}
        names = {f"DEPESCHE_{name}": value for name, value in chosen.items()}
        names["PYTHONPATH"] = os.pathsep.join((str(site), str(ROOT)))
        with running([sys.executable, "-m", "service.cli", "serve", "--port"], names) as server:
            yield server


@contextmanager
def theirs_open(modules: Path, stored: bool) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        names = {"FLATFILE_DIR": folder} if stored else {}
        with running(["node", str(SCRIPT), str(modules), "serve"], names) as server:
            yield server


@contextmanager
def running(command: list[str], names: dict[str, str]) -> Iterator[Server]:
    """A server in a process of its own, at a port that is its last argument."""
    port, quiet = servers.free_port(), subprocess.DEVNULL
    environment = {**os.environ, **PRODUCTION, **names}
    with subprocess.Popen([*command, str(port)], env=environment, stdout=quiet, stderr=quiet) as process:
        try:
            letters.wait_for(port)
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()


def played(modules: Path, side: str, server: Server, at_once: int, games: int) -> Played:
    command = ["node", str(SCRIPT), str(modules), side, *map(str, (*server, at_once, games))]
    told = subprocess.run(command, env={**os.environ, **PRODUCTION}, check=True, stdout=subprocess.PIPE, timeout=300)
    return msgspec.json.decode(told.stdout, type=Played)
