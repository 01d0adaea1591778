"""§33, the plague: outbreaks from which fleas spread over the land, and figures that flee from them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.boxes.abbey_mayor import BARN
from engine.games.carcassonne.boxes.hills_sheep import get_flocks, send_home_with_flocks
from engine.games.carcassonne.boxes.princess_dragon import find_prey, is_open_land
from engine.games.carcassonne.hooks import BoxHooks, Rules
from engine.games.carcassonne.land import (
    add_figure,
    find_figure_root,
    get_signs,
    iter_segments,
    lift_figures,
    read_figure,
    send_home,
)
from engine.games.carcassonne.offers import is_barred
from engine.games.carcassonne.scoring import find_all_companions
from engine.games.carcassonne.state import (
    Figure,
    Part,
    State,
    Task,
    TilePlaced,
    add_note,
    find_figure,
    get_current_part,
    get_field,
    has_note_in_first_part,
    list_figures,
    make_getter,
    pop_work,
    push_work,
    replace_if_played,
)
from engine.games.carcassonne.tiles import DATA, PIECES, ROWS, Piece, get_plain_name, list_neighbours
from engine.menu import Choice, Menu, Move

SOURCE = "source"
"""The sign of a tile on which the plague breaks out."""

FLEAS: int = DATA["plague"]["fleas"]
BASE_TILES_FIRST: int = DATA["plague"]["base_tiles_first"]
BASE_TILES = frozenset(name for name in ROWS if get_plain_name(name) in DATA["tiles"]["base"])
FLEEING_FROM = frozenset({"road", "city", "field"})
SPREAD_NOTE, FLIGHT_NOTE, END_NOTE = "spread", "flight", "outbreak ended"
STRUCK_POINTS = 1.2
"""For bots: what a figure may lose on a tile that the next flea can reach."""

Fleas = dict[str, bool]
"""The fleas by their cells, in the order in which they were placed, and whether each is active."""


class OutbreakCame(Struct, frozen=True, omit_defaults=True, tag=True):
    """The plague broke out on this cell; the number says in which order outbreaks end."""

    cell: str
    number: int


class OutbreakEnded(Struct, frozen=True, omit_defaults=True, tag=True):
    """The outbreak on this cell is over; these fleas have no connection with another one and fall asleep."""

    cell: str
    fleas: tuple[str, ...]


class SpreadAsked(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat has to spread the plague."""

    seat: int


