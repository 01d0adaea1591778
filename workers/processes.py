"""Processes, and the threads of the embedded service, that run workers, clock and mail servers."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import wait as wait_for_any
from types import FrameType
from typing import Any

import structlog
from redis import RedisError
from redis.client import Pipeline
from rq import Queue, SimpleWorker
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.timeouts import TimerDeathPenalty
from rq.worker import WorkerStatus

from engine.refusal import Refused
from service.app import App
from service.hosting import local_mailbox
from service.memory import MemoryReleaser
from service.settings import EMBEDDED, parse_listening_address
from service.wakeups import JOBS
from workers import clock, jobs, process_pool, residents
from workers.incoming import inbox
from workers.jobs import set_app

TICK_S = 1.0
MIN_PAUSE_S = 0.05  # after a tick that took longer
REPLACE_S = 0.5  # before a process that has ended is replaced
HEARTBEAT_S = 20.0
STOP_S = 10.0  # how long a process may take to end
THREADS_STOP_S = 5  # how long the threads may take to end
JOIN_S = 0.02  # for each thread, between two wake-ups
REDIS_AWAY = ("Redis", "redis.exceptions.", "InvalidJobOperation")  # the last: a job that Redis forgot
CANNOT_START = 78  # EX_CONFIG of sysexits.h
log = structlog.get_logger()
Prepare = Callable[[str], Callable[[], None]]  # returns the work of a process by its name


class WithoutOutages(logging.Filter):
    """Drops RQ's long log lines about a Redis that is away, which `Wakeups` logs in one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is written: not if it is about an outage of Redis."""
        error = record.exc_info[1] if record.exc_info else None
        text = record.getMessage()
        is_outage = isinstance(error, RedisError) or any(word in text for word in REDIS_AWAY)
        return not is_outage


class UnknownJob(Exception):
    """A job in Redis that calls none of JOBS."""


class RegisteredJob(Job):
    """A job that calls one of JOBS without arguments, and nothing after it.

    Job and callbacks are names in Redis, which RQ imports and calls: with this class the holder of Redis cannot run
    programs here.
    """

    @property
    def func(self) -> Callable[..., Any]:
        """The function of the job; raise UnknownJob, before anything is imported, if it is not in JOBS."""
        if self.func_name not in JOBS.values() or self.instance or self.args or self.kwargs:
            raise UnknownJob(f"Redis has a job that is none of ours: {self.func_name!r}")
        function: Callable[..., Any] = super().func
        return function

    @property
    def success_callback(self) -> None:
        return None

    @property
    def failure_callback(self) -> None:
        return None

    @property
    def stopped_callback(self) -> None:
        return None


class ProcessWorker(SimpleWorker):
    """An RQ worker that connects again soon after Redis is back, where RQ's own sleeps up to a minute.

    A job here has no result: its work is in the database, and a lost job is started again. So the job is deleted as
    soon as it is done, without the records that RQ writes of jobs that are kept.
    """

    max_connection_wait_time = 2 * TICK_S
    _last_heartbeat = 0.0

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Do a job, and delete it."""
        self._state = WorkerStatus.BUSY  # a signal to stop waits for the end of the job; nothing else reads it
        try:
            job.perform()
        except Exception:
            self.handle_exception(job, *sys.exc_info())
        with self.connection.pipeline(transaction=False) as pipeline:
            pipeline.lrem(queue.intermediate_queue_key, 1, job.id)
            pipeline.delete(job.key)
            self.set_state(WorkerStatus.IDLE, pipeline)
            pipeline.execute()

    def request_stop(self, signum: int | None, frame: FrameType | None) -> None:
        """Stop the running job after its next step, and not at its end.

        A process that works on is killed after ten seconds, and to send all letters of a night takes longer than that.
        """
        jobs.request_stop()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]
        jobs.end_wait()  # last, because it raises WaitInterrupted if this process waits for work

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Tell Redis that this worker is alive; RQ asks for that more often than is needed."""
        if pipeline is not None or time.monotonic() >= self._last_heartbeat + HEARTBEAT_S:
            self._last_heartbeat = time.monotonic()
            super().heartbeat(timeout, pipeline)


class ThreadWorker(ProcessWorker):
    """A worker outside the main thread, which gets no signals: a timer limits how long it waits for a job."""

    death_penalty_class = TimerDeathPenalty

    def _install_signal_handlers(self) -> None:
        pass


def make_worker_options(app: App) -> dict[str, Any]:
    """Return the arguments that every RQ worker is made with."""
    return {"connection": app.redis, "serializer": JSONSerializer, "job_class": RegisteredJob}


def run_worker(app: App, job: str) -> None:
    """Do a job in this process until a signal comes; a worker that ends for another reason is replaced."""
    set_app(app)
    if job == "bots":
        process_pool.lower_priority()
    logging.getLogger("rq.worker").addFilter(WithoutOutages())
    while True:
        app.wakeups.start_job(job)
        try:
            worker = ProcessWorker([job], **make_worker_options(app))
            worker.work(logging_level="WARNING")
            if worker._shutdown_requested_date:
                return
        except RedisError as error:
            app.wakeups.outage.record_failure(error)
        residents.work_once(app, job)  # RQ needs Redis; without it the work goes on here


