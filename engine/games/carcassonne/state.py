"""What lies on the table, and what happens to it in every game whatever boxes are mixed in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

About = msgspec.Meta


class Options(Struct, frozen=True):
    """What can be settled whatever boxes are mixed in; every box adds a switch of its own (boxes.py)."""

    figures: Annotated[
        Literal["at_once", "own_turn"],
        About(
            description="Points on another’s turn: choose the scoring figure at once, or when your turn comes (§5.3)"
        ),
    ] = "at_once"


class Figure(Struct, frozen=True, omit_defaults=True, gc=False):
    """A wooden figure on a segment of a tile; `way` says how it stands where there are several ways to."""

    seat: int
    kind: str
    cell: str
    segment: str
    way: str = ""

    @property
    def place(self) -> str:
        return f"{self.cell}/{self.segment}-{self.way}" if self.way else f"{self.cell}/{self.segment}"


class Feature(Struct, frozen=True, gc=False):
    """All segments that hang together: its open ends, its tiles, the symbols in it, the figures on it.

    The open ends of a cloister or garden are its empty neighbours; `cities` are city segments that a field touches.
    """

    kind: str
    open: int = 0
    tiles: tuple[int, ...] = ()
    marks: tuple[str, ...] = ()
    cities: tuple[int, ...] = ()
    figures: tuple[Figure, ...] = ()


class Laid(Struct, frozen=True, gc=False):
    """A tile on the table; its segments are numbered from `first`."""

    tile: str
    turn: int
    first: int


class Award(Struct, frozen=True, gc=False):
    """Points that one seat gets for one thing, or pays (below 0); they move one scoring figure.

    `late`: earned on another's turn.
    """

    seat: int
    points: int
    why: str
    late: bool = False


Step = Literal["draw", "place", "figure", "between", "score"]


class Part(Struct, frozen=True, gc=False, tag=True):
    """The laying of one tile with all that belongs to it.

    `passed` is the last place of the turn whose scoring round has been opened, `done` the features this tile completed
    that wait to be scored, `extra` says that another tile follows this one, `notes` are what boxes have to remember,
    `placed` is the place of the figure that was put on the table.
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


class Errand(Struct, frozen=True, gc=False, tag=True):
    """Something a box still has to see to before the work below it goes on; it asks the seat on turn or these seats."""

    step: str
    number: int = 0
    seats: tuple[int, ...] = ()
    place: str = ""


Work = Part | Errand


class State(Struct, frozen=True, dict=True):
    """The table; every box adds slots of its own (boxes.py).

    `work` is what is to be done, the last first; tiles are drawn from the first of the bags, none of which is empty;
    `buried` tiles of the last bag are out of the game, and nobody knows which; `enclosed` are the empty cells that
    cloisters and gardens wait for. A table remembers its menu (rules.py), which is asked for again at once.
    """

    options: Options = Options()
    edition: int = 1
    turn: int = 0
    phase: Literal["playing", "final", "over"] = "playing"
    work: tuple[Work, ...] = ()
    bags: tuple[tuple[str, ...], ...] = ()
    buried: int = 0
    aside: tuple[str, ...] = ()
    tiles: dict[str, Laid] = {}
    frontier: dict[str, int] = {}
    parents: dict[int, int] = {}
    features: dict[int, Feature] = {}
    enclosed: dict[str, tuple[int, ...]] = {}
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
    """The tile fits nowhere and leaves the game."""

    seat: int
    tile: str


class TilePlaced(Struct, frozen=True, omit_defaults=True, tag=True, gc=False):
    """A tile was laid; the very first one by nobody."""

    tile: str
    cell: str
    turn: int = 0
    seat: int | None = None


class FigurePlaced(Struct, frozen=True, omit_defaults=True, tag=True, gc=False):
    figure: Figure


class FigureWithheld(Struct, frozen=True, omit_defaults=True, tag=True, gc=False):
    """No figure was placed."""

    seat: int


class RoundOpened(Struct, frozen=True, omit_defaults=True, tag=True):
    """A scoring round at one of the named places of the turn."""

    place: str
    awards: tuple[Award, ...]


class RoundClosed(Struct, frozen=True, omit_defaults=True, tag=True):
    """A scoring round is over, and nothing came of it."""


class FeatureScored(Struct, frozen=True, omit_defaults=True, tag=True, gc=False):
    """A feature was completed, or counted at the end; its figures go back to their owners."""

    feature: int
    kind: str
    cell: str
    awards: tuple[Award, ...]
    figures: tuple[Figure, ...]
    final: bool = False


class ScorerMoved(Struct, frozen=True, omit_defaults=True, tag=True):
    """One of a seat's scoring figures went forward by a whole award."""

    award: Award
    scorer: int


class PartEnded(Struct, frozen=True, omit_defaults=True, tag=True):
    """The work that this tile interrupted goes on."""

    seat: int


class TurnBegan(Struct, frozen=True, omit_defaults=True, tag=True, gc=False):
    seat: int


class FinalScoringBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    """Both scoring figures of every seat were added up."""

    totals: tuple[int, ...]


class BonusCounted(Struct, frozen=True, omit_defaults=True, tag=True):
    """Points that an expansion gives at the very end."""

    why: str
    awards: tuple[Award, ...]


class GameEnded(Struct, frozen=True, omit_defaults=True, tag=True):
    places: tuple[int, ...]


def find(parents: dict[int, int], segment: int) -> int:
    """The feature that a segment belongs to now."""
    while segment in parents:
        segment = parents[segment]
    return segment


def feature_at(state: State, cell: str, place: int) -> int:
    """The feature of this segment of the tile on a cell."""
    return find(state.parents, state.tiles[cell].first + place)


def standing_figures(state: State) -> tuple[Figure, ...]:
    """Every figure on the table."""
    return tuple([figure for feature in state.features.values() for figure in feature.figures])


def slot(state: State, name: str) -> Any:
    """What a box keeps in its own slot of the table."""
    return getattr(state, name)


def left(state: State) -> int:
    """How many tiles can still be drawn."""
    return sum(map(len, state.bags)) - state.buried


def chosen(state: State, name: str) -> Any:
    """How a setting of a box was settled."""
    return getattr(state.options, name)


def drawable(state: State) -> bool:
    """Whether there is a tile to draw."""
    return bool(state.bags) and (not state.buried or left(state) > 0)


def find_figure(state: State, place: str) -> Figure:
    """The figure that stands at this place."""
    return next(figure for figure in standing_figures(state) if figure.place == place)


def part_of(state: State) -> Part:
    """The laying of a tile that is going on."""
    part = state.work[-1]
    assert isinstance(part, Part)
    return part


def on_top(state: State, work: Work) -> tuple[Work, ...]:
    """The work with the top one put in this shape."""
    return (*state.work[:-1], work)


def awarded(state: State, awards: tuple[Award, ...]) -> State:
    """Points move the only scoring figure at once; where there are two, they are owed until one is chosen."""
    if not awards:
        return state
    if len(state.track[0]) == 1:
        track = list(state.track)
        for award in awards:
            track[award.seat] = (track[award.seat][0] + award.points,)
        return replace(state, track=tuple(track))
    late = tuple(replace(award, late=award.seat != state.turn) for award in awards)
    return replace(state, owed=state.owed + late)
