"""The promises of the repository as a whole."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Written so that this file does not match itself.
FORBIDDEN_TEXT = re.compile(
    r"py[p]i\.org|python[h]osted\.org|[n]pmjs\.org|deb\.[d]ebian\.org"  # where packages come from is a setting
    r"|(?<![\w.~-])/(?:[w]ork|[r]oot|[h]ome/\w+)/"  # paths of one machine
)


def list_tracked_files() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode:
        pytest.skip("not a git checkout; to have one: git clone")
    return [ROOT / name for name in listing.stdout.decode().split("\0") if name]


def test_no_file_names_a_package_host_or_a_path_of_one_machine() -> None:
    lines = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in list_tracked_files()
        if path.is_file()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if FORBIDDEN_TEXT.search(line)
    ]
    assert not lines, "\n".join(lines)
