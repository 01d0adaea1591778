"""What every RQ job shares: the house it works for, and a shift that ends before RQ would stop it.

A job says only “look”: every worker finds its work in the database, so a job may run twice, late, or not at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog
from rq import get_current_job
from sqlalchemy.exc import OperationalError
from structlog.contextvars import bind_contextvars, clear_contextvars

from service.house import House
from service.outages import first_line
from service.store.connect import is_away

SHIFT = 30.0  # seconds; a job that works much longer would be stopped by RQ in the middle of something
LINGER, PAUSE = 0.5, 0.02  # seconds
log = structlog.get_logger()
_houses: list[House] = []


def work_for(house: House) -> None:
    """From now on the jobs of this process work for that house."""
    _houses[:] = [house]


def house() -> House:
    """The house that this process works for."""
    return _houses[0]


def begin(bell: str) -> House:
    """Begin to look: from now on a new bell means new work, and what is logged names the request that rang."""
    here = house()
    if job := get_current_job():
        clear_contextvars()
        bind_contextvars(**job.meta)
    here.bells.answered(bell)
    return here


def answer(bell: str, work: Callable[[House], bool], held_up: Callable[[House], bool] = lambda _: False) -> None:
    """Work step by step until nothing is left to do; after a long shift ring for the next one instead.

    What is held up because somebody else holds its table is waited for a moment; after that the clock rings for it.
    """
    until = time.monotonic() + SHIFT
    here = begin(bell)
    try:
        while work(here) or _comes_free(here, work, held_up):
            if time.monotonic() >= until:
                here.bells.ring(bell)
                return
    except OperationalError as error:  # the database's trouble: the clock rings again when it is over
        tell(error, "work not finished", bell=bell)
    finally:
        here.meters.hand_over()


def _comes_free(here: House, work: Callable[[House], bool], held_up: Callable[[House], bool]) -> bool:
    """Whether some of what is held up could be done within a moment; the pauses between the tries grow."""
    until, pause = time.monotonic() + LINGER, PAUSE
    while held_up(here) and time.monotonic() < until:
        time.sleep(pause)
        if work(here):
            return True
        pause *= 1.5
    return False


def tell(error: OperationalError, what: str, **words: object) -> None:
    """Log what the database prevented; where it is away altogether its store has told that already."""
    if not is_away(error):
        log.warning(what, **words, error=first_line(error))
