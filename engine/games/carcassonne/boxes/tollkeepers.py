"""§20, tollkeepers, on tiles of our own: a tollhouse on a crossroads raises a toll from the roads that end there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Rules
from engine.games.carcassonne.land import get_signs, has_segment, iter_segments, list_cells
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Part,
    State,
    add_note,
    apply_awards,
    change_part,
    finish_figure_step,
    get_current_part,
    make_getter,
)
from engine.games.carcassonne.tiles import DATA, ROWS, get_plain_name
from engine.menu import Choice, Move

SMALL, LARGE = 1, 2
"""The sides of a tollhouse, which are also what its toll is multiplied by."""

POINTS_EACH, TRAVELLERS_POINTS = 1, 3
CROSSROADS = frozenset(DATA["crossroads"])
VILLAGES = frozenset(
    tile for tile, row in ROWS.items() if get_plain_name(tile) in CROSSROADS or "village" in row.get("signs", ())
)
"""§20.2: The tiles with a village in which roads end."""

Tollhouses = dict[str, tuple[int, int]]
"""Owner and side of every tollhouse on the table, by its cell."""


class TollhouseSet(Struct, frozen=True, omit_defaults=True, tag=True):
    """A tollhouse was put on a crossroads."""

    seat: int
    cell: str


class TollRaised(Struct, frozen=True, omit_defaults=True, tag=True):
    """A completed road paid its toll; the tollhouse turns to its large side, or goes home if it was large already."""

    cell: str
    road: int
    awards: tuple[Award, ...]


get_tollhouses = make_getter("tollhouses", Tollhouses)
"""The tollhouses on the table."""

get_first_segments = make_getter("since", dict[str, int])
"""By cell, the number of the first segment of the tile with which a tollhouse was set; it grows from tile to tile."""


def apply_tollhouse_set(state: State, event: TollhouseSet) -> State:
    """Put up the tollhouse of a seat, or move it, which keeps its side.

    Note the tile of this part: roads that were completed by earlier tiles pay no toll here.
    """
    side = SMALL
    others = dict[str, tuple[int, int]]()
    for cell, (owner, its_side) in get_tollhouses(state).items():
        if owner == event.seat:
            side = its_side
        else:
            others[cell] = (owner, its_side)
    since = {**get_first_segments(state), event.cell: state.tiles[get_current_part(state).cell].first}
    state = finish_figure_step(state)
    return replace(state, tollhouses={**others, event.cell: (event.seat, side)}, since=since)


def apply_toll_raised(state: State, event: TollRaised) -> State:
    """Turn the tollhouse to its large side or send it home, and pay the toll.

    The part is now in the step `score`, as after a scored feature: in `between` boxes would react to the figure again.
    """
    seat, side = get_tollhouses(state)[event.cell]
    tollhouses = {cell: house for cell, house in get_tollhouses(state).items() if cell != event.cell}
    if side == SMALL:
        tollhouses[event.cell] = (seat, LARGE)
    state = change_part(add_note(state, _make_toll_note(event.cell, event.road)), step="score")
    return apply_awards(replace(state, tollhouses=tollhouses), event.awards)


def _make_toll_note(cell: str, road: int) -> str:
    """Return the note by which a part remembers that this road paid the tollhouse on this cell."""
    return f"toll {cell} {road}"


def has_road_end(state: State, cell: str, road: int) -> bool:
    """Whether a road ends in the village on this cell."""
    return any(len(segment.ends) == 1 and root == road for segment, root in iter_segments(state, cell))


def count_toll(state: State, rules: Rules, road: Feature, side: int) -> int:
    """§20.3: Return the toll of a road: its houses, gardens, robbers and groups of travellers, times `side`."""
    cells = list_cells(state, road)
    houses = sum("house" in get_signs(state, cell) for cell in cells)
    gardens = sum(has_segment(state, cell, "garden") for cell in cells)
    robbers = sum(figure.kind not in rules.non_meeples for figure in road.figures)
    groups = road.marks.count("travellers")
    return side * (POINTS_EACH * (houses + gardens + robbers) + TRAVELLERS_POINTS * groups)


class Tollkeepers(BoxHooks):
    """A tollhouse for everybody, with a small and a large side."""

    option = "tollkeepers"
    about = "Tollhouses on crossroads, 10 tiles of our own (§20)"
    state_fields = {"tollhouses": (Tollhouses, {}), "since": (dict[str, int], {})}
    view_fields = {"tollhouses": (Tollhouses, get_tollhouses)}
    verbs = ("toll",)
    events = {TollhouseSet: apply_tollhouse_set, TollRaised: apply_toll_raised}

    def offer_instead_of_figure(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§20.2: Offer to put the own tollhouse on any crossroads without one."""
        taken = get_tollhouses(state)
        villages = [cell for cell, placed in state.tiles.items() if get_plain_name(placed.tile) in VILLAGES]
        free = tuple((cell,) for cell in villages if cell not in taken)
        return Choice("toll", free, "20.2") if free else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        return [TollhouseSet(seat, move.args[0])]

    def before_feature(self, state: State, rules: Rules, root: int, chance: Chance) -> TollRaised | None:
        """§20.3: Before a road is scored, pay the next tollhouse at its ends, in the order of the cells.

        The hook is called until no tollhouse is due.
        """
        road = state.features[root]
        if road.kind != "road":
            return None
        part = get_current_part(state)
        for cell, (seat, side) in sorted(get_tollhouses(state).items()):
            if get_first_segments(state).get(cell, 0) > state.tiles[part.cell].first:
                continue  # it was set after the tile was placed, in a turn of message 4 within this one
            if _make_toll_note(cell, root) not in part.notes and has_road_end(state, cell, root):
                points = count_toll(state, rules, road, side)
                if points:
                    return TollRaised(cell, root, (Award(seat, points, "toll"),))
        return None


BOX = Tollkeepers()
