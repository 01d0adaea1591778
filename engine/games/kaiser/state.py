"""The options, the stones on the board, and what can happen to them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from engine.games.kaiser.board import Rank


class Options(Struct, frozen=True):
    corners: Annotated[
        Literal["adjacent", "opposite"],
        msgspec.Meta(description="With two players: neighbouring corners, or corners across the board (§1.2)"),
    ] = "adjacent"
    rounds: Annotated[
        int, msgspec.Meta(ge=1, le=12, description="How many rounds are played for points, the start passing on (§6.3)")
    ] = 1
    last_emperor: Annotated[
        Literal["wins", "must_enter"],
        msgspec.Meta(description="The last emperor wins at once, or still has to reach the fortress (§5.2)"),
    ] = "wins"
    eliminated_score: Annotated[
        bool, msgspec.Meta(description="A player without an emperor still scores the stones left on the board (§6.2)")
    ] = True


class Stone(Struct, frozen=True):
    """A figure on the board and whose it is."""

    seat: int
    rank: Rank


class State(Struct, frozen=True):
    """A round in progress, and the points of the rounds before."""

    corners: tuple[str, ...] = ()
    options: Options = Options()
    round: int = 0
    first: int = 0
    turn: int = 0
    moved: bool = False
    stones: dict[str, Stone] = {}
    opened: tuple[bool, ...] = ()
    out: tuple[bool, ...] = ()
    nearest: tuple[int, ...] = ()
    quiet: int = 0
    mark: int = 0
    seen: dict[int, int] = {}
    repeated: int = 0
    last: tuple[str, str] | None = None
    decided: bool = False
    victor: int | None = None
    counted: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    victories: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


class Assembled(Struct, frozen=True, omit_defaults=True, tag=True):
    """The players took their corners, clockwise."""

    corners: tuple[str, ...]
    options: Options


class RoundBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    """All stones stand in their formation, and this seat begins."""

    round: int
    first: int


class Moved(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    rank: Rank
    start: str
    end: str


class Captured(Struct, frozen=True, omit_defaults=True, tag=True):
    """A stone left the board; the capturing one stands in its place."""

    seat: int
    at: str
    victim: int
    rank: Rank


class Fell(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat lost its emperor and is out of this round."""

    seat: int


class Passed(Struct, frozen=True, omit_defaults=True, tag=True):
    """No stone of this seat can move."""

    seat: int


class TurnBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int


class RoundWon(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    by: Literal["fortress", "last emperor"]


class RoundDrawn(Struct, frozen=True, omit_defaults=True, tag=True):
    by: Literal["repetition", "quiet"]


class Scored(Struct, frozen=True, omit_defaults=True, tag=True):
    """Points for the stones a seat has left, and for winning the round."""

    seat: int
    stones: int
    bonus: int = 0


class GameEnded(Struct, frozen=True, omit_defaults=True, tag=True):
    places: tuple[int, ...]


Event = (
    Assembled | RoundBegan | Moved | Captured | Fell | Passed | TurnBegan | RoundWon | RoundDrawn | Scored | GameEnded
)
