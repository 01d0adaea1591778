"""§15, the siege: besieged cities bring less to knights and more to farmers, and cloisters let people out."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.board import PIECES
from engine.games.carcassonne.expansion import Box, Moment, Rules
from engine.games.carcassonne.land import cells_of, near_to, root_of, segments_at, taken_back
from engine.games.carcassonne.state import (
    Errand,
    Feature,
    Figure,
    Part,
    State,
    find_figure,
    on_top,
    part_of,
)
from engine.menu import Choice, Menu, Move

BESIEGED = "besieged"


class EscapeOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """At the end of the turn somebody may leave a besieged city."""

    seat: int


class Escaped(Struct, frozen=True, omit_defaults=True, tag=True):
    """A figure left a besieged city, with those who go with it."""

    figures: tuple[Figure, ...]


class Stayed(Struct, frozen=True, omit_defaults=True, tag=True):
    """Nobody left."""

    seat: int


def offered(state: State, event: EscapeOffered) -> State:
    part = part_of(state)
    noted = replace(part, notes=(*part.notes, "escape"))
    return replace(state, work=(*on_top(state, noted), Errand("escape")))


def escaped(state: State, event: Escaped) -> State:
    return taken_back(replace(state, work=state.work[:-1]), event.figures)


def stayed(state: State, event: Stayed) -> State:
    return replace(state, work=state.work[:-1])


def gate(state: State, root: int) -> bool:
    """§15.5: whether a cloister of any kind lies round a besieged tile of this city."""
    besieged = [cell for cell in cells_of(state, state.features[root]) if _besieges(state, cell, root)]
    laid = [state.tiles[near] for cell in besieged for near in near_to(cell) if near in state.tiles]
    return any(segment.kind == "cloister" for tile in laid for segment in PIECES[tile.tile][0].segments)


def _besieges(state: State, cell: str, root: int) -> bool:
    return any(BESIEGED in segment.marks and there == root for segment, there in segments_at(state, cell))


def free_to_go(state: State, seat: int) -> list[str]:
    """§15.5: the own figures in besieged cities with a way out."""
    places = list[str]()
    for root, feature in state.features.items():
        if not feature.figures or BESIEGED not in feature.marks:
            continue
        own = [figure.place for figure in feature.figures if figure.seat == seat]
        if own and gate(state, root):
            places += own
    return places


class Besiegers(Box):
    """Six besieged tiles."""

    option = "besiegers"
    about = "Besieged cities, 6 tiles of the Besiegers (§15)"


class Cathars(Box):
    """Four besieged tiles."""

    option = "cathars"
    about = "Besieged cities, 4 tiles of the Cathars (§15)"


class Siege(Box):
    """What the besieged tiles of either box mean."""

    option = "siege"
    about = ""
    switches = ("besiegers", "cathars")
    verbs = ("escape",)
    steps = ("escape",)
    events = {EscapeOffered: offered, Escaped: escaped, Stayed: stayed}

    def worth(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        """§15.2, §15.3: half of what it would bring, and nothing before it is complete."""
        if feature.kind != "city" or BESIEGED not in feature.marks:
            return points
        each = 2 if "cathedral" in feature.marks else 1
        return 0 if feature.open else each * (len(feature.tiles) + feature.marks.count("shield"))

    def servings(self, state: State, rules: Rules, city: Feature) -> int:
        """§15.4: farms count it twice."""
        return int(BESIEGED in city.marks)

    def after(self, state: State, rules: Rules, part: Part, chance: Chance) -> EscapeOffered | None:
        """§15.5: once in a double turn."""
        if part.kind == "builder" or "escape" in part.notes or not free_to_go(state, state.turn):
            return None
        return EscapeOffered(state.turn)

    def menu(self, state: State, rules: Rules, seat: int, errand: Errand) -> Menu:
        return (Choice("escape", (*((place,) for place in free_to_go(state, seat)), ("stay",)), "15.5"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        if move.args[0] == "stay":
            return [Stayed(seat)]
        figure = find_figure(state, move.args[0])
        feature = state.features[root_of(state, figure)]
        if figure.kind in rules.bystanders:
            return [Escaped((figure,))]
        with_him = (other for box in rules.hooks["escort"] for other in box.escort(state, rules, feature, figure))
        return [Escaped((figure, *with_him))]


BOXES = (Besiegers(), Cathars(), Siege())
