"""§23.5, castles: a small city becomes one, and its lord is paid for the next feature that is completed near it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne import scoring
from engine.games.carcassonne.boxes.bridges import OPTION
from engine.games.carcassonne.hooks import BoxHooks, Moment, Rules
from engine.games.carcassonne.land import find_figure_root, find_segment_cell, iter_segments, list_cells, send_home
from engine.games.carcassonne.state import (
    CASTLE,
    Award,
    Feature,
    FeatureScored,
    Figure,
    Part,
    State,
    Task,
    add_note,
    change_part,
    count_tiles_left,
    find_figure,
    find_root,
    get_current_part,
    get_current_task,
    make_getter,
    pop_work,
    push_work,
    take_one,
)
from engine.games.carcassonne.tiles import DATA, get_plain_name, parse_cell
from engine.menu import Choice, Menu, Move

CASTLES: dict[str, int] = DATA[OPTION]["castles"]
"""How many castles each seat has, by the number of seats."""

NO_CASTLE: dict[str, list[int]] = {
    name: row["no_castle"] for rows in DATA["tiles"].values() for name, row in rows.items() if "no_castle" in row
}
"""The cities of tiles that are no half circles, though they reach one side only, by the indexes of their segments."""

MAKE, SCORE = "make", "score"
REACHED_NOTE = "castles reached"
LORD_POINTS, LORD_TILES = 6.0, 12
"""For bots: what the next feature near a castle brings, and how many tiles that takes."""


Payers = list[tuple[Sequence[str], int]]
"""The cells of completed features, or of castles that are paid, each with the points that it pays to lords near it."""


class Castle(Struct, frozen=True, gc=False):
    """A castle on two cells, and the feature that its city is."""

    cells: tuple[str, str]
    root: int


class CastleOnTable(Struct, frozen=True, gc=False):
    """A castle as all seats see it; `lord` is the place of the meeple in it, or empty."""

    cells: tuple[str, str]
    lord: str


class CastleOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat with the only meeple in a small completed city may turn it into a castle."""

    seat: int
    place: str


class CastleMade(Struct, frozen=True, omit_defaults=True, tag=True):
    """A city became a castle; the figures that do not stay with the meeple go home."""

    seat: int
    feature: int
    cells: tuple[str, str]
    figures: tuple[Figure, ...] = ()


