"""§18, Abbey & Mayor: a tile for holes, a mayor who counts shields, a wagon that drives on, and a barn."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne import scoring
from engine.games.carcassonne.board import PIECES, SIDES, near
from engine.games.carcassonne.expansion import Box, Moment, Rules, laid
from engine.games.carcassonne.land import near_to, root_of, segments_at, stationed
from engine.games.carcassonne.state import (
    Award,
    Errand,
    Feature,
    Figure,
    Part,
    State,
    TilePlaced,
    feature_at,
    on_top,
    part_of,
    slot,
)
from engine.menu import Choice, Move

ABBEY, MAYOR, WAGON, BARN = "AB", "mayor", "wagon", "barn"
JOINED_FIELDS, BARNS = 1, 4
# §18.7: which half sides of a tile meet in each of its corners, and which neighbours lie round it.
CORNERS = {"NE": {1, 2}, "SE": {3, 4}, "SW": {5, 6}, "NW": {7, 0}}


class AbbeyUsed(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat takes its abbey instead of drawing a tile."""

    seat: int


class OvertimeBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    """No tile is left, but this seat still has an abbey to lay."""

    seat: int


class WagonScored(Struct, frozen=True, omit_defaults=True, tag=True):
    """The feature of these wagons is being scored, and they may drive on afterwards."""

    figures: tuple[Figure, ...]


class WagonAsked(Struct, frozen=True, omit_defaults=True, tag=True):
    """The owner of a wagon chooses where it goes."""

    figure: Figure


class WagonDriven(Struct, frozen=True, omit_defaults=True, tag=True):
    """A wagon stands on its next feature."""

    figure: Figure


class WagonRested(Struct, frozen=True, omit_defaults=True, tag=True):
    """A wagon went home."""

    seat: int


class BarnBuilt(Struct, frozen=True, omit_defaults=True, tag=True):
    figure: Figure


def abbeys(state: State) -> tuple[int, ...]:
    """How many abbeys every seat has."""
    left: tuple[int, ...] = slot(state, "abbeys")
    return left


def waiting(state: State) -> tuple[Figure, ...]:
    """The wagons whose features have been scored in this round."""
    wagons: tuple[Figure, ...] = slot(state, "wagons")
    return wagons


def used(state: State, event: AbbeyUsed) -> State:
    return replace(state, abbeys=tuple(n - (seat == event.seat) for seat, n in enumerate(abbeys(state))))


def overtime(state: State, event: OvertimeBegan) -> State:
    return replace(state, turn=event.seat, work=(Part(),), late=(*slot(state, "late"), event.seat))


def noted(state: State, event: WagonScored) -> State:
    return replace(state, wagons=(*waiting(state), *event.figures))


def asked(state: State, event: WagonAsked) -> State:
    wagons = tuple(figure for figure in waiting(state) if figure != event.figure)
    errand = Errand("drive", seats=(event.figure.seat,), place=event.figure.cell)
    return replace(state, wagons=wagons, work=(*state.work, errand))


def driven(state: State, event: WagonDriven) -> State:
    return stationed(replace(state, work=state.work[:-1]), event.figure)


def rested(state: State, event: WagonRested) -> State:
    return replace(state, work=state.work[:-1])


def built(state: State, event: BarnBuilt) -> State:
    part = part_of(state)
    return stationed(replace(state, work=on_top(state, replace(part, step="between"))), event.figure)


def holes(state: State) -> list[str]:
    """§18.2: the empty cells with a tile on every side."""
    return [cell for cell in state.frontier if all(beyond in state.tiles for beyond in near(cell))]


def corner_field(state: State, cell: str, corner: str) -> tuple[str, int] | None:
    """The field that a tile shows in a corner: what it is called there, and the farm it belongs to."""
    laid = state.tiles.get(cell)
    for place, segment in enumerate(PIECES[laid.tile][laid.turn].segments if laid else ()):
        if segment.kind == "field" and CORNERS[corner].issubset(segment.ends):
            return segment.token, feature_at(state, cell, place)
    return None


