"""`make bench` goes on where a bench hangs or fails, and leaves no process behind."""

import sys
import time
from pathlib import Path

import psutil
import pytest

from service.commands import benches
from tests.bench import results

pytestmark = pytest.mark.release
HANG = """
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(str(child.pid))
while True:
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        pass
"""


def test_a_bench_that_hangs_is_broken_off_with_all_that_it_started(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(results, "CLEAN_UP_S", 0.2)
    failure = results.run_aside([sys.executable, "-c", HANG, str(tmp_path / "child")], 3)
    assert failure == "it took more than 3 s"
    assert is_gone(int((tmp_path / "child").read_text()))


def is_gone(process: int) -> bool:
    end = time.monotonic() + 10
    while psutil.pid_exists(process) and psutil.Process(process).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_a_bench_that_fails_says_so_and_the_page_names_it() -> None:
    assert results.run_aside([sys.executable, "-c", "raise SystemExit(3)"], 60) == "it ended with 3"
    figures = list(results.run_bench("no such bench"))
    assert [figure["what"] for figure in figures] == ["broken off: it ended with 1"]


def test_a_bench_leaves_its_figures(monkeypatch) -> None:
    monkeypatch.setattr(results, "LOAD_CHECK_S", 0.0)
    (figure,) = results.run_bench("rebuild")
    assert (figure["bench"], figure["unit"]) == ("rebuild", "ms")
    assert figure["value"] > 0


def test_each_bench_can_be_loaded() -> None:
    assert benches.find_benches().keys() > results.LONG_BENCHES
