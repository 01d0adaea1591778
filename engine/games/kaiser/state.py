"""The options, the state of a round, the events that change it, and what everybody sees of it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from engine.chance import Chance
from engine.games.kaiser.board import Rank, Stone


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


class State(Struct, frozen=True):
    """A round, and the points of the rounds before it."""

    corners: tuple[str, ...] = ()  # the sector of each seat
    options: Options = Options()
    round: int = 0
    first: int = 0
    turn: int = 0
    moved: bool = False  # whether the seat on turn has moved or passed
    stones: dict[str, Stone] = {}  # by crossing
    opened: tuple[bool, ...] = ()  # which seats have had their first turn, and may capture (§4.1)
    out: tuple[bool, ...] = ()
    nearest: tuple[int, ...] = ()  # the fewest steps that each emperor has ever been from the centre
    quiet: int = 0  # turns since a capture or an emperor's advance (§5.4)
    mark: int = 0  # the hash of all stones on their crossings (evolve.py)
    seen: dict[int, int] = {}  # how often each position came up since the last capture, by its hash (§5.3)
    repeated: int = 0  # how often the present position came up
    last: tuple[str, str] | None = None  # start and end of the last move
    decided: bool = False
    victor: int | None = None
    counted: tuple[int, ...] = ()  # the seats that have scored this round
    points: tuple[int, ...] = ()
    victories: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


class Assembled(Struct, frozen=True, omit_defaults=True, tag=True):
    """The players took their corners, clockwise."""

    corners: tuple[str, ...]
    options: Options


class RoundBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    """All stones were set up in their formation; seat `first` has the first turn."""

    round: int
    first: int


class Moved(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    rank: Rank
    start: str
    end: str


class Captured(Struct, frozen=True, omit_defaults=True, tag=True):
    """A stone of `victim` left the board; the stone that captured it took its place."""

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


class View(Struct, frozen=True):
    """The board as everybody sees it."""

    corners: tuple[str, ...]
    round: int
    rounds: int
    turn: int | None
    stones: dict[str, Stone]
    may_capture: tuple[bool, ...]
    out: tuple[bool, ...]
    points: tuple[int, ...]
    quiet: int
    last: tuple[str, str] | None
    places: tuple[int, ...]


def view(state: State, seat: int | None) -> View:
    return View(
        corners=state.corners,
        round=state.round,
        rounds=state.options.rounds,
        turn=None if state.decided else state.turn,
        stones=state.stones,
        may_capture=state.opened,
        out=state.out,
        points=state.points,
        quiet=state.quiet,
        last=state.last,
        places=state.places,
    )


def hear(event: Event, seat: int | None) -> Event:
    return event


def redeal(state: State, seat: int | None, chance: Chance) -> State:
    return state
