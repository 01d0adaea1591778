"""§6, Inns & Cathedrals: more for what is completed, nothing for what is not, and a meeple that counts as two."""

from __future__ import annotations

from engine.games.carcassonne.expansion import MEEPLE_PLACES, Box, Moment, Rules
from engine.games.carcassonne.state import Feature, State


class Inns(Box):
    """Inns, cathedrals and the large meeple."""

    option = "inns_cathedrals"
    title = "Inns & Cathedrals"
    about = "Inns, cathedrals and the large meeple, 18 tiles (§6)"
    supply = {"large": 1}
    strength = {"large": 2}
    followers = {"large": MEEPLE_PLACES}

    def worth(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        """§6.2, §6.3: an inn at the road, a cathedral in the city."""
        if feature.kind == "road" and "inn" in feature.marks:
            return 0 if feature.open else 2 * len(feature.tiles)
        if feature.kind == "city" and "cathedral" in feature.marks:
            return 0 if feature.open else 3 * (len(feature.tiles) + feature.marks.count("shield"))
        return points


BOX = Inns()
