"""§17, special monasteries: a meeple is placed upright as in a cloister, or lies there until the end."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from engine.games.carcassonne.hooks import BoxHooks, Deck, Moment, Rules, mix_in_tiles
from engine.games.carcassonne.land import find_token_root, has_segment
from engine.games.carcassonne.state import Feature, Figure, Part, State
from engine.games.carcassonne.tiles import Args, list_neighbours

SPECIAL_MARK, LYING_WAY = "special", "lying"
REPLACED_TILES = ("A", "B")
UPRIGHT_ONLY = frozenset({"wagon"})


def count_row_and_column(state: State, cell: str) -> int:
    """§17.3: Count the tile itself and the unbroken lines of tiles from it in all four directions."""
    return 1 + sum(_count_line(state, cell, side) for side in range(4))


def _count_line(state: State, cell: str, side: int) -> int:
    """Count the tiles from a cell on towards this side, up to the first gap, without the one on the cell."""
    count = 0
    beyond = list_neighbours(cell)[side]
    while beyond in state.tiles:
        count += 1
        beyond = list_neighbours(beyond)[side]
    return count


def has_lying_figure(feature: Feature) -> bool:
    """Whether the figure on a cloister lies."""
    return bool(feature.figures) and feature.figures[0].way == LYING_WAY


class Monasteries(BoxHooks):
    """Cloisters with two ways to stay in them."""

    option = "monasteries"
    about = "Special monasteries in place of the cloisters of the base game, 6 tiles (§17)"

    def mix_deck(self, deck: Deck) -> Deck:
        """§17.1: Put the special monasteries in place of the cloisters of the base game, which are in the last bag."""
        bag = tuple(tile for tile in deck.bags[-1] if tile not in REPLACED_TILES)
        return mix_in_tiles(replace(deck, bags=(*deck.bags[:-1], bag)), self.option)

    def offer_figures(self, state: State, rules: Rules, seat: int, part: Part) -> Sequence[Args]:
        """§17.2: Offer to place each figure lying, too, except the wagon."""
        if not has_segment(state, part.cell, "cloister"):
            return ()
        feature = state.features[find_token_root(state, part.cell, "cloister")]
        if SPECIAL_MARK not in feature.marks or feature.figures:
            return ()
        kinds = [kind for kind, where in rules.segments.items() if "cloister" in where and kind not in UPRIGHT_ONLY]
        return [(kind, f"cloister-{LYING_WAY}") for kind in kinds if state.supply[seat][kind]]

    def select_figures(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Figure, ...] | None:
        """§17.3: Return no figure for a completed cloister whose figure lies there until the end; None otherwise."""
        if moment != "scored" or feature.kind != "cloister" or not has_lying_figure(feature):
            return None
        return ()

    def adjust_points(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        """§17.3, §17.4: A lying figure counts its row and column."""
        if feature.kind != "cloister" or not has_lying_figure(feature):
            return points
        return count_row_and_column(state, feature.figures[0].cell)


BOX = Monasteries()
