"""What may be known: all that lies on the table; which tiles come next nobody knows before they are drawn."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.chance import Chance
from engine.games.carcassonne.state import Award, Errand, Figure, Laid, Part, State, standing_figures


class View(Struct, frozen=True):
    """The table as everybody sees it.

    `tiles` are in the order in which they were laid; `parts` names the tiles being dealt with, the interrupted first;
    `stack` are the messages under the stack in their order, after `unseen` that nobody has seen.
    """

    turn: int | None
    phase: str
    step: str
    parts: tuple[str, ...]
    drawn: str
    message: int
    tiles: dict[str, Laid]
    figures: tuple[Figure, ...]
    fairy: str
    supply: tuple[dict[str, int], ...]
    goods: tuple[dict[str, int], ...]
    track: tuple[tuple[int, ...], ...]
    owed: tuple[Award, ...]
    left: int
    aside: tuple[str, ...]
    unseen: int
    stack: tuple[int, ...]
    places: tuple[int, ...]


def view(state: State, seat: int | None) -> View:
    work = state.work[-1] if state.work else Errand("")
    return View(
        turn=state.turn if state.phase == "playing" else None,
        phase=state.phase,
        step=work.step,
        parts=tuple(part.kind for part in state.work if isinstance(part, Part)),
        drawn=work.tile if isinstance(work, Part) and work.step == "place" else "",
        message=work.number if isinstance(work, Errand) else 0,
        tiles=state.tiles,
        figures=standing_figures(state),
        fairy=state.fairy.place if state.fairy else "",
        supply=state.supply,
        goods=state.goods,
        track=state.track,
        owed=state.owed,
        left=sum(map(len, state.bags)),
        aside=state.aside,
        unseen=len(state.pile.unseen),
        stack=state.pile.seen,
        places=state.places,
    )


def hear(event: Any, seat: int | None) -> Any:
    return event


def redeal(state: State, seat: int | None, chance: Chance) -> State:
    """Nothing is fixed that somebody cannot see: tiles and unseen messages have no order before they are drawn."""
    return state
