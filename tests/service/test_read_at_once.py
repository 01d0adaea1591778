"""What is kept and sent is read by many threads at once from a house's first moment on."""

from tests.concurrent_reads import check_concurrent_reads

READ = """
from pathlib import Path
from engine import log
from service import timing
from service.tables.submitting import Submitted, _decode

export = Path("tests/golden/kaiser/abandoned.json").read_bytes()

def read():
    assert _decode(b'{"table":"a","verdict":{"accepted":true,"why":{"sentence":"Well done."}}}', Submitted("a", 1))
    timing.parse_clock({"bank": "86400", "increment": "3600"}, 60)
    log.parse_export(export)
"""


def test_many_threads_may_read_the_first_verdict_clock_or_log_at_once() -> None:
    """Web threads, the referee and the post of a server that was just started; its process once crashed."""
    check_concurrent_reads(READ)
