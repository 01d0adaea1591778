"""Comparison with the library eventsourcing: the same events, in a database file of the same kind."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlalchemy import insert

from engine import canonical_json, catalogue, log, record
from engine.log import SealedEntry
from service.app import App
from service.commands.benches import Measure, play_long_game, register_bench
from service.settings import Settings
from service.store import queries
from service.store.batch import Addition, Batch
from service.store.schema import tables
from tests.servers import Unavailable

PEER_PACKAGE = "eventsourcing==9.5.6"
SCRIPT = Path(__file__).parent / "peer_events.py"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "depesche-bench")
ROUNDS, EVENTS = 3, 300
Times = dict[str, float]


def install_package(package: str, needs: str, *commands: Sequence[str]) -> Path:
    """Return a cached folder that these commands fill with a package, at first and when the commands change."""
    folder, recipe = CACHE / package, "\n".join(map(shlex.join, commands))
    marker = folder / "made"
    if not marker.exists() or marker.read_text() != recipe:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            for command in commands:
                subprocess.run(command, cwd=folder, check=True, capture_output=True)
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            raise Unavailable(package, needs) from error
        marker.write_text(recipe)
    return folder


def install_python_with(package: str) -> Path:
    """Return the Python of a virtual environment that has this package."""
    make, install = (
        [sys.executable, "-m", "venv", "--clear", "."],
        ["bin/python", "-m", "pip", "install", "-q", package],
    )
    return install_package(package, "a network with PyPI", make, install) / "bin/python"


@register_bench
def events_beside_eventsourcing() -> Iterator[Measure]:
    """Events of a game, each appended in a transaction with fsync, and the position that follows from all of them.

    Depesche seals each event, extends the chain, and folds the events by the rules of the game; the library stores the
    same bytes and collects them.
    """
    game, peer = catalogue.find("kaiser"), install_python_with(PEER_PACKAGE)
    bodies = [canonical_json.encode(entry) for entry in play_long_game(game, 0)[:EVENTS]]
    rounds = [(_run_depesche(bodies), _run_peer(peer, bodies)) for _ in range(ROUNDS)]  # in turn, on the same machine
    for what, key in (("appended", "append"), ("replayed", "replay")):
        ours, theirs = (min(one[side][key] for one in rounds) for side in (0, 1))
        cpu, cpu_of_theirs = (min(one[side][f"{key}_cpu"] for one in rounds) for side in (0, 1))
        yield Measure(f"events {what}", len(bodies) / ours, "/s", len(bodies) / theirs, source="peer")
        mean, mean_of_theirs = (1e6 * seconds / len(bodies) for seconds in (cpu, cpu_of_theirs))
        yield Measure(f"processor for an event {what}", mean, "µs", mean_of_theirs, True, "peer")


def _run_depesche(bodies: Sequence[bytes]) -> Times:
    game = catalogue.find("kaiser")
    with tempfile.TemporaryDirectory() as folder:
        app = App(Settings(folder=Path(folder)))
        app.open()
        table, seed, head = "bench", bytes(32), log.GENESIS
        with app.store.writing() as connection:
            row = {"id": table, "game": "kaiser", "seats": 3, "seed": seed, "commitment": "", "phase": "playing"}
            row |= {"length": 0, "head": head, "pace": 0, "spectator_link": "", "opened_at": 0, "moved_at": 0}
            connection.execute(insert(tables), row)
        start, cpu = time.perf_counter(), time.process_time()
        for seq, body in enumerate(bodies):
            digest = log.compute_digest(seed, seq, body)
            head = log.extend_head(head, digest)
            with app.store.writing() as connection:
                batch = Batch(connection)
                batch.append(Addition(table, SealedEntry(seq, body.decode(), digest, head), "playing", seq))
                batch.flush()
        times = {"append": time.perf_counter() - start, "append_cpu": time.process_time() - cpu}
        start, cpu = time.perf_counter(), time.process_time()
        with app.store.reading() as connection:
            stored = [entry.body for entry in queries.list_entries(connection, table)]
        record.fold(game, map(log.make_entry_decoder(game).decode, stored))
        times |= {"replay": time.perf_counter() - start, "replay_cpu": time.process_time() - cpu}
        app.close()
        return times


def _run_peer(peer: Path, bodies: Sequence[bytes]) -> Times:
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder, "events")
        events.write_bytes(b"\n".join(bodies))
        command = [str(peer), str(SCRIPT), str(events), folder]
        times: Times = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        return times
