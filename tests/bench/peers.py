"""Others beside us in one run: the library eventsourcing on the same events, boardgame.io with the same small game."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import Request, urlopen

from sqlalchemy import insert

from engine import catalogue, log, record
from service.benches import Measure, bench
from service.benches.engine import _long
from service.house import House
from service.settings import Settings
from service.store import appending, book
from service.store.appending import Addition, Sealed
from service.store.schema import tables
from tests.servers import Unavailable, free_port
from tests.test_new_game import ROOT, run

EVENTSOURCING = "eventsourcing==9.5.6"
SCRIPT = Path(__file__).parent / "peer_events.py"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "depesche-bench")
ROUNDS, EVENTS, GAMES = 3, 300, 12
# Of its koa-compose a later version leaves out what is added after the sockets, the lobby.
BOARDGAME_IO = ("boardgame.io@0.50.2", "node-persist@3.1.3", "koa-compose@4.1.0")
BOARD = Path(__file__).parent / "peer_board.cjs"
Taken = dict[str, float]


def python_with(package: str) -> Path:
    """A Python of its own that has this package, made the first time."""
    folder = CACHE / package
    program = folder / "bin/python"
    if not (folder / "made").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True, capture_output=True)
        installed = subprocess.run([str(program), "-m", "pip", "install", "-q", package], capture_output=True)
        if installed.returncode:
            raise Unavailable(package, "a network with PyPI")
        (folder / "made").touch()
    return program


def modules_with(*packages: str) -> Path:
    """A folder with these packages of npm, made the first time."""
    folder = CACHE / packages[0]
    if not (folder / "made").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages]
        if shutil.which("npm") is None or subprocess.run(command, capture_output=True).returncode:
            raise Unavailable(packages[0], "Node.js, npm, and a network with its registry")
        (folder / "made").touch()
    return folder / "node_modules"


@bench
def moves_beside_boardgame_io() -> Iterator[Measure]:
    """The small game that `depesche new-game` writes, played over the network, a move at a time.

    Ours waits for the disk, seals and judges, and the interface answers when the move is in the log; theirs writes a
    file without waiting, and the other player's program has heard of the move.
    """
    modules = modules_with(*BOARDGAME_IO)
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = small_game(Path(folder)), _played(modules, Path(folder, "theirs"))
        yield Measure("a move of a small game", 1e3 * ours, "ms", 1e3 * theirs, True, "peer")


def small_game(folder: Path) -> float:
    """Seconds for a move, from asking the service for it to its verdict."""
    run("-m", "service.cli", "new-game", "trick", at=folder)
    pip = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index", "--no-deps")
    run(*pip, "--no-build-isolation", "--target", folder / "site", folder / "trick", at=folder)
    port = free_port()
    chosen = {"DEPESCHE_FOLDER": f"{folder}/house", "DEPESCHE_GAMES": "trick", "PYTHONPATH": f"{folder}/site:{ROOT}"}
    limits = {"DEPESCHE_OPENS_PER_HOUR": "1000", "DEPESCHE_MOVES_PER_MINUTE": "100000"}
    command = [sys.executable, "-m", "service.cli", "serve", "--port", str(port)]
    with subprocess.Popen(command, env={**os.environ, **chosen, **limits}, stdout=subprocess.DEVNULL) as process:
        try:
            return median(_moves(f"http://127.0.0.1:{port}/api/v1"))
        finally:
            process.terminate()


def _moves(server: str) -> Iterator[float]:
    """How long each move of some games took."""
    _until(lambda: asked(f"{server}/games"))
    for _ in range(GAMES):
        players = [{"name": name, "address": f"{name}@example.org"} for name in ("anna", "bert")]
        links = asked(f"{server}/tables", {"game": "trick", "options": {"cards": "5"}, "players": players})["links"]
        places = [f"{server}/t/{link}" for link in links]
        for place in places:
            asked(f"{place}/sit", {})
        while True:
            seen = [asked(place) for place in places]
            if seen[0]["phase"] == "over":
                break
            place, moves = next((place, one["moves"]) for place, one in zip(places, seen, strict=True) if one["moves"])
            begun = time.perf_counter()
            asked(f"{place}/moves", {"move": moves[0]})
            yield time.perf_counter() - begun


def asked(url: str, body: Any = None) -> Any:
    sent = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, sent, {"Content-Type": "application/json"}), timeout=30) as answer:
        return json.load(answer)


def _until(ready: Callable[[], object]) -> None:
    """Until a server answers."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with suppress(OSError):
            ready()
            return
        time.sleep(0.1)
    raise TimeoutError


