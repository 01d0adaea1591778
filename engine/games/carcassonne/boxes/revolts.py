"""§27, the peasant revolts: tiles that send meeples home when they are drawn, unless these are protected."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Rules
from engine.games.carcassonne.land import find_figure_root, find_token_root, read_figure, replace_figure, send_home
from engine.games.carcassonne.offers import list_free_segments
from engine.games.carcassonne.scoring import estimate_debt, find_all_companions
from engine.games.carcassonne.state import (
    Award,
    Figure,
    FigurePlaced,
    Part,
    State,
    add_note,
    apply_awards,
    count_tiles_left,
    find_figure,
    finish_figure_step,
    get_current_part,
    get_field,
    list_figures,
    list_seats_from_turn,
)
from engine.games.carcassonne.tiles import DATA, ROWS, count_tiles_of
from engine.menu import Choice, Move

PROTECT_NEW, PROTECT_OLD, REWARD = -4, -2, 2
"""The points for protecting a meeple now placed or already there, and those for one that is protected in a revolt."""

SAFE = "-safe"
"""The end of the token of a segment on which a meeple is placed protected."""

KINDS = ("city", "cloister", "road")
"""The kinds of features that revolts strike, in the order of the menu."""

UNSEEN_TILES: int = DATA["revolts_removed"]
"""How many tiles of this box are out of the game, unseen."""

REVOLT_TILES: dict[str, str] = {
    name: sign.split()[1]
    for name in count_tiles_of("revolts")
    for sign in ROWS[name].get("signs", ())
    if "revolt" in sign
}
"""The kind of feature that each tile strikes: its sign is such as `revolt city`."""

TILES_WAITED, REVOLT_LOSS, STRIKE_CHANCE = 8, 1.0, 0.55
"""For bots: how many tiles are drawn while a meeple waits, the points that it loses in a revolt, and the chance that a
revolt of its kind strikes its seat and is not over at an earlier one."""


class RevoltBroke(Struct, frozen=True, omit_defaults=True, tag=True):
    """A revolt struck the seats in turn until one of them lost figures; protected ones brought points."""

    kind: str
    awards: tuple[Award, ...] = ()
    figures: tuple[Figure, ...] = ()


class FigureProtected(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat paid points to protect this figure; `points` is below zero."""

    seat: int
    points: int
    figure: Figure


def apply_revolt_broke(state: State, event: RevoltBroke) -> State:
    """Send the figures home, pay for the protected ones, and note that the revolt is over."""
    state = send_home(add_note(state, _make_revolt_note(state)), event.figures)
    return apply_awards(state, event.awards)


def apply_figure_protected(state: State, event: FigureProtected) -> State:
    """Lay the figure down and charge its owner; the fairy stays beside it."""
    figure = replace(event.figure, protected=True)
    state = replace_figure(state, event.figure, figure)
    if get_field(state, "fairy") == event.figure:
        state = replace(state, fairy=figure)
    if get_current_part(state).step == "figure":  # placing a figure that is protected has ended this step already
        state = finish_figure_step(state)
    return apply_awards(state, (Award(event.seat, event.points, "protection"),))


def _make_revolt_note(state: State) -> str:
    """Return the note by which a part remembers that the revolt of its tile is over.

    A tile that fits nowhere is set aside, and another is drawn in the same turn: their number tells its tiles apart.
    """
    return f"revolt {len(state.aside)}"


def list_meeples_on(state: State, rules: Rules, seat: int, kind: str) -> list[Figure]:
    """§27.2: Return the meeples of a seat on features of this kind."""
    features = [feature for feature in state.features.values() if feature.figures and feature.kind == kind]
    return [figure for feature in features for figure in rules.select_meeples(feature.figures, seat)]


def strike(state: State, rules: Rules, kind: str) -> RevoltBroke:
    """§27.2, §27.3: Return the event of a revolt, which strikes the seats in turn until one of them loses a meeple."""
    awards: list[Award] = []
    for seat in list_seats_from_turn(state):
        figures = list_meeples_on(state, rules, seat, kind)
        safe = sum(figure.protected for figure in figures)
        if safe:
            awards.append(Award(seat, REWARD * safe, "revolt"))
        lost = [figure for figure in figures if not figure.protected]
        if lost:
            return RevoltBroke(kind, tuple(awards), (*lost, *find_all_companions(state, rules, lost)))
    return RevoltBroke(kind, tuple(awards))


