"""What every RQ job shares: the house it works for, and a shift that ends before RQ would stop it.

A job says only “look”: every worker finds its work in the database, so a job may run twice, late, or not at all.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import structlog
from rq import get_current_job
from sqlalchemy import Connection, Row, Select
from sqlalchemy.exc import OperationalError
from structlog.contextvars import bind_contextvars, clear_contextvars

from engine.catalogue import NotInstalled
from service.app import App
from service.outages import first_line
from service.store.connect import is_away
from service.store.schema import tables
from service.tables.clerk import Held

Claimed = Row[Any]
After = Callable[[], None]
Work = Callable[[App, Connection, Sequence[Claimed]], After]
Failed = Callable[[App, Sequence[Claimed], Exception], None]
SHIFT = 30.0  # seconds; a job that works much longer would be stopped by RQ in the middle of something
LINGER, PAUSE = 0.5, 0.02  # seconds
log = structlog.get_logger()
_apps: list[App] = []
_finishing = threading.Event()


def ignored(app: App, rows: Sequence[Claimed], error: Exception) -> None:
    """What is done for rows that failed where nothing is to be done."""


def work_for(app: App) -> None:
    """From now on the jobs of this process work for that house."""
    _apps[:] = [app]
    _finishing.clear()


def finish() -> None:
    """This process is to end: its jobs stop after the step in hand, and what they leave waits in the book."""
    _finishing.set()


def finishing() -> bool:
    """Whether this process is to end."""
    return _finishing.is_set()


def get_app() -> App:
    """The house that this process works for."""
    return _apps[0]


def begin(queue: str) -> App:
    """Begin to look: from now on a new bell means new work, and what is logged names the request that rang."""
    app = get_app()
    if job := get_current_job():
        clear_contextvars()
        bind_contextvars(**job.meta)
    app.wakeups.acknowledge(queue)
    return app


def answer(queue: str, work: Callable[[App], bool], held_up: Callable[[App], bool] = lambda _: False) -> None:
    """Work step by step until nothing is left, or this process is to end; after a long shift ring for the next one.

    What is held up because somebody else holds its table is waited for a moment; after that the clock rings for it.
    """
    until = time.monotonic() + SHIFT
    app = begin(queue)
    try:
        while not finishing() and (work(app) or _comes_free(app, work, held_up)):
            if time.monotonic() >= until:
                app.wakeups.wake(queue)
                return
    except OperationalError as error:  # the database's trouble: the clock rings again when it is over
        tell(error, "work not finished", queue=queue)
    finally:
        app.metrics.hand_over()


def _comes_free(app: App, work: Callable[[App], bool], held_up: Callable[[App], bool]) -> bool:
    """Whether some of what is held up could be done within a moment; the pauses between the tries grow."""
    until, pause = time.monotonic() + LINGER, PAUSE
    while held_up(app) and time.monotonic() < until:
        if work(app):  # what has just come is held up by nobody
            return True
        time.sleep(pause)
        pause *= 1.5
    return False


def take_next(app: App, line: Select[Any], passed: set[str], work: Work, failed: Failed = ignored) -> bool:
    """Claim the next rows of a line and work on them in one transaction; False where no row could be claimed.

    What `work` returns is done after the commit. Of rows that fail together each is tried alone. A row that fails
    alone, such as by a lock that somebody else holds, stays in line: its table is passed over from now on.
    """
    rows: Sequence[Claimed] = ()
    try:
        with app.store.writing() as connection:
            rows = connection.execute(line.where(tables.c.id.not_in(passed))).all()
            if not rows:
                return False
            after = work(app, connection, rows)
        after()
    except Exception as error:
        if not rows:
            raise
        failed(app, rows, error)
        if len(rows) == 1:
            _pass_over(rows[0].table, error, passed)
        for row in rows if len(rows) > 1 else ():
            take_next(app, line.where(tables.c.id == row.table).limit(1), passed, work, failed)
    return True


def _pass_over(table: str, error: Exception, passed: set[str]) -> None:
    """One table's trouble holds no other table up."""
    passed.add(table)
    match error:
        case OperationalError():
            tell(error, "table held", table=table)
        case NotInstalled():
            tell_missing(table, str(error))
        case _:
            log.error("table passed over", table=table, exc_info=error)


def apart(table: str, work: Callable[[], object], failed: str, **words: object) -> bool:
    """Do what is to be done for one table: its trouble is logged and does not stop the work for the others.

    False where the work itself failed; what is only held up, or waits for its game, is tried again by itself.
    """
    try:
        work()
    except Held:
        pass  # somebody is at the table just now
    except NotInstalled as missing:
        tell_missing(table, str(missing))
    except OperationalError as error:
        if is_away(error):
            raise
        tell(error, failed, table=table, **words)
    except Exception:
        log.exception(failed, table=table, **words)
        return False
    return True


@functools.cache
def tell_missing(table: str, why: str) -> None:
    """Log, once in the life of a process, that a table waits for its game to be installed again."""
    log.warning("table passed over", table=table, why=why)


def tell(error: OperationalError, what: str, **words: object) -> None:
    """Log what the database prevented; where it is away altogether its store has told that already."""
    if not is_away(error):
        log.warning(what, **words, error=first_line(error))
