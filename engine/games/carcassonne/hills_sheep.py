"""§14, Hills & Sheep: shepherds with their flocks, hills that break ties, and vineyards."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.board import DATA, PIECES, Args, spots
from engine.games.carcassonne.expansion import Box, Moment, Rules
from engine.games.carcassonne.land import near_to, open_to, root_of, segments_at, signs_at, taken_back
from engine.games.carcassonne.state import (
    Award,
    Errand,
    Feature,
    Figure,
    Part,
    State,
    TilePlaced,
    awarded,
    drawable,
    feature_at,
    on_top,
    part_of,
    slot,
    standing_figures,
)
from engine.menu import Choice, Menu, Move

SHEPHERD, WOLF = "shepherd", 0
VINEYARD = 3
TOKENS: dict[str, int] = DATA["sheep"]
Flocks = dict[str, tuple[int, ...]]


class HillRaised(Struct, frozen=True, omit_defaults=True, tag=True):
    """A tile of the bag lies under the hill, out of the game; nobody knows which."""


class SheepCame(Struct, frozen=True, omit_defaults=True, tag=True):
    """A shepherd drew sheep."""

    figure: Figure
    sheep: int


class WolfCame(Struct, frozen=True, omit_defaults=True, tag=True):
    """A shepherd drew a wolf: all shepherds of the field go home with nothing."""

    figure: Figure
    figures: tuple[Figure, ...]


class FlockStirred(Struct, frozen=True, omit_defaults=True, tag=True):
    """The field of a shepherd grew: he has to draw once more or drive home."""

    figure: Figure


class FlockHome(Struct, frozen=True, omit_defaults=True, tag=True):
    """The sheep of a field are in the stable; every shepherd there is paid for all of them."""

    figures: tuple[Figure, ...]
    awards: tuple[Award, ...]


def flocks(state: State) -> Flocks:
    """The sheep of every shepherd by his place."""
    found: Flocks = slot(state, "flocks")
    return found


def _bag(state: State) -> list[int]:
    """The tokens that lie with no shepherd."""
    bag = [0 if value == "wolf" else int(value) for value, count in TOKENS.items() for _ in range(count)]
    for sheep in flocks(state).values():
        for value in sheep:
            bag.remove(value)
    return bag


def raised(state: State, event: HillRaised) -> State:
    return replace(state, buried=state.buried + 1)


def came(state: State, event: SheepCame) -> State:
    sheep = flocks(state)
    place = event.figure.place
    return replace(state, flocks={**sheep, place: (*sheep.get(place, ()), event.sheep)}, work=_dealt_with(state))


def _dealt_with(state: State) -> tuple[Part | Errand, ...]:
    """The work without the question whether to draw or to drive home, if that was asked."""
    return state.work[:-1] if isinstance(state.work[-1], Errand) else state.work


def gone(state: State, event: WolfCame) -> State:
    return _left(replace(state, work=_dealt_with(state)), event.figures)


def _left(state: State, figures: tuple[Figure, ...]) -> State:
    places = {figure.place for figure in figures}
    kept = {place: sheep for place, sheep in flocks(state).items() if place not in places}
    return replace(taken_back(state, figures), flocks=kept)


def stirred(state: State, event: FlockStirred) -> State:
    part = part_of(state)
    noted = replace(part, notes=(*part.notes, "flock"))
    return replace(state, work=(*on_top(state, noted), Errand("flock", place=event.figure.place)))


def home(state: State, event: FlockHome) -> State:
    return awarded(_left(replace(state, work=_dealt_with(state)), event.figures), event.awards)


def _shepherds(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    return tuple(figure for figure in figures if figure.kind == SHEPHERD)


def _driven(state: State, figure: Figure) -> FlockHome:
    """§14.4: all sheep of the field for everybody who has a shepherd there."""
    there = _shepherds(state.features[root_of(state, figure)].figures)
    sheep = sum(sum(flocks(state).get(other.place, ())) for other in there)
    return FlockHome(there, tuple(Award(seat, sheep, "flock") for seat in sorted({other.seat for other in there})))


def _drawn(state: State, figure: Figure, chance: Chance) -> SheepCame | WolfCame:
    """§14.2, §14.5: sheep come to the flock; a wolf ends all flocks of the field."""
    token = chance.pick("sheep", _bag(state))
    if token != WOLF:
        return SheepCame(figure, token)
    return WolfCame(figure, _shepherds(state.features[root_of(state, figure)].figures))


def enclosed(state: State, root: int) -> bool:
    """§14.6: whether a field ends everywhere: there is a tile wherever it reaches."""
    return not any(root in open_to(state, cell) for cell in state.frontier)


KEPT = 0.8
"""What part of a flock comes home, as a bot sees it."""


class HillsSheep(Box):
    """Shepherds with their flocks, hills and vineyards."""

    option = "hills_sheep"
    title = "Hills & Sheep"
    about = "Shepherds, hills and vineyards, 18 tiles (§14)"
    supply = {SHEPHERD: 1}
    strength = {SHEPHERD: 0}
    bystanders = frozenset({SHEPHERD})
    passable = frozenset({SHEPHERD})
    slots = {"flocks": (Flocks, {})}
    shows = {"flocks": (Flocks, flocks)}
    verbs = ("flock",)
    steps = ("flock",)
    inside = ("flock",)
    events = {HillRaised: raised, SheepCame: came, WolfCame: gone, FlockStirred: stirred, FlockHome: home}

    def joining(self, state: State, rules: Rules, event: TilePlaced, chance: Chance) -> HillRaised | None:
        """§14.8: the next tile of the bag goes under the hill."""
        return HillRaised() if "hill" in PIECES[event.tile][0].signs and drawable(state) else None

    def deploy(self, state: State, rules: Rules, seat: int, part: Part) -> Sequence[Args]:
        """§14.1: on a field without a shepherd, whoever else is there."""
        if not state.supply[seat][SHEPHERD]:
            return ()
        laid = state.tiles[part.cell]
        return [
            args
            for place, args in spots(laid.tile, laid.turn, SHEPHERD, frozenset({"field"}))
            if not _shepherds(state.features[feature_at(state, part.cell, place)].figures)
        ]

    def after_figure(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """A new shepherd draws; an old one whose field grew decides; then closed fields are driven home."""
        shepherds = _shepherds(standing_figures(state))
        for figure in shepherds:
            if figure.place not in flocks(state):
                return _drawn(state, figure, chance)
        own = [figure for figure in shepherds if figure.seat == state.turn and figure.cell != part.cell]
        for figure in own if "flock" not in part.notes else ():
            if any(there == root_of(state, figure) for _, there in segments_at(state, part.cell)):
                return FlockStirred(figure)
        closed = [figure for figure in shepherds if enclosed(state, root_of(state, figure))]
        return _driven(state, closed[0]) if closed else None

    def promise(self, state: State, rules: Rules, seat: int) -> float:
        """The sheep of the seat's own flocks, of which a wolf may still take some."""
        own = [figure for figure in _shepherds(standing_figures(state)) if figure.seat == seat]
        return KEPT * sum(sum(flocks(state).get(figure.place, ())) for figure in own)

    def menu(self, state: State, rules: Rules, seat: int, errand: Errand) -> Menu:
        return (Choice("flock", (("grow",), ("home",)), "14.3"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        errand = state.work[-1]
        assert isinstance(errand, Errand)
        figure = next(figure for figure in standing_figures(state) if figure.place == errand.place)
        return [_drawn(state, figure, chance) if move.args == ("grow",) else _driven(state, figure)]

    def level(self, state: State, rules: Rules, feature: Feature, leaders: tuple[int, ...]) -> tuple[int, ...]:
        """§14.9: of those who are level, those win who have a meeple on a hill there."""
        high = [figure for figure in feature.figures if "hill" in signs_at(state, figure.cell)]
        above = tuple(seat for seat in leaders if rules.meeples(high, seat))
        return above or leaders

    def more(self, state: State, rules: Rules, feature: Feature, seat: int, moment: Moment) -> int:
        """§14.11: three points for every vineyard beside a complete cloister."""
        if feature.kind != "cloister" or feature.open or not feature.figures:
            return 0
        monk = feature.figures[0]
        beside = near_to(monk.cell)[1:]
        return 0 if monk.way else VINEYARD * sum("vineyard" in signs_at(state, cell) for cell in beside)


BOX = HillsSheep()
