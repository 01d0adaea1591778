"""The common part of all workers: their app, the loop that empties a queue, and work on claimed rows.

Work is looked for in the database, so a look may happen twice, late, or never.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, Protocol, TypeVar

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from engine.catalogue import NotInstalled
from service.app import App
from service.monitoring import find_first_line
from service.store.connection import is_unavailable
from service.tables.locked_table import TableLocked

WORK_MAX_S = 30.0  # at one queue, while the others of this process wait
LOCK_WAIT_S, FIRST_PAUSE_S = 0.5, 0.02
log = structlog.get_logger()
_apps: list[App] = []
_stopping = threading.Event()
_is_interruptible = threading.Event()


class ClaimedRow(Protocol):
    """A row that this worker has locked; it belongs to a table."""

    @property
    def table(self) -> str: ...


Row = TypeVar("Row", bound=ClaimedRow)
AfterCommit = Callable[[], None]
Claim = Callable[[Connection, Sequence[str], str | None], Sequence[Row]]  # the tables to skip, and the only one to take
Process = Callable[[App, Connection, Sequence[Row]], AfterCommit]
OnFailure = Callable[[App, Sequence[Row], Exception], None]


def set_app(app: App) -> None:
    """Set the app that the jobs of this process work for, and end an earlier request to stop."""
    _apps[:] = [app]
    _stopping.clear()


def get_app() -> App:
    """The app that this process works for."""
    return _apps[0]


def request_stop() -> None:
    """Let the jobs of this process stop after their current step; what they leave waits in the database."""
    _stopping.set()


class WaitInterrupted(Exception):
    """A signal to stop came while this process waited for work."""


@contextmanager
def allow_interrupt() -> Iterator[None]:
    """Let a signal to stop raise WaitInterrupted in here, where nothing is lost by that."""
    _is_interruptible.set()
    try:
        yield
    finally:
        _is_interruptible.clear()


def end_wait() -> None:
    """Raise WaitInterrupted if this process waits for work; for handlers of signals."""
    if _is_interruptible.is_set():
        raise WaitInterrupted


def is_stopping() -> bool:
    """Whether this process is to end."""
    return _stopping.is_set()


class StepResult(IntEnum):
    """The rows that a step claimed: none, some while others may wait, or all that waited."""

    NONE = 0
    SOME = 1
    ALL = 2


def empty_queue(queue: str, step: Callable[[App], StepResult], is_waiting: Callable[[App], bool]) -> None:
    """Repeat a step until no work waits, or this process is to end; after WORK_MAX_S let other queues have a turn.

    Work that waits although the step finds none is at tables that another transaction holds: it is tried again for a
    moment, and later when the clock (workers/clock.py) wakes us.
    """
    app = get_app()
    until = time.monotonic() + WORK_MAX_S
    try:
        while not is_stopping() and _do_step(app, step, is_waiting):
            if time.monotonic() >= until:
                app.wakeups.wake(queue)
                return
    except OperationalError as error:  # workers/clock.py wakes us when the database is back
        log_database_error(error, "work not finished", queue=queue)


def _do_step(app: App, step: Callable[[App], StepResult], is_waiting: Callable[[App], bool]) -> bool:
    """Do a step; return whether another one is needed."""
    match step(app):
        case StepResult.ALL:  # it took all rows; those that came meanwhile have a wake-up of their own
            return False
        case StepResult.SOME:  # it left some, or cannot tell
            return is_waiting(app)
        case StepResult.NONE:  # none waits, or another transaction holds those that do
            return _wait_for_lock(app, step, is_waiting)


def _wait_for_lock(app: App, step: Callable[[App], StepResult], is_waiting: Callable[[App], bool]) -> bool:
    """Repeat the step for a moment, with growing pauses, while work waits; return whether it found work."""
    until = time.monotonic() + LOCK_WAIT_S
    pause = FIRST_PAUSE_S
    while is_waiting(app) and time.monotonic() < until:
        if step(app) is not StepResult.NONE:  # it may be work that came just now
            return True
        time.sleep(pause)
        pause *= 1.5
    return False


def ignore_failure(app: App, rows: Sequence[Any], error: Exception) -> None:
    """Do nothing more about rows that failed."""


def process_claimed(
    app: App,
    claim: Claim[Row],
    skipped: set[str],
    process: Process[Row],
    on_failure: OnFailure[Row] = ignore_failure,
    *,
    lock_timeout: str | None = None,
    table: str | None = None,
) -> Sequence[Row]:
    """Claim rows and process them in one transaction; return them. With `table`, only its first row is claimed.

    What `process` returns is called after the commit. If several rows fail together, each is tried alone. A row that
    fails alone stays in line, and its table is added to `skipped`. If no row could be claimed, the error is raised.
    """
    rows: Sequence[Row] = ()
    try:
        with app.store.writing(lock_timeout=lock_timeout) as db:
            rows = claim(db, tuple(skipped), table)
            if not rows:
                return ()
            after_commit = process(app, db, rows)
        after_commit()
    except Exception as error:
        if not rows:
            raise
        on_failure(app, rows, error)
        if len(rows) == 1:
            _skip(rows[0].table, error, skipped)
            return rows
        for row in rows:
            process_claimed(app, claim, skipped, process, on_failure, lock_timeout=lock_timeout, table=row.table)
    return rows


def _skip(table: str, error: Exception, skipped: set[str]) -> None:
    """Skip a table whose work failed, so that it holds up no other, and log why."""
    skipped.add(table)
    match error:
        case OperationalError():
            log_database_error(error, "table locked", table=table)
        case NotInstalled():
            log_missing_game(table, str(error))
        case _:
            log.error("table skipped", table=table, exc_info=error)


def try_table(table: str, work: Callable[[], object], failure: str, **words: object) -> bool:
    """Do one table's work; its error is logged as `failure` with `words`, and does not stop the work for other tables.

    Return False if the work itself failed; True if it was done, or has to wait because the table is locked, its game is
    not installed, or the database refused it. Raise the error of a database that is unavailable: the work for other
    tables would fail, too.
    """
    try:
        work()
    except TableLocked:
        pass
    except NotInstalled as missing:
        log_missing_game(table, str(missing))
    except OperationalError as error:
        if is_unavailable(error):
            raise
        log_database_error(error, failure, table=table, **words)
    except Exception:
        log.exception(failure, table=table, **words)
        return False
    return True


@functools.cache
def log_missing_game(table: str, why: str) -> None:
    """Log, once in the life of a process, that a table waits for its game to be installed again."""
    log.warning("table skipped", table=table, why=why)


def log_database_error(error: OperationalError, event: str, **words: object) -> None:
    """Log what the database prevented; if it is unavailable, its store has logged that already."""
    if not is_unavailable(error):
        log.warning(event, **words, error=find_first_line(error))