class CastleDeclined(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat lets the city be scored."""

    seat: int


class CastlesReached(Struct, frozen=True, omit_defaults=True, tag=True):
    """Features near castles are complete: what each of these lords gets, by the place of the lord."""

    points: dict[str, int]


get_castles = make_getter("castles", tuple[Castle, ...])
"""The castles on the table."""


get_castles_left = make_getter("castles_left", tuple[int, ...])
"""How many castles each seat has."""


get_lords_pay = make_getter("lords_pay", dict[str, int])
"""What lords are to be paid in this round, by their places."""


def find_lord(state: State, castle: Castle) -> Figure | None:
    """Return the meeple in a castle; None if it is empty."""
    figures = state.features[castle.root].figures
    return figures[0] if figures else None


def show_castles(state: State) -> tuple[CastleOnTable, ...]:
    """Return the castles for the view."""
    lords = [(castle, find_lord(state, castle)) for castle in get_castles(state)]
    return tuple(CastleOnTable(castle.cells, lord.place if lord else "") for castle, lord in lords)


def apply_castle_offered(state: State, event: CastleOffered) -> State:
    """Ask the seat whether the city of its meeple becomes a castle, and note that it was asked."""
    state = add_note(state, _make_question_note(event.place))
    return push_work(state, Task(CASTLE, seats=(event.seat,), place=event.place))


def apply_castle_made(state: State, event: CastleMade) -> State:
    """The city is complete no more: it is a feature of another kind, without marks, and it is not scored."""
    state = send_home(pop_work(state), event.figures)
    feature = replace(state.features[event.feature], kind=CASTLE, marks=())
    done = tuple(root for root in get_current_part(state).done if root != event.feature)
    return replace(
        change_part(state, done=done),
        features={**state.features, event.feature: feature},
        castles=(*get_castles(state), Castle(event.cells, event.feature)),
        castles_left=take_one(get_castles_left(state), event.seat),
    )


def apply_castle_declined(state: State, event: CastleDeclined) -> State:
    return pop_work(state)


def apply_castles_reached(state: State, event: CastlesReached) -> State:
    return replace(add_note(state, REACHED_NOTE), lords_pay=event.points)


def _make_question_note(place: str) -> str:
    """Return the note by which a part remembers that the owner of the city at this place was asked about it."""
    return f"castle {place}"


def find_castle_cells(state: State, root: int) -> tuple[str, str] | None:
    """§23.5: Return the two cells of a city that can become a castle; None if it cannot."""
    feature = state.features[root]
    if feature.kind != "city" or feature.open or len(feature.tiles) != 2:
        return None
    one, other = list_cells(state, feature)
    if not _is_half_circle(state, one, root) or not _is_half_circle(state, other, root):
        return None
    return one, other


def _is_half_circle(state: State, cell: str, root: int) -> bool:
    """Whether a city reaches only one side of the tile on this cell, and is a plain half circle there."""
    barred = NO_CASTLE.get(get_plain_name(state.tiles[cell].tile), ())
    for index, (segment, segment_root) in enumerate(iter_segments(state, cell)):
        if segment_root == root and (len(segment.ends) != 1 or index in barred):
            return False
    return True


def list_castle_cells(cells: tuple[str, str]) -> frozenset[str]:
    """§23.6: Return the six cells of a castle: its own two, and those beside each of its long sides."""
    (one_x, one_y), (other_x, other_y) = map(parse_cell, cells)
    if one_x == other_x:  # one cell is above the other
        return frozenset(f"{x},{y}" for x in (one_x - 1, one_x, one_x + 1) for y in (one_y, other_y))
    return frozenset(f"{x},{y}" for x in (one_x, other_x) for y in (one_y - 1, one_y, one_y + 1))


def find_pay(state: State, rules: Rules, part: Part) -> dict[str, int]:
    """§23.6, §23.7: Return what each lord gets, by his place: the points of the best completed feature near his castle.

    A castle that is paid pays the castles near it in turn. The castle that was made with this tile gets nothing.
    """
    lords = dict[Castle, Figure]()  # that nothing has paid yet
    for castle in get_castles(state):
        lord = find_lord(state, castle)
        if lord and part.cell not in castle.cells:
            lords[castle] = lord
    payers = _list_completed(state, rules, part) if lords else []
    pay = dict[str, int]()
    while payers:
        amounts = _find_amounts(lords, payers)
        for castle, amount in amounts.items():
            lord = lords.pop(castle)
            pay[lord.place] = amount
        payers = [(castle.cells, amount) for castle, amount in amounts.items()]
    return pay


def _find_amounts(castles: Iterable[Castle], payers: Payers) -> dict[Castle, int]:
    """Return the most that any payer near it pays to each of these castles; a castle with none near it is left out."""
    most = dict[Castle, int]()
    for castle in castles:
        cells_near = list_castle_cells(castle.cells)
        amounts = [amount for cells, amount in payers if not cells_near.isdisjoint(cells)]
        if amounts:
            most[castle] = max(amounts)
    return most


def _list_completed(state: State, rules: Rules, part: Part) -> Payers:
    """Return the cells and the points of each completed road, city and cloister; a cloister is only on its own cell."""
    completed: Payers = []
    for root in part.done:
        feature = state.features[root]
        if feature.kind in ("road", "city", "cloister"):
            cells = [find_segment_cell(state, root)] if feature.kind == "cloister" else list_cells(state, feature)
            completed.append((cells, scoring.count_points(state, rules, feature, "scored")))
    return completed


class Castles(BoxHooks):
    """Castles and their lords."""

    option = "castles"
    about = ""
    switches = (OPTION,)
    feature_kinds = (CASTLE,)
    state_fields = {
        "castles": (tuple[Castle, ...], ()),
        "castles_left": (tuple[int, ...], ()),
        "lords_pay": (dict[str, int], {}),
    }
    view_fields = {
        "castles": (tuple[CastleOnTable, ...], show_castles),
        "castles_left": (tuple[int, ...], get_castles_left),
    }
    verbs = ("castle",)
    tasks = (CASTLE,)
    tasks_within_round = (CASTLE,)
    shared_tasks = frozenset({CASTLE})
    events = {
        CastleOffered: apply_castle_offered,
        CastleMade: apply_castle_made,
        CastleDeclined: apply_castle_declined,
        CastlesReached: apply_castles_reached,
    }

    def prepare(self, state: State, rules: Rules) -> State:
        seats = len(state.track)
        return replace(state, castles_left=(CASTLES[str(seats)],) * seats)

    def after_figure(self, state: State, rules: Rules, part: Part, chance: Chance) -> CastleOffered | None:
        """§23.5: Before the scoring, offer the next city that can become a castle; called until none is left."""
        for root in part.done:
            offer = self._offer_castle(state, rules, root, part)
            if offer is not None:
                return offer
        return None

    def before_feature(self, state: State, rules: Rules, root: int, chance: Chance) -> CastlesReached | None:
        """§23.6: Before any feature is scored, decide once what the lords get; None if they get nothing."""
        part = get_current_part(state)
        if REACHED_NOTE in part.notes:
            return None
        pay = find_pay(state, rules, part)
        return CastlesReached(pay) if pay else None

    def _offer_castle(self, state: State, rules: Rules, root: int, part: Part) -> CastleOffered | None:
        """§23.5: Ask the owner of the only meeple in a small city; None if it cannot be a castle or was asked about."""
        figures = state.features[root].figures
        meeples = [figure for figure in figures if figure.kind not in rules.non_meeples]
        if len(meeples) != 1 or not find_castle_cells(state, root):
            return None
        (lord,) = meeples
        was_asked = _make_question_note(lord.place) in part.notes
        if was_asked or not get_castles_left(state)[lord.seat]:
            return None
        return CastleOffered(lord.seat, lord.place)

    def after_scoring(self, state: State, rules: Rules, part: Part, chance: Chance) -> FeatureScored | None:
        """§23.6: After all other features, pay the next lord that is due; the hook is called until none is."""
        for castle in get_castles(state):
            lord = find_lord(state, castle)
            if lord and lord.place in get_lords_pay(state):
                return scoring.score_feature(state, rules, castle.root, "scored")
        return None

    def remember_score(self, state: State, rules: Rules, event: FeatureScored) -> State:
        """Remove the lord of a castle that was scored from those that are to be paid."""
        if event.kind != CASTLE:
            return state
        paid = [figure.place for figure in event.figures]
        due = {place: points for place, points in get_lords_pay(state).items() if place not in paid}
        return replace(state, lords_pay=due)

    def award_without_lead(
        self, state: State, rules: Rules, feature: Feature, moment: Moment
    ) -> tuple[Award, ...] | None:
        """§23.6, §23.8: A lord gets what a feature near the castle brought, else nothing; None for other features."""
        if feature.kind != CASTLE:
            return None
        pay = get_lords_pay(state) if moment == "scored" else {}
        awards = [Award(lord.seat, pay[lord.place], CASTLE) for lord in feature.figures if lord.place in pay]
        if awards:
            for box in rules.hooks["award_bonus"]:
                awards += box.award_bonus(state, rules, feature, moment)
        return tuple(awards)

    def count_extra_farm_points(self, state: State, rules: Rules, farm: Feature) -> int:
        """§23.8: A castle brings a farm one point more than a city."""
        if not get_castles(state):
            return 0
        roots = {find_root(state.parents, city) for city in farm.cities}
        return sum(state.features[root].kind == CASTLE for root in roots)

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        return (Choice("castle", ((MAKE,), (SCORE,)), "23.5"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§23.5: Make the city that the seat was asked about a castle, or let it be scored."""
        if move.args == (SCORE,):
            return [CastleDeclined(seat)]
        lord = find_figure(state, get_current_task(state).place)
        root = find_figure_root(state, lord)
        cells = find_castle_cells(state, root)
        assert cells is not None  # it was so when the seat was asked
        others = tuple(figure for figure in state.features[root].figures if figure != lord)
        return [CastleMade(seat, root, cells, others)]

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return what the lords of a seat can expect, by the tiles that are still to come."""
        lords = [find_lord(state, castle) for castle in get_castles(state)]
        own = sum(lord is not None and lord.seat == seat for lord in lords)
        return own * LORD_POINTS * min(1.0, count_tiles_left(state) / LORD_TILES)


BOX = Castles()