def _played(modules: Path, folder: Path) -> float:
    """Seconds for a move of theirs, until the other player's client knows it."""
    port, environment = str(free_port()), {**os.environ, "NODE_PATH": str(modules)}
    command = ["node", str(BOARD)]
    with subprocess.Popen([*command, "serve", port, str(folder)], env=environment, stdout=subprocess.DEVNULL) as server:
        try:
            _until(lambda: asked(f"http://127.0.0.1:{port}/games"))
            done = subprocess.run(
                [*command, "play", port, str(GAMES)], env=environment, check=True, capture_output=True, timeout=300
            )
        finally:
            server.terminate()
    return float(json.loads(done.stdout)["median"])


@bench
def events_beside_eventsourcing() -> Iterator[Measure]:
    """Events of a game, each appended in a transaction that waits for the disk, and the position from all of them.

    Ours seals each, keeps the chain, and folds the game's own rules; theirs stores the same bytes and collects them.
    """
    game, peer = catalogue.find("kaiser"), python_with(EVENTSOURCING)
    bodies = [log.canonical(entry) for entry in _long(game, 0)[:EVENTS]]
    rounds = [(_ours(bodies), _theirs(peer, bodies)) for _ in range(ROUNDS)]  # in turn, on the same machine
    for what, key in (("appended", "append"), ("replayed", "replay")):
        ours, theirs = (min(one[side][key] for one in rounds) for side in (0, 1))
        cpu, cpu_of_theirs = (min(one[side][f"{key}_cpu"] for one in rounds) for side in (0, 1))
        yield Measure(f"events {what}", len(bodies) / ours, "/s", len(bodies) / theirs, source="peer")
        mean, mean_of_theirs = (1e6 * seconds / len(bodies) for seconds in (cpu, cpu_of_theirs))
        yield Measure(f"processor for an event {what}", mean, "µs", mean_of_theirs, True, "peer")


def _ours(bodies: Sequence[bytes]) -> Taken:
    game = catalogue.find("kaiser")
    with tempfile.TemporaryDirectory() as folder:
        house = House(Settings(folder=Path(folder)))
        house.open()
        table, seed, head = "bench", bytes(32), log.GENESIS
        with house.store.writing() as connection:
            row = {"id": table, "game": "kaiser", "seats": 3, "seed": seed, "commitment": "", "phase": "playing"}
            row |= {"length": 0, "head": head, "pace": 0, "watch": "", "opened_at": 0, "moved_at": 0}
            connection.execute(insert(tables), row)
        begun, cpu = time.perf_counter(), time.process_time()
        for seq, body in enumerate(bodies):
            digest = log.digest(seed, seq, body)
            head = log.link(head, digest)
            with house.store.writing() as connection:
                appending.append(connection, Addition(table, Sealed(seq, body.decode(), digest, head), "playing", seq))
        taken = {"append": time.perf_counter() - begun, "append_cpu": time.process_time() - cpu}
        begun, cpu = time.perf_counter(), time.process_time()
        with house.store.reading() as connection:
            stored = [entry.body for entry in book.entries_of(connection, table)]
        record.fold(game, map(record.decoder(game).decode, stored))
        taken |= {"replay": time.perf_counter() - begun, "replay_cpu": time.process_time() - cpu}
        house.close()
        return taken


def _theirs(peer: Path, bodies: Sequence[bytes]) -> Taken:
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder, "events")
        events.write_bytes(b"\n".join(bodies))
        command = [str(peer), str(SCRIPT), str(events), folder]
        found: Taken = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        return found
