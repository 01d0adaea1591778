"""RQ workers: as processes of their own, or as threads of the embedded service."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from types import FrameType

import structlog
from redis import RedisError
from redis.client import Pipeline
from rq import Queue, SimpleWorker
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.timeouts import JobTimeoutException, TimerDeathPenalty
from rq.worker import WorkerStatus

from service.app import App
from workers import clock, process_pool
from workers.jobs import request_stop, set_app

QUEUES = ("referee", "post", "bots")
TICK = 1.0
ALIVE = 20.0  # seconds
REDIS_AWAY = ("Redis", "redis.exceptions.", "InvalidJobOperation")  # the last: a job that Redis forgot
log = structlog.get_logger()


class WithoutOutages(logging.Filter):
    """Leaves out what RQ says, at length, of a Redis that is away: our bells tell it once."""

    def filter(self, record: logging.LogRecord) -> bool:
        error, said = record.exc_info[1] if record.exc_info else None, record.getMessage()
        return not isinstance(error, RedisError) and not any(word in said for word in REDIS_AWAY)


class ProcessWorker(SimpleWorker):
    """A worker that looks soon whether Redis is back, where RQ's own would sleep up to a minute, and hears bells.

    A bell only says “look”: nobody asks what became of it, and a lost one loses nothing. So it is taken away once it
    was heard, and Redis is spared what RQ notes of jobs that are kept.
    """

    max_connection_wait_time = 2 * TICK
    _told = 0.0

    def execute_job(self, job: Job, queue: Queue) -> None:
        self._state = WorkerStatus.BUSY  # a signal to stop waits until this is done; nobody else asks
        try:
            with self.death_penalty_class(job.timeout, JobTimeoutException, job_id=job.id):
                job.perform()
        except Exception:
            self.handle_exception(job, *sys.exc_info())
        with self.connection.pipeline(transaction=False) as pipeline:
            pipeline.lrem(queue.intermediate_queue_key, 1, job.id)
            pipeline.delete(job.key)
            self.set_state(WorkerStatus.IDLE, pipeline)
            pipeline.execute()

    def request_stop(self, signum: int | None, frame: FrameType | None) -> None:
        """The job in hand stops after its next step: a host waits ten seconds, and a night's letters take longer."""
        request_stop()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Tell Redis that this worker lives, as often as anybody could miss it."""
        if pipeline is not None or time.monotonic() >= self._told + ALIVE:
            self._told = time.monotonic()
            super().heartbeat(timeout, pipeline)


class ThreadWorker(ProcessWorker):
    """A worker outside the main thread, where no signals can be had: time limits come from a timer instead."""

    death_penalty_class = TimerDeathPenalty

    def _install_signal_handlers(self) -> None:
        pass


def run_worker(app: App, queues: Sequence[str] = QUEUES) -> None:
    """Work in this process until a signal ends it; a worker that quits for another reason is replaced."""
    set_app(app)
    if set(queues) == {"bots"}:
        process_pool.lower_priority()
    logging.getLogger("rq.worker").addFilter(WithoutOutages())
    while True:
        try:
            worker = ProcessWorker(list(queues), connection=app.redis, serializer=JSONSerializer)
            worker.work(logging_level="WARNING")
            if worker._shutdown_requested_date:
                return
        except RedisError as error:
            app.wakeups.outage.met(error)
        time.sleep(TICK)


def run_each(queues: Sequence[str], work: Callable[[str], None]) -> None:
    """A process for each bell, so that no verdict waits for a letter or a thinking bot; one that dies is replaced."""
    running: dict[str, multiprocessing.process.BaseProcess] = {}
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    try:
        while True:
            for queue in queues:
                if queue not in running or not running[queue].is_alive():
                    running[queue] = _forked(work, queue)
            time.sleep(TICK)
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.join(10)


def _forked(work: Callable[[str], None], queue: str) -> multiprocessing.process.BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=_child, args=(work, queue), name=queue, daemon=True)
    process.start()
    return process


def _child(work: Callable[[str], None], queue: str) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    process_pool.exit_with_parent()
    work(queue)


def run_thread(app: App, queues: Sequence[str], stop: threading.Event) -> None:
    """Work in this thread until told to stop; a worker that quits is replaced."""
    logging.getLogger("rq.worker").addFilter(WithoutOutages())
    warnings.filterwarnings("ignore", "CLIENT LIST")  # a Redis inside this process has no list of clients
    while not stop.is_set():
        try:
            worker = ThreadWorker(list(queues), connection=app.redis, serializer=JSONSerializer)
            threading.Thread(target=_stop_with, args=(worker, stop), daemon=True).start()
            worker.work(logging_level="WARNING")
        except RedisError as error:
            app.wakeups.outage.met(error)
        except SystemExit:  # the process aside was stopped over its work
            return
        stop.wait(TICK)


def _stop_with(worker: ThreadWorker, stop: threading.Event) -> None:
    stop.wait()
    worker._stop_requested = True


def run_clock(app: App, stop: threading.Event) -> None:
    """Tick until told to stop; a tick that fails is told and the next one tries again."""
    while not stop.is_set():
        began = time.monotonic()
        try:
            clock.tick(app)
        except Exception:
            log.exception("a tick failed")
        stop.wait(max(0.05, TICK - (time.monotonic() - began)))
