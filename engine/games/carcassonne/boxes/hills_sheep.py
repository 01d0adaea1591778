"""§14, Hills & Sheep: shepherds with their flocks, hills that break ties, and vineyards."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Moment, Rules
from engine.games.carcassonne.land import can_grow, find_figure_root, get_signs, iter_segments, send_home
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Figure,
    Part,
    State,
    Task,
    TilePlaced,
    add_note,
    apply_awards,
    can_draw,
    find_figure,
    find_index_root,
    get_current_task,
    list_figures,
    make_getter,
    pop_task,
    push_work,
    replace_if_played,
)
from engine.games.carcassonne.tiles import DATA, PIECES, Args, list_cells_around, list_figure_options
from engine.menu import Choice, Menu, Move

SHEPHERD = "shepherd"
WOLF = 0
"""The token with a wolf among those with a number of sheep."""
VINEYARD_POINTS = 3
ASKED_NOTE = "flock"
"""The note that the seat on turn was asked about its flock in this part."""

TOKENS: dict[str, int] = DATA["sheep"]
"""How many tokens there are of each kind: with a number of sheep, or with a wolf."""

CHANCE_TO_COME_HOME = 0.8  # of a flock, before a wolf takes it
"""The part of a flock that a bot expects to drive home."""

Flocks = dict[str, tuple[int, ...]]


class HillRaised(Struct, frozen=True, omit_defaults=True, tag=True):
    """A tile of the bag was put unseen under a hill and is out of the game."""


class SheepCame(Struct, frozen=True, omit_defaults=True, tag=True):
    """A shepherd drew a token with so many sheep."""

    figure: Figure
    sheep: int


class WolfCame(Struct, frozen=True, omit_defaults=True, tag=True):
    """A shepherd drew a wolf: all shepherds of the field go home without points."""

    figure: Figure
    figures: tuple[Figure, ...]


class FlockStirred(Struct, frozen=True, omit_defaults=True, tag=True):
    """The field of a shepherd grew: he has to draw a token or drive the flock home."""

    figure: Figure


class FlockHome(Struct, frozen=True, omit_defaults=True, tag=True):
    """The sheep of a field were driven home; each seat with a shepherd there is paid for all of them."""

    figures: tuple[Figure, ...]
    awards: tuple[Award, ...]


get_flocks = make_getter("flocks", Flocks)
"""The sheep of every shepherd by his place."""


def _list_tokens_to_draw(state: State) -> list[int]:
    """Return the tokens that are with no shepherd: a number of sheep, or `WOLF`."""
    tokens = list[int]()
    for value, count in TOKENS.items():
        token = WOLF if value == "wolf" else int(value)
        tokens += [token] * count
    for flock in get_flocks(state).values():
        for sheep in flock:
            tokens.remove(sheep)
    return tokens


def apply_hill_raised(state: State, event: HillRaised) -> State:
    return replace(state, buried=state.buried + 1)


def apply_sheep_came(state: State, event: SheepCame) -> State:
    """Add sheep to the flock of a shepherd, and end the question to its owner; a new shepherd draws without one."""
    flocks = get_flocks(state)
    place = event.figure.place
    return replace(pop_task(state), flocks={**flocks, place: (*flocks.get(place, ()), event.sheep)})


def apply_wolf_came(state: State, event: WolfCame) -> State:
    return send_home_with_flocks(pop_task(state), event.figures)


def send_home_with_flocks(state: State, figures: tuple[Figure, ...]) -> State:
    """Send figures home; shepherds among them lose their flocks, whose tokens can then be drawn again."""
    places = {figure.place for figure in figures}
    flocks = {place: sheep for place, sheep in get_flocks(state).items() if place not in places}
    return replace_if_played(send_home(state, figures), flocks=flocks)


def apply_flock_stirred(state: State, event: FlockStirred) -> State:
    return push_work(add_note(state, ASKED_NOTE), Task("flock", place=event.figure.place))


def apply_flock_home(state: State, event: FlockHome) -> State:
    return apply_awards(send_home_with_flocks(pop_task(state), event.figures), event.awards)


def _select_shepherds(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    return tuple(figure for figure in figures if figure.kind == SHEPHERD)


def _drive_home(state: State, figure: Figure) -> FlockHome:
    """§14.4: Award all sheep of the field to each seat that has a shepherd there."""
    shepherds = _select_shepherds(state.features[find_figure_root(state, figure)].figures)
    sheep = _count_sheep(state, shepherds)
    seats = sorted({other.seat for other in shepherds})  # the log needs the same order each time
    return FlockHome(shepherds, tuple(Award(seat, sheep, "flock") for seat in seats))


def _count_sheep(state: State, shepherds: Sequence[Figure]) -> int:
    """Add the sheep on all tokens of these shepherds up; a new shepherd has no token yet."""
    return sum(sum(get_flocks(state).get(shepherd.place, ())) for shepherd in shepherds)


def _draw_token(state: State, figure: Figure, chance: Chance) -> SheepCame | WolfCame:
    """§14.2, §14.5: Sheep join the flock; a wolf ends all flocks of the field."""
    token = chance.pick("sheep", _list_tokens_to_draw(state))
    if token != WOLF:
        return SheepCame(figure, token)
    return WolfCame(figure, _select_shepherds(state.features[find_figure_root(state, figure)].figures))


class HillsSheep(BoxHooks):
    """Shepherds with their flocks, hills and vineyards."""

    option = "hills_sheep"
    title = "Hills & Sheep"
    about = "Shepherds, hills and vineyards, 18 tiles (§14)"
    supply = {SHEPHERD: 1}
    strength = {SHEPHERD: 0}
    non_meeples = frozenset({SHEPHERD})
    unobtrusive = frozenset({SHEPHERD})
    state_fields = {"flocks": (Flocks, {})}
    view_fields = {"flocks": (Flocks, get_flocks)}
    verbs = ("flock",)
    tasks = ("flock",)
    tasks_within_round = ("flock",)
    events = {
        HillRaised: apply_hill_raised,
        SheepCame: apply_sheep_came,
        WolfCame: apply_wolf_came,
        FlockStirred: apply_flock_stirred,
        FlockHome: apply_flock_home,
    }

    def react_to_tile(self, state: State, rules: Rules, event: TilePlaced, chance: Chance) -> HillRaised | None:
        """§14.8: Put a tile of the bag under a hill, if one can still be drawn."""
        if "hill" not in PIECES[event.tile][0].signs or not can_draw(state):
            return None
        return HillRaised()

    def offer_figures(self, state: State, rules: Rules, seat: int, part: Part) -> Sequence[Args]:
        """§14.1: Offer the shepherd on fields without another shepherd; other figures do not matter."""
        if not state.supply[seat][SHEPHERD]:
            return ()
        placed = state.tiles[part.cell]
        return [
            args
            for index, args in list_figure_options(placed.tile, placed.turn, SHEPHERD, frozenset({"field"}))
            if not _select_shepherds(state.features[find_index_root(state, part.cell, index)].figures)
        ]

    def after_figure(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """Let a new shepherd draw; ask one whose field grew; then, §14.6, drive the flock of a closed field home.

        Each is an event of its own; the hook is called until none is due.
        """
        shepherds = _select_shepherds(list_figures(state))
        for figure in shepherds:
            if figure.place not in get_flocks(state):
                return _draw_token(state, figure, chance)
        grown = self._find_shepherd_of_grown_field(state, part, shepherds)
        if grown is not None and ASKED_NOTE not in part.notes:
            return FlockStirred(grown)
        for figure in shepherds:
            if not can_grow(state, figure):
                return _drive_home(state, figure)
        return None

    def _find_shepherd_of_grown_field(self, state: State, part: Part, shepherds: Sequence[Figure]) -> Figure | None:
        """§14.3: Return the shepherd of the seat on turn if the new tile extended his field; None otherwise."""
        on_tile = {root for _, root in iter_segments(state, part.cell)}
        for figure in shepherds:  # a seat has only one
            was_there = figure.cell != part.cell
            if figure.seat == state.turn and was_there and find_figure_root(state, figure) in on_tile:
                return figure
        return None

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return the sheep of the seat's own flocks, times the chance that they come home."""
        own = [figure for figure in _select_shepherds(list_figures(state)) if figure.seat == seat]
        return CHANCE_TO_COME_HOME * _count_sheep(state, own)

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        return (Choice("flock", (("grow",), ("home",)), "14.3"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§14.3: Draw one more token for the shepherd that the seat was asked about, or drive the flock home."""
        figure = find_figure(state, get_current_task(state).place)
        if move.args == ("home",):
            return [_drive_home(state, figure)]
        return [_draw_token(state, figure, chance)]

    def break_tie(self, state: State, rules: Rules, feature: Feature, leaders: tuple[int, ...]) -> tuple[int, ...]:
        """§14.9: Of level leaders those win who have a meeple on a hill in the feature."""
        on_hills = [figure for figure in feature.figures if "hill" in get_signs(state, figure.cell)]
        winners = tuple(seat for seat in leaders if rules.select_meeples(on_hills, seat))
        return winners or leaders

    def count_extra_points(self, state: State, rules: Rules, feature: Feature, seat: int, moment: Moment) -> int:
        """§14.11: Three points for every vineyard around a complete cloister."""
        if feature.kind != "cloister" or feature.open or not feature.figures:
            return 0
        monk = feature.figures[0]
        if monk.way:  # §17.3: only for an upright monk
            return 0
        return VINEYARD_POINTS * sum("vineyard" in get_signs(state, cell) for cell in list_cells_around(monk.cell))


BOX = HillsSheep()
