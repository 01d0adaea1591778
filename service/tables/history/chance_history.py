"""The chances of a finished game as lines to be drawn, and the entries at which they swung most."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct
from sqlalchemy import Connection

from engine import story
from engine.story import Moment
from service.app import App
from service.tables import snapshots
from service.tables.snapshots import Snapshot

WIDTH, HEIGHT = 600, 100
MAX_SWINGS, MIN_SWING = 4, 0.1  # so many swings of the chances are shown, if they are of this size


class ChanceLine(Struct, frozen=True):
    """One seat's chances over the game, as a line to be drawn, and what they are in percent at one moment."""

    points: str
    now: int


class Swing(Struct, frozen=True):
    """An entry that changed the chances of a seat more than others did, in percent, and where it is in the drawing."""

    seq: int
    seat: int
    before: int
    after: int
    x: float


class ChanceHistory(Struct, frozen=True):
    """The chances of all seats, where in the drawing the moment is, and the entries at which the chances swung most."""

    lines: tuple[ChanceLine, ...]
    at: float
    swings: tuple[Swing, ...] = ()
    width: int = WIDTH
    height: int = HEIGHT


def load_chances(app: App, db: Connection, table: Snapshot, at: int) -> ChanceHistory | None:
    """Return the chances of a game that is over, to be drawn; its moment is that of entry `at`."""
    moments = _load_moments(app, db, table) if table.table.phase == "over" else ()
    if len(moments) < 2:
        return None
    place = max((number for number, moment in enumerate(moments) if moment.seq <= at), default=0)
    step = WIDTH / (len(moments) - 1)
    lines = tuple(_make_line(moments, seat, place, step) for seat in range(len(table.seats)))
    return ChanceHistory(lines, round(place * step, 1), _find_swings(moments, step))


def _find_swings(moments: Sequence[Moment], step: float) -> tuple[Swing, ...]:
    """Return the greatest swings in their order, each with the seat that gained most by it."""
    swings = list[tuple[float, Swing]]()
    for number, (one, other) in enumerate(pairwise(moments), 1):
        gains = [then - now for now, then in zip(one.shares, other.shares, strict=True)]
        seat = gains.index(max(gains))
        before, after = round(100 * one.shares[seat]), round(100 * other.shares[seat])
        swings.append((gains[seat], Swing(other.seq, seat, before, after, round(number * step, 1))))
    greatest = sorted((one for one in swings if one[0] >= MIN_SWING), key=lambda one: -one[0])[:MAX_SWINGS]
    return tuple(sorted((swing for _, swing in greatest), key=lambda swing: swing.seq))


def _make_line(moments: Sequence[Moment], seat: int, place: int, step: float) -> ChanceLine:
    shares = [moment.shares[seat] for moment in moments]
    points = " ".join(f"{number * step:.1f},{HEIGHT * (1 - share):.1f}" for number, share in enumerate(shares))
    return ChanceLine(points, round(100 * shares[place]))


def _load_moments(app: App, db: Connection, table: Snapshot) -> tuple[Moment, ...]:
    """Compute the chances after each entry once, then take them from the cache."""
    key = ("course", table.row.id, table.row.length)
    moments: tuple[Moment, ...] | None = app.caches.stories.get(key)
    if moments is None:
        moments = story.compute_chance_history(table.game, snapshots.load_entries(db, table))
        app.caches.stories.put(key, moments)
    return moments