def run_each(names: Sequence[str], prepare: Prepare) -> None:
    """Prepare and do the work of each name in a process of its own, until a signal comes.

    A process that dies at work is replaced. If a process cannot be prepared, end all of them and raise Refused.
    """
    running: dict[str, multiprocessing.process.BaseProcess] = {}
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    try:
        while True:
            for name in names:
                if name in running and running[name].exitcode == CANNOT_START:
                    raise Refused("{name} cannot start; the reason is in the lines above.", name=name)
                if name not in running or not running[name].is_alive():
                    running[name] = _fork(prepare, name)
            wait_for_any([process.sentinel for process in running.values()])
            time.sleep(REPLACE_S)
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.join(STOP_S)


def _fork(prepare: Prepare, name: str) -> multiprocessing.process.BaseProcess:
    """Start the child process that does the work of this name."""
    process = multiprocessing.get_context("fork").Process(
        target=_run_child, args=(prepare, name), name=name, daemon=True
    )
    process.start()
    return process


def _run_child(prepare: Prepare, name: str) -> None:
    """Prepare and do the work of a child process, which exits with CANNOT_START if it cannot be prepared."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    try:
        work = prepare(name)
    except Exception:
        log.exception("a process cannot start", process=name)
        sys.exit(CANNOT_START)
    work()


def _exit_with_parent() -> None:
    """End this process when its parent ends, however it ends; unfinished work is still in the database."""
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)


def run_thread(app: App, job: str, stop: threading.Event) -> None:
    """Do a job in this thread until `stop` is set; a worker that ends is replaced."""
    logging.getLogger("rq.worker").addFilter(WithoutOutages())
    warnings.filterwarnings("ignore", "CLIENT LIST")  # a Redis inside this process has no list of clients
    while not stop.is_set():
        app.wakeups.start_job(job)
        try:
            worker = ThreadWorker([job], **make_worker_options(app))
            threading.Thread(target=_stop_with, args=(worker, stop), daemon=True).start()
            worker.work(logging_level="WARNING")
        except RedisError as error:
            app.wakeups.outage.record_failure(error)
        except SystemExit:  # the process for bots was stopped during its work
            return
        residents.work_once(app, job)  # RQ needs Redis; without it the work goes on here


def _stop_with(worker: ThreadWorker, stop: threading.Event) -> None:
    """Let a worker end after its job when `stop` is set."""
    stop.wait()
    worker._stop_requested = True


def run_clock(app: App, stop: threading.Event) -> None:
    """Tick until `stop` is set: once a second, and seldom while all is quiet.

    A tick that fails is logged, and the next one tries again.
    """
    ticker, memory = clock.Ticker(app), MemoryReleaser()
    while not stop.is_set():
        began = time.monotonic()
        try:
            ticker.tick()
        except Exception:
            log.exception("a tick failed")
        process_pool.end_if_quiet()
        memory.release_after_work()
        if not ticker.wait_while_quiet():
            stop.wait(max(MIN_PAUSE_S, TICK_S - (time.monotonic() - began)))


@contextmanager
def run_embedded(app: App) -> Iterator[None]:
    """Run everything but the web server in threads, and end them afterwards."""
    stop, servers = threading.Event(), _start_mail_servers(app)
    set_app(app)
    process_pool.start()
    threads = _start_threads(app, stop)
    try:
        yield
    finally:
        stop.set()
        app.store.written.set()  # which ends the wait of the clock
        jobs.request_stop()
        process_pool.stop()  # which ends the threads that wait for its work
        _wake_until_ended(app, threads)
        for server in servers:
            server.stop()


def _start_threads(app: App, stop: threading.Event) -> list[threading.Thread]:
    """Start a thread for each job, for the clock, and for the mailbox that the settings name."""
    threads = [threading.Thread(target=run_thread, args=(app, job, stop), name=job, daemon=True) for job in JOBS]
    threads.append(threading.Thread(target=run_clock, args=(app, stop), name="clock", daemon=True))
    if app.settings.imap:
        from workers.incoming import mailbox_polling  # here, because few servers need it

        threads.append(threading.Thread(target=mailbox_polling.watch, args=(app, stop), name="imap", daemon=True))
    for thread in threads:
        thread.start()
    return threads


def _wake_until_ended(app: App, threads: Sequence[threading.Thread]) -> None:
    """Wake the workers until they see the stop: a worker that was about to wait needs a second wake-up."""
    until = time.monotonic() + THREADS_STOP_S
    while any(thread.is_alive() for thread in threads) and time.monotonic() < until:
        for job in JOBS:
            app.wakeups.start_job(job)  # for a thread that waits for a job of RQ
            app.wakeups.wake(job)  # for a thread that waits for work; each job has a queue of its own name
        for thread in threads:
            thread.join(JOIN_S)


def _start_mail_servers(app: App) -> list[Any]:
    """Start the local mailbox and its inbox if there is no relay, and the inbox that the settings ask for.

    Return those that were started. The addresses of the local mailbox and its inbox are set in the app.
    """
    servers: list[Any] = []
    if app.settings.smtp == EMBEDDED:
        mailbox = local_mailbox.start(app)
        mailbox_inbox = inbox.make_smtp_server(app, "127.0.0.1", local_mailbox.find_free_port())
        mailbox_inbox.start()
        app.relay, app.inbound = f"smtp://127.0.0.1:{mailbox.port}", f"smtp://127.0.0.1:{mailbox_inbox.port}"
        servers += [mailbox, mailbox_inbox]
    if app.settings.inbound:
        host, port = parse_listening_address("DEPESCHE_INBOUND", app.settings.inbound)
        lmtp_inbox = inbox.make_lmtp_server(app, host, port)
        lmtp_inbox.start()
        servers.append(lmtp_inbox)
    return servers
