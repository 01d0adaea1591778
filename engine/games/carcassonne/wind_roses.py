"""§11, wind roses: three points for whoever lays a quarter rose where it belongs."""

from __future__ import annotations

from msgspec.structs import replace

from engine.games.carcassonne.board import SIDES, START, at
from engine.games.carcassonne.expansion import Box, Deck, Rules, mixed_in
from engine.games.carcassonne.land import signs_at
from engine.games.carcassonne.state import Award, Part, State

FIRST = "WR4"
FULL = "rose NWSE"
POINTS = 3


def quarter(state: State, cell: str) -> str:
    """The section that the quarter rose on this cell names, or nothing."""
    roses = [sign.removeprefix("rose ") for sign in signs_at(state, cell) if sign.startswith("rose ") and sign != FULL]
    return roses[0] if roses else ""


def centre(state: State) -> str | None:
    """§11.2, §11.4: the cell of the full rose that was laid last."""
    return next((cell for cell in reversed(state.tiles) if FULL in signs_at(state, cell)), None)


def in_section(state: State, cell: str, full: str, section: str) -> bool:
    """§11.2: whether a cell lies there; the row and the column of the full rose belong to both sides."""
    turned = state.tiles[full].turn // 90
    (x, y), (cx, cy) = at(cell), at(full)
    sides = {SIDES[(SIDES.index(side) + turned) % 4] for side in section}
    return all({"N": y <= cy, "S": y >= cy, "W": x <= cx, "E": x >= cx}[side] for side in sides)


class WindRoses(Box):
    """Points for a tile that lies in the right quarter."""

    option = "wind_roses"
    about = "Three points for a wind rose laid in its own quarter, 6 tiles (§11)"

    def deck(self, deck: Deck) -> Deck:
        """§11.1: a full rose is the start tile, unless the river takes that place."""
        mixed = mixed_in(deck, self.option)
        if deck.start != START:
            return mixed
        bag = list(mixed.bags[-1])
        bag.remove(FIRST)
        return replace(mixed, start=FIRST, bags=(*mixed.bags[:-1], tuple(bag)))

    def tile_laid(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """§11.3: three points at once, in a scoring round of their own."""
        section, full = quarter(state, part.cell), centre(state)
        right = section and full and in_section(state, part.cell, full, section)
        return (Award(state.turn, POINTS, "rose"),) if right else ()


BOX = WindRoses()
