"""The events of a table apart from its game: sitting down, undo, pauses, substitutes, vacations, rounds, the end.

In the log their tags begin with `table.`. Fields are added to them, never changed or removed.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from msgspec import Meta, Struct

MAX_SEATS = 1_000  # a log from outside that claims more would fill the memory
SeatCount = Annotated[int, Meta(le=MAX_SEATS)]


class Opened(Struct, frozen=True, omit_defaults=True, tag="table.Opened"):
    """The table is opened with these options, before the first player sits down."""

    game: str
    edition: int
    seats: SeatCount
    commitment: str
    options: dict[str, Any] = {}
    clock: dict[str, str] = {}
    table: str = ""  # the name of the table; older logs do not seal it
    beacon: dict[str, str] = {}  # the public beacon that its draws wait for; empty if they are sealed


class Sat(Struct, frozen=True, omit_defaults=True, tag="table.Sat"):
    seat: int
    nonce: str
    bot: bool = False


class Started(Struct, frozen=True, omit_defaults=True, tag="table.Started"):
    pass


class Resigned(Struct, frozen=True, omit_defaults=True, tag="table.Resigned"):
    seat: int


class TimedOut(Struct, frozen=True, omit_defaults=True, tag="table.TimedOut"):
    """A deadline passed, and a bot moves for the seat; the events of that move follow in the entry."""

    seat: int


class Missed(Struct, frozen=True, omit_defaults=True, tag="table.Missed"):
    """A deadline passed, and the seat is given to a bot or resigns; that event follows in the entry."""

    seat: int


class UndoAsked(Struct, frozen=True, omit_defaults=True, tag="table.UndoAsked"):
    """This seat asks to undo entry `to` and all after it."""

    seat: int
    to: int


class UndoAgreed(Struct, frozen=True, omit_defaults=True, tag="table.UndoAgreed"):
    seat: int


class UndoRefused(Struct, frozen=True, omit_defaults=True, tag="table.UndoRefused"):
    seat: int


class Undone(Struct, frozen=True, omit_defaults=True, tag="table.Undone"):
    """The position is the one before entry `to` again."""

    seat: int
    to: int


class Substituted(Struct, frozen=True, omit_defaults=True, tag="table.Substituted"):
    """Another person, or a bot, plays on in this seat."""

    seat: int
    bot: bool = False


class Returned(Struct, frozen=True, omit_defaults=True, tag="table.Returned"):
    """The player of this seat plays on, and it is no longer offered to others."""

    seat: int


class Offered(Struct, frozen=True, omit_defaults=True, tag="table.Offered"):
    """Another person may take this seat."""

    seat: int


class PauseAsked(Struct, frozen=True, omit_defaults=True, tag="table.PauseAsked"):
    seat: int


class PauseAgreed(Struct, frozen=True, omit_defaults=True, tag="table.PauseAgreed"):
    seat: int


class PauseRefused(Struct, frozen=True, omit_defaults=True, tag="table.PauseRefused"):
    seat: int


class Paused(Struct, frozen=True, omit_defaults=True, tag="table.Paused"):
    """The clocks of the table stop."""


class Resumed(Struct, frozen=True, omit_defaults=True, tag="table.Resumed"):
    seat: int


class VacationTaken(Struct, frozen=True, omit_defaults=True, tag="table.VacationTaken"):
    """The player of this seat is away from one day to another, both included; the seat's clock stops meanwhile."""

    seat: int
    first: str
    last: str


class VacationEnded(Struct, frozen=True, omit_defaults=True, tag="table.VacationEnded"):
    """The vacation that begins on `first` ends early, on `last`; if that is earlier, the vacation is called off."""

    seat: int
    first: str
    last: str


class RoundNamed(Struct, frozen=True, omit_defaults=True, tag="table.RoundNamed"):
    """The command is accepted and will be carried out with this round of the beacon, which is not published yet."""

    round: int


class RoundDrawn(Struct, frozen=True, omit_defaults=True, tag="table.RoundDrawn"):
    """The round is published, and the command of this seat, or of the server, that waited for it is carried out."""

    round: int
    signature: str
    seat: int | None = None


class SealAsked(Struct, frozen=True, omit_defaults=True, tag="table.SealAsked"):
    """This seat asks to go on without the beacon, whose round is late."""

    seat: int


class SealAgreed(Struct, frozen=True, omit_defaults=True, tag="table.SealAgreed"):
    seat: int


class SealRefused(Struct, frozen=True, omit_defaults=True, tag="table.SealRefused"):
    seat: int


class WentSealed(Struct, frozen=True, omit_defaults=True, tag="table.WentSealed"):
    """All draws are sealed from here on; the command of this seat, or of the server, that waited is carried out."""

    seat: int | None = None


class Ended(Struct, frozen=True, omit_defaults=True, tag="table.Ended"):
    places: tuple[int, ...]


TableEvent = (
    Opened
    | Sat
    | Started
    | Resigned
    | TimedOut
    | Missed
    | UndoAsked
    | UndoAgreed
    | UndoRefused
    | Undone
    | Substituted
    | Returned
    | Offered
    | PauseAsked
    | PauseAgreed
    | PauseRefused
    | Paused
    | Resumed
    | VacationTaken
    | VacationEnded
    | RoundNamed
    | RoundDrawn
    | SealAsked
    | SealAgreed
    | SealRefused
    | WentSealed
    | Ended
)
TABLE_EVENTS = frozenset(TableEvent.__args__)


def is_date(text: str) -> bool:
    """Whether this is a day as the log writes it, such as 2027-01-31."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
