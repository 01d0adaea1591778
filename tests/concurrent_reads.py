"""Decode by many threads at once, in processes in which msgspec inspects types slowly."""

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
barrier, eval_type = Barrier(8), _utils._eval_type

def slowly(*args):
    time.sleep(random.choice((0, 0.001, 0.005, 0.02)))
    return eval_type(*args)

def run():
    barrier.wait()
    read()

_utils._eval_type = slowly
threads = [Thread(target=run) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def check_concurrent_reads(read: str, times: int = 6) -> None:
    """Run the function `read` of this code in eight threads at once; fail if a thread raises or a process crashes."""
    command = [sys.executable, "-c", read + SLOWLY]
    processes = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) for _ in range(times)]
    errors = [process.communicate(timeout=60)[1].decode() for process in processes]
    assert [(process.returncode, error) for process, error in zip(processes, errors, strict=True)] == [(0, "")] * times
