"""§12, watchtowers: a meeple on the tower's tile is paid for what lies round it, before its road or city is scored."""

from __future__ import annotations

from collections.abc import Callable

from engine.games.carcassonne.board import PIECES
from engine.games.carcassonne.expansion import Box, Rules
from engine.games.carcassonne.land import near_to, signs_at
from engine.games.carcassonne.state import Award, Figure, Part, State, standing_figures


def tower(state: State, cell: str) -> tuple[int, str] | None:
    """What the tower on a cell pays, and for what."""
    for sign in signs_at(state, cell):
        word, *rest = sign.split()
        if word == "watchtower":
            return int(rest[0]), rest[1]
    return None


def seen(state: State, rules: Rules, cell: str, what: str) -> int:
    """§12.4: how many of these things there are on the nine tiles."""
    if what == "meeple":
        near = near_to(cell)
        return sum(figure.cell in near and figure.kind not in rules.bystanders for figure in standing_figures(state))
    laid = [state.tiles[near] for near in near_to(cell) if near in state.tiles]
    return sum(SHOWN[what](tile.tile) for tile in laid)


def _shields(tile: str) -> int:
    return sum(segment.marks.count("shield") for segment in PIECES[tile][0].segments)


def _shows(kind: str) -> Callable[[str], int]:
    return lambda tile: int(any(segment.kind == kind for segment in PIECES[tile][0].segments))


SHOWN = {"shield": _shields, "road": _shows("road"), "city": _shows("city"), "cloister": _shows("cloister")}


class Watchtowers(Box):
    """Bonuses before a road or city is scored."""

    option = "watchtowers"
    about = "Watchtowers pay for what lies round them, 12 tiles (§12)"

    def before_features(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """§12.2: every meeple that stands on a tower's tile in a completed road or city."""
        features = [state.features[root] for root in part.done]
        awake = [figure for feature in features if feature.kind in ("road", "city") for figure in feature.figures]
        awards = [self._award(state, rules, figure) for figure in awake if figure.kind not in rules.bystanders]
        return tuple(award for award in awards if award.points)

    def _award(self, state: State, rules: Rules, figure: Figure) -> Award:
        each, what = tower(state, figure.cell) or (0, "road")
        return Award(figure.seat, each * seen(state, rules, figure.cell, what), "watchtower")


BOX = Watchtowers()
