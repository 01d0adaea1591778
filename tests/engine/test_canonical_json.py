"""Many threads may decode values at the same time."""

from tests.concurrent_reads import check_concurrent_reads

READ = """
import json
from pathlib import Path
from engine import catalogue, options, record
game = catalogue.find("kaiser")
log = json.loads(Path("tests/golden/kaiser/four.json").read_text())
stored = [json.dumps(link["entry"]) for link in log["entries"]]

def read():
    for entry in stored:
        record.make_entry_decoder(game).decode(entry)
    options.parse(game.META.options, {"rounds": "2"})
"""


def test_many_threads_may_decode_a_log_first_at_the_same_time() -> None:
    check_concurrent_reads(READ)
