"""§31, the bathhouses: they pay more for a completed road or city, and keep a meeple until its owner buys it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Moment, Rules
from engine.games.carcassonne.land import iter_segments, list_cells
from engine.games.carcassonne.scoring import estimate_debt
from engine.games.carcassonne.state import (
    Award,
    Feature,
    FeatureScored,
    Part,
    State,
    add_note,
    apply_awards,
    list_seats_from_turn,
    make_getter,
)
from engine.games.carcassonne.tiles import DATA
from engine.menu import Choice, Move

LEFT_OUT: dict[str, list[str]] = DATA["bathhouses_left_out"]
"""The tiles that are not used, by the number of seats."""

POINTS = {"bath3": 3, "bath4": 4, "bath5": 5}
"""The points of a bathhouse, by its mark."""

MEEPLE = "meeple"
FETCH_NOTE = "bath"
"""The note that a meeple was bought back in this part."""


class Bather(Struct, frozen=True, gc=False):
    """A meeple in the bathhouse on a cell, which costs so many points to buy back."""

    seat: int
    cell: str
    points: int


class BathEntered(Struct, frozen=True, omit_defaults=True, tag=True):
    """A meeple from a feature that was scored is in a bathhouse now."""

    bather: Bather


class BatherFetched(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat bought a meeple back from a bathhouse."""

    cell: str
    awards: tuple[Award, ...]


get_bathers = make_getter("bathers", tuple[Bather, ...])
"""The meeples in bathhouses."""


get_due_bathers = make_getter("bathers_due", tuple[Bather, ...])
"""The meeples that left their features and go into bathhouses after the scoring."""


def apply_bath_entered(state: State, event: BathEntered) -> State:
    """Move a meeple that is due into its bathhouse."""
    due = tuple(bather for bather in get_due_bathers(state) if bather != event.bather)
    return replace(state, bathers_due=due, bathers=(*get_bathers(state), event.bather))


def apply_bather_fetched(state: State, event: BatherFetched) -> State:
    """Return the meeple to the supply of its owner, whose payment is the only award."""
    others = tuple(bather for bather in get_bathers(state) if bather.cell != event.cell)
    state = replace(add_note(state, FETCH_NOTE), bathers=others)
    (payment,) = event.awards
    return apply_awards(_change_meeples(state, payment.seat, 1), event.awards)


def _change_meeples(state: State, seat: int, change: int) -> State:
    """Return the state with `change` more meeples in the supply of a seat."""
    supply = list(state.supply)
    supply[seat] = {**supply[seat], MEEPLE: supply[seat][MEEPLE] + change}
    return replace(state, supply=tuple(supply))


def find_baths(state: State, root: int) -> Iterator[tuple[str, int]]:
    """Yield the cell and the points of each bathhouse of a feature."""
    for cell in list_cells(state, state.features[root]):
        for segment, segment_root in iter_segments(state, cell):
            if segment_root == root:
                yield from ((cell, POINTS[mark]) for mark in segment.marks if mark in POINTS)


def find_bathers(state: State, event: FeatureScored) -> tuple[Bather, ...]:
    """§31.3: Return the meeples that go into the bathhouses of a feature: of its leaders, from the seat on turn on."""
    order = list_seats_from_turn(state)
    leaders = {award.seat for award in event.awards if award.why == event.kind}  # the other awards are bonuses
    figures = [figure for figure in event.figures if figure.kind == MEEPLE and figure.seat in leaders]
    figures.sort(key=lambda figure: order.index(figure.seat))
    pairs = zip(find_baths(state, event.feature), figures, strict=False)  # bathhouses or meeples may be left over
    return tuple(Bather(figure.seat, cell, points) for (cell, points), figure in pairs)


class Bathhouses(BoxHooks):
    """Bathhouses beside roads and in cities."""

    option = "bathhouses"
    title = "The Bathhouses"
    about = "Bathhouses that pay more and keep a meeple, 6 tiles (§31)"
    state_fields = {"bathers": (tuple[Bather, ...], ()), "bathers_due": (tuple[Bather, ...], ())}
    view_fields = {"bathers": (tuple[Bather, ...], get_bathers)}
    verbs = ("fetch",)
    events = {BathEntered: apply_bath_entered, BatherFetched: apply_bather_fetched}

    def prepare(self, state: State, rules: Rules) -> State:
        """§31.1: Leave out tiles if there are few seats."""
        left_out = LEFT_OUT.get(str(len(state.track)), [])
        bags = tuple(tuple(tile for tile in bag if tile not in left_out) for bag in state.bags)
        return replace(state, bags=bags, aside=(*state.aside, *left_out))

    def adjust_points(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        """§31.2: A bathhouse brings its points when its road or city is complete."""
        if moment != "scored" or feature.open:
            return points
        return points + sum(POINTS.get(mark, 0) for mark in feature.marks)

    def remember_score(self, state: State, rules: Rules, event: FeatureScored) -> State:
        """§31.3: Take the meeples for bathhouses out of the supply, so that nothing after the scoring uses them."""
        if event.final or event.kind not in ("road", "city"):
            return state
        bathers = find_bathers(state, event)
        for bather in bathers:
            state = _change_meeples(state, bather.seat, -1)
        return replace(state, bathers_due=(*get_due_bathers(state), *bathers))

    def after_scoring(self, state: State, rules: Rules, part: Part, chance: Chance) -> BathEntered | None:
        """§31.3: Let the next meeple that is due enter its bathhouse; the hook is called until none is."""
        due = get_due_bathers(state)
        return BathEntered(due[0]) if due else None

    def offer_besides(self, state: State, rules: Rules, part: Part) -> Choice | None:
        """§31.4: Offer to buy a meeple back before the figure, once for each tile."""
        if part.step != "figure" or FETCH_NOTE in part.notes:
            return None
        cells = [bather.cell for bather in get_bathers(state) if bather.seat == state.turn]
        return Choice("fetch", tuple((cell,) for cell in cells), "31.4") if cells else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§31.4: Let the seat pay for its meeple in the bathhouse on the cell that the move names."""
        bather = next(one for one in get_bathers(state) if one.cell == move.args[0])
        return [BatherFetched(bather.cell, (Award(seat, -bather.points, "bathhouse"),))]

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return the penalty for points below 0, to which buying meeples back can lead."""
        return estimate_debt(state, seat)


BOX = Bathhouses()
