"""§9, the River: the game begins with twelve tiles, from the spring to the lake."""

from __future__ import annotations

from collections.abc import Sequence

from engine.games.carcassonne.hooks import BoxHooks, Deck, Rules
from engine.games.carcassonne.state import State
from engine.games.carcassonne.tiles import PIECES, SIDES, Args, count_tiles_of, has_river_beside, list_neighbours

SPRING, LAKE = "R01", "R02"


class River(BoxHooks):
    """Twelve tiles that begin the game."""

    option = "river"
    about = "The game begins along a river of 12 tiles (§9)"

    def mix_deck(self, deck: Deck) -> Deck:
        """§9.1: Begin with the spring in place of the start tile; then draw the river tiles, then the lake."""
        between = [
            name for name, count in count_tiles_of("river").items() for _ in range(count) if name not in (SPRING, LAKE)
        ]
        return Deck(SPRING, (tuple(between), (LAKE,), *deck.bags))

    def filter_cells(self, state: State, rules: Rules, tile: str, options: Sequence[Args]) -> Sequence[Args]:
        """§9.2: A river tile continues the river, and does not turn it to the same side as the tile before."""
        if not PIECES[tile][0].rivers:
            return options
        return [
            (cell, turn)
            for cell, turn in options
            if has_river_beside(state.frontier[cell]) and not _turns_twice(state, tile, (cell, turn))
        ]


def _turns_twice(state: State, tile: str, args: Args) -> bool:
    """Whether the river would turn to the same side on this tile and on the tile before it."""
    cell, turn = args
    sides = PIECES[tile][int(turn)].rivers[0]
    for side, beyond in enumerate(list_neighbours(cell)):  # the river comes in at one of them
        tile_before = state.tiles.get(beyond)
        if tile_before is None or SIDES[side] not in sides:
            continue
        bend = _find_bend(sides, side)
        # On the tile before, this walks against the stream, so that the same bend has the opposite sign.
        bend_upstream = _find_bend(PIECES[tile_before.tile][tile_before.turn].rivers[0], (side + 2) % 4)
        return bend != 0 and bend == -bend_upstream
    return False


def _find_bend(sides: str, entry: int) -> int:
    """Return 1 if the way from the side `entry` along a river turns left, -1 for right, and 0 if it does not turn."""
    exits = [SIDES.index(side) for side in sides if side != SIDES[entry]]
    if not exits:
        return 0
    sides_on = (exits[0] - entry) % 4  # clockwise from the entry: 1 is to its left, 2 opposite, 3 to its right
    return {1: 1, 2: 0, 3: -1}[sides_on]


BOX = River()
