"""What is kept and sent is read by many threads at once from a house's first moment on."""

from tests.concurrent_reads import check_concurrent_reads

READ = """
from pathlib import Path
from engine import log
from service import timing
from service.tables.submitting import Submitted, VerdictMessage

export = Path("tests/golden/kaiser/abandoned.json").read_bytes()

def read():
    VerdictMessage.read(b'{"table":"a","verdict":{"accepted":true,"why":{"sentence":"Well done."}}}', Submitted("a", 1))
    timing.parse_clock({"bank": "86400", "increment": "3600"}, 60)
    log.parse_export(export)
"""


def test_the_first_to_read_a_verdict_a_clock_or_a_log_may_be_many_threads_at_once() -> None:
    """Eight web threads, the referee and the post of a house that was just started: it died of that."""
    check_concurrent_reads(READ)
