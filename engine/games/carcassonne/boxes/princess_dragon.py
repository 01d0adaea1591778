"""§24, the Princess & the Dragon: a dragon that eats figures, princesses who send knights home, and magic portals."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne import scoring
from engine.games.carcassonne.boxes.abbey_mayor import BARN
from engine.games.carcassonne.boxes.big_top import ACROBATS, list_open_pyramids
from engine.games.carcassonne.boxes.hills_sheep import send_home_with_flocks
from engine.games.carcassonne.boxes.tower import TOWER
from engine.games.carcassonne.hooks import BoxHooks, Rules
from engine.games.carcassonne.land import find_figure_root, get_signs, iter_segments, send_home
from engine.games.carcassonne.offers import is_free
from engine.games.carcassonne.state import (
    CASTLE,
    Figure,
    Part,
    State,
    Task,
    TilePlaced,
    add_note,
    find_figure,
    finish_figure_step,
    get_field,
    list_figures,
    make_getter,
    pop_work,
    push_work,
)
from engine.games.carcassonne.tiles import DATA, PIECES, Args, list_neighbours, list_nine_cells, parse_cell
from engine.menu import Choice, Menu, Move

DRAGON, VOLCANO, PORTAL, PRINCESS = "dragon", "volcano", "portal", "princess"
"""The signs of tiles, and the mark of a city with a princess."""

DRAGON_STEPS: int = DATA["dragon_steps"]
UNEATEN_KIND, UNEATEN_SEGMENT = BARN, TOWER
"""Barns and meeples on towers are safe from the dragon."""

EATEN_POINTS, STEP_CHANCE, FARTHEST = 3.0, 0.45, 3
"""For bots: what a figure loses that is eaten besides its feature, how likely the dragon makes each step towards it
while it walks, and from how far it is feared."""


class DragonCame(Struct, frozen=True, omit_defaults=True, tag=True):
    """A volcano was placed on this cell, and the dragon came there."""

    cell: str


class DragonWoke(Struct, frozen=True, omit_defaults=True, tag=True):
    """A dragon tile was placed: the seats move the dragon in turn, beginning with this one."""

    seat: int


class DragonMoved(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat moved the dragon to a cell, where it ate figures; their companions on other tiles went home, too."""

    seat: int
    cell: str
    figures: tuple[Figure, ...] = ()


class DragonStopped(Struct, frozen=True, omit_defaults=True, tag=True):
    """The dragon found no way on before its last step."""

    cell: str