def meeting(cell: str, corner: str) -> dict[str, str]:
    """The four cells round a corner, each with the name it has there."""
    upright, level = corner[0], corner[1]
    beside = near(cell)[SIDES.index(level)]
    beyond, across = near(cell)[SIDES.index(upright)], near(beside)[SIDES.index(upright)]
    other = {"N": "S", "S": "N", "E": "W", "W": "E"}
    return {
        cell: corner,
        beside: upright + other[level],
        beyond: other[upright] + level,
        across: other[upright] + other[level],
    }


def barn_sites(state: State, cell: str) -> dict[str, str]:
    """§18.7: the corners of a tile in which four fields meet on a farm without a barn, each with its field."""
    sites: dict[str, str] = {}
    for corner in CORNERS:
        own, *others = (corner_field(state, *one) for one in meeting(cell, corner).items())
        if own and all(others) and not _barns(state.features[own[1]]):
            sites[corner] = own[0]
    return sites


def _barns(feature: Feature) -> tuple[Figure, ...]:
    return tuple(figure for figure in feature.figures if figure.kind == BARN)


def goals(state: State, cell: str) -> list[str]:
    """§18.6: where a wagon may drive: free and unfinished roads, cities and cloisters round its tile."""
    return [
        f"{beside}/{segment.token}"
        for beside in near_to(cell)
        if beside in state.tiles
        for segment, root in segments_at(state, beside)
        if segment.kind in ("road", "city", "cloister") and _free(state.features[root])
    ]


def _free(feature: Feature) -> bool:
    return feature.open > 0 and not feature.figures


UNLAID = 4.0
"""What an abbey in hand is worth to a bot: it closes what lies around a hole, and may be a cloister of nine points."""


