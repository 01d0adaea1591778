"""RQ workers run a job for each wake-up, log failed jobs, and finish their job before they stop."""

import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from service.app import App
from tests import apps
from tests.apps import FakeTime
from workers import bots, jobs, process_pool, processes, referee, residents
from workers.incoming import mail_moves


def run_referee_job(app: App) -> None:
    """Let an RQ worker run the job `referee` once."""
    app.wakeups.start_job("referee")
    worker = processes.ThreadWorker(["referee"], **processes.make_worker_options(app))
    worker.work(max_jobs=1, logging_level="WARNING")


def list_job_keys(app: App) -> list[bytes]:
    """Return the keys of Redis for wake-ups and jobs: queues, jobs that wait and jobs that run."""
    names = (b"wakeup:", b"rq:job", b"rq:queue:", b"rq:intermediate")
    return [key for key in app.redis.keys("*") if key.startswith(names)]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, app: App) -> None:
    """Jobs that stay for a moment only, at this app."""
    jobs.set_app(app)
    for stay, wait in (("STAY_S", "WAIT_S"), ("EMBEDDED_STAY_S", "EMBEDDED_WAIT_S")):
        monkeypatch.setattr(residents, stay, 0.2)
        monkeypatch.setattr(residents, wait, 0.05)


@pytest.mark.usefixtures("short")
def test_a_job_works_on_each_of_its_queues_that_is_woken(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = list[str]()
    monkeypatch.setattr(referee, "run", lambda: runs.append("referee"))
    monkeypatch.setattr(mail_moves, "run", lambda: runs.append("inbox"))
    for queue in ("inbox", "referee", "referee"):
        app.wakeups.wake(queue)
    run_referee_job(app)
    assert sorted(runs) == ["inbox", "referee"]  # two wake-ups of one queue ask for one look


@pytest.mark.usefixtures("short")
def test_a_finished_job_leaves_only_the_next_one_in_redis(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referee, "run", lambda: None)
    app.wakeups.wake("referee")
    run_referee_job(app)
    (job,) = app.wakeups.get_queue("referee").jobs
    assert set(list_job_keys(app)) == {job.key.encode(), b"rq:queue:referee"}


@pytest.mark.usefixtures("short")
def test_failed_work_is_logged_and_the_job_stays(
    app: App, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = list[str]()

    def fail() -> None:
        runs.append("referee")
        raise ValueError("the ink is dry")

    monkeypatch.setattr(referee, "run", fail)
    monkeypatch.setattr(mail_moves, "run", lambda: runs.append("inbox"))
    app.wakeups.wake("referee")
    app.wakeups.wake("inbox")
    run_referee_job(app)
    assert runs == ["referee", "inbox"]
    assert "the ink is dry" in capsys.readouterr().out


def stop_worker(redis_url: str, folder: Path, later_s: float = 0.0) -> None:
    """Start a worker, stop it so long after it began its first work, and require that it ends while a host waits."""
    with Redis.from_url(redis_url) as redis, apps.run_app(apps.make_settings(folder), FakeTime(), redis) as app:
        app.wakeups.wake("referee")
        worker: Any = multiprocessing.get_context("fork").Process(
            target=processes.run_worker, args=(app, "referee"), daemon=True
        )
        worker.start()
        until = time.monotonic() + 10
        while not (folder / "begun").exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        time.sleep(later_s)
        worker.terminate()
        worker.join(5)
        assert worker.exitcode == 0


def test_a_worker_that_is_stopped_finishes_its_job(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        (tmp_path / "begun").touch()
        time.sleep(0.3)
        (tmp_path / "done").touch()

    monkeypatch.setattr(referee, "run", work)
    stop_worker(redis_url, tmp_path)
    assert (tmp_path / "done").exists()


def test_a_worker_that_waits_for_work_ends_at_once(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for half a minute here, and for seconds in production, so that it seldom wakes up."""
    monkeypatch.setattr(referee, "run", (tmp_path / "begun").touch)
    stop_worker(redis_url, tmp_path, later_s=0.2)


def test_a_worker_with_much_to_do_ends_after_the_step_in_hand(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container is killed ten seconds after its signal to stop; work that is left waits in the database."""

    def step(_: App) -> jobs.StepResult:
        (tmp_path / "begun").touch()
        time.sleep(0.2)
        with (tmp_path / "steps").open("a") as steps:
            steps.write("x")
        return jobs.StepResult.SOME

    monkeypatch.setattr(referee, "run", lambda: jobs.empty_queue("referee", step, lambda _: True))
    stop_worker(redis_url, tmp_path)
    assert 1 <= len((tmp_path / "steps").read_text()) <= 5


def test_bots_that_wait_for_their_turn_to_think_are_left_when_their_process_is_to_end(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    thought = list[object]()
    monkeypatch.setattr(bots, "list_bot_tasks", lambda *_: [bots.BotTask("one", "one"), bots.BotTask("two", "two")])
    monkeypatch.setattr(bots, "_move", lambda _, place: (thought.append(place.table), jobs.request_stop()))
    jobs.set_app(app)
    bots.run()
    assert thought == ["one"]


class Began(Exception):
    pass


@pytest.mark.parametrize(("job", "back"), [("bots", True), ("referee", False)])
def test_only_a_worker_for_bots_lowers_its_priority(
    app: App, monkeypatch: pytest.MonkeyPatch, job: str, back: bool
) -> None:
    def begin(*_: object, **__: object) -> None:
        raise Began

    steps = list[str]()
    monkeypatch.setattr(process_pool, "lower_priority", lambda: steps.append("back"))
    monkeypatch.setattr(processes, "ProcessWorker", begin)
    with pytest.raises(Began):
        processes.run_worker(app, job)
    assert bool(steps) is back


def test_a_lowered_priority_is_a_higher_niceness() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        before = pool.submit(os.getpriority, os.PRIO_PROCESS, 0).result()
        pool.submit(process_pool.lower_priority).result()
        assert pool.submit(os.getpriority, os.PRIO_PROCESS, 0).result() == min(before + process_pool.NICENESS, 19)
