"""What may be known: all that lies on the table; which tiles come next nobody knows before they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from engine.chance import Chance
from engine.games.carcassonne.boxes import BOXES
from engine.games.carcassonne.expansion import apart
from engine.games.carcassonne.state import Award, Errand, Figure, Laid, Part, State, left, standing_figures


class Seen(Struct, frozen=True):
    """The table as everybody sees it; every box shows what is its own.

    `tiles` are in the order in which they were laid; `parts` names the tiles being dealt with, the interrupted first.
    """

    turn: int | None
    phase: str
    step: str
    parts: tuple[str, ...]
    drawn: str
    message: int
    tiles: dict[str, Laid]
    figures: tuple[Figure, ...]
    supply: tuple[dict[str, int], ...]
    track: tuple[tuple[int, ...], ...]
    owed: tuple[Award, ...]
    left: int
    aside: tuple[str, ...]
    places: tuple[int, ...]


SHOWN: dict[str, tuple[Any, Callable[[State], Any]]] = apart("views", *(box.shows for box in BOXES))
if TYPE_CHECKING:
    View = Seen
else:
    View = msgspec.defstruct(
        "View", [(name, kind) for name, (kind, _) in SHOWN.items()], bases=(Seen,), frozen=True, module=__name__
    )


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
        supply=state.supply,
        track=state.track,
        owed=state.owed,
        left=left(state),
        aside=state.aside,
        places=state.places,
        **{name: show(state) for name, (_, show) in SHOWN.items()},
    )


def hear(event: Any, seat: int | None) -> Any:
    return event


def redeal(state: State, seat: int | None, chance: Chance) -> State:
    """Nothing is fixed that somebody cannot see: tiles and unseen messages have no order before they are drawn."""
    return state
