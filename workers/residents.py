"""The resident RQ jobs: each stays at work for minutes, waits for wake-ups, and works on the queues that are woken.

RQ starts them, and starts the next when one is done. Wake-ups cost them one command of Redis. While they wait they do
nothing: on a machine that takes resting memory aside, to wake and find nothing costs more than to judge a move.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress

import structlog
from rq.timeouts import BaseDeathPenalty, JobTimeoutException, TimerDeathPenalty, UnixSignalDeathPenalty

from service.app import App
from service.settings import DAY_S, EMBEDDED
from service.wakeups import JOBS_OF_QUEUES
from workers import beacon_rounds, bots, referee
from workers.incoming import mail_moves
from workers.jobs import WaitInterrupted, allow_interrupt, get_app, is_stopping
from workers.outgoing import channel_deliveries, follower_news, post

log = structlog.get_logger()

STAY_S = 300.0  # RQ takes a worker for dead after 420 seconds without a sign of life
WAIT_S = 75.0  # for one wake-up; a signal to stop ends it
EMBEDDED_STAY_S = EMBEDDED_WAIT_S = float(DAY_S)  # the embedded service wakes its threads when they have to end
FLUSH_PAUSE_S = 1.0
# Work that hangs is ended, and with it the job; a mail server may take minutes.
WORK_LIMITS_S = {"referee": 300, "post": 900, "deliveries": 300, "bots": 300}
WORK = {
    "referee": referee,
    "inbox": mail_moves,
    "post": post,
    "deliveries": channel_deliveries,
    "followers": follower_news,
    "bots": bots,
    "rounds": beacon_rounds,
}
"""The module for each queue; its function `run` works until the queue is empty."""


def run_referee() -> None:
    """Judge submitted commands and play mails."""
    _run_job("referee")


def run_post() -> None:
    """Send letters."""
    _run_job("post")


def run_deliveries() -> None:
    """Send notices by the channels beside mail."""
    _run_job("deliveries")


def run_bots() -> None:
    """Move for bots, find hints, and ask the beacon for its rounds."""
    _run_job("bots")


def _run_job(job: str) -> None:
    """Work whenever a queue of this job is woken; after minutes, a failure or a stop, let RQ start the next job."""
    app = get_app()
    until = time.monotonic() + (EMBEDDED_STAY_S if app.settings.redis == EMBEDDED else STAY_S)
    try:
        while not is_stopping():
            work_once(app, job)  # first waits
            if time.monotonic() >= until:
                return
    finally:
        app.wakeups.start_job(job)


def _limit_work(job: str) -> BaseDeathPenalty:
    """Return a context that raises JobTimeoutException in its block after as long as the work of this job may take."""
    is_main_thread = threading.current_thread() is threading.main_thread()  # other threads get no signals
    death_penalty = UnixSignalDeathPenalty if is_main_thread else TimerDeathPenalty
    return death_penalty(WORK_LIMITS_S[job])


def work_once(app: App, job: str) -> None:
    """Wait for a wake-up and do the work that it asks for; without one, return after a while, or at a signal to stop.

    Work that fails is logged, and waits in the database.
    """
    queues = [queue for queue, its_job in JOBS_OF_QUEUES.items() if its_job == job]
    wait_s = EMBEDDED_WAIT_S if app.settings.redis == EMBEDDED else WAIT_S
    woken: Sequence[str] = ()
    with suppress(WaitInterrupted), allow_interrupt():  # workers/clock.py sends a lost wake-up again
        woken = app.wakeups.wait_for_work(queues, wait_s)
    for queue in woken:
        try:
            with _limit_work(job):
                WORK[queue].run()
        except JobTimeoutException:
            raise  # RQ logs it, and starts the next job
        except Exception:  # the work waits in the database until workers/clock.py wakes us again
            log.exception("work failed", queue=queue)
    app.metrics.flush(pause_s=FLUSH_PAUSE_S)
