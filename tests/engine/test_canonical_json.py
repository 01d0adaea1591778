"""Values are read by many threads at once."""

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
        record.decoder(game).decode(entry)
    options.read(game.META.options, {"rounds": "2"})
"""


def test_the_first_to_read_a_log_may_be_many_threads_at_once() -> None:
    check_concurrent_reads(READ)
