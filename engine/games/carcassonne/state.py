"""The state of the table, the events of the base game, and small helpers for both."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

T = TypeVar("T")


class Options(Struct, frozen=True):
    """The options of the base game; each box adds a switch and settings of its own (boxes/__init__.py)."""

    figures: Annotated[
        Literal["at_once", "own_turn"],
        Meta(description="Points on another’s turn: choose the scoring figure at once, or when your turn comes (§5.3)"),
    ] = "at_once"


class Figure(Struct, frozen=True, omit_defaults=True, gc=False):
    """A wooden figure on a segment of a tile.

    `way` tells figures on the same segment apart: "lying", a corner of the tile, or a number. A `protected` figure is
    safe from revolts (§27).
    """

    seat: int
    kind: str
    cell: str
    segment: str
    way: str = ""
    protected: bool = False

    @property
    def place(self) -> str:
        """The place as moves and logs write it: `1,0/city-N` or `1,0/cloister-lying`."""
        return f"{self.cell}/{self.segment}-{self.way}" if self.way else f"{self.cell}/{self.segment}"


class Feature(Struct, frozen=True, gc=False):
    """A road, city, cloister, garden or field: all connected segments together.

    `open` counts its open ends, for a cloister or garden its empty neighbours. `tiles` are numbered in the order in
    which they were placed, `marks` are the symbols in it, `cities` the city segments that a field touches.
    """

    kind: str
    open: int = 0
    tiles: tuple[int, ...] = ()
    marks: tuple[str, ...] = ()
    cities: tuple[int, ...] = ()
    figures: tuple[Figure, ...] = ()


class PlacedTile(Struct, frozen=True, gc=False):
    """A tile on the table, turned by `turn` degrees; its segments are numbered from `first` on."""

    tile: str
    turn: int
    first: int


class Award(Struct, frozen=True, gc=False):
    """Points that a seat gets for one thing, or pays if negative; the whole award moves one scoring figure.

    `late` marks points that were earned on another seat's turn.
    """

    seat: int
    points: int
    why: str
    late: bool = False


Step = Literal["draw", "place", "figure", "between", "score"]
"""The steps of a part. `between` is after the figure and before the scoring, where boxes add events of their own."""


class Part(Struct, frozen=True, gc=False, tag=True):
    """A part of a turn: one tile, from drawing it to scoring what it completed.

    * `kind` says why the seat has it: because of its turn, its builder, or message 4.
    * `tile` and `cell` are empty until the tile is drawn and placed; `placed` is the place of its figure, or empty.
    * `passed` is the last scoring round that was opened (a key of `ROUNDS` in hooks.py), or empty.
    * `done` are the completed features that are not scored yet. `extra` says that the builder earned another tile.
    * `notes` are what boxes did in this part, to do it once.
    """

    step: Step = "draw"
    kind: Literal["turn", "builder", "message"] = "turn"
    tile: str = ""
    cell: str = ""
    done: tuple[int, ...] = ()
    passed: str = ""
    extra: bool = False
    notes: tuple[str, ...] = ()
    placed: str = ""


class Task(Struct, frozen=True, gc=False, tag=True):
    """A task of a box that interrupts the work below it; it asks `seats`, or the seat on turn if there are none.

    `step` names the kind of task. What it asks about is in `number` and `place`, as the box needs it.
    """

    step: str
    number: int = 0
    seats: tuple[int, ...] = ()
    place: str = ""


Work = Part | Task


class State(Struct, frozen=True, gc=False):
    """The table; each box adds fields of its own (boxes/__init__.py).

    * `work` is a stack: its last item is to be done first.
    * Tiles are drawn from the first of the `bags`; a bag that is empty is removed. `buried` of the tiles in the bags
      are out of the game, but which ones is unknown. Tiles in `aside` have left the game.
    * `frontier` has the edges around each empty cell beside a tile (tiles.py), `awaited_cells` has the cloisters and
      gardens that wait for a tile on each empty cell.
    * `parents` leads from a segment to the feature it has become part of; the segments without a parent are the keys of
      `features`.
    * `supply` has the number of figures of each kind that a seat can still place, by seat. `track` has the steps of the
      scoring figures of each seat, `owed` the awards for which a seat has to choose one.
    * `moved` are the scoring figures that the seat on turn moved forward in this scoring round, `moved_for` says what
      the last of these moves was for. `counted` are the bonuses of boxes that were counted at the very end. `places`
      are those of the seats, empty until the game is over.
    """

    options: Options = Options()
    edition: int = 1
    turn: int = 0
    phase: Literal["playing", "final", "over"] = "playing"
    work: tuple[Work, ...] = ()
    bags: tuple[tuple[str, ...], ...] = ()
    buried: int = 0
    aside: tuple[str, ...] = ()
    tiles: dict[str, PlacedTile] = {}
    frontier: dict[str, int] = {}
    parents: dict[int, int] = {}
    features: dict[int, Feature] = {}
    awaited_cells: dict[str, tuple[int, ...]] = {}
    supply: tuple[dict[str, int], ...] = ()
    track: tuple[tuple[int, ...], ...] = ()
    owed: tuple[Award, ...] = ()
    moved: tuple[int, ...] = ()
    moved_for: str = ""
    counted: tuple[str, ...] = ()
    places: tuple[int, ...] = ()


class TileDrawn(Struct, frozen=True, omit_defaults=True, tag=True, gc=False):
    seat: int
    tile: str


class TileSetAside(Struct, frozen=True, omit_defaults=True, tag=True):
    """The drawn tile fits nowhere and leaves the game."""

    seat: int
    tile: str


class TilePlaced(Struct, frozen=True, omit_defaults=True, tag=True, gc=False):
    """A tile was placed; the first tiles of the game have no seat."""

    tile: str
    cell: str
    turn: int = 0
    seat: int | None = None


class FigurePlaced(Struct, frozen=True, omit_defaults=True, tag=True, gc=False):
    figure: Figure


class FigureWithheld(Struct, frozen=True, omit_defaults=True, tag=True, gc=False):
    """The seat placed no figure."""

    seat: int


class RoundOpened(Struct, frozen=True, omit_defaults=True, tag=True):
    """A scoring round began; `place` is its place in the turn (a key of `ROUNDS` in hooks.py)."""

    place: str
    awards: tuple[Award, ...]


class RoundClosed(Struct, frozen=True, omit_defaults=True, tag=True):
    """A scoring round ended without consequences."""


class FeatureScored(Struct, frozen=True, omit_defaults=True, tag=True, gc=False):
    """A feature was scored, on completion or at the end (`final`); its figures, the first on `cell`, go home."""

    feature: int
    kind: str
    cell: str
    awards: tuple[Award, ...]
    figures: tuple[Figure, ...]
    final: bool = False


class ScorerMoved(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat moved one of its scoring figures by a whole award."""

    award: Award
    scorer: int


