"""What the repository as a whole promises."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Written so that this file does not match itself.
FORBIDDEN = re.compile(
    r"py[p]i\.org|python[h]osted\.org|[n]pmjs\.org|deb\.[d]ebian\.org"  # where packages come from is a setting
    r"|(?<![\w.~-])/(?:[w]ork|[r]oot|[h]ome/\w+)/"  # nobody else's machine looks like that
)


def tracked() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode:
        pytest.skip("not a git checkout; to have one: git clone")
    return [ROOT / name for name in listing.stdout.decode().split("\0") if name]


def test_no_file_names_a_package_host_or_a_path_of_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in tracked()
        if path.is_file()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if FORBIDDEN.search(line)
    ]
    assert not found, "\n".join(found)
