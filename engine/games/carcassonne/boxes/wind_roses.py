"""§11, wind roses: three points for placing a quarter rose in its own quarter of the table."""

from __future__ import annotations

from msgspec.structs import replace

from engine.games.carcassonne.hooks import BoxHooks, Deck, Rules, mix_in_tiles
from engine.games.carcassonne.land import get_signs
from engine.games.carcassonne.state import Award, Part, State
from engine.games.carcassonne.tiles import START, parse_cell, rotate_sides

FIRST_ROSE = "WR4"
FULL_ROSE = "rose NWSE"
POINTS = 3


def find_quarter(state: State, cell: str) -> str:
    """Return the quarter that the rose on this cell names, such as `NE`; empty if there is no quarter rose."""
    signs = get_signs(state, cell)
    roses = [sign.removeprefix("rose ") for sign in signs if sign.startswith("rose ") and sign != FULL_ROSE]
    return roses[0] if roses else ""


def find_centre(state: State) -> str | None:
    """§11.2, §11.4: Return the cell of the full rose that was placed last; None without one."""
    return next((cell for cell in reversed(state.tiles) if FULL_ROSE in get_signs(state, cell)), None)


def is_in_quarter(state: State, cell: str, centre: str, quarter: str) -> bool:
    """§11.2: Whether a cell is in this quarter of the table; the row and column of the centre belong to both sides."""
    (x, y), (centre_x, centre_y) = parse_cell(cell), parse_cell(centre)
    is_beyond = {"N": y <= centre_y, "S": y >= centre_y, "W": x <= centre_x, "E": x >= centre_x}
    return all(is_beyond[side] for side in rotate_sides(quarter, state.tiles[centre].turn))


class WindRoses(BoxHooks):
    """Points for a tile in the right quarter."""

    option = "wind_roses"
    about = "Three points for a wind rose laid in its own quarter, 6 tiles (§11)"

    def mix_deck(self, deck: Deck) -> Deck:
        """§11.1: A full rose is the start tile, unless the river has another one."""
        mixed = mix_in_tiles(deck, self.option)
        if deck.start != START:
            return mixed
        bag = list(mixed.bags[-1])  # where the tiles of the box are
        bag.remove(FIRST_ROSE)
        return replace(mixed, start=FIRST_ROSE, bags=(*mixed.bags[:-1], tuple(bag)))

    def award_tile_placed(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """§11.3: Three points at once for a quarter rose in its quarter."""
        quarter, centre = find_quarter(state, part.cell), find_centre(state)
        if not quarter or not centre:
            return ()
        is_at_home = is_in_quarter(state, part.cell, centre, quarter)
        return (Award(state.turn, POINTS, "rose"),) if is_at_home else ()


BOX = WindRoses()
