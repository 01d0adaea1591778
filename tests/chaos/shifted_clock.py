"""Run the command line in a process whose clock is shifted from outside, by the number of seconds in a file.

libfaketime would shift it for more than Python, but it makes `time.sleep` fail.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

REREAD_S = 0.2  # seconds until the file is read again


def shift_clock(file: Path, real: Callable[[], float] = time.time) -> Callable[[], float]:
    """Return a clock that is shifted by the number of seconds in this file."""
    read_at, shift_s = float("-inf"), 0.0

    def now() -> float:
        nonlocal read_at, shift_s
        if time.monotonic() >= read_at + REREAD_S:
            read_at, shift_s = time.monotonic(), float(file.read_text() or 0)
        return real() + shift_s

    return now


if __name__ == "__main__":
    time.time = shift_clock(Path(sys.argv[1]))
    from service import cli

    # Killed and started all the time, these processes would mostly warm up and draw boards for letters.
    if sys.argv[2] in ("serve", "web"):
        from service import web

        web.warm_up = lambda: None
    if sys.argv[2] in ("serve", "worker"):
        from workers.outgoing import emails

        emails.render_png = lambda svg: b""
    sys.exit(cli.main(sys.argv[2:]))