class AbbeyMayor(Box):
    """The abbey, the mayor, the wagon and the barn."""

    option = "abbey_mayor"
    title = "Abbey & Mayor"
    about = "Abbeys, mayors, wagons and barns, 12 tiles (§18)"
    supply = {MAYOR: 1, WAGON: 1, BARN: 1}
    strength = {MAYOR: 0, WAGON: 1, BARN: 0}
    followers = {MAYOR: frozenset({"city"}), WAGON: frozenset({"road", "city", "cloister"})}
    bystanders = frozenset({BARN})
    slots = {
        "abbeys": (tuple[int, ...], ()),
        "late": (tuple[int, ...], ()),
        "wagons": (tuple[Figure, ...], ()),
    }
    shows = {"abbeys": (tuple[int, ...], abbeys)}
    verbs = ("abbey", "barn", "drive")
    steps = ("drive",)
    inside = ("drive",)
    events = {
        AbbeyUsed: used,
        OvertimeBegan: overtime,
        WagonScored: noted,
        WagonAsked: asked,
        WagonDriven: driven,
        WagonRested: rested,
        BarnBuilt: built,
    }

    def begun(self, state: State, rules: Rules) -> State:
        return replace(state, abbeys=(1,) * len(state.track))

    def instead(self, state: State, rules: Rules, part: Part) -> Choice | None:
        """§18.2: the own abbey may go into a hole."""
        if not abbeys(state)[state.turn]:
            return None
        places: Sequence[tuple[str, ...]] = [(cell, "0") for cell in holes(state)]
        for box in rules.hooks["fitting"]:
            places = box.fitting(state, rules, ABBEY, places)
        return Choice("abbey", tuple((cell,) for cell, _ in places), "18.2") if places else None

    def promise(self, state: State, rules: Rules, seat: int) -> float:
        return UNLAID * abbeys(state)[seat]

    def overtime(self, state: State, rules: Rules) -> OvertimeBegan | None:
        """§18.4: from the left of whoever laid the last tile everybody may still lay an abbey."""
        seats = len(state.track)
        order = [(state.turn + steps) % seats for steps in range(1, seats + 1)]
        late = slot(state, "late")
        own = [seat for seat in order if seat not in late and abbeys(state)[seat]]
        ready = (seat for seat in own if self.instead(replace(state, turn=seat), rules, Part()))
        seat = next(ready, None)
        return None if seat is None else OvertimeBegan(seat)

    def act(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§18.7: the barn, instead of a figure."""
        if not state.supply[seat][BARN]:
            return None
        sites = tuple((corner,) for corner in barn_sites(state, part.cell))
        return Choice("barn", sites, "18.7") if sites else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        word = move.args[0]
        if move.verb == "abbey":
            return [AbbeyUsed(seat), *laid(state, rules, TilePlaced(ABBEY, word, 0, seat), chance)]
        if move.verb == "barn":
            cell = part_of(state).cell
            return [BarnBuilt(Figure(seat, BARN, cell, barn_sites(state, cell)[word], word))]
        if word == "home":
            return [WagonRested(seat)]
        cell, _, token = word.partition("/")
        return [WagonDriven(Figure(seat, WAGON, cell, token))]

    def might(self, state: State, rules: Rules, feature: Feature, figure: Figure, strength: int) -> int:
        """§18.5: a mayor counts as many as his city has shields."""
        return feature.marks.count("shield") if figure.kind == MAYOR else strength

    def completed(self, state: State, rules: Rules, root: int, chance: Chance) -> WagonScored | None:
        """§18.6: the wagons of a feature are remembered when it is scored."""
        figures = scoring.taking_part(state, rules, state.features[root], "scored")
        wagons = tuple(figure for figure in figures if figure.kind == WAGON and figure not in waiting(state))
        return WagonScored(wagons) if wagons else None

    def joined(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """§18.8, §18.9: farms with a barn are scored; then wagons drive, from the seat on turn clockwise."""
        for root, feature in state.features.items():
            barn = feature.figures and feature.kind == "field" and _barns(feature)
            if barn and scoring.taking_part(state, rules, feature, "scored"):
                return scoring.settled(state, rules, root, "scored")
        seats = len(state.track)
        wagons = sorted(waiting(state), key=lambda figure: (figure.seat - state.turn) % seats)
        return WagonAsked(wagons[0]) if wagons else None

    def menu(self, state: State, rules: Rules, seat: int, errand: Errand) -> tuple[Choice, ...]:
        places = ((place,) for place in goals(state, errand.place))
        return (Choice("drive", (*places, ("home",)), "18.6"),)

    def errand(self, state: State, rules: Rules, errand: Errand, chance: Chance) -> WagonRested | None:
        """A wagon without anywhere to go is not asked."""
        return None if goals(state, errand.place) else WagonRested(errand.seats[0])

    def taking_part(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Figure, ...] | None:
        """§18.8: of a farm with a barn the farmers and pigs are scored, and the barn stays."""
        if feature.kind != "field" or moment != "scored":
            return None
        farmers = [figure for figure in feature.figures if figure.kind not in rules.bystanders]
        pigs = [figure for figure in feature.figures if figure.kind == "pig"]
        return (*farmers, *pigs) if farmers else ()

    def worth(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        """§18.9: a farm that is joined to a barn's brings one point for each city."""
        if feature.kind != "field" or moment != "scored" or self._new(state, feature):
            return points
        return JOINED_FIELDS * scoring.servings(state, rules, feature)

    def _new(self, state: State, farm: Feature) -> bool:
        """Whether the barn of the farm on which these farmers are was built with this tile."""
        whole = state.features[root_of(state, farm.figures[0])]
        return any(figure.cell == part_of(state).cell for figure in _barns(whole))

    def paid(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...] | None:
        """§18.10: at the end every barn is paid for its farm."""
        barns = _barns(feature)
        if moment != "final" or not barns:
            return None
        points = BARNS * scoring.servings(state, rules, feature)
        return tuple(Award(figure.seat, points, BARN) for figure in barns)


BOX = AbbeyMayor()
