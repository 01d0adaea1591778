"""The course of the score: how every seat stood after each entry of a finished game, and where the lead changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from engine import record
from service.house import House
from service.tables import snapshots
from service.tables.snapshots import Snapshot


class Mark(Struct, frozen=True):
    """The scores after an entry, and whether somebody else leads since."""

    seq: int
    scores: tuple[int, ...]
    lead: bool = False


def of(house: House, look: Snapshot) -> tuple[Mark, ...]:
    """Every change of the score of a finished game; worked out once and then cached."""
    found: tuple[Mark, ...] | None = house.caches.courses.get(look.row.id)
    if found is None:
        found = tuple(_changes(house, look))
        house.caches.courses.put(look.row.id, found)
    return found


def _changes(house: House, look: Snapshot) -> Iterator[Mark]:
    scores: tuple[int, ...] = ()
    leader = frozenset[int]()
    for table in record.folds(look.game, snapshots.entries(house, look)):
        now = _scores(look.game, table)
        if now in (scores, ()):
            continue
        ahead = frozenset(seat for seat, score in enumerate(now) if score == max(now))
        alone = ahead if len(ahead) == 1 else leader
        yield Mark(table.length - 1, now, bool(leader) and alone != leader)
        scores, leader = now, alone


def _scores(game: Any, table: record.Table) -> tuple[int, ...]:
    if table.phase not in ("playing", "over"):
        return ()
    return tuple(standing.score for standing in game.standing(table.state))
