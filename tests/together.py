"""Reading by many threads at once, in a process of its own in which msgspec takes its time to work a type out."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SLOWLY = """
import random
import sys
import time
from threading import Barrier, Thread
from msgspec import _utils

sys.setswitchinterval(1e-6)
at_once, usual = Barrier(8), _utils._eval_type

def slowly(*args):
    time.sleep(random.choice((0, 0.001, 0.005, 0.02)))
    return usual(*args)

def run():
    at_once.wait()
    read()

_utils._eval_type = slowly
threads = [Thread(target=run) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def together(read: str, times: int = 6) -> None:
    """Eight threads that do as this code's function `read` does: none of them is hindered, and no process ends."""
    command = [sys.executable, "-c", read + SLOWLY]
    running = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) for _ in range(times)]
    said = [process.communicate(timeout=60)[1].decode() for process in running]
    assert [(process.returncode, told) for process, told in zip(running, said, strict=True)] == [(0, "")] * times
