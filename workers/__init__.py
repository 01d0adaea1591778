"""The work that RQ rings for: judging moves, sending letters, watching clocks, playing for bots.

A job says only “look”: every function here finds its work in the database, so it may run twice, late, or not at all
without harm. The process that runs it says once, with `work_for`, which house it belongs to.
"""

from __future__ import annotations

from service.house import House

_houses: list[House] = []


def work_for(house: House) -> None:
    """From now on the jobs of this process work for that house."""
    _houses[:] = [house]


def house() -> House:
    """The house that this process works for."""
    return _houses[0]
