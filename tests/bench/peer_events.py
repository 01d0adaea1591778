"""Append and replay events of Depesche with the library eventsourcing. Run by a Python that has it.

python peer_events.py FILE FOLDER: the file has one event per line; the times are printed as JSON.
"""

import json
import os
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    os.environ["PERSISTENCE_MODULE"] = "eventsourcing.sqlite"
    os.environ["SQLITE_DBNAME"] = str(Path(sys.argv[2], "peer.sqlite"))
    from eventsourcing.application import Application
    from eventsourcing.domain import Aggregate, event

    class Game(Aggregate):
        @event("Opened")
        def __init__(self) -> None:
            self.moves: list[str] = []

        @event("Moved")
        def move(self, body: str) -> None:
            self.moves.append(body)

    bodies = Path(sys.argv[1]).read_text().splitlines()
    app, game = Application(), Game()
    app.save(game)
    start, cpu = time.perf_counter(), time.process_time()
    for body in bodies:
        game.move(body)
        app.save(game)
    appended, cpu = time.perf_counter() - start, time.process_time() - cpu
    start, replay_cpu = time.perf_counter(), time.process_time()
    copy = app.repository.get(game.id)
    assert copy.moves == bodies
    replayed, replay_cpu = time.perf_counter() - start, time.process_time() - replay_cpu
    print(json.dumps({"append": appended, "replay": replayed, "append_cpu": cpu, "replay_cpu": replay_cpu}))
