"""Many threads may decode values at the same time, from the first moment of a server on."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sampling import one_of

ROOT = Path(__file__).parents[2]
READ = """
import json
from pathlib import Path
from engine import catalogue, log, options
from service import timing
from service.tables.submitting import StoredSubmission, decode_verdict

game = catalogue.find("kaiser")
export = Path("tests/golden/kaiser/abandoned.json").read_bytes()
stored = [json.dumps(link["entry"]) for link in json.loads(export)["entries"]]

def read():
    message = b'{"table":"a","verdict":{"accepted":true,"why":{"sentence":"Well done."}}}'
    assert decode_verdict(message, StoredSubmission("a", 1))
    timing.parse_clock({"bank": "86400", "increment": "3600"}, 60)
    log.parse_export(export)
    for entry in stored:
        log.make_entry_decoder(game).decode(entry)
    options.parse(game.META.options, {"rounds": "2"})
"""
# msgspec inspects types slowly here, so that threads meet while it does.
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


@pytest.mark.parametrize("count", one_of([1, 3], 1))
def test_many_threads_may_decode_the_first_verdict_clock_log_and_options_at_once(count: int) -> None:
    """Web threads, the referee and the post of a server that has just started; its process once crashed."""
    command = [sys.executable, "-c", READ + SLOWLY]
    processes = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) for _ in range(count)]
    errors = [process.communicate(timeout=60)[1].decode() for process in processes]
    assert [(process.returncode, error) for process, error in zip(processes, errors, strict=True)] == [(0, "")] * count
