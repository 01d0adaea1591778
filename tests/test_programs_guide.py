"""The guide for programs lists every operation of the JSON interface, and its example works as it is written."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.web.api.operations import JSON
from service.web.api.routes import make_document
from tests.services import RunningService

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "programs.md"
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SERVER = "https://games.example.org"


def format_operations(document: dict[str, Any]) -> Iterator[str]:
    """Format a row of the table for each operation."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            body = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema", {})
            name = body.get("$ref", "").rpartition("/")[2]
            arguments = [f"`{one['name']}`" for one in operation.get("parameters", ()) if one["in"] == "query"]
            takes = f"a body `{name}`" if name else ", ".join(arguments)
            answers = ", ".join(operation["responses"])
            yield f"| `{method.upper()} {path}` | {operation['summary']} | {takes} | {answers} |"


def test_every_operation_is_in_the_table() -> None:
    rows = list(format_operations(make_document()))
    table = [line for line in GUIDE.read_text("utf-8").splitlines() if re.match(r"\| `[A-Z]+ /", line)]
    assert table == rows, "write these rows:\n" + "\n".join(rows)


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl; on Debian or Ubuntu: apt-get install curl")
def test_the_example_plays_a_move_and_downloads_a_sound_log(service: RunningService, tmp_path: Path) -> None:
    script = "".join(SHELL.findall(GUIDE.read_text("utf-8")))
    assert SERVER in script
    command = ["bash", "-euo", "pipefail", "-c", script.replace(SERVER, service.address)]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, env={"PATH": path})
    assert run.returncode == 0, run.stdout + run.stderr
    assert "304" in run.stdout
    first, second = (json.loads(line) for line in run.stdout.splitlines() if line.startswith('{"submission"'))
    assert first["accepted"] is True
    assert second == first, "the same key is the same submission"
    assert "look at it again before you move" in run.stdout
    assert "proven to be what was sealed" in run.stdout