def _is_struck(state: State, cell: str, segment: str) -> bool:
    """Whether a segment is of a kind that revolts strike; a bridge is a road."""
    return state.features[find_token_root(state, cell, segment)].kind in KINDS


class Revolts(BoxHooks):
    """Revolts, and meeples that are protected from them."""

    option = "revolts"
    title = "The Peasant Revolts"
    about = "Revolts that send meeples home, and points to protect them, 9 of 12 tiles (§27)"
    verbs = ("protect",)
    events = {RevoltBroke: apply_revolt_broke, FigureProtected: apply_figure_protected}
    point_events = {FigureProtected: "protection"}

    def prepare(self, state: State, rules: Rules) -> State:
        """§27.1: Three of the tiles are out of the game, and it is unknown which."""
        return replace(state, buried=state.buried + UNSEEN_TILES)

    def pick_tile(self, state: State, rules: Rules, bag: Sequence[str], chance: Chance) -> str | None:
        """§27.1: Pick a tile as if three random revolts had been removed from the bag.

        Of n revolts, n - 3 are then in the bag. So each revolt is written n - 3 times, and each other tile n times.
        """
        revolts = [tile for tile in bag if tile in REVOLT_TILES]
        if not revolts:
            return None
        others = [tile for tile in bag if tile not in REVOLT_TILES]
        return chance.pick("tile", others * len(revolts) + revolts * (len(revolts) - UNSEEN_TILES))

    def react_to_drawing(self, state: State, rules: Rules, part: Part, chance: Chance) -> RevoltBroke | None:
        """§27.2: A revolt breaks out as soon as its tile is drawn."""
        kind = REVOLT_TILES.get(part.tile)
        if kind is None or _make_revolt_note(state) in part.notes:
            return None
        return strike(state, rules, kind)

    def offer_instead_of_figure(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§27.4: Offer to place a meeple protected, or to protect one on the land instead."""
        new = [
            (kind, segment + SAFE)
            for kind, segment in list_free_segments(state, rules, part)
            if kind not in rules.non_meeples and _is_struck(state, part.cell, segment)
        ]
        own = [figure for kind in KINDS for figure in list_meeples_on(state, rules, seat, kind)]
        old = [(figure.place,) for figure in own if not figure.protected]
        options = (*new, *old)
        return Choice("protect", options, "27.4") if options else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§27.4: Protect the meeple at a place on the land, or place a new meeple protected."""
        if len(move.args) == 1:
            return [FigureProtected(seat, PROTECT_OLD, find_figure(state, move.args[0]))]
        kind, token = move.args
        figure = read_figure(state, seat, kind, token.removesuffix(SAFE))
        return [FigurePlaced(figure), FigureProtected(seat, PROTECT_NEW, figure)]

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return what protected meeples save and bring, by how many revolts of their kind may come, less for debts."""
        tiles_left, debt = count_tiles_left(state), estimate_debt(state, seat)
        if not tiles_left:
            return debt
        safe = [figure for figure in list_figures(state) if figure.protected and figure.seat == seat]
        return debt + sum(self._estimate_use_of_protection(state, figure, tiles_left) for figure in safe)

    def _estimate_use_of_protection(self, state: State, figure: Figure, tiles_left: int) -> float:
        """Return the points that a protected meeple can expect to save and to bring while it waits."""
        kind = state.features[find_figure_root(state, figure)].kind
        revolts_in_bags = sum(REVOLT_TILES.get(tile) == kind for bag in state.bags for tile in bag)
        share_drawn = min(1.0, TILES_WAITED / tiles_left)  # of the tiles that are left, while the meeple waits
        revolt_chance = min(1.0, revolts_in_bags * share_drawn)  # at most one revolt is counted
        return (REWARD + REVOLT_LOSS) * STRIKE_CHANCE * revolt_chance


BOX = Revolts()
