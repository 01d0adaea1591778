"""Worker processes."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import SimpleNamespace

import pytest

from workers import process_pool, processes


class Began(Exception):
    pass


def stepped_back(monkeypatch, queues):
    """Whether a worker for these bells steps back before it begins."""
    steps = list[str]()

    def begin(*_, **__):
        raise Began

    monkeypatch.setattr(process_pool, "step_back", lambda: steps.append("back"))
    monkeypatch.setattr(processes, "work_for", lambda house: None)
    monkeypatch.setattr(processes, "ProcessWorker", begin)
    with pytest.raises(Began):
        processes.run_worker(SimpleNamespace(redis=None), queues)
    return bool(steps)


@pytest.mark.parametrize(("queues", "back"), [(["bots"], True), (["referee"], False), (["referee", "bots"], False)])
def test_only_who_thinks_for_bots_steps_back(monkeypatch, queues, back):
    assert stepped_back(monkeypatch, queues) is back


def test_what_steps_back_is_nicer_than_it_was():
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        before = pool.submit(os.getpriority, os.PRIO_PROCESS, 0).result()
        pool.submit(process_pool.step_back).result()
        assert pool.submit(os.getpriority, os.PRIO_PROCESS, 0).result() == min(before + process_pool.NICE, 19)
