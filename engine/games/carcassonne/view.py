"""What may be known: all that lies on the table; which tiles come next nobody knows before they are drawn."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.chance import Chance
from engine.games.carcassonne.state import Award, Figure, Laid, Part, State, standing_figures


class View(Struct, frozen=True):
    """The table as everybody sees it; `tiles` in the order in which they were laid."""

    turn: int | None
    phase: str
    step: str
    drawn: str
    tiles: dict[str, Laid]
    figures: tuple[Figure, ...]
    supply: tuple[dict[str, int], ...]
    track: tuple[tuple[int, ...], ...]
    owed: tuple[Award, ...]
    left: int
    aside: tuple[str, ...]
    places: tuple[int, ...]


def view(state: State, seat: int | None) -> View:
    work = state.work[-1] if state.work else Part()
    return View(
        turn=state.turn if state.phase == "playing" else None,
        phase=state.phase,
        step=work.step,
        drawn=work.tile if isinstance(work, Part) else "",
        tiles=state.tiles,
        figures=standing_figures(state),
        supply=state.supply,
        track=state.track,
        owed=state.owed,
        left=sum(map(len, state.bags)),
        aside=state.aside,
        places=state.places,
    )


def hear(event: Any, seat: int | None) -> Any:
    return event


def redeal(state: State, seat: int | None, chance: Chance) -> State:
    return state
