"""§20, tollkeepers, on tiles of our own: a tollhouse on a crossroads raises a toll from the roads that end there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.board import DATA, PIECES
from engine.games.carcassonne.expansion import Box, Rules
from engine.games.carcassonne.land import cells_of, has_place, segments_at, signs_at
from engine.games.carcassonne.state import Award, Feature, Part, State, awarded, on_top, part_of, slot
from engine.menu import Choice, Move

SMALL, LARGE = 1, 2
EACH, TRAVELLERS = 1, 3
CROSSROADS = frozenset(DATA["crossroads"])
VILLAGES = frozenset(
    tile for tile, turned in PIECES.items() if tile.rstrip("*") in CROSSROADS or "village" in turned[0].signs
)
"""§20.2: the tiles with a village in which roads end."""
Houses = dict[str, tuple[int, int]]


class TollhouseSet(Struct, frozen=True, omit_defaults=True, tag=True):
    """A tollhouse stands on a crossroads."""

    seat: int
    cell: str


class TollRaised(Struct, frozen=True, omit_defaults=True, tag=True):
    """A road that ends at a tollhouse was completed; a small toll becomes a large one, a large one goes home."""

    cell: str
    road: int
    awards: tuple[Award, ...]


def houses(state: State) -> Houses:
    """Every tollhouse on the table: its cell, its owner and its side."""
    found: Houses = slot(state, "tollhouses")
    return found


def placed(state: State, event: TollhouseSet) -> State:
    """A tollhouse that moves keeps its side."""
    own = next((side for seat, side in houses(state).values() if seat == event.seat), SMALL)
    others = {cell: house for cell, house in houses(state).items() if house[0] != event.seat}
    part = part_of(state)
    since = {**slot(state, "since"), event.cell: state.tiles[part.cell].first}
    work = on_top(state, replace(part, step="between"))
    return replace(state, tollhouses={**others, event.cell: (event.seat, own)}, since=since, work=work)


def raised(state: State, event: TollRaised) -> State:
    """The table after a toll was paid: a small house is now a large one, and a large one is gone."""
    seat, side = houses(state)[event.cell]
    left = {cell: house for cell, house in houses(state).items() if cell != event.cell}
    part = part_of(state)
    part = replace(part, step="score", notes=(*part.notes, _note(event.cell, event.road)))
    state = replace(state, work=on_top(state, part))
    return awarded(
        replace(state, tollhouses={**left, event.cell: (seat, LARGE)} if side == SMALL else left), event.awards
    )


def _note(cell: str, road: int) -> str:
    return f"toll {cell} {road}"


def ends_at(state: State, cell: str, road: int) -> bool:
    """Whether a road ends in the village on this cell."""
    return any(len(segment.ends) == 1 and there == road for segment, there in segments_at(state, cell))


def toll(state: State, rules: Rules, road: Feature, side: int) -> int:
    """§20.3: houses, gardens, robbers and groups of travellers along a road."""
    cells = cells_of(state, road)
    seen = sum(("house" in signs_at(state, cell)) + has_place(state, cell, "garden") for cell in cells)
    seen += sum(figure.kind not in rules.bystanders for figure in road.figures)
    return side * (EACH * seen + TRAVELLERS * road.marks.count("travellers"))


class Tollkeepers(Box):
    """A tollhouse for everybody, with a small and a large side."""

    option = "tollkeepers"
    about = "Tollhouses on crossroads, 10 tiles of our own (§20)"
    slots = {"tollhouses": (Houses, {}), "since": (dict[str, int], {})}
    shows = {"tollhouses": (Houses, houses)}
    verbs = ("toll",)
    events = {TollhouseSet: placed, TollRaised: raised}

    def act(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§20.2: instead of a figure, on any crossroads without a tollhouse."""
        taken = houses(state)
        free = tuple((cell,) for cell, laid in state.tiles.items() if laid.tile in VILLAGES and cell not in taken)
        return Choice("toll", free, "20.2") if free else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        return [TollhouseSet(seat, move.args[0])]

    def completed(self, state: State, rules: Rules, root: int, chance: Chance) -> TollRaised | None:
        """§20.3: before a road is scored every tollhouse at its ends is paid, in the order of the cells."""
        road = state.features[root]
        if road.kind != "road":
            return None
        laid = state.tiles[part_of(state).cell].first
        for cell, (seat, side) in sorted(houses(state).items()):
            if slot(state, "since").get(cell, 0) > laid:
                continue  # it was put there in a turn that a message brought in between
            if _note(cell, root) not in part_of(state).notes and ends_at(state, cell, root):
                points = toll(state, rules, road, side)
                if points:
                    return TollRaised(cell, root, (Award(seat, points, "toll"),))
        return None


BOX = Tollkeepers()
