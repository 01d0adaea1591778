"""§28.1, §30.1, §32.1: Blocks of tiles that take the place of the start tile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from engine.games.carcassonne.hooks import BoxHooks, Deck
from engine.games.carcassonne.land import find_figure_root, iter_segments
from engine.games.carcassonne.state import Feature, Options, State, TilePlaced
from engine.games.carcassonne.tiles import DATA
from engine.refusal import Refused

BEGINNINGS = ("river", "wind_roses", "school", "wheel", "count", "leipzig")
"""The options that change where the land begins; a block goes with none of the others."""


def load_cells(box: str) -> dict[str, str]:
    """Return the cell of each tile of a block."""
    return {name: row["cell"] for name, row in DATA["tiles"][box].items()}


def is_at_wall(state: State, farm: Feature, cells: Iterable[str]) -> bool:
    """Whether a farm is on one of these cells of a city.

    `farm` is a feature of the state, or a copy of one with fewer figures. The place of a figure tells which it is; a
    farm without figures is never a copy.
    """
    farms = {root for cell in cells for segment, root in iter_segments(state, cell) if segment.kind == "field"}
    if farm.figures:
        return find_figure_root(state, farm.figures[0]) in farms
    return any(state.features[root] is farm for root in farms)


class StartBlock(BoxHooks):
    """A box whose block of tiles, each on its cell, takes the place of the start tile.

    The tile `start` lies at 0,0. The refusal `clash` explains that the block does not go with another beginning.
    """

    start: str
    cells: Mapping[str, str]
    clash: Refused

    def objection(self, options: Options) -> Refused | None:
        """Refuse another beginning beside the block."""
        others = (other for other in BEGINNINGS if other != self.option)
        return self.clash if any(getattr(options, other) for other in others) else None

    def mix_deck(self, deck: Deck) -> Deck:
        """Place the block instead of the start tile."""
        beside = tuple(TilePlaced(name, cell) for name, cell in self.cells.items() if name != self.start)
        return replace(deck, start=self.start, beside=(*deck.beside, *beside))
