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


def test_no_line_of_a_style_or_script_is_longer_than_120_characters() -> None:
    paths = [
        path
        for path in list_tracked_files()
        if path.suffix in (".css", ".js", ".mjs") and path.is_file() and ".min." not in path.name
    ]
    lines = [(path, number, line) for path in paths for number, line in enumerate(path.read_text().splitlines(), 1)]
    too_long = [f"{path.relative_to(ROOT)}:{number}" for path, number, line in lines if len(line) > 120]
    assert len(paths) > 50
    assert too_long == [], "\n".join(too_long)


def test_no_file_names_a_package_host_or_a_path_of_one_machine() -> None:
    lines = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in list_tracked_files()
        if path.is_file()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if FORBIDDEN_TEXT.search(line)
    ]
    assert not lines, "\n".join(lines)
