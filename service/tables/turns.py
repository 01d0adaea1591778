"""Who acted in which entry of a table, and so where turns and rounds begin."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from engine.canonical_json import make_decoder
from engine.table import RESERVED_VERBS


class _Header(Struct):
    """The two fields of a stored entry that tell who acted."""

    seat: int | None
    move: str


HEADER = make_decoder(_Header)


class TurnIndex(Struct, frozen=True):
    """For each entry the seat that acted, and the seat that moved in the game; `first` is the entry that began it."""

    actors: tuple[int | None, ...] = ()
    movers: tuple[int | None, ...] = ()
    first: int | None = None

    def since(self, seat: int | None) -> int | None:
        """The first entry after the last one of this seat; None where nothing came after it."""
        last = max((seq for seq, actor in enumerate(self.actors) if actor == seat), default=None)
        return last + 1 if seat is not None and last is not None and last + 1 < len(self.actors) else None

    def rounds(self, seat: int | None) -> tuple[int, ...]:
        """Where this seat's turns begin; spectators get the rounds of the seat that moved first."""
        whose = next((one for one in self.movers if one is not None), None) if seat is None else seat
        begun, before = list[int](), None
        for seq, mover in enumerate(self.movers):
            if mover is not None:
                if mover == whose != before:
                    begun.append(seq)
                before = mover
        return tuple(begun)


def extended(index: TurnIndex, bodies: Iterable[str]) -> TurnIndex:
    """The index with some more stored entries."""
    headers = [HEADER.decode(body) for body in bodies]
    first, length = index.first, len(index.actors)
    if first is None:
        first = next((length + number for number, one in enumerate(headers) if one.move == "start"), None)
    actors = (*index.actors, *(one.seat for one in headers))
    return TurnIndex(actors, (*index.movers, *map(_mover, headers)), first)


def _mover(header: _Header) -> int | None:
    """The seat whose move in the game this is, made by its player or by the house after a missed deadline."""
    verb, *args = header.move.split()
    if verb == "expire":
        return int(args[0])
    return header.seat if verb not in RESERVED_VERBS else None
