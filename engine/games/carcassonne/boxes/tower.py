"""§22, the tower: floors that reach farther and farther, prisoners, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne import editions, scoring
from engine.games.carcassonne.hooks import MEEPLE_SEGMENTS, BoxHooks, Moment, Rules
from engine.games.carcassonne.land import find_figure_root, lift_figures, send_home
from engine.games.carcassonne.state import (
    CASTLE,
    Award,
    Feature,
    Figure,
    Part,
    State,
    Task,
    add_note,
    apply_awards,
    find_figure,
    finish_figure_step,
    get_current_task,
    make_getter,
    pop_task,
    pop_work,
    push_work,
    take_one,
)
from engine.games.carcassonne.tiles import DATA, ROWS, Args, parse_cell
from engine.menu import Choice, Menu, Move

TOWER = "tower"
RANSOM_POINTS = 3
FLOORS: dict[str, int] = DATA["tower_floors"]
"""How many floors each seat gets, by the number of seats."""

TWO_CITIES, FIRST_TURNS = "TO15", ("0", "90")
"""The tile with a tower in one of its two cities, and the turns that were possible before edition 5."""

TILES = frozenset(tile for tile, row in ROWS.items() if TOWER in row.get("places", ()))
"""The tiles with the base of a tower."""

FLOOR_IN_HAND, FOREIGN_PRISONER, OWN_PRISONER = 0.3, 1.5, 1.0
"""The points that a bot expects of a floor, of a prisoner that may be ransomed, and of an own meeple in prison."""

Towers = dict[str, int]


class Prisoner(Struct, frozen=True, gc=False):
    """A meeple of `seat` that the seat `captor` holds."""

    captor: int
    seat: int
    kind: str

    @property
    def token(self) -> str:
        """The prisoner as moves write it: `meeple-2` is a meeple that the second seat holds."""
        return f"{self.kind}-{self.captor + 1}"


class FloorBuilt(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat put one of its floors on a tower."""

    seat: int
    cell: str


class TowerClosed(Struct, frozen=True, omit_defaults=True, tag=True):
    """A meeple was put on the tower on this cell, which gets no more floors."""

    cell: str


class CaptureOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """Meeples are within reach of the tower on this cell."""

    seat: int
    cell: str


class Captured(Struct, frozen=True, omit_defaults=True, tag=True):
    """A meeple was taken: it goes home if it is the seat's own, otherwise to prison; its companions go home."""

    seat: int
    figure: Figure
    companions: tuple[Figure, ...] = ()


