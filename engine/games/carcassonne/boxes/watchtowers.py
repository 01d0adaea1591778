"""§12, watchtowers: a meeple on the tower's tile is paid for what is around it, before its road or city is scored."""

from __future__ import annotations

from engine.games.carcassonne.hooks import BoxHooks, Rules
from engine.games.carcassonne.land import get_signs, iter_segments
from engine.games.carcassonne.state import Award, Figure, Part, State, list_figures
from engine.games.carcassonne.tiles import list_nine_cells


def find_tower(state: State, cell: str) -> tuple[int, str] | None:
    """Return the points that the tower on a cell pays for each thing, and what it counts; None without a tower."""
    for sign in get_signs(state, cell):
        if sign.startswith("watchtower "):
            _, points, counted = sign.split()
            return int(points), counted
    return None


def count_around(state: State, rules: Rules, cell: str, what: str) -> int:
    """§12.4: Count the meeples, shields, cloisters or tiles with a road or city on the nine cells of a tower."""
    cells = list_nine_cells(cell)
    if what == "meeple":
        figures = list_figures(state)
        return sum(figure.cell in cells and figure.kind not in rules.non_meeples for figure in figures)
    cells_with_tiles = [one for one in cells if one in state.tiles]
    if what == "shield":
        segments = [segment for one in cells_with_tiles for segment, _ in iter_segments(state, one)]
        return sum(segment.marks.count("shield") for segment in segments)
    return sum(_has_feature(state, one, what) for one in cells_with_tiles)


def _has_feature(state: State, cell: str, kind: str) -> bool:
    """Whether a feature of this kind is on the tile of a cell."""
    return any(state.features[root].kind == kind for _, root in iter_segments(state, cell))


class Watchtowers(BoxHooks):
    """Bonuses before a road or city is scored."""

    option = "watchtowers"
    about = "Watchtowers pay for what lies round them, 12 tiles (§12)"

    def award_before_features(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """§12.2: Pay every meeple on the tile of a tower in a completed road or city."""
        features = [state.features[root] for root in part.done]
        figures = [figure for feature in features if feature.kind in ("road", "city") for figure in feature.figures]
        awards = [self._award_tower(state, rules, figure) for figure in figures if figure.kind not in rules.non_meeples]
        return tuple(award for award in awards if award is not None)

    def _award_tower(self, state: State, rules: Rules, figure: Figure) -> Award | None:
        """Return what the tower on the tile of a figure pays; None without a tower, or if it pays nothing."""
        tower = find_tower(state, figure.cell)
        if tower is None:
            return None
        each, what = tower
        points = each * count_around(state, rules, figure.cell, what)
        return Award(figure.seat, points, "watchtower") if points else None


BOX = Watchtowers()
