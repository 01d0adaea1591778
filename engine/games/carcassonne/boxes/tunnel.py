"""§29, the tunnel: two tokens of a pair join the roads that end at two openings, however far apart they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Rules
from engine.games.carcassonne.land import find_token_root
from engine.games.carcassonne.state import (
    Feature,
    Part,
    State,
    Task,
    add_note,
    change_part,
    get_current_part,
    has_note_in_first_part,
    make_getter,
    pop_work,
    push_work,
)
from engine.games.carcassonne.tiles import DATA, PIECES, TUNNEL, count_tiles_of
from engine.menu import Choice, Menu, Move

PAIRS: dict[str, int] = DATA["tunnel_pairs"]
"""How many pairs of tokens each seat has, by the number of seats; with more seats it is one."""

TILES = frozenset(count_tiles_of("tunnel"))
PAIR_NAMES = ("first", "second", "third")
OFFER_NOTE, DIG_NOTE = "tunnel", "tunnel dug"
USE_OF_OPENING = 0.35
"""For bots: the chance that an opening gets its tunnel."""

Tunnels = dict[str, tuple[int, str]]
"""The seat and the pair of the token on each opening, by its place."""


class TunnelOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat may place a token of a tunnel."""

    seat: int


class TunnelDug(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat placed a token; if it is the second of its pair, the tunnel leads to the place `other`."""

    seat: int
    place: str
    pair: str
    other: str = ""


class TunnelDeferred(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat placed no token."""

    seat: int


get_tunnels = make_getter("tunnels", Tunnels)
"""The tokens on openings."""


def apply_tunnel_offered(state: State, event: TunnelOffered) -> State:
    return push_work(add_note(state, OFFER_NOTE), Task("tunnel"))


def apply_tunnel_deferred(state: State, event: TunnelDeferred) -> State:
    """Leave the tunnel without a token."""
    return pop_work(state)


def apply_tunnel_dug(state: State, event: TunnelDug) -> State:
    """Place the token; the second of a pair joins two roads into one, or two ends of one, which may complete it."""
    state = add_note(pop_work(state), DIG_NOTE)
    state = replace(state, tunnels={**get_tunnels(state), event.place: (event.seat, event.pair)})
    if not event.other:
        return state
    road = _find_road(state, event.place)
    state = _join_ends(state, road, _find_road(state, event.other))  # the other road becomes part of this one
    if state.features[road].open:
        return state
    return change_part(state, done=(*get_current_part(state).done, road))


def _find_road(state: State, place: str) -> int:
    """Return the road that ends at the opening at this place."""
    cell, token = place.split("/")
    return find_token_root(state, cell, token)


def _join_ends(state: State, one: int, other: int) -> State:
    """Join an open end of each of two roads, or two of the same one; the first one gets all of the other."""
    features = state.features.copy()
    parents = state.parents
    feature = features[one]
    if one != other:
        merged = features.pop(other)
        parents = {**parents, other: one}
        feature = Feature(
            kind=feature.kind,
            open=feature.open + merged.open,
            tiles=tuple(sorted({*feature.tiles, *merged.tiles})),
            marks=feature.marks + merged.marks,
            figures=feature.figures + merged.figures,
        )
    features[one] = replace(feature, open=feature.open - 2)  # both joined ends are closed
    return replace(state, features=features, parents=parents)


def find_openings(state: State) -> Iterator[str]:
    """§29.2: Yield the places of the openings without a token."""
    taken = get_tunnels(state)
    for cell, placed in state.tiles.items():
        if placed.tile not in TILES:
            continue
        piece = PIECES[placed.tile][placed.turn]
        places = (f"{cell}/{one.token}" for one in piece.segments if TUNNEL in one.marks)
        yield from (place for place in places if place not in taken)


def find_partner(state: State, seat: int, pair: str) -> str:
    """Return the place of the token of this pair that is placed; empty if there is none."""
    return next((place for place, token in get_tunnels(state).items() if token == (seat, pair)), "")


def list_pairs(state: State, seat: int) -> list[str]:
    """§29.2: Return the pairs of which a seat can place a token: those with one placed, and the next with none."""
    own = [pair for owner, pair in get_tunnels(state).values() if owner == seat]
    names = PAIR_NAMES[: PAIRS.get(str(len(state.track)), 1)]
    half_placed = [name for name in names if own.count(name) == 1]
    unused = [name for name in names if name not in own]
    return half_placed + unused[:1]


class Tunnel(BoxHooks):
    """Roads with openings, and tokens that join them."""

    option = "tunnel"
    title = "The Tunnel"
    about = "Tunnels that join roads far apart, 4 tiles (§29)"
    state_fields = {"tunnels": (Tunnels, {})}
    view_fields = {"tunnels": (Tunnels, get_tunnels)}
    verbs = ("tunnel",)
    tasks = ("tunnel",)
    events = {
        TunnelOffered: apply_tunnel_offered,
        TunnelDug: apply_tunnel_dug,
        TunnelDeferred: apply_tunnel_deferred,
    }

    def after_figure(self, state: State, rules: Rules, part: Part, chance: Chance) -> TunnelOffered | None:
        """§29.2, §29.3: Offer a token after the figure, once for a tile, and not again once one is placed in a turn."""
        was_offered = OFFER_NOTE in part.notes or has_note_in_first_part(state, DIG_NOTE)
        if was_offered or not list_pairs(state, state.turn) or not any(find_openings(state)):
            return None
        return TunnelOffered(state.turn)

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        """§29.2: Offer each free opening with each pair of which the seat has a token, or to wait."""
        pairs = list_pairs(state, seat)
        options = ((place, pair) for place in find_openings(state) for pair in pairs)
        return (Choice("tunnel", (*options, ("later",)), "29.2"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§29.2: Place a token of a pair on an opening, or none now."""
        if move.args == ("later",):
            return [TunnelDeferred(seat)]
        place, pair = move.args
        return [TunnelDug(seat, place, pair, find_partner(state, seat, pair))]

    def estimate_completion(self, state: State, root: int) -> float:
        """Return the chance that all free openings of a road get their tunnels."""
        tunnels = get_tunnels(state).items()
        tokens = [token for place, token in tunnels if _find_road(state, place) == root]
        in_whole_tunnels = [token for token in tokens if tokens.count(token) == 2]  # both tokens of the pair
        free = state.features[root].marks.count(TUNNEL) - len(in_whole_tunnels)
        return float(USE_OF_OPENING**free)


BOX = Tunnel()
