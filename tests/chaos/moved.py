"""The service's command line in a process whose clock is moved from outside: a file says how far it is off.

libfaketime would move it for more than Python, but it makes `time.sleep` fail, and whoever waits with it.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

FRESH = 0.2  # seconds until the file is read again


def moved(file: Path, real: Callable[[], float] = time.time) -> Callable[[], float]:
    """A clock that is off by as many seconds as this file says."""
    read_at, off = float("-inf"), 0.0

    def now() -> float:
        nonlocal read_at, off
        if time.monotonic() >= read_at + FRESH:
            read_at, off = time.monotonic(), float(file.read_text() or 0)
        return real() + off

    return now


if __name__ == "__main__":
    time.time = moved(Path(sys.argv[1]))
    from service import cli

    # Started and killed again and again, they would warm up and draw the boards of letters more than all the rest.
    if sys.argv[2] in ("serve", "web"):
        from service.web import warm_up

        warm_up.prepare = lambda: None
    if sys.argv[2] in ("serve", "worker"):
        from workers.outgoing import pictures

        pictures.png = lambda svg: b""
    sys.exit(cli.main(sys.argv[2:]))