class PlagueSpread(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat put a flea on a tile, from the cell `taken` or the supply; figures there and their companions go home."""

    seat: int
    cell: str
    taken: str = ""
    figures: tuple[Figure, ...] = ()


class Fled(Struct, frozen=True, omit_defaults=True, tag=True):
    """A figure fled to another tile of its road, city or field."""

    figure: Figure
    goal: Figure


get_outbreaks = make_getter("outbreaks", dict[str, int])
"""The number of every active outbreak by its cell."""

get_ended_outbreaks = make_getter("ended_outbreaks", tuple[str, ...])
"""The cells of the outbreaks that are over."""

get_fleas = make_getter("fleas", Fleas)
"""The fleas on the land."""


def apply_outbreak_came(state: State, event: OutbreakCame) -> State:
    return replace(state, outbreaks={**get_outbreaks(state), event.cell: event.number})


def apply_outbreak_ended(state: State, event: OutbreakEnded) -> State:
    """Move the outbreak to those that are over, and let the fleas of the event fall asleep."""
    outbreaks = {cell: number for cell, number in get_outbreaks(state).items() if cell != event.cell}
    fleas = {cell: active and cell not in event.fleas for cell, active in get_fleas(state).items()}
    ended = (*get_ended_outbreaks(state), event.cell)
    return replace(add_note(state, END_NOTE), outbreaks=outbreaks, ended_outbreaks=ended, fleas=fleas)


def apply_spread_asked(state: State, event: SpreadAsked) -> State:
    return push_work(add_note(state, SPREAD_NOTE), Task(SPREAD_NOTE))


def apply_plague_spread(state: State, event: PlagueSpread) -> State:
    """Send the figures home, and put an active flea on the cell, which leaves its old cell if it had one."""
    state = send_home_with_flocks(pop_work(state), event.figures)
    fleas = {cell: active for cell, active in get_fleas(state).items() if cell != event.taken}
    return replace(state, fleas={**fleas, event.cell: True})


def apply_fled(state: State, event: Fled) -> State:
    """Move the figure by way of its supply; a shepherd takes his flock along, the fairy stays."""
    state = add_figure(send_home(add_note(state, FLIGHT_NOTE), (event.figure,)), event.goal)
    flocks = dict[str, tuple[int, ...]]()
    for place, sheep in get_flocks(state).items():
        new_place = event.goal.place if place == event.figure.place else place
        flocks[new_place] = sheep
    return replace_if_played(state, flocks=flocks)


def find_region(outbreaks: Iterable[str], active: Iterable[str]) -> set[str]:
    """§33.3: Return the cells of the outbreaks and of the active fleas that are connected with them side by side."""
    region, waiting, unreached = set(outbreaks), list(outbreaks), set(active)
    while waiting:
        beside = unreached.intersection(list_neighbours(waiting.pop()))
        unreached -= beside
        region |= beside
        waiting += beside
    return region


def find_flea_to_take(state: State) -> str:
    """§33.4: Return the cell from which the next flea is taken: empty while the supply has one, otherwise the oldest.

    Sleeping fleas come before active ones; an active flea is taken only if the others stay connected without it.
    """
    fleas = get_fleas(state)
    if len(fleas) < FLEAS:
        return ""
    sleeping = [cell for cell, active in fleas.items() if not active]
    if sleeping:
        return sleeping[0]
    return _find_flea_at_edge(tuple(get_outbreaks(state)), tuple(fleas))


@functools.lru_cache(maxsize=256)
def _find_flea_at_edge(outbreaks: tuple[str, ...], fleas: tuple[str, ...]) -> str:
    """Return the first of these active fleas without which the others are still connected with the outbreaks."""

    def is_at_edge(cell: str) -> bool:
        others = {*fleas} - {cell}
        return len(find_region(outbreaks, others)) == len(outbreaks) + len(others)

    return next(cell for cell in fleas if is_at_edge(cell))


def list_targets(state: State) -> list[str]:
    """§33.3: Return the cells of the tiles on which the next flea can be put."""
    if not get_outbreaks(state):
        return []
    fleas, leaving = get_fleas(state), find_flea_to_take(state)
    # The next flea is put beside an outbreak or an active flea, but not beside the flea that is taken for it.
    active = [cell for cell, is_active in fleas.items() if is_active and cell != leaving]
    barred = {*get_outbreaks(state), *get_ended_outbreaks(state), *fleas}
    beside = dict.fromkeys(other for cell in (*get_outbreaks(state), *active) for other in list_neighbours(cell))
    return [cell for cell in beside if cell not in barred and is_open_land(state, cell)]


def list_closed_cells(state: State) -> set[str]:
    """§33.6: Return the cells to which and over which no figure flees."""
    return {*get_outbreaks(state), *get_fleas(state)}


def list_goals(state: State, rules: Rules, figure: Figure) -> Iterator[str]:
    """§33.6: Yield the places to which a figure can flee on its own road, city or field."""
    root, closed = find_figure_root(state, figure), list_closed_cells(state)
    seen = {(figure.cell, figure.segment)}
    waiting = [(figure.cell, figure.segment)]
    while waiting:
        cell, token = waiting.pop(0)
        for other in list_neighbours(cell):
            if other not in state.tiles or other in closed:
                continue
            for segment, segment_root in iter_segments(state, other):
                spot = (other, segment.token)
                if segment_root == root and spot not in seen and _is_joined_to(state, (cell, token), spot):
                    seen.add(spot)
                    waiting.append(spot)
                    if not is_barred(state, rules, other):
                        yield f"{other}/{segment.token}"


def _is_joined_to(state: State, spot: tuple[str, str], other_spot: tuple[str, str]) -> bool:
    """Whether two segments (cell, token) of one feature meet at the side that their tiles share."""
    (cell, token), (other_cell, other_token) = spot, other_spot
    piece, other_piece = _get_piece(state, cell), _get_piece(state, other_cell)
    side = list_neighbours(cell).index(other_cell)
    opposite = side - 2
    along, along_other = piece.side_indexes[side], other_piece.outside_indexes[opposite]
    # Where two segments share a side, each meets all beyond it; elsewhere both tiles have them in the same order.
    meet_all = piece.has_shared_side or other_piece.has_shared_side
    pairs = product(along, along_other) if meet_all else zip(along, along_other, strict=False)
    return (piece.indexes[token], other_piece.indexes[other_token]) in pairs


def _get_piece(state: State, cell: str) -> Piece:
    placed = state.tiles[cell]
    return PIECES[placed.tile][placed.turn]


class Plague(BoxHooks):
    """Outbreaks, fleas, and the flight from them."""

    option = "plague"
    title = "The Plague"
    about = "Outbreaks from which fleas spread, 6 tiles (§33)"
    state_fields = {
        "outbreaks": (dict[str, int], {}),
        "ended_outbreaks": (tuple[str, ...], ()),
        "fleas": (Fleas, {}),
        "base_tiles_later": (int, 0),
    }
    view_fields = {
        "outbreaks": (dict[str, int], get_outbreaks),
        "ended_outbreaks": (tuple[str, ...], get_ended_outbreaks),
        "fleas": (Fleas, get_fleas),
    }
    verbs = ("spread", "flee")
    tasks = (SPREAD_NOTE,)
    tasks_within_round = (SPREAD_NOTE,)
    shared_tasks = frozenset({SPREAD_NOTE})
    events = {
        OutbreakCame: apply_outbreak_came,
        OutbreakEnded: apply_outbreak_ended,
        SpreadAsked: apply_spread_asked,
        PlagueSpread: apply_plague_spread,
        Fled: apply_fled,
    }

    def prepare(self, state: State, rules: Rules) -> State:
        return replace(state, base_tiles_later=_count_base_tiles(state) - BASE_TILES_FIRST)

    def filter_bag(self, state: State, rules: Rules, bag: Sequence[str]) -> Sequence[str]:
        """§33.1: The first tiles are of the base game, until no more than `base_tiles_later` of these are left."""
        if _count_base_tiles(state) <= get_field(state, "base_tiles_later"):
            return bag
        base_tiles = [tile for tile in bag if tile in BASE_TILES]
        return base_tiles or bag  # a bag with none of them, such as that of the river, stays as it is

    def react_to_drawing(self, state: State, rules: Rules, part: Part, chance: Chance) -> OutbreakEnded | None:
        """§33.5: Without a flea that is free or asleep the oldest of several outbreaks ends, once in each part."""
        outbreaks, fleas = get_outbreaks(state), get_fleas(state)
        is_flea_left = len(fleas) < FLEAS or not all(fleas.values())
        if is_flea_left or len(outbreaks) < 2 or END_NOTE in part.notes:
            return None
        cell = min(outbreaks, key=lambda one: outbreaks[one])
        region = find_region([one for one in outbreaks if one != cell], fleas)
        asleep = tuple(flea for flea in fleas if flea not in region)
        return OutbreakEnded(cell, asleep)

    def react_to_tile(self, state: State, rules: Rules, event: TilePlaced, chance: Chance) -> OutbreakCame | None:
        """§33.2: The plague breaks out on a source."""
        if SOURCE not in PIECES[event.tile][0].signs:
            return None
        earlier = len(get_outbreaks(state)) + len(get_ended_outbreaks(state))
        return OutbreakCame(event.cell, number=earlier + 1)

    def bars_figures(self, state: State, cell: str) -> bool:
        """§33.2: No figure is put on a tile with an outbreak or a flea."""
        return cell in get_outbreaks(state) or cell in get_fleas(state)

    def offer_besides(self, state: State, rules: Rules, part: Part) -> Choice | None:
        """§33.6: Offer the flight from tiles that the next flea can reach, once a turn."""
        if not get_outbreaks(state) or _has_note_in_turn(state, FLIGHT_NOTE):
            return None
        targets = set(list_targets(state))
        threatened = [figure for figure in list_figures(state) if figure.seat == state.turn and figure.cell in targets]
        fleeing = [figure for figure in threatened if self._can_flee(state, figure)]
        options = tuple((figure.place, goal) for figure in fleeing for goal in list_goals(state, rules, figure))
        return Choice("flee", options, "33.6") if options else None

    def _can_flee(self, state: State, figure: Figure) -> bool:
        """§33.6: Whether a figure is on a road, in a city or on a field, and is no barn."""
        return figure.kind != BARN and state.features[find_figure_root(state, figure)].kind in FLEEING_FROM

    def after_figure(self, state: State, rules: Rules, part: Part, chance: Chance) -> SpreadAsked | None:
        """§33.3: The seat on turn spreads the plague, once a turn, but not when it placed a source."""
        if not get_outbreaks(state) or SOURCE in get_signs(state, part.cell) or _has_note_in_turn(state, SPREAD_NOTE):
            return None
        return SpreadAsked(state.turn) if list_targets(state) else None

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        return (Choice("spread", tuple((cell,) for cell in list_targets(state)), "33.3"),)

    def resolve_task(self, state: State, rules: Rules, task: Task, chance: Chance) -> PlagueSpread | None:
        """Spread the plague without a question if only one tile is possible."""
        targets = list_targets(state)
        return _spread(state, rules, state.turn, targets[0]) if len(targets) == 1 else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§33.3, §33.6: Put the next flea on a cell, or let a figure flee to another place of its feature."""
        if move.verb == "spread":
            return [_spread(state, rules, seat, move.args[0])]
        place, token = move.args
        figure = find_figure(state, place)
        without_figure = lift_figures(state, (figure,))  # the number of a figure depends on the others on its segment
        goal = read_figure(without_figure, seat, figure.kind, token)
        return [Fled(figure, replace(goal, protected=figure.protected))]

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return what the figures of a seat may lose to the next fleas."""
        if not get_outbreaks(state):
            return 0.0
        targets = set(list_targets(state))
        return -STRUCK_POINTS * sum(one.seat == seat and one.cell in targets for one in list_figures(state))


def _count_base_tiles(state: State) -> int:
    """Count the tiles of the base game in the bags."""
    return sum(tile in BASE_TILES for bag in state.bags for tile in bag)


def _has_note_in_turn(state: State, note: str) -> bool:
    """Whether something was done in this turn: a double turn is one turn."""
    return note in get_current_part(state).notes or has_note_in_first_part(state, note)


def _spread(state: State, rules: Rules, seat: int, cell: str) -> PlagueSpread:
    """Return the event that puts the next flea on a cell; a flea sends the same figures home that the dragon eats."""
    prey = find_prey(state, cell)
    return PlagueSpread(seat, cell, find_flea_to_take(state), (*prey, *find_all_companions(state, rules, prey)))


BOX = Plague()