class PartEnded(Struct, frozen=True, omit_defaults=True, tag=True):
    """The part ended; the work that it interrupted continues."""

    seat: int


class TurnBegan(Struct, frozen=True, omit_defaults=True, tag=True, gc=False):
    seat: int


class FinalScoringBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    """The final scoring began; the scoring figures of each seat were added up."""

    totals: tuple[int, ...]


class BonusCounted(Struct, frozen=True, omit_defaults=True, tag=True):
    """A box gave points at the very end of the game."""

    why: str
    awards: tuple[Award, ...]


class GameEnded(Struct, frozen=True, omit_defaults=True, tag=True):
    places: tuple[int, ...]


CASTLE = "castle"
"""The kind of a city that has become a castle (§23): it is no city any more, and nothing reaches its lord."""


def find_root(parents: dict[int, int], segment: int) -> int:
    """Return the feature that a segment belongs to, by the number of its root segment."""
    while segment in parents:
        segment = parents[segment]
    return segment


def find_index_root(state: State, cell: str, index: int) -> int:
    """Return the feature of the segment with this index on the tile of a cell."""
    return find_root(state.parents, state.tiles[cell].first + index)


def list_figures(state: State) -> tuple[Figure, ...]:
    """Return all figures on the table."""
    return tuple([figure for feature in state.features.values() for figure in feature.figures])


def find_figure(state: State, place: str) -> Figure:
    """Return the figure at this place."""
    return next(figure for figure in list_figures(state) if figure.place == place)


def get_field(state: State, name: str) -> Any:
    """Return a field of the state that a box has added, which the type checker does not know."""
    return getattr(state, name)


def replace_if_played(state: State, **changes: Any) -> State:
    """Change fields of boxes that this table may not have; without its box a field keeps its default."""
    return replace(state, **{name: value for name, value in changes.items() if name in state.__struct_fields__})


