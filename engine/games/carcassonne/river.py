"""§9, the River: the first twelve tiles let it flow from its spring to its lake."""

from __future__ import annotations

from collections.abc import Sequence

from engine.games.carcassonne.board import PIECES, SIDES, Args, by_water, near, tiles_of
from engine.games.carcassonne.expansion import Box, Deck, Rules
from engine.games.carcassonne.state import State

SPRING, LAKE = "R01", "R02"


class River(Box):
    """Twelve tiles that begin the game."""

    option = "river"
    about = "The game begins along a river of 12 tiles (§9)"

    def deck(self, deck: Deck) -> Deck:
        """§9.1: the spring is the start tile, the lake comes last; the base game's start tile stays in the box."""
        between = [
            name for name, count in tiles_of("river").items() for _ in range(count) if name not in (SPRING, LAKE)
        ]
        return Deck(SPRING, (tuple(between), (LAKE,), *deck.bags))

    def fitting(self, state: State, rules: Rules, tile: str, places: Sequence[Args]) -> Sequence[Args]:
        """§9.2: a river tile goes on with the river and does not make it turn back at once."""
        if not PIECES[tile][0].rivers:
            return places
        return [args for args in places if by_water(state.frontier[args[0]]) and not _turns_back(state, tile, args)]


def _turns_back(state: State, tile: str, args: Args) -> bool:
    cell, turn = args
    bed = PIECES[tile][int(turn)].rivers[0]
    for side, beyond in enumerate(near(cell)):
        other = state.tiles.get(beyond)
        if other is None or SIDES[side] not in bed:
            continue
        bend = _bend(bed, side)
        upstream = PIECES[other.tile][other.turn].rivers[0]
        return bend != 0 and bend == -_bend(upstream, (side + 2) % 4)
    return False


def _bend(bed: str, end: int) -> int:
    """How the river leaves, seen from one end of its bed: 0 straight on or not at all, 1 or -1 to the sides."""
    others = [SIDES.index(side) for side in bed if side != SIDES[end]]
    return 0 if not others else {1: 1, 3: -1}.get((others[0] - end) % 4, 0)


BOX = River()
