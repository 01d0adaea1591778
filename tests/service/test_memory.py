"""A process gives back the memory that it does not use any more, and does not search what it always needs."""

import gc
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.refusal import Refused
from service import memory
from service.memory import MemoryReleaser

SERVE = """
import gc, sys
from service.web.server import WebServer
from workers.commands import run

def describe(server):
    gc.collect()
    start = {"sqlalchemy.dialects.postgresql", "alembic"} & set(sys.modules)
    print(gc.isenabled(), gc.get_freeze_count() > 10 * len(gc.get_objects()), start)

WebServer.serve_requests = describe
from service import cli
cli.main(["serve", "--folder", sys.argv[1], "--port", sys.argv[2]])
"""


def test_memory_is_given_back_after_work_and_never_in_a_quiet_process(monkeypatch: pytest.MonkeyPatch) -> None:
    released = list[float]()
    monkeypatch.setattr(memory, "release_memory", lambda: released.append(time.monotonic()))
    monkeypatch.setattr(memory, "WORK_S", 0.05)
    monkeypatch.setattr(memory, "PAUSE_S", 0.0)
    releaser = MemoryReleaser()
    assert releaser.release_after_work()
    assert not any(releaser.release_after_work() for _ in range(10))
    start = time.process_time()
    while time.process_time() < start + 0.06:
        pass
    assert releaser.release_after_work()
    monkeypatch.setattr(memory, "WORK_S", 0.0)
    monkeypatch.setattr(releaser, "_next_at", time.monotonic() + 60)
    assert not releaser.release_after_work()
    assert len(released) == 2


def test_a_server_searches_no_garbage_while_it_starts_and_only_what_is_new_afterwards(tmp_path: Path) -> None:
    """It loads no code of a database that it does not have, either."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [sys.executable, "-c", SERVE, str(tmp_path), port]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DEPESCHE")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
    assert done.stdout.splitlines()[-1] == "True True set()", done


def test_a_command_that_is_refused_collects_garbage_again() -> None:
    @memory.put_off_collections()
    def fail() -> None:
        raise Refused(f"collects: {gc.isenabled()}")

    with pytest.raises(Refused, match="collects: False"):
        fail()
    assert gc.isenabled()
