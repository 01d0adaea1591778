"""§16, shrines: cloisters of another faith, which compete with the one beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine.chance import Chance
from engine.games.carcassonne import scoring
from engine.games.carcassonne.board import PIECES, Args
from engine.games.carcassonne.expansion import Box, Rules
from engine.games.carcassonne.land import has_place, near_to, root_at, taken_back
from engine.games.carcassonne.state import Figure, State

SHRINE, CLOISTER = "shrine", "cloister"


class ChallengeLost(Struct, frozen=True, omit_defaults=True, tag=True):
    """The neighbour was finished first: these figures go home with nothing."""

    figures: tuple[Figure, ...]


def lost(state: State, event: ChallengeLost) -> State:
    return taken_back(state, event.figures)


def is_shrine(tile: str) -> bool:
    return any(SHRINE in segment.marks for segment in PIECES[tile][0].segments)


def is_holy(tile: str) -> bool:
    """Whether a tile has a cloister of any kind."""
    return CLOISTER in PIECES[tile][0].locals


def rivals(state: State, cell: str, shrine: bool) -> list[str]:
    """The cloisters round the cell of a shrine, or the shrines round that of a cloister."""
    beside = [near for near in near_to(cell)[1:] if has_place(state, near, CLOISTER)]
    return [near for near in beside if is_shrine(state.tiles[near].tile) != shrine]


class Shrines(Box):
    """Cloisters that are in one another's way."""

    option = "shrines"
    about = "Shrines, which challenge a cloister beside them, 6 tiles (§16)"
    events = {ChallengeLost: lost}

    def fitting(self, state: State, rules: Rules, tile: str, places: Sequence[Args]) -> Sequence[Args]:
        """§16.3: beside one of the other kind at most, and only if that one has none beside it yet."""
        if not is_holy(tile):
            return places
        shrine = is_shrine(tile)
        return [args for args in places if self._allowed(state, args[0], shrine)]

    def _allowed(self, state: State, cell: str, shrine: bool) -> bool:
        others = rivals(state, cell, shrine)
        return not others or (len(others) == 1 and not rivals(state, others[0], not shrine))

    def completed(self, state: State, rules: Rules, root: int, chance: Chance) -> ChallengeLost | None:
        """§16.4: who is finished first sends the other home."""
        feature = state.features[root]
        if feature.kind != CLOISTER or not scoring.taking_part(state, rules, feature, "scored"):
            return None
        cell = feature.figures[0].cell
        losers = tuple(self._losers(state, rules, rivals(state, cell, SHRINE in feature.marks)))
        return ChallengeLost(losers) if losers else None

    def _losers(self, state: State, rules: Rules, cells: Sequence[str]) -> Iterator[Figure]:
        for cell in cells:
            feature = state.features[root_at(state, cell, CLOISTER)]
            if feature.open:
                yield from scoring.taking_part(state, rules, feature, "scored")


BOX = Shrines()
