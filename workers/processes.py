"""RQ workers: as processes of their own, or as threads of the embedded service."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import structlog
from redis import RedisError
from rq import SimpleWorker
from rq.serializers import JSONSerializer
from rq.timeouts import TimerDeathPenalty

from service.house import House
from workers import clock, work_for

QUEUES = ("referee", "post", "bots")
TICK = 1.0
log = structlog.get_logger()


class ThreadWorker(SimpleWorker):
    """A worker outside the main thread, where no signals can be had: time limits come from a timer instead."""

    death_penalty_class = TimerDeathPenalty

    def _install_signal_handlers(self) -> None:
        pass


def run_worker(house: House, queues: Sequence[str] = QUEUES) -> None:
    """Work in this process until a signal ends it; a worker that quits for another reason is replaced."""
    work_for(house)
    while True:
        worker = SimpleWorker(list(queues), connection=house.redis, serializer=JSONSerializer)
        try:
            worker.work(logging_level="WARNING")
        except RedisError as error:
            log.warning("worker starts again", error=str(error))
        if worker._shutdown_requested_date:
            return
        time.sleep(TICK)


def run_thread(house: House, queues: Sequence[str], stop: threading.Event) -> None:
    """Work in this thread until told to stop; a worker that quits is replaced."""
    while not stop.is_set():
        try:
            worker = ThreadWorker(list(queues), connection=house.redis, serializer=JSONSerializer)
            threading.Thread(target=_stop_with, args=(worker, stop), daemon=True).start()
            worker.work(logging_level="WARNING")
        except RedisError as error:
            log.warning("worker starts again", error=str(error))
        stop.wait(TICK)


def _stop_with(worker: ThreadWorker, stop: threading.Event) -> None:
    stop.wait()
    worker._stop_requested = True


def run_clock(house: House, stop: threading.Event) -> None:
    """Tick until told to stop; a tick that fails is told and the next one tries again."""
    while not stop.is_set():
        began = time.monotonic()
        try:
            clock.tick(house)
        except Exception:
            log.exception("a tick failed")
        stop.wait(max(0.05, TICK - (time.monotonic() - began)))
