"""The wheel of Depesche, installed alone, holds the whole program and serves its pages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests import servers
from tests.test_repository import list_tracked_files

pytestmark = pytest.mark.release

ROOT = Path(__file__).parents[1]
PACKAGES = ("engine", "service", "workers", "templates")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
OFFLINE = ("--no-index", "--no-deps")
DEMO_TIMEOUT_S = 60


@pytest.fixture(scope="module")
def program() -> frozenset[str]:
    """Every file that belongs to the program, relative to the root."""
    paths = (path.relative_to(ROOT) for path in list_tracked_files() if path.is_file())
    return frozenset(path.as_posix() for path in paths if path.parts[0] in PACKAGES)


@pytest.fixture(scope="module")
def wheel(program: frozenset[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of the source, because a build leaves files behind."""
    folder = tmp_path_factory.mktemp("source")
    for name in (*program, "pyproject.toml", "README.md", "LICENSE"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    build = [*PIP, "wheel", *OFFLINE, "--no-build-isolation", "--wheel-dir", folder / "dist", folder]
    subprocess.run(build, check=True)
    (built,) = (folder / "dist").glob("depesche-*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_program_and_no_other(wheel: Path, program: frozenset[str]) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == program


def test_the_installed_wheel_serves_a_table(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([*PIP, "install", *OFFLINE, "--target", tmp_path / "site", wheel], check=True)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "DEPESCHE_FOLDER": str(tmp_path / "data")}
    where = subprocess.run(
        [sys.executable, "-c", "import service; print(service.__file__)"],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert where.stdout.startswith(str(tmp_path / "site")), "the checkout must not be used instead"
    port = servers.free_port()
    command = [sys.executable, "-m", "service.cli", "serve", "--demo", "--port", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            lines = iter(process.stdout.readline, "")
            table = next(match[0] for line in lines if (match := re.search(r"http://\S+/t/\w+", line)))
            page = fetch(table)
            assert "<svg" in page
            for path in set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page)):
                assert fetch(f"http://127.0.0.1:{port}{path}")
        finally:
            process.terminate()


def fetch(address: str) -> str:
    with urllib.request.urlopen(address, timeout=DEMO_TIMEOUT_S) as response:
        return str(response.read().decode("utf-8", errors="replace"))
