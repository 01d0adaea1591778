"""What every RQ job shares: the house it works for, and a shift that ends before RQ would stop it.

A job says only “look”: every worker finds its work in the database, so a job may run twice, late, or not at all.
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
