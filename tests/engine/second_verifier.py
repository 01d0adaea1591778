"""Runs the second verifier, plain JavaScript, in one Node process that reads a question in each line."""

from __future__ import annotations

import atexit
import functools
import json
import subprocess
from pathlib import Path
from typing import Any

from tests.node import node

FOLDER = Path(__file__).parent
SCRIPT = Path(__file__).parents[2] / "templates/static/verify.mjs"


@functools.cache
def _process() -> subprocess.Popen[str]:
    words = [node(), str(FOLDER / "lines.mjs")]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[str]) -> None:
    with process:  # waits for its end, and closes its pipes
        process.kill()


def ask(**question: Any) -> Any:
    """Return the verifier's answer: `log=` verifies a text, `letter=` finds its receipts."""
    process = _process()
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(question) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def verify(text: str | bytes) -> Any:
    """Return the second verifier's report on a log."""
    return ask(log=text.decode("utf-8", "replace") if isinstance(text, bytes) else text)
