"""§15, the siege: besieged cities bring less to knights and more to farmers, and a cloister lets figures out."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from engine.chance import Chance
from engine.games.carcassonne import scoring
from engine.games.carcassonne.hooks import BoxHooks, Moment, Rules
from engine.games.carcassonne.land import find_figure_root, has_segment, iter_segments, list_cells, send_home
from engine.games.carcassonne.state import (
    Feature,
    Figure,
    Part,
    State,
    Task,
    add_note,
    find_figure,
    pop_work,
    push_work,
)
from engine.games.carcassonne.tiles import list_nine_cells
from engine.menu import Choice, Menu, Move

BESIEGED_MARK = "besieged"
ASKED_NOTE = "escape"
"""The note that the seat was asked for an escape in this part."""


class EscapeOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """At the end of the turn one of the seat's figures may leave a besieged city."""

    seat: int


class Escaped(Struct, frozen=True, omit_defaults=True, tag=True):
    """A figure left a besieged city, together with its companions."""

    figures: tuple[Figure, ...]


class Stayed(Struct, frozen=True, omit_defaults=True, tag=True):
    """No figure left."""

    seat: int


def apply_escape_offered(state: State, event: EscapeOffered) -> State:
    return push_work(add_note(state, ASKED_NOTE), Task("escape"))


def apply_escaped(state: State, event: Escaped) -> State:
    return send_home(pop_work(state), event.figures)


def apply_stayed(state: State, event: Stayed) -> State:
    return pop_work(state)


def has_way_out(state: State, root: int) -> bool:
    """§15.5: Whether a cloister of any kind is around a besieged tile of this city."""
    besieged = [cell for cell in list_cells(state, state.features[root]) if _is_besieged_tile(state, cell, root)]
    return any(has_segment(state, one, "cloister") for cell in besieged for one in list_nine_cells(cell))


def _is_besieged_tile(state: State, cell: str, root: int) -> bool:
    """Whether the tile on a cell shows that this city is besieged."""
    segments = iter_segments(state, cell)
    return any(BESIEGED_MARK in segment.marks and segment_root == root for segment, segment_root in segments)


def list_places_to_escape(state: State, seat: int) -> list[str]:
    """§15.5: Return the places of the seat's figures in besieged cities with a way out."""
    places = list[str]()
    for root, feature in state.features.items():
        if not feature.figures or BESIEGED_MARK not in feature.marks:
            continue
        own = [figure.place for figure in feature.figures if figure.seat == seat]
        if own and has_way_out(state, root):
            places += own
    return places


class Besiegers(BoxHooks):
    """Six besieged tiles."""

    option = "besiegers"
    about = "Besieged cities, 6 tiles of the Besiegers (§15)"


class Cathars(BoxHooks):
    """Four besieged tiles."""

    option = "cathars"
    about = "Besieged cities, 4 tiles of the Cathars (§15)"


class Siege(BoxHooks):
    """The rules of besieged tiles, for both boxes."""

    option = "siege"
    about = ""
    switches = ("besiegers", "cathars")
    verbs = ("escape",)
    tasks = ("escape",)
    events = {EscapeOffered: apply_escape_offered, Escaped: apply_escaped, Stayed: apply_stayed}

    def adjust_points(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        """§15.2, §15.3: A besieged city brings 1 for each tile and shield, with a cathedral 2; unfinished nothing."""
        if feature.kind != "city" or BESIEGED_MARK not in feature.marks:
            return points
        each = 2 if "cathedral" in feature.marks else 1
        return 0 if feature.open else each * (len(feature.tiles) + feature.marks.count("shield"))

    def count_city_again(self, state: State, rules: Rules, city: Feature) -> int:
        """§15.4: Farms count a besieged city twice."""
        return int(BESIEGED_MARK in city.marks)

    def after_tile(self, state: State, rules: Rules, part: Part, chance: Chance) -> EscapeOffered | None:
        """§15.5: Offer an escape, once in a double turn."""
        if part.kind == "builder" or ASKED_NOTE in part.notes or not list_places_to_escape(state, state.turn):
            return None
        return EscapeOffered(state.turn)

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        escapes = [(place,) for place in list_places_to_escape(state, seat)]
        return (Choice("escape", (*escapes, ("stay",)), "15.5"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§15.5: Let a figure escape together with its companions, or let all stay."""
        if move.args[0] == "stay":
            return [Stayed(seat)]
        figure = find_figure(state, move.args[0])
        feature = state.features[find_figure_root(state, figure)]
        if figure.kind in rules.non_meeples:  # only a meeple has companions, such as a builder
            return [Escaped((figure,))]
        return [Escaped((figure, *scoring.find_companions(state, rules, feature, figure)))]


BOXES = (Besiegers(), Cathars(), Siege())
