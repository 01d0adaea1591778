"""RQ workers run a job for each wake-up, log failed jobs, and finish their job before they stop."""

import multiprocessing
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from rq.serializers import JSONSerializer

from service.app import App
from tests import apps
from tests.apps import FakeTime
from workers import bots, jobs, process_pool, processes, referee


def run_waiting_jobs(app: App) -> None:
    worker = processes.ThreadWorker(["referee"], connection=app.redis, serializer=JSONSerializer)
    worker.work(burst=True, logging_level="WARNING")


def list_job_keys(app: App) -> list[bytes]:
    """Return the keys of Redis for wake-ups: queues, jobs that wait and jobs that run."""
    return [key for key in app.redis.keys("rq:*") if key.startswith((b"rq:job", b"rq:queue:", b"rq:intermediate"))]


def test_a_finished_wakeup_leaves_no_keys_in_redis(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = list[str]()
    monkeypatch.setattr(referee, "run", lambda: runs.append("referee"))
    app.wakeups.wake("referee")
    assert list_job_keys(app)
    run_waiting_jobs(app)
    assert runs == ["referee"]
    assert not list_job_keys(app)


def test_a_failed_job_is_logged_and_the_next_one_runs(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    runs = list[str]()

    def fail() -> None:
        runs.append("referee")
        raise ValueError("the ink is dry")

    monkeypatch.setattr(referee, "run", fail)
    for _ in range(2):
        app.wakeups.wake("referee")
        app.wakeups.acknowledge("referee")
    run_waiting_jobs(app)
    assert runs == ["referee", "referee"]
    assert not list_job_keys(app)
    assert "the ink is dry" in caplog.text


def stop_worker(redis_url: str, folder: Path) -> None:
    """Start a worker, stop it in its first job, and require that it ends within the time that a host waits."""
    with Redis.from_url(redis_url) as redis, apps.run_app(apps.make_settings(folder), FakeTime(), redis) as app:
        app.wakeups.wake("referee")
        worker: Any = multiprocessing.get_context("fork").Process(
            target=processes.run_worker, args=(app, ["referee"]), daemon=True
        )
        worker.start()
        until = time.monotonic() + 10
        while not (folder / "begun").exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        worker.terminate()
        worker.join(5)
        assert worker.exitcode == 0


def test_a_worker_that_is_stopped_finishes_its_job(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        (tmp_path / "begun").touch()
        time.sleep(0.5)
        (tmp_path / "done").touch()

    monkeypatch.setattr(referee, "run", work)
    stop_worker(redis_url, tmp_path)
    assert (tmp_path / "done").exists()


def test_a_worker_with_much_to_do_ends_after_the_step_in_hand(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container is killed ten seconds after its signal to stop; work that is left waits in the database."""

    def step(_: App) -> bool:
        (tmp_path / "begun").touch()
        time.sleep(0.2)
        with (tmp_path / "steps").open("a") as steps:
            steps.write("x")
        return True

    monkeypatch.setattr(referee, "run", lambda: jobs.run_job("referee", step, lambda _: True))
    stop_worker(redis_url, tmp_path)
    assert 1 <= len((tmp_path / "steps").read_text()) <= 5


def test_bots_that_wait_for_their_turn_to_think_are_left_when_their_process_is_to_end(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    thought = list[object]()
    monkeypatch.setattr(bots, "list_bot_tasks", lambda *_: [bots.Task("one", "one"), bots.Task("two", "two")])
    monkeypatch.setattr(bots, "_move", lambda _, place: (thought.append(place.table), jobs.request_stop()))
    jobs.set_app(app)
    bots.run()
    assert thought == ["one"]


class Began(Exception):
    pass


@pytest.mark.parametrize(("queues", "back"), [(["bots"], True), (["referee"], False), (["referee", "bots"], False)])
def test_only_a_worker_for_bots_alone_lowers_its_priority(
    app: App, monkeypatch: pytest.MonkeyPatch, queues: Sequence[str], back: bool
) -> None:
    def begin(*_: object, **__: object) -> None:
        raise Began

    steps = list[str]()
    monkeypatch.setattr(process_pool, "lower_priority", lambda: steps.append("back"))
    monkeypatch.setattr(processes, "ProcessWorker", begin)
    with pytest.raises(Began):
        processes.run_worker(app, queues)
    assert bool(steps) is back


def test_a_lowered_priority_is_a_higher_niceness() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        before = pool.submit(os.getpriority, os.PRIO_PROCESS, 0).result()
        pool.submit(process_pool.lower_priority).result()
        assert pool.submit(os.getpriority, os.PRIO_PROCESS, 0).result() == min(before + process_pool.NICENESS, 19)
