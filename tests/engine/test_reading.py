"""Values are read by many threads at once."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOGETHER = """
import sys
from threading import Barrier, Thread
from engine import catalogue, options, record
sys.setswitchinterval(1e-6)
game, together = catalogue.find("kaiser"), Barrier(8)
stored = b'{"seq":1,"at":5,"seat":null,"move":"start","draws":[],"events":[{"type":"table.Started"}],"edition":1}'

def read():
    together.wait()
    record.decoder(game).decode(stored)
    options.read(game.META.options, {"rounds": "2"})

threads = [Thread(target=read) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_the_first_to_read_a_log_may_be_many_threads_at_once() -> None:
    command = [sys.executable, "-c", TOGETHER]
    running = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) for _ in range(6)]
    said = [process.communicate(timeout=60)[1].decode() for process in running]
    assert [process.returncode for process in running] == [0] * 6, "\n".join(said)
