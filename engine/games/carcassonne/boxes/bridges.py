"""§23.2, bridges: each carries a road over a tile, the one in hand or one beside which that is then placed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Rules
from engine.games.carcassonne.land import find_token_root
from engine.games.carcassonne.offers import filter_places, list_places
from engine.games.carcassonne.state import (
    Feature,
    Part,
    PlacedTile,
    State,
    TileSetAside,
    add_note,
    change_part,
    get_current_part,
    make_getter,
    take_one,
)
from engine.games.carcassonne.tiles import (
    DATA,
    FITTING_TURNS,
    MOST_SEGMENTS,
    PIECES,
    ROAD_MINUS_FIELD,
    SIDE_WEIGHTS,
    SIDES,
    Args,
    list_bridge_axes,
    list_neighbours,
    name_bridged_tile,
    rotate_sides,
)
from engine.menu import Choice, Move

OPTION = "bridges_castles"
BRIDGES: dict[str, int] = DATA[OPTION]["bridges"]
"""How many bridges each seat has, by the number of seats."""

OVER_HAND, OVER_TILE, NO_BRIDGE = "hand-", "/bridge-", "aside"
"""What is in moves: `hand-NS` is a bridge over the tile in hand, `1,0/bridge-NS` one over the tile on a cell, and
`aside` builds none and sets the tile in hand aside."""
BRIDGE_NOTE = "bridge "
"""The beginning of the note that a bridge was built in this part, followed by the cell of its tile on the table."""

BRIDGE_IN_HAND = 0.7
"""The points that a bot expects of a bridge that it has left while all tiles are in the bag."""


class BridgeBuilt(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat put a bridge over the tile in its hand, or over the one on a cell; `tile` is its name from now on."""

    seat: int
    tile: str
    cell: str = ""


get_bridges_left = make_getter("bridges", tuple[int, ...])
"""How many bridges each seat has."""


def apply_bridge_built(state: State, event: BridgeBuilt) -> State:
    """Put a bridge of the seat over the tile on the cell of the event, or without a cell over the tile in hand."""
    state = replace(add_note(state, BRIDGE_NOTE + event.cell), bridges=take_one(get_bridges_left(state), event.seat))
    return _add_bridge(state, event.cell, event.tile) if event.cell else change_part(state, tile=event.tile)


def _add_bridge(state: State, cell: str, tile: str) -> State:
    """Put a bridge over the tile on a cell, between two empty cells: a new road on this tile, now called `tile`."""
    placed = state.tiles[cell]
    old, new = PIECES[placed.tile][placed.turn], PIECES[tile][placed.turn]
    frontier = state.frontier.copy()
    for side, beyond in enumerate(list_neighbours(cell)):
        if new.codes[side] != old.codes[side]:  # at the two ends of the bridge, whose cells are in the frontier
            frontier[beyond] += new.codes[side] - old.codes[side]
    index, segment, open_ends = new.built_segments[-1]  # the bridge comes after all that is printed
    tile_number = placed.first // MOST_SEGMENTS
    bridge = Feature("road", open_ends, (tile_number,), segment.marks)
    features = {**state.features, placed.first + index: bridge}
    tiles = {**state.tiles, cell: PlacedTile(tile, placed.turn, placed.first)}
    return replace(state, tiles=tiles, frontier=frontier, features=features)


def find_bridge(part: Part) -> str | None:
    """Return the cell of the bridge that was built in this part, empty if it is over its own tile; None without one."""
    for note in part.notes:
        if note.startswith(BRIDGE_NOTE):
            return note.removeprefix(BRIDGE_NOTE)
    return None


def find_sites(state: State) -> Iterator[tuple[str, str]]:
    """§23.2: Yield the cells of tiles on the table with the axes along which a bridge leads to two empty cells."""
    for cell, placed in state.tiles.items():
        for axis in list_bridge_axes(placed.tile):
            axis_on_table = rotate_sides(axis, placed.turn)
            ends = [beyond for side, beyond in zip(SIDES, list_neighbours(cell), strict=True) if side in axis_on_table]
            if state.tiles.keys().isdisjoint(ends) and not _carries_acrobats(state, cell):
                yield cell, axis_on_table


def _carries_acrobats(state: State, cell: str) -> bool:
    """Whether there are figures of the circus on a tile."""
    placed = state.tiles[cell]
    has_stage = "acrobats" in PIECES[placed.tile][0].indexes
    return has_stage and bool(state.features[find_token_root(state, cell, "acrobats")].figures)