class KnightSent(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat let a princess send a knight home, and the figures that do not stay without him."""

    seat: int
    figures: tuple[Figure, ...]


def get_dragon_cell(state: State) -> str:
    """Return the cell of the dragon; empty before the first volcano."""
    return str(get_field(state, "dragon"))


get_dragon_path = make_getter("dragon_path", tuple[str, ...])
"""The cells of the dragon in the move that is going on, from where it began; empty if it rests."""


def count_steps_left(state: State) -> int:
    """Return how many steps the move of the dragon still has; 0 if it rests."""
    path = get_dragon_path(state)
    if not path:
        return 0
    steps_made = len(path) - 1  # the path begins with the cell where the dragon rested
    return DRAGON_STEPS - steps_made


def apply_dragon_came(state: State, event: DragonCame) -> State:
    return replace(state, dragon=event.cell)


def apply_dragon_woke(state: State, event: DragonWoke) -> State:
    """Begin a move of the dragon, whose path has only its own cell, and ask the seat for the first step."""
    state = replace(add_note(state, DRAGON), dragon_path=(get_dragon_cell(state),))
    return push_work(state, Task(DRAGON, seats=(event.seat,)))


def apply_dragon_moved(state: State, event: DragonMoved) -> State:
    """Move the dragon and take the figures away; the next seat has the next step, if one is left."""
    path = (*get_dragon_path(state), event.cell)
    state = replace(send_home_with_flocks(pop_work(state), event.figures), dragon=event.cell, dragon_path=path)
    if not count_steps_left(state):
        return replace(state, dragon_path=())
    return push_work(state, Task(DRAGON, seats=((event.seat + 1) % len(state.track),)))


def apply_dragon_stopped(state: State, event: DragonStopped) -> State:
    return replace(pop_work(state), dragon_path=())


def apply_knight_sent(state: State, event: KnightSent) -> State:
    return send_home(finish_figure_step(state), event.figures)


def list_ways(state: State) -> list[str]:
    """§24.4: Return the cells to which the dragon can go: beside it, new in this move, without the fairy."""
    fairy: Figure | None = get_field(state, "fairy")
    barred = set(get_dragon_path(state))
    if fairy is not None:
        barred.add(fairy.cell)
    beside = list_neighbours(get_dragon_cell(state))
    return [cell for cell in beside if cell not in barred and is_open_land(state, cell)]


def is_open_land(state: State, cell: str) -> bool:
    """Whether there is a tile on a cell that is not inside a city with walls or the wheel."""
    placed = state.tiles.get(cell)
    return placed is not None and bool(PIECES[placed.tile][0].segments)  # tiles inside walls and of the wheel have none


def find_prey(state: State, cell: str) -> list[Figure]:
    """§24.5: Return the figures that the dragon eats on a tile."""
    features = (feature for feature in state.features.values() if feature.figures and feature.kind != CASTLE)
    there = [figure for feature in features for figure in feature.figures if figure.cell == cell]
    return [figure for figure in there if figure.kind != UNEATEN_KIND and figure.segment != UNEATEN_SEGMENT]


def move_dragon(state: State, rules: Rules, seat: int, cell: str) -> DragonMoved:
    """§24.5: Return the event of a step: what is eaten, and what does not stay without it."""
    prey = find_prey(state, cell)
    return DragonMoved(seat, cell, (*prey, *scoring.find_all_companions(state, rules, prey)))


class PrincessDragon(BoxHooks):
    """The dragon, volcanoes, princesses and magic portals."""

    option = "princess_dragon"
    title = "The Princess & the Dragon"
    about = "A dragon that all move, princesses and magic portals, 30 tiles (§24)"
    state_fields = {"dragon": (str, ""), "dragon_path": (tuple[str, ...], ())}
    view_fields = {
        "dragon": (str, get_dragon_cell),
        "dragon_path": (tuple[str, ...], get_dragon_path),
        "dragon_steps": (int, count_steps_left),
    }
    verbs = ("dragon", "princess")
    tasks = (DRAGON,)
    tasks_within_round = (DRAGON,)
    shared_tasks = frozenset({DRAGON})
    events = {
        DragonCame: apply_dragon_came,
        DragonWoke: apply_dragon_woke,
        DragonMoved: apply_dragon_moved,
        DragonStopped: apply_dragon_stopped,
        KnightSent: apply_knight_sent,
    }

    def filter_bag(self, state: State, rules: Rules, bag: Sequence[str]) -> Sequence[str]:
        """§24.3: Before the first volcano draw another tile than a dragon tile, if there is one."""
        if get_dragon_cell(state):
            return bag
        return [tile for tile in bag if DRAGON not in PIECES[tile][0].signs] or bag

    def react_to_tile(self, state: State, rules: Rules, event: TilePlaced, chance: Chance) -> DragonCame | None:
        """§24.2: The dragon comes to a volcano."""
        return DragonCame(event.cell) if VOLCANO in PIECES[event.tile][0].signs else None

    def bars_figures(self, state: State, cell: str) -> bool:
        """§24.2: Nothing is put on the tile of the dragon."""
        return cell == get_dragon_cell(state)

    def offer_figures(self, state: State, rules: Rules, seat: int, part: Part) -> Sequence[Args]:
        """§24.7: Through a portal offer the free and unfinished features of all tiles, and pyramids."""
        if PORTAL not in get_signs(state, part.cell):
            return ()
        supply = state.supply[seat]
        goals = self._list_goals_of_portal(state, rules, part)
        options = list[Args]()
        for kind, segments in rules.segments.items():
            if supply[kind]:
                options += [(kind, goal) for segment_kind, goal in goals if segment_kind in segments]
        if supply["meeple"]:
            near = list_nine_cells(part.cell)  # the big top itself offers the pyramids there
            far = [cell for cell in list_open_pyramids(state, state.tiles) if cell not in near]
            options += [("meeple", f"{cell}/{ACROBATS}") for cell in far]
        return options

    def _list_goals_of_portal(self, state: State, rules: Rules, part: Part) -> list[tuple[str, str]]:
        """§24.7: Return the free and unfinished segments of other tiles except the school, each as its kind and place.

        A field is never finished.
        """
        goals = list[tuple[str, str]]()
        for cell in state.tiles:
            if cell == part.cell or "school" in get_signs(state, cell):
                continue
            for segment, root in iter_segments(state, cell):
                feature = state.features[root]
                is_unfinished = segment.kind == "field" or feature.open > 0
                if is_unfinished and is_free(rules, feature):
                    goals.append((segment.kind, f"{cell}/{segment.token}"))
        return goals

    def offer_instead_of_figure(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§24.6: Offer to send a knight home from the city of a new princess."""
        knights = list[Figure]()
        for segment, root in iter_segments(state, part.cell):
            if PRINCESS in segment.marks:
                figures = state.features[root].figures
                knights += [figure for figure in figures if figure.kind not in rules.non_meeples]
        return Choice("princess", tuple((knight.place,) for knight in knights), "24.6") if knights else None

    def after_figure(self, state: State, rules: Rules, part: Part, chance: Chance) -> DragonWoke | None:
        """§24.4: The dragon sets out when a dragon tile was placed, before features are scored."""
        if not get_dragon_cell(state) or DRAGON in part.notes or DRAGON not in get_signs(state, part.cell):
            return None
        return DragonWoke(state.turn)

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        return (Choice("dragon", tuple((cell,) for cell in list_ways(state)), "24.4"),)

    def resolve_task(self, state: State, rules: Rules, task: Task, chance: Chance) -> Struct | None:
        """§24.4: Go the only way without a question; without a way the move is over."""
        ways = list_ways(state)
        if not ways:
            return DragonStopped(get_dragon_cell(state))
        if len(ways) > 1:
            return None
        (seat,) = task.seats
        return move_dragon(state, rules, seat, ways[0])

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§24.4, §24.6: Move the dragon one step, or send a knight home with those that do not stay without him."""
        if move.verb == "dragon":
            return [move_dragon(state, rules, seat, move.args[0])]
        figure = find_figure(state, move.args[0])
        feature = state.features[find_figure_root(state, figure)]
        return [KnightSent(seat, (figure, *scoring.find_companions(state, rules, feature, figure)))]

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return what the figures of a seat may lose to the dragon while it walks, as a number below 0; else 0.

        It does not return to a cell of its path.
        """
        path = get_dragon_path(state)
        if not path:
            return 0.0
        own = [figure for figure in list_figures(state) if figure.seat == seat and figure.cell not in path]
        return -sum(self._estimate_loss(state, figure.cell) for figure in own)

    def _estimate_loss(self, state: State, cell: str) -> float:
        """Return the points that a figure on a cell may lose to the dragon; 0 if it is too far away."""
        (x, y), (dragon_x, dragon_y) = parse_cell(cell), parse_cell(get_dragon_cell(state))
        distance = abs(x - dragon_x) + abs(y - dragon_y)
        if distance > min(count_steps_left(state), FARTHEST):
            return 0.0
        return EATEN_POINTS * STEP_CHANCE**distance


BOX = PrincessDragon()
