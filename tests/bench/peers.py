"""Others beside us in one run: the library eventsourcing on the same events, in a database file of the same kind."""

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
from service.app import App
from service.benches import Measure, bench
from service.benches.engine import _long
from service.settings import Settings
from service.store import appending, queries
from service.store.appending import Addition, Sealed
from service.store.schema import tables
from tests.servers import Unavailable

EVENTSOURCING = "eventsourcing==9.5.6"
SCRIPT = Path(__file__).parent / "peer_events.py"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "depesche-bench")
ROUNDS, EVENTS = 3, 300
Taken = dict[str, float]


def fetched(package: str, needs: str, *commands: Sequence[str]) -> Path:
    """A folder that these commands, run in it, fill with a package: the first time, and when the commands change."""
    folder, wanted = CACHE / package, "\n".join(map(shlex.join, commands))
    made = folder / "made"
    if not made.exists() or made.read_text() != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            for command in commands:
                subprocess.run(command, cwd=folder, check=True, capture_output=True)
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            raise Unavailable(package, needs) from error
        made.write_text(wanted)
    return folder


def python_with(package: str) -> Path:
    """A Python of its own that has this package."""
    make, install = (
        [sys.executable, "-m", "venv", "--clear", "."],
        ["bin/python", "-m", "pip", "install", "-q", package],
    )
    return fetched(package, "a network with PyPI", make, install) / "bin/python"


@bench
def events_beside_eventsourcing() -> Iterator[Measure]:
    """Events of a game, each appended in a transaction that waits for the disk, and the position from all of them.

    Ours seals each, keeps the chain, and folds the game's own rules; theirs stores the same bytes and collects them.
    """
    game, peer = catalogue.find("kaiser"), python_with(EVENTSOURCING)
    bodies = [canonical_json.encode(entry) for entry in _long(game, 0)[:EVENTS]]
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
        app = App(Settings(folder=Path(folder)))
        app.open()
        table, seed, head = "bench", bytes(32), log.GENESIS
        with app.store.writing() as connection:
            row = {"id": table, "game": "kaiser", "seats": 3, "seed": seed, "commitment": "", "phase": "playing"}
            row |= {"length": 0, "head": head, "pace": 0, "watch": "", "opened_at": 0, "moved_at": 0}
            connection.execute(insert(tables), row)
        begun, cpu = time.perf_counter(), time.process_time()
        for seq, body in enumerate(bodies):
            digest = log.digest(seed, seq, body)
            head = log.extend_head(head, digest)
            with app.store.writing() as connection:
                appending.append(connection, Addition(table, Sealed(seq, body.decode(), digest, head), "playing", seq))
        taken = {"append": time.perf_counter() - begun, "append_cpu": time.process_time() - cpu}
        begun, cpu = time.perf_counter(), time.process_time()
        with app.store.reading() as connection:
            stored = [entry.body for entry in queries.entries_of(connection, table)]
        record.fold(game, map(record.make_entry_decoder(game).decode, stored))
        taken |= {"replay": time.perf_counter() - begun, "replay_cpu": time.process_time() - cpu}
        app.close()
        return taken


def _theirs(peer: Path, bodies: Sequence[bytes]) -> Taken:
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder, "events")
        events.write_bytes(b"\n".join(bodies))
        command = [str(peer), str(SCRIPT), str(events), folder]
        found: Taken = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        return found
