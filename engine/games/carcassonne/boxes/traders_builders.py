"""§7, Traders & Builders: goods for completing a city, a builder for double turns, a pig for the farm."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Moment, Rules
from engine.games.carcassonne.land import find_features_met
from engine.games.carcassonne.offers import can_place_tile
from engine.games.carcassonne.scoring import count_farm_cities, settle_figures
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Figure,
    Part,
    State,
    Task,
    TilePlaced,
    change_part,
    find_index_root,
    get_current_part,
    make_getter,
    pop_work,
    push_work,
    replace_top,
)
from engine.games.carcassonne.tiles import PIECES, Args, list_figure_options
from engine.menu import Choice, Menu, Move

GOODS = ("wine", "grain", "cloth")
MOST_GOODS_POINTS = 10
COMPANIONS = {"builder": frozenset({"road", "city"}), "pig": frozenset({"field"})}
"""The figures that join an own meeple, and where."""


class GoodsTaken(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat that completed a city took a token for every symbol in it."""

    seat: int
    feature: int
    goods: dict[str, int]


class BuilderRoused(Struct, frozen=True, omit_defaults=True, tag=True):
    """The tile extended a road or city with the seat's builder."""

    seat: int


class SecondTileOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """The builder allows the seat one more tile."""

    seat: int


class SecondTileTaken(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int


class SecondTileDeclined(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int


get_goods = make_getter("goods", tuple[dict[str, int], ...])
"""The goods of each seat."""


def apply_goods_taken(state: State, event: GoodsTaken) -> State:
    """Give the goods to the seat, and remove their symbols from the city, so that it gives them once."""
    feature = state.features[event.feature]
    marks = tuple(mark for mark in feature.marks if mark not in event.goods)
    goods = list(get_goods(state))
    goods[event.seat] = {good: number + event.goods.get(good, 0) for good, number in goods[event.seat].items()}
    return replace(state, features={**state.features, event.feature: replace(feature, marks=marks)}, goods=tuple(goods))


def apply_builder_roused(state: State, event: BuilderRoused) -> State:
    return change_part(state, extra=True)


def apply_second_tile_offered(state: State, event: SecondTileOffered) -> State:
    """Ask for the second tile; after it the first part goes on with its scoring, not with what follows its figure."""
    settled = settle_figures(change_part(state, extra=False))
    return push_work(settled, Task("second"))


def apply_second_tile_taken(state: State, event: SecondTileTaken) -> State:
    return replace_top(state, Part(kind="builder"))


def apply_second_tile_declined(state: State, event: SecondTileDeclined) -> State:
    return pop_work(state)


class TradersBuilders(BoxHooks):
    """Goods, the builder and the pig."""

    option = "traders_builders"
    title = "Traders & Builders"
    about = "Goods, the builder and the pig, 24 tiles (§7)"
    supply = {"builder": 1, "pig": 1}
    strength = {"builder": 0, "pig": 0}
    non_meeples = frozenset(COMPANIONS)
    state_fields = {"goods": (tuple[dict[str, int], ...], ())}
    view_fields = {"goods": (tuple[dict[str, int], ...], get_goods)}
    verbs = ("builder",)
    tasks = ("second",)
    events = {
        GoodsTaken: apply_goods_taken,
        BuilderRoused: apply_builder_roused,
        SecondTileOffered: apply_second_tile_offered,
        SecondTileTaken: apply_second_tile_taken,
        SecondTileDeclined: apply_second_tile_declined,
    }

    def prepare(self, state: State, rules: Rules) -> State:
        seat_count = len(state.track)
        return replace(state, goods=(dict.fromkeys(GOODS, 0),) * seat_count)

    def before_feature(self, state: State, rules: Rules, root: int, chance: Chance) -> GoodsTaken | None:
        """§7.2: Give the goods of a city to the seat on turn, which completed it."""
        marks = state.features[root].marks
        goods = {good: marks.count(good) for good in GOODS if good in marks}
        return GoodsTaken(state.turn, root, goods) if goods else None

    def offer_figures(self, state: State, rules: Rules, seat: int, part: Part) -> list[Args]:
        """§7.4, §7.6: Offer the builder and the pig where their owner has a meeple."""
        placed = state.tiles[part.cell]
        options = list[Args]()
        for kind, segments in COMPANIONS.items():
            if state.supply[seat][kind]:
                for index, args in list_figure_options(placed.tile, placed.turn, kind, segments):
                    feature = state.features[find_index_root(state, part.cell, index)]
                    if rules.select_meeples(feature.figures, seat):
                        options.append(args)
        return options

    def react_to_tile(self, state: State, rules: Rules, event: TilePlaced, chance: Chance) -> BuilderRoused | None:
        """§7.5: Note that a tile extends a feature with the own builder, unless it is the second tile of a turn."""
        if get_current_part(state).kind == "builder":
            return None
        for root in find_features_met(state, PIECES[event.tile][event.turn], event.cell):
            if any(figure.kind == "builder" and figure.seat == event.seat for figure in state.features[root].figures):
                return BuilderRoused(state.turn)
        return None

    def after_tile(self, state: State, rules: Rules, part: Part, chance: Chance) -> SecondTileOffered | None:
        """§7.5: Offer the second tile once the first one is dealt with, if that roused the builder."""
        was_roused = part.extra
        return SecondTileOffered(state.turn) if was_roused and can_place_tile(state, rules) else None

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        return (Choice("builder", (("build",), ("rest",)), "7.5"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        return [SecondTileTaken(seat) if move.args == ("build",) else SecondTileDeclined(seat)]

    def count_extra_points(self, state: State, rules: Rules, feature: Feature, seat: int, moment: Moment) -> int:
        """§7.6: One point more for every city of the farm for a seat with a pig there."""
        has_pig = any(figure.kind == "pig" and figure.seat == seat for figure in feature.figures)
        return count_farm_cities(state, rules, feature) if has_pig else 0

    def find_companions(self, state: State, rules: Rules, feature: Feature, figure: Figure) -> tuple[Figure, ...]:
        """§7.7: With the last meeple of a seat its builder or pig leaves the feature."""
        others = tuple(other for other in feature.figures if other != figure and other.seat == figure.seat)
        if rules.select_meeples(others, figure.seat):
            return ()
        return tuple(other for other in others if other.kind in COMPANIONS)

    def award_at_end(self, state: State, rules: Rules) -> tuple[Award, ...]:
        """§7.3: Ten points for the most of each kind of goods, for all seats that have as many."""
        awards, goods = list[Award](), get_goods(state)
        for good in GOODS:
            most = max(own[good] for own in goods)
            if most:
                awards += [Award(seat, MOST_GOODS_POINTS, good) for seat, own in enumerate(goods) if own[good] == most]
        return tuple(awards)


BOX = TradersBuilders()
