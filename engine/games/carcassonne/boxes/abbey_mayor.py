"""§18, Abbey & Mayor: an abbey for a hole, a mayor who counts shields, a wagon that drives on, and a barn."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne import editions, scoring
from engine.games.carcassonne.hooks import BoxHooks, Moment, Rules, place_tile
from engine.games.carcassonne.land import add_figure, find_figure_root, find_token_root, get_signs, iter_segments
from engine.games.carcassonne.offers import filter_places, is_barred
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Figure,
    Part,
    State,
    Task,
    TilePlaced,
    finish_figure_step,
    get_current_part,
    list_seats_after_turn,
    list_seats_from_turn,
    make_getter,
    pop_work,
    push_work,
    take_one,
)
from engine.games.carcassonne.tiles import PIECES, SIDES, list_neighbours, list_nine_cells
from engine.menu import Choice, Move

ABBEY, MAYOR, WAGON, BARN = "AB", "mayor", "wagon", "barn"
JOINED_FARM_POINTS, BARN_POINTS = 1, 4
CORNERS = {"NE": {1, 2}, "SE": {3, 4}, "SW": {5, 6}, "NW": {7, 0}}
"""The two half sides of a tile that meet in each of its corners."""

OPPOSITE = {"N": "S", "S": "N", "E": "W", "W": "E"}
ABBEY_IN_HAND = 4.0
"""The points that a bot expects of an abbey: it completes what is around a hole, or is a cloister of nine points."""


class AbbeyUsed(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat places its abbey instead of drawing a tile."""

    seat: int


class OvertimeBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    """No tile is left, but this seat may still place its abbey."""

    seat: int


class WagonScored(Struct, frozen=True, omit_defaults=True, tag=True):
    """The feature of these wagons is being scored; they may drive on after the scoring."""

    figures: tuple[Figure, ...]


class WagonAsked(Struct, frozen=True, omit_defaults=True, tag=True):
    """The owner of a wagon is asked where it goes."""

    figure: Figure


class WagonDriven(Struct, frozen=True, omit_defaults=True, tag=True):
    """A wagon drove to its next feature."""

    figure: Figure


class WagonRested(Struct, frozen=True, omit_defaults=True, tag=True):
    """A wagon went home."""

    seat: int


class BarnBuilt(Struct, frozen=True, omit_defaults=True, tag=True):
    figure: Figure


get_abbeys_left = make_getter("abbeys", tuple[int, ...])
"""How many abbeys each seat has."""

get_seats_with_overtime = make_getter("late", tuple[int, ...])
"""The seats that had their turn after the last tile."""

get_waiting_wagons = make_getter("wagons", tuple[Figure, ...])
"""The wagons whose features were scored in this round, and which may still drive on."""


def apply_abbey_used(state: State, event: AbbeyUsed) -> State:
    return replace(state, abbeys=take_one(get_abbeys_left(state), event.seat))


def apply_overtime_began(state: State, event: OvertimeBegan) -> State:
    """Begin one more turn of the seat, and note that it had it."""
    return replace(state, turn=event.seat, work=(Part(),), late=(*get_seats_with_overtime(state), event.seat))


def apply_wagon_scored(state: State, event: WagonScored) -> State:
    return replace(state, wagons=(*get_waiting_wagons(state), *event.figures))


def apply_wagon_asked(state: State, event: WagonAsked) -> State:
    """Ask the owner of a wagon, which then waits no more, where it goes."""
    wagons = tuple(figure for figure in get_waiting_wagons(state) if figure != event.figure)
    task = Task("drive", seats=(event.figure.seat,), place=event.figure.cell)
    return replace(push_work(state, task), wagons=wagons)


def apply_wagon_driven(state: State, event: WagonDriven) -> State:
    return add_figure(pop_work(state), event.figure)


def apply_wagon_rested(state: State, event: WagonRested) -> State:
    return pop_work(state)


def apply_barn_built(state: State, event: BarnBuilt) -> State:
    return add_figure(finish_figure_step(state), event.figure)


def find_holes(state: State) -> list[str]:
    """§18.2: Return the empty cells with a tile on all four sides."""
    return [cell for cell in state.frontier if all(beyond in state.tiles for beyond in list_neighbours(cell))]


def find_field_in_corner(state: State, cell: str, corner: str) -> str:
    """Return the token of the field in a corner of a tile; empty if there is no tile or no field."""
    placed = state.tiles.get(cell)
    if placed is None:
        return ""
    for segment in PIECES[placed.tile][placed.turn].segments:
        if segment.kind == "field" and CORNERS[corner].issubset(segment.ends):
            return segment.token
    return ""