class CaptureDeclined(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat took no meeple."""

    seat: int


class ExchangeOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat chooses which of its meeples comes back for its new prisoner from `other`."""

    seat: int
    other: int
    kind: str


class PrisonersExchanged(Struct, frozen=True, omit_defaults=True, tag=True):
    """Two seats that held a meeple of each other gave them back."""

    prisoners: tuple[Prisoner, Prisoner]


class RansomPaid(Struct, frozen=True, omit_defaults=True, tag=True):
    """The owner of a prisoner paid for it."""

    prisoner: Prisoner
    awards: tuple[Award, ...]


get_towers = make_getter("towers", Towers)
"""The number of floors of every tower that has any, by its cell."""


get_closed_towers = make_getter("closed_towers", tuple[str, ...])
"""The cells of the towers on which a meeple was put."""


get_floors_left = make_getter("floors", tuple[int, ...])
"""How many floors each seat has."""


get_prisoners = make_getter("prisoners", tuple[Prisoner, ...])
"""All prisoners, in the order in which they were captured."""


def apply_floor_built(state: State, event: FloorBuilt) -> State:
    """Move a floor from the seat to a tower, in place of a figure."""
    towers, floors = get_towers(state), take_one(get_floors_left(state), event.seat)
    towers = {**towers, event.cell: towers.get(event.cell, 0) + 1}
    return replace(finish_figure_step(state), towers=towers, floors=floors)


def apply_tower_closed(state: State, event: TowerClosed) -> State:
    return replace(state, closed_towers=(*get_closed_towers(state), event.cell))


def apply_capture_offered(state: State, event: CaptureOffered) -> State:
    return push_work(state, Task("capture", place=event.cell))


def apply_captured(state: State, event: Captured) -> State:
    """Send the companions of the meeple home, and the meeple too or into prison."""
    figure = event.figure
    state = send_home(pop_work(state), event.companions)
    if figure.seat == event.seat:
        return send_home(state, (figure,))
    prisoner = Prisoner(event.seat, figure.seat, figure.kind)
    return replace(lift_figures(state, (figure,)), prisoners=(*get_prisoners(state), prisoner))


def apply_capture_declined(state: State, event: CaptureDeclined) -> State:
    return pop_work(state)


def apply_exchange_offered(state: State, event: ExchangeOffered) -> State:
    """Ask the seat, which is on turn, what it wants for the prisoner of this kind that it took from the other one.

    The task has the other seat as its number, and the kind as its place.
    """
    return push_work(state, Task("exchange", number=event.other, place=event.kind))


def apply_prisoners_exchanged(state: State, event: PrisonersExchanged) -> State:
    """Return both prisoners to their owners, and end the question to one of these which meeple comes back, if any."""
    state = pop_task(state)
    for prisoner in event.prisoners:
        state = _release(state, prisoner)
    return state


def apply_ransom_paid(state: State, event: RansomPaid) -> State:
    return apply_awards(_release(add_note(state, "ransom"), event.prisoner), event.awards)


def _release(state: State, prisoner: Prisoner) -> State:
    """Return a prisoner to the supply of its owner."""
    prisoners, supply = list(get_prisoners(state)), list(state.supply)
    prisoners.remove(prisoner)
    own = supply[prisoner.seat]
    supply[prisoner.seat] = {**own, prisoner.kind: own[prisoner.kind] + 1}
    return replace(state, prisoners=tuple(prisoners), supply=tuple(supply))


def _list_open_towers(state: State) -> list[str]:
    """§22.2: Return the cells of the bases and towers that can get a floor."""
    closed = get_closed_towers(state)
    return [cell for cell, placed in state.tiles.items() if placed.tile in TILES and cell not in closed]


def is_within_reach(tower: str, floors: int, cell: str) -> bool:
    """§22.3: Whether a cell is in the row or column of a tower, and no farther than it has floors."""
    (x, y), (tower_x, tower_y) = parse_cell(cell), parse_cell(tower)
    if x == tower_x:
        return abs(y - tower_y) <= floors
    return y == tower_y and abs(x - tower_x) <= floors


def list_figures_within_reach(state: State, rules: Rules, cell: str) -> list[Figure]:
    """§22.3: Return the meeples that the tower on a cell can take."""
    floors = get_towers(state)[cell]
    features = (feature for feature in state.features.values() if feature.figures and feature.kind != CASTLE)
    figures = (figure for feature in features for figure in feature.figures if figure.kind not in rules.non_meeples)
    return [figure for figure in figures if is_within_reach(cell, floors, figure.cell)]


def _list_own_prisoners(state: State, seat: int, captor: int) -> list[Prisoner]:
    """Return the prisoners of a seat that a captor holds, one of each kind."""
    own = (one for one in get_prisoners(state) if one.seat == seat and one.captor == captor)
    return list(dict.fromkeys(own))


def _can_go_anywhere(segments: frozenset[str]) -> bool:
    """Whether a figure can be placed on all kinds of segments on which a meeple can."""
    return MEEPLE_SEGMENTS.issubset(segments)


class Tower(BoxHooks):
    """Floors, prisoners and ransoms."""

    option = TOWER
    title = "The Tower"
    about = "Towers that take prisoners, 18 tiles (§22)"
    feature_kinds = (TOWER,)
    state_fields = {
        "towers": (Towers, {}),
        "closed_towers": (tuple[str, ...], ()),
        "floors": (tuple[int, ...], ()),
        "prisoners": (tuple[Prisoner, ...], ()),
    }
    view_fields = {
        "towers": (Towers, get_towers),
        "floors": (tuple[int, ...], get_floors_left),
        "prisoners": (tuple[Prisoner, ...], get_prisoners),
    }
    verbs = ("tower", "capture", "exchange", "ransom")
    tasks = ("capture", "exchange")
    tasks_within_round = ("capture", "exchange")
    events = {
        FloorBuilt: apply_floor_built,
        TowerClosed: apply_tower_closed,
        CaptureOffered: apply_capture_offered,
        Captured: apply_captured,
        CaptureDeclined: apply_capture_declined,
        ExchangeOffered: apply_exchange_offered,
        PrisonersExchanged: apply_prisoners_exchanged,
        RansomPaid: apply_ransom_paid,
    }

    def prepare(self, state: State, rules: Rules) -> State:
        seats = len(state.track)
        return replace(state, floors=(FLOORS[str(seats)],) * seats)

    def filter_cells(self, state: State, rules: Rules, tile: str, options: Sequence[Args]) -> Sequence[Args]:
        """§22.1: Before edition 5 leave out the turns 180 and 270 of the tile with two cities.

        They counted as the same as 0 and 90.
        """
        if tile != TWO_CITIES or editions.lists_every_turn_of_towers(state.edition):
            return options
        return [(cell, turn) for cell, turn in options if turn in FIRST_TURNS]

    def offer_besides(self, state: State, rules: Rules, part: Part) -> Choice | None:
        """§22.6: Offer to ransom an own meeple, once a turn, to a seat that can pay."""
        points = sum(state.track[state.turn])
        if not get_prisoners(state) or points < RANSOM_POINTS:
            return None
        if any("ransom" in one.notes for one in self._list_parts_of_turn(state)):
            return None
        tokens = dict.fromkeys(one.token for one in get_prisoners(state) if one.seat == state.turn)
        return Choice("ransom", tuple((token,) for token in tokens), "22.6") if tokens else None

    def _list_parts_of_turn(self, state: State) -> list[Part]:
        """Return the parts of the latest turn: message 4 begins a turn of its own, the builder does not."""
        parts = list[Part]()
        for work in state.work:
            if isinstance(work, Part):
                if work.kind != "builder":
                    parts.clear()  # a new turn begins
                parts.append(work)
        return parts

    def offer_figures(self, state: State, rules: Rules, seat: int, part: Part) -> list[Args]:
        """§22.4: Offer to put a meeple on a tower with a floor; the abbot, mayor and wagon cannot go there."""
        supply = state.supply[seat]
        kinds = [kind for kind, segments in rules.segments.items() if supply[kind] and _can_go_anywhere(segments)]
        if not kinds:
            return []
        cells = [cell for cell in _list_open_towers(state) if cell in get_towers(state)]
        tokens = [TOWER if cell == part.cell else f"{cell}/{TOWER}" for cell in cells]
        return [(kind, token) for kind in kinds for token in tokens]

    def offer_instead_of_figure(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§22.2: Offer to put a floor on a tower."""
        towers = _list_open_towers(state) if get_floors_left(state)[seat] else []
        return Choice("tower", tuple((cell,) for cell in towers), "22.2") if towers else None

    def after_figure(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """§22.4, §22.5: Close a tower with a meeple; then exchange the latest prisoner for one of its captor's.

        Each is an event of its own; the hook is called until none is due. All earlier prisoners were exchanged at once,
        if they could be.
        """
        cell, _, segment = part.placed.partition("/")
        if segment == TOWER and cell not in get_closed_towers(state):
            return TowerClosed(cell)
        if not get_prisoners(state):
            return None
        latest = get_prisoners(state)[-1]
        of_captor = _list_own_prisoners(state, seat=latest.captor, captor=latest.seat)
        if not of_captor:
            return None
        if len(of_captor) > 1:
            return ExchangeOffered(seat=latest.captor, other=latest.seat, kind=latest.kind)
        (other,) = of_captor
        return PrisonersExchanged((latest, other))

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        """§22.3, §22.5: Offer the seat's meeples that the other seat holds for an exchange, or the meeples in reach."""
        if task.step == "exchange":
            own = _list_own_prisoners(state, seat, captor=task.number)
            return (Choice("exchange", tuple((one.kind,) for one in own), "22.5"),)
        places = ((figure.place,) for figure in list_figures_within_reach(state, rules, task.place))
        return (Choice("capture", (*places, ("nobody",)), "22.3"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§22.2 to §22.6: Build a floor, ransom a prisoner, choose one for an exchange, or take a meeple or none."""
        match move.verb, move.args:
            case "tower", (cell,):
                return self._build_floor(state, rules, seat, cell)
            case "ransom", (token,):
                prisoner = next(one for one in get_prisoners(state) if one.seat == seat and one.token == token)
                pay = Award(seat, -RANSOM_POINTS, "ransom")
                return [RansomPaid(prisoner, (pay, Award(prisoner.captor, RANSOM_POINTS, "ransom")))]
            case "exchange", (kind,):
                task = get_current_task(state)
                other, their_kind = task.number, task.place
                comes_back = Prisoner(captor=other, seat=seat, kind=kind)
                goes_back = Prisoner(captor=seat, seat=other, kind=their_kind)
                return [PrisonersExchanged((comes_back, goes_back))]
        (place,) = move.args
        return [self._capture(state, rules, seat, place)]

    def _build_floor(self, state: State, rules: Rules, seat: int, cell: str) -> list[Struct]:
        """Return the events of a floor, which asks for a prisoner if meeples are within reach of the higher tower."""
        built = FloorBuilt(seat, cell)
        after = apply_floor_built(state, built)
        if not list_figures_within_reach(after, rules, cell):
            return [built]
        return [built, CaptureOffered(seat, cell)]

    def _capture(self, state: State, rules: Rules, seat: int, place: str) -> Struct:
        """Return the event that takes the meeple at this place, or declines to take any."""
        if place == "nobody":
            return CaptureDeclined(seat)
        figure = find_figure(state, place)
        feature = state.features[find_figure_root(state, figure)]
        return Captured(seat, figure, scoring.find_companions(state, rules, feature, figure))

    def award_without_lead(
        self, state: State, rules: Rules, feature: Feature, moment: Moment
    ) -> tuple[Award, ...] | None:
        """§22.7: A meeple on a tower brings nothing: no award. On other features the lead matters: None."""
        return () if feature.kind == TOWER else None

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return what floors and prisoners are worth to a seat."""
        prisoners = sum(one.captor == seat for one in get_prisoners(state))
        own = sum(one.seat == seat for one in get_prisoners(state))
        return FLOOR_IN_HAND * get_floors_left(state)[seat] + FOREIGN_PRISONER * prisoners + OWN_PRISONER * own


BOX = Tower()
