"""§17, special monasteries: a meeple stands there as a monk, or lies there as an abbot."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from engine.games.carcassonne.board import Args, near
from engine.games.carcassonne.expansion import Box, Deck, Moment, Rules, mixed_in
from engine.games.carcassonne.land import has_place, root_at
from engine.games.carcassonne.state import Feature, Figure, Part, State

SPECIAL, LYING = "special", "lying"
REPLACED = ("A", "B")
UPRIGHT_ONLY = frozenset({"wagon"})


def row_and_column(state: State, cell: str) -> int:
    """§17.3: the tile itself and those that follow it without a gap in all four directions."""
    return 1 + sum(_line(state, cell, side) for side in range(4))


def _line(state: State, cell: str, side: int) -> int:
    count, beyond = 0, near(cell)[side]
    while beyond in state.tiles:
        count, beyond = count + 1, near(beyond)[side]
    return count


def lies(feature: Feature) -> bool:
    return bool(feature.figures) and feature.figures[0].way == LYING


class Monasteries(Box):
    """Cloisters with two ways to stay in them."""

    option = "monasteries"
    about = "Special monasteries in place of the cloisters of the base game, 6 tiles (§17)"

    def deck(self, deck: Deck) -> Deck:
        """§17.1: they take the place of the cloisters of the base game."""
        bag = tuple(tile for tile in deck.bags[-1] if tile not in REPLACED)
        return mixed_in(replace(deck, bags=(*deck.bags[:-1], bag)), self.option)

    def deploy(self, state: State, rules: Rules, seat: int, part: Part) -> Sequence[Args]:
        """§17.2: whoever may stand there may lie there instead."""
        if not has_place(state, part.cell, "cloister"):
            return ()
        feature = state.features[root_at(state, part.cell, "cloister")]
        if SPECIAL not in feature.marks or feature.figures:
            return ()
        kinds = [kind for kind, where in rules.followers.items() if "cloister" in where and kind not in UPRIGHT_ONLY]
        return [(kind, f"cloister-{LYING}") for kind in kinds if state.supply[seat][kind]]

    def taking_part(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Figure, ...] | None:
        """§17.3: who lies there is not scored before the end."""
        return () if moment == "scored" and feature.kind == "cloister" and lies(feature) else None

    def worth(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        if feature.kind != "cloister" or not lies(feature):
            return points
        return row_and_column(state, feature.figures[0].cell)


BOX = Monasteries()
