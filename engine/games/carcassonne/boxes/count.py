"""§30, the Count of Carcassonne: meeples go into the city, and come out of it onto features that are scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne import editions
from engine.games.carcassonne.boxes.start_blocks import StartBlock, is_at_wall, load_cells
from engine.games.carcassonne.hooks import Rules
from engine.games.carcassonne.land import (
    add_figure,
    change_supply,
    find_token_root,
    iter_segments,
    list_cells,
    read_figure,
)
from engine.games.carcassonne.offers import is_barred
from engine.games.carcassonne.scoring import count_farm_cities
from engine.games.carcassonne.state import (
    Feature,
    FeatureScored,
    Figure,
    Part,
    State,
    Task,
    add_note,
    get_current_part,
    get_current_task,
    get_field,
    has_note_in_first_part,
    list_seats_after_turn,
    make_getter,
    pop_work,
    push_work,
)
from engine.games.carcassonne.tiles import DATA
from engine.menu import Choice, Menu, Move
from engine.refusal import Refused

START: str = DATA["carcassonne"]["start"]
CELLS = load_cells("count")
QUARTERS: dict[str, str] = DATA["carcassonne"]["quarters"]
"""The kind of feature onto which the meeples of each quarter can go."""

QUARTER_OF: dict[str, str] = {kind: quarter for quarter, kind in QUARTERS.items()}
"""The quarter whose meeples can go onto each kind of feature."""

CASTLE_QUARTER, CATHEDRAL_QUARTER = "castle", "cathedral"
TO_COUNT = "count-"
"""The beginning of the token that names where the count goes."""

ANY_FARM = ""
"""The place in the question at the end, which is about all farms instead of one feature."""

OUTSIDE, REMAIN = "outside", "remain"
ENTRY_NOTE, OWN_NOTE, OTHERS_NOTE = "carcassonne", "points own", "points others"
"""The notes that the city was opened, and that features brought points to the seat on turn and to others."""

CITIZEN_POINTS = 3.5
"""The points that a bot expects of a meeple in the city."""

CLASH = Refused(
    "Carcassonne takes the place of the start tile: "
    "switch it off, or else “River”, “Wind roses”, “School”, "
    "“The Wheel of Fortune” and “The Markets of Leipzig”.",
    rule="30.1",
)


class CityOpened(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat helped others only, and may send a meeple into the city."""

    seat: int


class CityEntered(Struct, frozen=True, omit_defaults=True, tag=True):
    """A meeple went into a quarter of the city, and the count to the quarter `count`."""

    figure: Figure
    count: str


