"""The start and the memory of `depesche serve`, as a friend runs it, and what it and a worker do while all is quiet."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import psutil
from msgspec.structs import asdict

from service.app import App
from service.commands.benches import Measure, register_bench
from tests.bench.bench_servers import start_servers
from tests.bench.open_pages import request_json, run_service

STARTS, TABLES = 3, 10
MAX_START_S, MAX_MEMORY_MB = 1.5, 110.0
PLAYERS = [{"name": name, "address": f"{name.lower()}@example.org"} for name in ("Anna", "Berta")]
START_S, REST_S = 5.0, 125.0  # of the worker, whose RQ jobs end and begin again every five minutes
QUIET_S, QUIET_CPU_S, MAX_WAIT_S = 5.0, 0.05, 120.0  # the letters are written if so little is done in so long
MAX_IDLE_PERCENT = 0.2


@register_bench
def serve_start() -> Iterator[Measure]:
    """Seconds until the first answer of `serve`, and its memory and idle work with ten tables, all processes."""
    took = [time_start() for _ in range(STARTS + 1)][1:]  # the first start compiles modules and templates
    yield Measure("start of serve until the first answer", statistics.median(took), "s", MAX_START_S, at_most=True)
    with tempfile.TemporaryDirectory() as folder, run_service(Path(folder)) as (process, port):
        for _ in range(TABLES):
            start_game(port)
        wait_until_quiet(process)
        yield Measure("memory with ten tables", read_memory_mb(process), "MB", MAX_MEMORY_MB, at_most=True)
        yield Measure("of one core while nothing happens", measure_idle(process), "%", MAX_IDLE_PERCENT, at_most=True)


@register_bench
def worker_idle() -> Iterator[Measure]:
    """Idle work of `depesche worker` in production, all its processes, with PostgreSQL and Redis."""
    with start_servers() as settings:
        app = App(settings)
        app.open()
        app.close()
        names = {f"DEPESCHE_{name.upper()}": str(value) for name, value in asdict(settings).items()}
        with subprocess.Popen([sys.executable, "-m", "service.cli", "worker"], env={**os.environ, **names}) as worker:
            try:
                time.sleep(START_S)
                wait_until_quiet(worker.pid)
                yield Measure(
                    "of one core while nothing happens", measure_idle(worker.pid), "%", MAX_IDLE_PERCENT, at_most=True
                )
            finally:
                worker.terminate()


def measure_idle(process: int) -> float:
    """Return the share of one core that a process and its children take, in percent."""
    before = read_cpu_seconds(process)
    time.sleep(REST_S)
    return 100 * (read_cpu_seconds(process) - before) / REST_S


def wait_until_quiet(process: int) -> None:
    """Wait until the letters are written, and all that the opening of tables began is done."""
    until, before = time.monotonic() + MAX_WAIT_S, read_cpu_seconds(process)
    while time.monotonic() < until:
        time.sleep(QUIET_S)
        before, last = read_cpu_seconds(process), before
        if before - last < QUIET_CPU_S:
            return


def start_game(port: int) -> None:
    """Open a table, let both players sit down, and look at its page."""
    api = f"http://127.0.0.1:{port}/api/v1"
    for link in request_json(f"{api}/tables", {"game": "kaiser", "players": PLAYERS})["links"]:
        request_json(f"{api}/t/{link}/sit", {"nonce": "word"})
        with urlopen(f"http://127.0.0.1:{port}/t/{link}", timeout=60) as page:
            page.read()


def time_start() -> float:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        with run_service(Path(folder)):
            return time.perf_counter() - start


def list_processes(process: int) -> list[psutil.Process]:
    main = psutil.Process(process)
    return [main, *main.children(recursive=True)]


def read_memory_mb(process: int) -> float:
    """Return the memory of a service and its children; what they share counts once."""
    return float(sum(one.memory_full_info().pss for one in list_processes(process)) / 2**20)


def read_cpu_seconds(process: int) -> float:
    return sum(sum(one.cpu_times()[:2]) for one in list_processes(process))