def list_cells_at_corner(cell: str, corner: str) -> dict[str, str]:
    """Return the four cells that meet in a corner of a cell, this one first, each with what it calls the corner."""
    vertical, horizontal = corner[0], corner[1]
    beside = list_neighbours(cell)[SIDES.index(horizontal)]
    beyond = list_neighbours(cell)[SIDES.index(vertical)]
    across = list_neighbours(beside)[SIDES.index(vertical)]
    return {
        cell: corner,
        beside: vertical + OPPOSITE[horizontal],
        beyond: OPPOSITE[vertical] + horizontal,
        across: OPPOSITE[vertical] + OPPOSITE[horizontal],
    }


def find_barn_sites(state: State, cell: str) -> dict[str, str]:
    """§18.7: Return the corners of a tile where four fields meet on a farm without a barn, each with its field."""
    sites: dict[str, str] = {}
    for corner in CORNERS:
        cells = list_cells_at_corner(cell, corner)
        fields = [find_field_in_corner(state, one, its_corner) for one, its_corner in cells.items()]
        own_field = fields[0]
        if all(fields) and not _select_barns(state.features[find_token_root(state, cell, own_field)]):
            sites[corner] = own_field
    return sites


def _select_barns(feature: Feature) -> tuple[Figure, ...]:
    return tuple(figure for figure in feature.figures if figure.kind == BARN)


def list_wagon_goals(state: State, rules: Rules, cell: str) -> list[str]:
    """§18.6: Return the free and unfinished roads, cities and cloisters to which a wagon can drive from its tile.

    §21.1: It cannot drive to the school; in earlier editions it could.
    """
    goals = list[str]()
    for one in list_nine_cells(cell):
        if one not in state.tiles or is_barred(state, rules, one):
            continue
        if "school" in get_signs(state, one) and not editions.lets_wagons_into_school(state.edition):
            continue
        for segment, root in iter_segments(state, one):
            if segment.kind in ("road", "city", "cloister") and _is_unfinished_and_empty(state.features[root]):
                goals.append(f"{one}/{segment.token}")
    return goals


def _is_unfinished_and_empty(feature: Feature) -> bool:
    return feature.open > 0 and not feature.figures


