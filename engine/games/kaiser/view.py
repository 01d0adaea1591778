"""What may be known: everything, for nothing in this game is hidden."""

from __future__ import annotations

from msgspec import Struct

from engine.chance import Chance
from engine.games.kaiser.state import Event, State, Stone


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
