"""The contract's `view`: all seats see the whole table; the tiles in the bags have no order before they are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from engine.chance import Chance
from engine.games.carcassonne.boxes import BOXES
from engine.games.carcassonne.hooks import merge_distinct
from engine.games.carcassonne.state import (
    Award,
    Figure,
    Part,
    PlacedTile,
    State,
    Task,
    count_tiles_left,
    list_figures,
)


class BaseView(Struct, frozen=True):
    """The table as all seats see it; each box adds fields of its own.

    * `turn` is the seat on turn, None once the final scoring began; `step` is that of the part or task to be done now,
      empty if there is none.
    * `parts` are the kinds of the parts of the turn that are going on, the interrupted ones first.
    * `drawn` is the tile that is to be placed now. A `waiting` tile was drawn before that, and is placed after what is
      to be done now. `message` is the number of the message in hand, and `question` the place or the cell that a box
      asks about. Each is empty, and the message 0, if there is none.
    * `tiles` are in the order in which they were placed; those in `aside` have left the game.
    * `bag` counts the tiles that may still be drawn: all that are not on the table. `left` of them will be.
    * `track` has the steps of the scoring figures of each seat, `owed` the awards for which a seat has to choose one;
      `places` are empty until the game is over.
    """

    turn: int | None
    phase: str
    step: str
    parts: tuple[str, ...]
    drawn: str
    waiting: str
    message: int
    question: str
    tiles: dict[str, PlacedTile]
    figures: tuple[Figure, ...]
    supply: tuple[dict[str, int], ...]
    track: tuple[tuple[int, ...], ...]
    owed: tuple[Award, ...]
    left: int
    bag: dict[str, int]
    aside: tuple[str, ...]
    places: tuple[int, ...]


BOX_FIELDS: dict[str, tuple[Any, Callable[[State], Any]]] = merge_distinct(
    "view fields", *(box.view_fields for box in BOXES)
)
if TYPE_CHECKING:
    View = BaseView
else:
    View = msgspec.defstruct(
        "View",
        [(name, kind) for name, (kind, _) in BOX_FIELDS.items()],
        bases=(BaseView,),
        frozen=True,
        module=__name__,
    )


def view(state: State, seat: int | None) -> View:
    """Return the table as it is for all seats and spectators."""
    work = state.work[-1] if state.work else Task("")  # from the final scoring on there is none
    return View(
        turn=state.turn if state.phase == "playing" else None,
        phase=state.phase,
        step=work.step,
        parts=tuple(part.kind for part in state.work if isinstance(part, Part)),
        drawn=_find_drawn_tile(work),
        waiting=_find_waiting_tile(state),
        message=_find_message(work),
        question=_find_question(work),
        tiles=state.tiles,
        figures=list_figures(state),
        supply=state.supply,
        track=state.track,
        owed=state.owed,
        left=count_tiles_left(state),
        bag=dict(Counter(tile for bag in state.bags for tile in bag)),
        aside=state.aside,
        places=state.places,
        **{name: read(state) for name, (_, read) in BOX_FIELDS.items()},
    )


def _find_drawn_tile(work: Part | Task) -> str:
    """Return the tile that is to be placed now; empty if there is none."""
    return work.tile if isinstance(work, Part) and work.step == "place" else ""


def _find_message(work: Part | Task) -> int:
    """Return the number of the message that the seat on turn performs or trades now; 0 if there is none."""
    return work.number if isinstance(work, Task) and work.step == "message" else 0


def _find_question(work: Part | Task) -> str:
    """Return the place or cell that a task asks about; empty without one, or if its `place` is none on the table."""
    return work.place if isinstance(work, Task) and "," in work.place else ""


def _find_waiting_tile(state: State) -> str:
    """Return the tile that an interrupted part has drawn and not placed yet; empty if there is none."""
    for work in reversed(state.work[:-1]):
        if isinstance(work, Part) and work.step == "place":
            return work.tile
    return ""


def hear(event: Any, seat: int | None) -> Any:
    """Return the event as it is: all seats may know everything about it."""
    return event


def redeal(state: State, seat: int | None, chance: Chance) -> State:
    """Return the same state: it holds no hidden order, as tiles and unseen messages are picked when they are drawn."""
    return state
