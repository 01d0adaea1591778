"""The time from submitting a move to its verdict, with real servers and a real worker."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import asdict

from service.app import App
from service.commands.benches import Measure, measure_verdicts, register_bench
from service.settings import Settings
from tests import servers
from tests.bench.bench_servers import start_servers
from workers.processes import run_embedded


@register_bench
def verdict_embedded() -> Iterator[Measure]:
    """Submit to verdict in the embedded service: SQLite, and all workers as threads of this process."""
    with tempfile.TemporaryDirectory() as folder:
        app = App(Settings(folder=Path(folder)))
        app.open()
        with run_embedded(app):
            yield from measure_verdicts(app, "embedded")
        app.close()


@register_bench
def verdict_production() -> Iterator[Measure]:
    """Submit to verdict with PostgreSQL, Redis and one worker."""
    with servers.smtp_server() as sink, start_servers(f"smtp://{sink.hostname}:{sink.port}") as settings:
        app = App(settings)
        app.open()
        with run_worker(settings):
            yield from measure_verdicts(app, "PostgreSQL")
        app.close()


@contextmanager
def run_worker(settings: Settings, *queues: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run one `depesche worker`, for all queues or for these."""
    command = [sys.executable, "-m", "service.cli", "worker", *(["--queues", ",".join(queues)] if queues else [])]
    chosen = {f"DEPESCHE_{name.upper()}": str(value) for name, value in asdict(settings).items()}
    with subprocess.Popen(command, env={**os.environ, **chosen}, cwd=Path(__file__).parents[2]) as process:
        try:
            yield process
        finally:
            process.terminate()