class CityDeclined(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat sent no meeple into the city."""

    seat: int


class CitizensAsked(Struct, frozen=True, omit_defaults=True, tag=True):
    """Seats are asked in turn whether meeples of a quarter go onto a feature; at the end, onto any farm."""

    quarter: str
    seats: tuple[int, ...]
    place: str = ANY_FARM


class CitizenMoved(Struct, frozen=True, omit_defaults=True, tag=True):
    """A meeple left its quarter for a feature."""

    citizen: Figure
    figure: Figure


class CitizensRemained(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat moves no more meeples."""

    seat: int


get_citizens = make_getter("citizens", tuple[Figure, ...])
"""The meeples in the city; the segment of each is its quarter."""


def get_count_quarter(state: State) -> str:
    """Return the quarter with the count; empty without him."""
    return str(get_field(state, "count_at"))


def apply_city_opened(state: State, event: CityOpened) -> State:
    return push_work(add_note(state, ENTRY_NOTE), Task("city"))


def apply_city_entered(state: State, event: CityEntered) -> State:
    """Move a meeple from the supply into its quarter, and the count to the quarter of the event."""
    supply = change_supply(state, (event.figure,), -1)
    return replace(pop_work(state), citizens=(*get_citizens(state), event.figure), supply=supply, count_at=event.count)


def apply_city_declined(state: State, event: CityDeclined) -> State:
    return pop_work(state)


def apply_citizens_asked(state: State, event: CitizensAsked) -> State:
    """Ask the seats one after the other: the first one is pushed last."""
    state = add_note(state, _make_question_note(event.place))
    for seat in reversed(event.seats):
        state = push_work(state, Task("citizens", seats=(seat,), place=event.place))
    return state


def apply_citizen_moved(state: State, event: CitizenMoved) -> State:
    """Move the meeple; its owner is asked again while there are more of them in the quarter."""
    citizens = tuple(citizen for citizen in get_citizens(state) if citizen != event.citizen)
    state = replace(state, citizens=citizens, supply=change_supply(state, (event.citizen,), 1))
    state = add_figure(state, event.figure)  # from the supply
    return state if find_citizens(state, event.citizen.seat, event.citizen.segment) else pop_work(state)


def apply_citizens_remained(state: State, event: CitizensRemained) -> State:
    return pop_work(state)


def _make_question_note(place: str) -> str:
    """Return the note by which a part remembers that seats were asked about this place: a feature, or `ANY_FARM`."""
    return f"citizens {place}"


def _make_citizen(state: State, seat: int, kind: str, quarter: str) -> Figure:
    """Make the figure of a meeple that enters a quarter; its `way` is its number there."""
    numbers = [int(citizen.way) for citizen in get_citizens(state) if citizen.segment == quarter]
    return Figure(seat, kind, cell="", segment=quarter, way=str(max(numbers, default=0) + 1))


def find_citizens(state: State, seat: int, quarter: str) -> list[Figure]:
    """Return the meeples of a seat in a quarter."""
    return [citizen for citizen in get_citizens(state) if citizen.seat == seat and citizen.segment == quarter]


def find_arrival_place(state: State, rules: Rules, root: int) -> str:
    """Return the place on which meeples come to a feature: on its latest tile that is not barred; empty without one."""
    cells = list_cells(state, state.features[root]) or list(state.tiles)  # a farm does not record its tiles
    for cell in reversed(cells):
        for segment, segment_root in iter_segments(state, cell):
            if segment_root == root and not is_barred(state, rules, cell):
                return f"{cell}/{segment.token}"
    return ""


def list_seats_with_citizens(state: State, quarter: str) -> tuple[int, ...]:
    """§30.4: Return the seats with meeples in a quarter, from the left of the seat on turn; none where the count is."""
    if quarter == get_count_quarter(state):
        return ()
    return tuple(seat for seat in list_seats_after_turn(state) if find_citizens(state, seat, quarter))


def list_farms(state: State, rules: Rules) -> Iterator[str]:
    """§30.5: Yield the places of the farms that bring points."""
    for root, feature in state.features.items():
        if feature.kind == "field" and count_farm_cities(state, rules, feature):
            place = find_arrival_place(state, rules, root)
            if place:
                yield place


class Count(StartBlock):
    """The city of Carcassonne, its four quarters, and the count."""

    option = "count"
    start, cells, clash = START, CELLS, CLASH
    title = "The Count of Carcassonne"
    about = "Carcassonne in the middle of the land, its quarters and its count (§30)"
    state_fields = {"citizens": (tuple[Figure, ...], ()), "count_at": (str, "")}
    view_fields = {"citizens": (tuple[Figure, ...], get_citizens), "count_at": (str, get_count_quarter)}
    verbs = ("enter", "deploy")
    tasks = ("city", "citizens")
    tasks_within_round = ("citizens",)
    events = {
        CityOpened: apply_city_opened,
        CityEntered: apply_city_entered,
        CityDeclined: apply_city_declined,
        CitizensAsked: apply_citizens_asked,
        CitizenMoved: apply_citizen_moved,
        CitizensRemained: apply_citizens_remained,
    }

    def prepare(self, state: State, rules: Rules) -> State:
        return replace(state, count_at=CASTLE_QUARTER)

    def remember_score(self, state: State, rules: Rules, event: FeatureScored) -> State:
        """§30.2: Note whether the features of this tile brought points to the seat on turn or to others."""
        if event.final:
            return state
        seats = {award.seat for award in event.awards if award.why == event.kind}  # the other awards are bonuses
        if state.turn in seats:
            state = add_note(state, OWN_NOTE)
        if seats - {state.turn}:
            state = add_note(state, OTHERS_NOTE)
        return state

    def after_tile(self, state: State, rules: Rules, part: Part, chance: Chance) -> CityOpened | None:
        """§30.2: Open the city to a seat that helped others only, once in a double turn."""
        helped_others_only = OTHERS_NOTE in part.notes and OWN_NOTE not in part.notes
        was_opened = ENTRY_NOTE in part.notes or has_note_in_first_part(state, ENTRY_NOTE)
        if not helped_others_only or was_opened:
            return None
        can_enter = any(self._list_ways_in(state, rules))
        return CityOpened(state.turn) if can_enter else None

    def _list_ways_in(self, state: State, rules: Rules) -> Iterator[tuple[str, str]]:
        """§30.2: Yield each kind of meeple in the supply with each quarter that it can enter: an abbot only one."""
        for kind, number in state.supply[state.turn].items():
            if number and kind not in rules.non_meeples:
                quarters = (CATHEDRAL_QUARTER,) if kind == "abbot" else tuple(QUARTERS)
                yield from ((kind, quarter) for quarter in quarters)

    def before_feature(self, state: State, rules: Rules, root: int, chance: Chance) -> CitizensAsked | None:
        """§30.4: Before any completed feature is scored, ask about each whether meeples come to it from their quarter.

        Before edition 4 this is asked about a feature just before it is scored itself. The hook is called until no
        question is left.
        """
        ask_all = editions.asks_citizens_before_churches(state.edition)
        # A farm with a barn is scored without being one of the completed features.
        roots = (*get_current_part(state).done, root) if ask_all else (root,)
        for one in roots:
            question = self._find_question(state, rules, one)
            if question is not None:
                return question
        return None

    def _find_question(self, state: State, rules: Rules, root: int) -> CitizensAsked | None:
        """Return the question about a feature.

        Return None if it is not complete, no seat has a meeple for it, no tile takes one, or it was asked about before.
        """
        feature = state.features[root]
        quarter = QUARTER_OF.get(feature.kind)
        if quarter is None or feature.open:
            return None
        seats = list_seats_with_citizens(state, quarter)
        if not seats:
            return None
        place = find_arrival_place(state, rules, root)
        if not place or _make_question_note(place) in get_current_part(state).notes:
            return None
        return CitizensAsked(quarter, seats, place)

    def begin_overtime(self, state: State, rules: Rules) -> Struct | None:
        """§30.5: Before the final scoring, and after last turns of other boxes, ask whether meeples go onto farms.

        The rules take the first event that any box returns here, so this box returns none while another one has one.
        """
        market = QUARTER_OF["field"]
        seats = list_seats_with_citizens(state, market)
        was_asked = _make_question_note(ANY_FARM) in get_current_part(state).notes
        if was_asked or not seats or not any(list_farms(state, rules)):
            return None
        other_boxes = (box for box in rules.hooks["begin_overtime"] if box is not self)
        if any(box.begin_overtime(state, rules) for box in other_boxes):
            return None
        return CitizensAsked(market, seats, ANY_FARM)

    def count_more_cities(self, state: State, rules: Rules, farm: Feature) -> int:
        """§30.6: Carcassonne is a completed city for each farm at its wall."""
        # A table that is set up without the block has other tiles there, or none.
        cells = [cell for name, cell in CELLS.items() if cell in state.tiles and state.tiles[cell].tile == name]
        return int(is_at_wall(state, farm, cells))

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        """§30.2 to §30.5: Offer ways into the city, or out of it onto the feature of the task, or else onto farms."""
        if task.step == "city":
            ways_of_count = [TO_COUNT + quarter for quarter in QUARTERS]
            ways_in = self._list_ways_in(state, rules)
            entries = [(kind, quarter, to) for kind, quarter in ways_in for to in ways_of_count]
            return (Choice("enter", (*entries, (OUTSIDE,)), "30.2"),)
        quarter = self._find_quarter(state, task)
        kinds = dict.fromkeys(citizen.kind for citizen in find_citizens(state, seat, quarter))  # each kind once
        if task.place:
            deployments = [(kind,) for kind in kinds]
            return (Choice("deploy", (*deployments, (REMAIN,)), "30.4"),)
        farms = list(list_farms(state, rules))
        deployments_to_farms = [(kind, farm) for kind in kinds for farm in farms]
        return (Choice("deploy", (*deployments_to_farms, (REMAIN,)), "30.5"),)

    def _find_quarter(self, state: State, task: Task) -> str:
        """Return the quarter whose meeples a task is about."""
        if task.place == ANY_FARM:
            return QUARTER_OF["field"]
        cell, token = task.place.split("/")
        root = find_token_root(state, cell, token)
        return QUARTER_OF[state.features[root].kind]

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§30.2 to §30.5: Send a meeple into the city or none, or move one out of it onto a feature or none."""
        if move.args == (OUTSIDE,):
            return [CityDeclined(seat)]
        if move.args == (REMAIN,):
            return [CitizensRemained(seat)]
        if move.verb == "enter":
            kind, quarter, to = move.args
            return [CityEntered(_make_citizen(state, seat, kind, quarter), to.removeprefix(TO_COUNT))]
        kind = move.args[0]
        task = get_current_task(state)
        goal = task.place or move.args[1]  # the task about farms has no place: the move names one
        citizens = find_citizens(state, seat, self._find_quarter(state, task))
        citizen = next(one for one in citizens if one.kind == kind)
        return [CitizenMoved(citizen, read_figure(state, seat, kind, goal))]

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        return CITIZEN_POINTS * sum(citizen.seat == seat for citizen in get_citizens(state))


BOX = Count()
