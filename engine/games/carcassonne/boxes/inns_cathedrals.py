"""§6, Inns & Cathedrals: more points for completed features, none for others, and a meeple that counts as two."""

from __future__ import annotations

from engine.games.carcassonne.hooks import MEEPLE_SEGMENTS, BoxHooks, Moment, Rules
from engine.games.carcassonne.scoring import count_tiles
from engine.games.carcassonne.state import Feature, State


class InnsCathedrals(BoxHooks):
    """Inns, cathedrals and the large meeple."""

    option = "inns_cathedrals"
    title = "Inns & Cathedrals"
    about = "Inns, cathedrals and the large meeple, 18 tiles (§6)"
    supply = {"large": 1}
    strength = {"large": 2}
    segments = {"large": MEEPLE_SEGMENTS}

    def adjust_points(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        """§6.2, §6.3: Change the points of a road with an inn and of a city with a cathedral."""
        if feature.kind == "road" and "inn" in feature.marks:
            return 0 if feature.open else 2 * count_tiles(state, rules, feature)
        if feature.kind == "city" and "cathedral" in feature.marks:
            tiles = len(feature.tiles)  # no city is on both halves of a double tile
            return 0 if feature.open else 3 * (tiles + feature.marks.count("shield"))
        return points


BOX = InnsCathedrals()
