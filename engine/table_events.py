"""What happens at a table apart from its game: who sat down, what was asked and agreed, how it ended.

In the log the tags of these events begin with `table.`; their shapes only ever grow.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Opened(Struct, frozen=True, omit_defaults=True, tag="table.Opened"):
    """What the table is, sealed before anybody sits down."""

    game: str
    edition: int
    seats: int
    commitment: str
    options: dict[str, Any] = {}
    clock: dict[str, str] = {}
    table: str = ""  # what the table is called; logs that were opened before names were sealed have none
    beacon: dict[str, str] = {}  # the public beacon that its draws wait for; without one they are sealed


class Sat(Struct, frozen=True, omit_defaults=True, tag="table.Sat"):
    seat: int
    nonce: str
    bot: bool = False


class Started(Struct, frozen=True, omit_defaults=True, tag="table.Started"):
    pass


class Resigned(Struct, frozen=True, omit_defaults=True, tag="table.Resigned"):
    seat: int


class TimedOut(Struct, frozen=True, omit_defaults=True, tag="table.TimedOut"):
    """A deadline passed; what follows in the entry is what a stand-in did, as far as each may know it."""

    seat: int


class Missed(Struct, frozen=True, omit_defaults=True, tag="table.Missed"):
    """A deadline passed, and this seat loses more than a move; what it loses follows in the entry."""

    seat: int


class UndoAsked(Struct, frozen=True, omit_defaults=True, tag="table.UndoAsked"):
    seat: int
    to: int


class UndoAgreed(Struct, frozen=True, omit_defaults=True, tag="table.UndoAgreed"):
    seat: int


class UndoRefused(Struct, frozen=True, omit_defaults=True, tag="table.UndoRefused"):
    seat: int


class Undone(Struct, frozen=True, omit_defaults=True, tag="table.Undone"):
    """The position is again the one before entry `to`."""

    seat: int
    to: int


class Substituted(Struct, frozen=True, omit_defaults=True, tag="table.Substituted"):
    """Somebody else, or a bot, plays on in this seat."""

    seat: int
    bot: bool = False


class Returned(Struct, frozen=True, omit_defaults=True, tag="table.Returned"):
    """Who held this seat plays on himself, and it is no longer offered to others."""

    seat: int


class Offered(Struct, frozen=True, omit_defaults=True, tag="table.Offered"):
    """Somebody else may take this seat."""

    seat: int


class PauseAsked(Struct, frozen=True, omit_defaults=True, tag="table.PauseAsked"):
    seat: int


class PauseAgreed(Struct, frozen=True, omit_defaults=True, tag="table.PauseAgreed"):
    seat: int


class PauseRefused(Struct, frozen=True, omit_defaults=True, tag="table.PauseRefused"):
    seat: int


class Paused(Struct, frozen=True, omit_defaults=True, tag="table.Paused"):
    """From now on no clock runs here."""


class Resumed(Struct, frozen=True, omit_defaults=True, tag="table.Resumed"):
    seat: int


class VacationTaken(Struct, frozen=True, omit_defaults=True, tag="table.VacationTaken"):
    """This seat is away from one day to another, both included; its clock stands still meanwhile."""

    seat: int
    first: str
    last: str


class VacationEnded(Struct, frozen=True, omit_defaults=True, tag="table.VacationEnded"):
    """The vacation from `first` on ends early with the day `last`; where that is before, it does not take place."""

    seat: int
    first: str
    last: str


class RoundNamed(Struct, frozen=True, omit_defaults=True, tag="table.RoundNamed"):
    """The command is taken in and will be carried out with this round of the beacon, which is still to come."""

    round: int


class RoundDrawn(Struct, frozen=True, omit_defaults=True, tag="table.RoundDrawn"):
    """The round is there, and what waited for it follows; it was a command of this seat, or of the house."""

    round: int
    signature: str
    seat: int | None = None


class SealAsked(Struct, frozen=True, omit_defaults=True, tag="table.SealAsked"):
    """This seat wishes to go on without the beacon, which does not come."""

    seat: int


class SealAgreed(Struct, frozen=True, omit_defaults=True, tag="table.SealAgreed"):
    seat: int


class SealRefused(Struct, frozen=True, omit_defaults=True, tag="table.SealRefused"):
    seat: int


class WentSealed(Struct, frozen=True, omit_defaults=True, tag="table.WentSealed"):
    """From now on all draws are sealed; what waited for the beacon follows, a command of this seat or of the house."""

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
