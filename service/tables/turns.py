"""The course of a game in brief: who acted in which entry, and so where turns begin."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from engine.table import RESERVED


class _Glance(Struct):
    seat: int | None
    move: str


GLANCE = msgspec.json.Decoder(_Glance)


class Course(Struct, frozen=True):
    """Entry by entry the seat that acted, and the seat that moved in the game; `first` is the entry that began it."""

    actors: tuple[int | None, ...] = ()
    movers: tuple[int | None, ...] = ()
    first: int | None = None

    def since(self, seat: int | None) -> int | None:
        """The first entry after the last one of this seat, where there is such a one."""
        last = max((seq for seq, actor in enumerate(self.actors) if actor == seat), default=None)
        return last + 1 if seat is not None and last is not None and last + 1 < len(self.actors) else None

    def rounds(self, seat: int | None) -> tuple[int, ...]:
        """Where this seat's turns begin; for who holds no seat those of whoever moved first."""
        whose = next((one for one in self.movers if one is not None), None) if seat is None else seat
        begun, before = list[int](), None
        for seq, mover in enumerate(self.movers):
            if mover is not None:
                if mover == whose != before:
                    begun.append(seq)
                before = mover
        return tuple(begun)


def extended(course: Course, bodies: Iterable[str]) -> Course:
    """The course with some more entries, as they are stored."""
    glances = [GLANCE.decode(body) for body in bodies]
    first, length = course.first, len(course.actors)
    if first is None:
        first = next((length + number for number, one in enumerate(glances) if one.move == "start"), None)
    actors = (*course.actors, *(one.seat for one in glances))
    return Course(actors, (*course.movers, *map(_mover, glances)), first)


def _mover(glance: _Glance) -> int | None:
    """The seat whose move in the game this is, made by itself or by the house in its place."""
    verb, *args = glance.move.split()
    if verb == "expire":
        return int(args[0])
    return glance.seat if verb not in RESERVED else None
