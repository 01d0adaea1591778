"""§16, shrines: cloisters of another kind, which compete with a cloister around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine.chance import Chance
from engine.games.carcassonne import scoring
from engine.games.carcassonne.hooks import BoxHooks, Rules
from engine.games.carcassonne.land import find_segment_cell, find_token_root, has_segment, send_home
from engine.games.carcassonne.state import Figure, State
from engine.games.carcassonne.tiles import PIECES, Args, list_cells_around

SHRINE, CLOISTER = "shrine", "cloister"


class ChallengeLost(Struct, frozen=True, omit_defaults=True, tag=True):
    """The cloister or shrine beside it was completed first: these figures go home without points."""

    figures: tuple[Figure, ...]


def apply_challenge_lost(state: State, event: ChallengeLost) -> State:
    return send_home(state, event.figures)


def has_shrine(tile: str) -> bool:
    """Whether a tile has a shrine."""
    return any(SHRINE in segment.marks for segment in PIECES[tile][0].segments)


def has_cloister(tile: str) -> bool:
    """Whether a tile has a cloister of any kind, a shrine too."""
    return CLOISTER in PIECES[tile][0].indexes


def find_rivals(state: State, cell: str, is_shrine: bool) -> list[str]:
    """Return the cells of the cloisters around a cell with a shrine, or of the shrines around one with a cloister."""
    beside = [one for one in list_cells_around(cell) if has_segment(state, one, CLOISTER)]
    return [one for one in beside if has_shrine(state.tiles[one].tile) != is_shrine]


class Shrines(BoxHooks):
    """Cloisters that challenge each other."""

    option = "shrines"
    about = "Shrines, which challenge a cloister beside them, 6 tiles (§16)"
    events = {ChallengeLost: apply_challenge_lost}

    def filter_cells(self, state: State, rules: Rules, tile: str, options: Sequence[Args]) -> Sequence[Args]:
        """§16.3: A shrine may have at most one cloister around it, and a cloister at most one shrine."""
        if not has_cloister(tile):
            return options
        is_shrine = has_shrine(tile)
        return [(cell, turn) for cell, turn in options if self._is_allowed(state, cell, is_shrine)]

    def _is_allowed(self, state: State, cell: str, is_shrine: bool) -> bool:
        """Whether there is no rival around a cell, or a single rival without another one around it."""
        rivals = find_rivals(state, cell, is_shrine)
        if not rivals:
            return True
        if len(rivals) > 1:
            return False
        (rival,) = rivals
        return not find_rivals(state, rival, not is_shrine)

    def before_feature(self, state: State, rules: Rules, root: int, chance: Chance) -> ChallengeLost | None:
        """§16.4: Before the figures of a cloister or shrine are scored, send those of its unfinished rivals home."""
        feature = state.features[root]
        if feature.kind != CLOISTER or not scoring.select_figures(state, rules, feature, "scored"):
            return None
        rivals = find_rivals(state, find_segment_cell(state, root), is_shrine=SHRINE in feature.marks)
        losers = tuple(self._find_losers(state, rules, rivals))
        return ChallengeLost(losers) if losers else None

    def _find_losers(self, state: State, rules: Rules, rival_cells: Sequence[str]) -> Iterator[Figure]:
        """Yield the figures of the unfinished rivals."""
        for cell in rival_cells:
            feature = state.features[find_token_root(state, cell, CLOISTER)]
            if feature.open:
                yield from scoring.select_figures(state, rules, feature, "scored")


BOX = Shrines()