def make_getter(name: str, kind: type[T]) -> Callable[[State], T]:
    """Return a function that reads a field which a box has added to the state; only mypy needs its type `kind`."""
    return operator.attrgetter(name)


def get_setting(state: State, name: str) -> Any:
    """Return the value of a setting that a box has added to the options."""
    return getattr(state.options, name)


def count_tiles_left(state: State) -> int:
    """Count the tiles that can still be drawn."""
    return sum(map(len, state.bags)) - state.buried


def can_draw(state: State) -> bool:
    """Whether there is a tile to draw: no bag is empty, but all tiles in them may be `buried`."""
    return bool(state.bags) and (not state.buried or count_tiles_left(state) > 0)


def take_from_bags(bags: tuple[tuple[str, ...], ...], tile: str) -> tuple[tuple[str, ...], ...]:
    """Return the bags without one of these tiles in the first; a bag that is empty is removed."""
    bag = bags[0]
    index = bag.index(tile)
    rest = bag[:index] + bag[index + 1 :]
    return (rest, *bags[1:]) if rest else bags[1:]


def count_points_of(state: State, seat: int) -> int:
    """Return the points of a seat so far: those of its scoring figures, and those it is still owed."""
    owed = sum(award.points for award in state.owed if award.seat == seat) if state.owed else 0
    return sum(state.track[seat]) + owed


def list_seats_from_turn(state: State) -> list[int]:
    """Return the seats in the order of their turns, first the seat on turn."""
    seats = len(state.track)
    return [(state.turn + steps) % seats for steps in range(seats)]


def list_seats_after_turn(state: State) -> list[int]:
    """Return the seats in the order of their turns, last the seat on turn."""
    first, *others = list_seats_from_turn(state)
    return [*others, first]


def get_current_part(state: State) -> Part:
    """Return the part of the turn on top of the work."""
    part = state.work[-1]
    assert isinstance(part, Part)
    return part


def get_current_task(state: State) -> Task:
    """Return the task on top of the work."""
    task = state.work[-1]
    assert isinstance(task, Task)
    return task


def replace_top(state: State, work: Work) -> State:
    """Replace the top of the work."""
    return replace(state, work=(*state.work[:-1], work))


def push_work(state: State, work: Work) -> State:
    """Put new work on top, to be done first."""
    return replace(state, work=(*state.work, work))


def pop_work(state: State) -> State:
    """Remove the top of the work."""
    return replace(state, work=state.work[:-1])


def pop_task(state: State) -> State:
    """Remove the top of the work if it is a task."""
    return pop_work(state) if isinstance(state.work[-1], Task) else state


def change_part(state: State, **changes: Any) -> State:
    """Change fields of the part on top of the work."""
    return replace_top(state, replace(get_current_part(state), **changes))


def finish_figure_step(state: State) -> State:
    """Return the state after the figure step of its part, in which a move of a box took the place of a figure."""
    return change_part(state, step="between")


def add_note(state: State, note: str) -> State:
    """Add a note of a box to the part on top of the work."""
    return change_part(state, notes=(*get_current_part(state).notes, note))


def has_note_in_first_part(state: State, note: str) -> bool:
    """Whether the part that is going on is the second one of a double turn, and this note is in the first one."""
    parts = [work for work in state.work if isinstance(work, Part)]
    return parts[-1].kind == "builder" and len(parts) > 1 and note in parts[-2].notes


def take_one(numbers: tuple[int, ...], seat: int) -> tuple[int, ...]:
    """Return how many of something each seat has after this seat used one."""
    return (*numbers[:seat], numbers[seat] - 1, *numbers[seat + 1 :])


def apply_awards(state: State, awards: tuple[Award, ...]) -> State:
    """Move the scoring figures by these awards; seats with two figures are owed the awards until they choose one."""
    return replace(state, **find_changes_by_awards(state, awards)) if awards else state


def find_changes_by_awards(state: State, awards: tuple[Award, ...]) -> dict[str, Any]:
    """Return the field that `apply_awards` changes: `track` with one scoring figure for each seat, `owed` with two."""
    if len(state.track[0]) == 1:
        track = list(state.track)
        for award in awards:
            track[award.seat] = (track[award.seat][0] + award.points,)
        return {"track": tuple(track)}
    owed = tuple(replace(award, late=award.seat != state.turn) for award in awards)
    return {"owed": state.owed + owed}