class AbbeyMayor(BoxHooks):
    """The abbey, the mayor, the wagon and the barn."""

    option = "abbey_mayor"
    title = "Abbey & Mayor"
    about = "Abbeys, mayors, wagons and barns, 12 tiles (§18)"
    supply = {MAYOR: 1, WAGON: 1, BARN: 1}
    strength = {MAYOR: 0, WAGON: 1, BARN: 0}
    segments = {MAYOR: frozenset({"city"}), WAGON: frozenset({"road", "city", "cloister"})}
    non_meeples = frozenset({BARN})
    state_fields = {
        "abbeys": (tuple[int, ...], ()),
        "late": (tuple[int, ...], ()),
        "wagons": (tuple[Figure, ...], ()),
    }
    view_fields = {"abbeys": (tuple[int, ...], get_abbeys_left)}
    verbs = ("abbey", "barn", "drive")
    tasks = ("drive",)
    tasks_within_round = ("drive",)
    events = {
        AbbeyUsed: apply_abbey_used,
        OvertimeBegan: apply_overtime_began,
        WagonScored: apply_wagon_scored,
        WagonAsked: apply_wagon_asked,
        WagonDriven: apply_wagon_driven,
        WagonRested: apply_wagon_rested,
        BarnBuilt: apply_barn_built,
    }

    def prepare(self, state: State, rules: Rules) -> State:
        return replace(state, abbeys=(1,) * len(state.track))

    def offer_instead_of_tile(self, state: State, rules: Rules, part: Part) -> Choice | None:
        """§18.2: Offer to place the own abbey in a hole."""
        if not get_abbeys_left(state)[state.turn]:
            return None
        unturned = "0"  # the abbey looks the same in every turn
        options = filter_places(state, rules, ABBEY, [(cell, unturned) for cell in find_holes(state)])
        return Choice("abbey", tuple((cell,) for cell, _ in options), "18.2") if options else None

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        return ABBEY_IN_HAND * get_abbeys_left(state)[seat]

    def begin_overtime(self, state: State, rules: Rules) -> OvertimeBegan | None:
        """§18.4: After the last tile begin the turn of the next seat that can place its abbey; None if there is none.

        The first one is to the left of the seat on turn.
        """
        for seat in list_seats_after_turn(state):
            had_overtime = seat in get_seats_with_overtime(state)
            if not had_overtime and self.offer_instead_of_tile(replace(state, turn=seat), rules, Part()):
                return OvertimeBegan(seat)
        return None

    def offer_instead_of_figure(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§18.7: Offer to build the own barn."""
        if not state.supply[seat][BARN] or is_barred(state, rules, part.cell):
            return None
        sites = tuple((corner,) for corner in find_barn_sites(state, part.cell))
        return Choice("barn", sites, "18.7") if sites else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§18.2, §18.6, §18.7: Place the abbey on a cell, build the barn in a corner, or drive the wagon on or home."""
        if move.verb == "abbey":
            (cell,) = move.args
            return [AbbeyUsed(seat), *place_tile(state, rules, TilePlaced(ABBEY, cell, turn=0, seat=seat), chance)]
        if move.verb == "barn":
            (corner,) = move.args
            cell = get_current_part(state).cell
            field = find_barn_sites(state, cell)[corner]
            return [BarnBuilt(Figure(seat, BARN, cell, field, way=corner))]
        (goal,) = move.args
        if goal == "home":
            return [WagonRested(seat)]
        cell, _, token = goal.partition("/")
        return [WagonDriven(Figure(seat, WAGON, cell, token))]

    def adjust_strength(self, state: State, rules: Rules, feature: Feature, figure: Figure, strength: int) -> int:
        """§18.5: A mayor counts as many as his city has shields."""
        return feature.marks.count("shield") if figure.kind == MAYOR else strength

    def before_feature(self, state: State, rules: Rules, root: int, chance: Chance) -> WagonScored | None:
        """§18.6: Remember the wagons of a feature before it is scored; None once they are remembered."""
        figures = scoring.select_figures(state, rules, state.features[root], "scored")
        wagons = tuple(figure for figure in figures if figure.kind == WAGON and figure not in get_waiting_wagons(state))
        return WagonScored(wagons) if wagons else None

    def after_scoring(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """§18.6, §18.8: Score the next farm with a barn; without one ask the owner of the next wagon where it drives.

        The hook is called until no farm and no wagon is left.
        """
        for root, feature in state.features.items():
            if self._is_due_farm(state, rules, feature):
                event = self._find_event_before_farm(state, rules, root, chance)
                return event or scoring.score_feature(state, rules, root, "scored")
        wagons = get_waiting_wagons(state)
        if not wagons:
            return None
        order = list_seats_from_turn(state)
        return WagonAsked(min(wagons, key=lambda wagon: order.index(wagon.seat)))

    def _is_due_farm(self, state: State, rules: Rules, feature: Feature) -> bool:
        """§18.8: Whether a feature is a farm with a barn and with farmers, who are scored before the end."""
        if feature.kind != "field" or not _select_barns(feature):
            return False
        return bool(scoring.select_figures(state, rules, feature, "scored"))

    def _find_event_before_farm(self, state: State, rules: Rules, root: int, chance: Chance) -> Struct | None:
        """Return the next event of other boxes before a farm with a barn is scored; None if none is left.

        The event of this box would be about wagons, which do not drive on from a farm.
        """
        for box in rules.hooks["before_feature"]:
            if box is self:
                continue
            event = box.before_feature(state, rules, root, chance)
            if event is not None:
                return event
        return None

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> tuple[Choice, ...]:
        """§18.6: Offer every goal of the wagon on the cell of the task, and the way home."""
        goals = ((goal,) for goal in list_wagon_goals(state, rules, task.place))
        return (Choice("drive", (*goals, ("home",)), "18.6"),)

    def resolve_task(self, state: State, rules: Rules, task: Task, chance: Chance) -> WagonRested | None:
        """Send a wagon home that can drive nowhere."""
        if list_wagon_goals(state, rules, task.place):
            return None
        (owner,) = task.seats
        return WagonRested(owner)

    def select_figures(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Figure, ...] | None:
        """§18.8: Return the farmers and pigs of a farm that is scored before the end: none without a farmer.

        Only farms with a barn are, and the barn stays. At the end, and for other features, return None for all figures.
        """
        if feature.kind != "field" or moment != "scored":
            return None
        farmers = [figure for figure in feature.figures if figure.kind not in rules.non_meeples]
        pigs = [figure for figure in feature.figures if figure.kind == "pig"]
        return (*farmers, *pigs) if farmers else ()

    def adjust_points(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        """§18.9: A farm that was joined to the farm of a barn brings one point for each city.

        Before the end a farm is scored only if a barn was just built on it, or if it was joined to one.
        """
        if feature.kind != "field" or moment != "scored" or self._has_new_barn(state, feature):
            return points
        return scoring.count_farm_points(state, rules, feature, JOINED_FARM_POINTS)

    def _has_new_barn(self, state: State, farm: Feature) -> bool:
        """Whether a barn was built with this tile on a farm, of which `farm` has only the figures that are scored."""
        farm_with_barns = state.features[find_figure_root(state, farm.figures[0])]
        return any(barn.cell == get_current_part(state).cell for barn in _select_barns(farm_with_barns))

    def award_without_lead(
        self, state: State, rules: Rules, feature: Feature, moment: Moment
    ) -> tuple[Award, ...] | None:
        """§18.10: At the end pay every barn for its farm; None before the end, and for a feature without a barn."""
        barns = _select_barns(feature)
        if moment != "final" or not barns:
            return None
        points = scoring.count_farm_points(state, rules, feature, BARN_POINTS)
        return tuple(Award(figure.seat, points, BARN) for figure in barns)


BOX = AbbeyMayor()
