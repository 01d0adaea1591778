"""RQ workers that hear bells: what is heard is taken away, what fails is told, and who is to stop ends it first."""

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


def hear_what_rang(app: App) -> None:
    worker = processes.ThreadWorker(["referee"], connection=app.redis, serializer=JSONSerializer)
    worker.work(burst=True, logging_level="WARNING")


def kept(app: App) -> list[bytes]:
    """What Redis knows of bells: those that wait, those that are being heard, and what they are to do."""
    return [key for key in app.redis.keys("rq:*") if key.startswith((b"rq:job", b"rq:queue:", b"rq:intermediate"))]


def test_a_bell_that_was_heard_leaves_nothing_behind(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = list[str]()
    monkeypatch.setattr(referee, "run", lambda: heard.append("referee"))
    app.wakeups.wake("referee")
    assert kept(app)
    hear_what_rang(app)
    assert heard == ["referee"]
    assert not kept(app)


def test_a_bell_whose_work_fails_is_told_and_the_next_one_is_heard(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    heard = list[str]()

    def fails() -> None:
        heard.append("referee")
        raise ValueError("the ink is dry")

    monkeypatch.setattr(referee, "run", fails)
    for _ in range(2):
        app.wakeups.wake("referee")
        app.wakeups.acknowledge("referee")
    hear_what_rang(app)
    assert heard == ["referee", "referee"]
    assert not kept(app)
    assert "the ink is dry" in caplog.text


def is_told_to_stop(redis_url: str, folder: Path) -> None:
    """A worker begins to hear, is told to stop, and ends well within the time that a host waits."""
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


def test_a_worker_that_is_told_to_stop_finishes_what_it_has_heard(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hear() -> None:
        (tmp_path / "begun").touch()
        time.sleep(0.5)
        (tmp_path / "done").touch()

    monkeypatch.setattr(referee, "run", hear)
    is_told_to_stop(redis_url, tmp_path)
    assert (tmp_path / "done").exists()


def test_a_worker_with_much_to_do_ends_after_the_step_in_hand(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container is killed ten seconds after it was told to stop; what is left waits in the book."""

    def step(_: App) -> bool:
        (tmp_path / "begun").touch()
        time.sleep(0.2)
        with (tmp_path / "steps").open("a") as steps:
            steps.write("x")
        return True

    monkeypatch.setattr(referee, "run", lambda: jobs.run_job("referee", step, lambda _: True))
    is_told_to_stop(redis_url, tmp_path)
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
def test_only_who_thinks_for_bots_steps_back(
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


def test_what_steps_back_is_nicer_than_it_was() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        before = pool.submit(os.getpriority, os.PRIO_PROCESS, 0).result()
        pool.submit(process_pool.lower_priority).result()
        assert pool.submit(os.getpriority, os.PRIO_PROCESS, 0).result() == min(before + process_pool.NICENESS, 19)