def fits_beside(state: State, rules: Rules, tile: str, site: tuple[str, str]) -> bool:
    """Whether a tile in hand fits beside a tile on the table as soon as the latter has a bridge.

    `site` is the cell of the tile on the table, and the axis of the bridge.
    """
    cell, axis = site
    options: list[Args] = []
    for side, beyond in enumerate(list_neighbours(cell)):
        if beyond in state.frontier:
            surroundings = state.frontier[beyond]
            if SIDES[side] in axis:  # the edge between the two cells is a field now, and a road under the bridge
                side_of_beyond = side - 2  # the opposite one
                surroundings += ROAD_MINUS_FIELD * SIDE_WEIGHTS[side_of_beyond]
            options += [(beyond, turn) for turn in FITTING_TURNS[tile][surroundings]]
    return bool(filter_places(state, rules, tile, options))


class Bridges(BoxHooks):
    """Bridges, and the tiles of the whole box."""

    option = OPTION
    title = "Bridges, Castles and Bazaars"
    about = "Bridges for roads, small cities that become castles, and auctions of tiles, 12 tiles (§23)"
    state_fields = {"bridges": (tuple[int, ...], ())}
    view_fields = {"bridges": (tuple[int, ...], get_bridges_left)}
    verbs = ("bridge",)
    events = {BridgeBuilt: apply_bridge_built}

    def prepare(self, state: State, rules: Rules) -> State:
        seats = len(state.track)
        return replace(state, bridges=(BRIDGES[str(seats)],) * seats)

    def offer_besides(self, state: State, rules: Rules, part: Part) -> Choice | None:
        """§23.2: Offer a bridge before the tile is placed, once for each tile."""
        options = self._list_options(state, rules, part) if part.step == "place" else []
        return Choice("bridge", tuple(options), "23.2") if options else None

    def offer_for_unfit_tile(self, state: State, rules: Rules, part: Part) -> Choice | None:
        """§23.3: Offer a bridge for a tile that fits nowhere without one, or to set that tile aside."""
        options = self._list_options(state, rules, part)
        return Choice("bridge", (*options, (NO_BRIDGE,)), "23.3") if options else None

    def _list_options(self, state: State, rules: Rules, part: Part) -> list[Args]:
        """Return the bridges that the seat can build: over its tile in hand, or over one beside which it then fits."""
        if not get_bridges_left(state)[state.turn] or find_bridge(part) is not None:
            return []
        options = list[Args]()
        for axis in list_bridge_axes(part.tile):
            if list_places(state, rules, name_bridged_tile(part.tile, axis)):
                options.append((OVER_HAND + axis,))
        for cell, axis in find_sites(state):
            if fits_beside(state, rules, part.tile, (cell, axis)):
                options.append((cell + OVER_TILE + axis,))
        return options

    def filter_cells(self, state: State, rules: Rules, tile: str, options: Sequence[Args]) -> Sequence[Args]:
        """§23.2: The tile in hand goes beside the tile on the table that got a bridge for it.

        In other steps than `place` there is none in hand: the options are for an abbey, which the bridge does not bind.
        """
        part = state.work[-1]
        if not isinstance(part, Part) or part.step != "place":
            return options
        bridge_cell = find_bridge(part)
        if not bridge_cell:  # there is no bridge, or it is over the tile itself
            return options
        return [(cell, turn) for cell, turn in options if cell in list_neighbours(bridge_cell)]

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§23.2, §23.3: Build a bridge over the tile in hand or over one on the table, or set the former aside."""
        word = move.args[0]
        tile = get_current_part(state).tile
        if word == NO_BRIDGE:
            return [TileSetAside(seat, tile)]
        if word.startswith(OVER_HAND):
            return [BridgeBuilt(seat, name_bridged_tile(tile, word.removeprefix(OVER_HAND)))]
        cell, _, axis_on_table = word.partition(OVER_TILE)
        placed = state.tiles[cell]
        axes = list_bridge_axes(placed.tile)  # of the unturned tile, by which its name tells the bridge
        axis = next(one for one in axes if rotate_sides(one, placed.turn) == axis_on_table)
        return [BridgeBuilt(seat, name_bridged_tile(placed.tile, axis), cell)]

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return what the bridges in hand are worth by the tiles that are still to come."""
        tiles_left = sum(map(len, state.bags))
        return BRIDGE_IN_HAND * get_bridges_left(state)[seat] * tiles_left / (tiles_left + len(state.tiles))


BOX = Bridges()
