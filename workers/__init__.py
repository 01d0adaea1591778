"""The work that RQ rings for: judging moves, sending letters, watching clocks, playing for bots.

A job says only “look”: every function here finds its work in the database, so it may run twice, late, or not at all
without harm. The process that runs it says once, with `work_for`, which house it belongs to.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from service.house import House

SHIFT = 30.0  # seconds; a job that works much longer would be stopped by RQ in the middle of something
_houses: list[House] = []


def work_for(house: House) -> None:
    """From now on the jobs of this process work for that house."""
    _houses[:] = [house]


def house() -> House:
    """The house that this process works for."""
    return _houses[0]


def answer(bell: str, work: Callable[[House], bool]) -> None:
    """Work step by step until nothing is left to do; after a long shift ring for the next one instead."""
    here, until = house(), time.monotonic() + SHIFT
    here.bells.answered(bell)
    while work(here):
        if time.monotonic() >= until:
            here.bells.ring(bell)
            return
