"""A worker calls the jobs of its fixed list only, so that write access to Redis runs no other program."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rq.job import Job
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer

from service.app import App
from service.wakeups import JOBS
from tests import apps
from workers import residents
from workers.processes import ProcessWorker, make_worker_options


@pytest.fixture
def app(tmp_path: Path, redis_url: str) -> Iterator[App]:
    """An app with a real Redis."""
    with apps.run_app(apps.make_settings(tmp_path, redis=redis_url), apps.FakeTime()) as app:
        app_redis = app.redis
        assert app_redis.ping()
        yield app


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module whose import, and whose function, leave a trace."""
    trace = tmp_path / "trace"
    (tmp_path / "planted.py").write_text(f"open({str(trace)!r}, 'a')\ndef run(*_): open({str(trace)!r}, 'a')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "planted", raising=False)
    return trace


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs that ran; each only says so."""
    runs = list[str]()
    monkeypatch.setattr(residents, "run_bots", lambda *words: runs.append(" ".join(["bots", *words])))
    return runs


def work(app: App) -> None:
    worker = ProcessWorker(["bots"], **make_worker_options(app))
    worker.work(burst=True, logging_level="CRITICAL")


def make_job(app: App, name: str, *args: object) -> Job:
    return Job.create(name, args=args, connection=app.redis, serializer=JSONSerializer)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("planted.run", []),
        ("os.mkdir", ["{trace}"]),
        ("builtins.exec", ["open('{trace}', 'a')"]),
        ("workers.residents.bots.process_pool.run", []),
    ],
)
def test_a_planted_job_runs_nothing_and_the_next_job_runs(
    app: App, planted: Path, runs: list[str], name: str, args: list[str]
) -> None:
    app.wakeups.get_queue("bots").enqueue_job(make_job(app, name, *(text.format(trace=planted) for text in args)))
    app.wakeups.get_queue("bots").enqueue_job(make_job(app, JOBS["bots"]))
    work(app)
    assert runs == ["bots"]
    assert not planted.exists()


def test_a_listed_job_calls_no_planted_callback(app: App, planted: Path, runs: list[str]) -> None:
    job = make_job(app, JOBS["bots"])
    names = ("_success_callback_name", "_failure_callback_name", "_stopped_callback_name")
    for name in names:
        setattr(job, name, "planted.run")
    app.wakeups.get_queue("bots").enqueue_job(job)
    work(app)
    assert runs == ["bots"]
    assert not planted.exists()


def test_an_abandoned_job_calls_no_planted_callback(app: App, planted: Path) -> None:
    """RQ calls the failure callback of a job whose worker seems to have died."""
    job = make_job(app, JOBS["bots"])
    job._failure_callback_name = "planted.run"
    job.save()
    registry = StartedJobRegistry("bots", connection=app.redis, serializer=JSONSerializer)
    app.redis.zadd(registry.key, {f"{job.id}:abc": time.time() - 1_000})
    worker = ProcessWorker(["bots"], **make_worker_options(app))
    worker.clean_registries()
    assert not planted.exists()


def test_a_job_with_arguments_is_refused(app: App, runs: list[str]) -> None:
    app.wakeups.get_queue("bots").enqueue_job(make_job(app, JOBS["bots"], "argument"))
    work(app)
    assert runs == []
