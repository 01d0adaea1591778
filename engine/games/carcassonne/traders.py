"""§7, Traders & Builders: goods for whoever completes a city, a builder for double turns, a pig for the farm."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.board import PIECES, Args, spots
from engine.games.carcassonne.expansion import Box, Moment, Rules, can_lay
from engine.games.carcassonne.land import met
from engine.games.carcassonne.scoring import servings
from engine.games.carcassonne.state import (
    Award,
    Errand,
    Feature,
    Figure,
    Part,
    State,
    TilePlaced,
    feature_at,
    on_top,
    part_of,
    slot,
)
from engine.menu import Choice, Menu, Move

GOODS = ("wine", "grain", "cloth")
MOST_OF_A_KIND = 10
COMPANIONS = {"builder": frozenset({"road", "city"}), "pig": frozenset({"field"})}


class GoodsTaken(Struct, frozen=True, omit_defaults=True, tag=True):
    """Whoever completes a city takes a token for every symbol in it."""

    seat: int
    feature: int
    goods: dict[str, int]


class BuilderRoused(Struct, frozen=True, omit_defaults=True, tag=True):
    """The tile went on with a road or city of the own builder."""

    seat: int


class SecondTileOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """The builder allows one more tile."""

    seat: int


class SecondTileTaken(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int


class SecondTileDeclined(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int


def goods_of(state: State) -> tuple[dict[str, int], ...]:
    """The goods of every seat."""
    goods: tuple[dict[str, int], ...] = slot(state, "goods")
    return goods


def goods_taken(state: State, event: GoodsTaken) -> State:
    feature = state.features[event.feature]
    marks = tuple(mark for mark in feature.marks if mark not in event.goods)
    goods = list(goods_of(state))
    goods[event.seat] = {good: number + event.goods.get(good, 0) for good, number in goods[event.seat].items()}
    return replace(state, features={**state.features, event.feature: replace(feature, marks=marks)}, goods=tuple(goods))


def roused(state: State, event: BuilderRoused) -> State:
    return replace(state, work=on_top(state, replace(part_of(state), extra=True)))


def offered(state: State, event: SecondTileOffered) -> State:
    part = replace(part_of(state), extra=False)
    return replace(state, work=(*on_top(state, part), Errand("second")))


def taken(state: State, event: SecondTileTaken) -> State:
    return replace(state, work=on_top(state, Part(kind="builder")))


def declined(state: State, event: SecondTileDeclined) -> State:
    return replace(state, work=state.work[:-1])


class Traders(Box):
    """Goods, the builder and the pig."""

    option = "traders_builders"
    title = "Traders & Builders"
    about = "Goods, the builder and the pig, 24 tiles (§7)"
    supply = {"builder": 1, "pig": 1}
    strength = {"builder": 0, "pig": 0}
    bystanders = frozenset(COMPANIONS)
    slots = {"goods": (tuple[dict[str, int], ...], ())}
    shows = {"goods": (tuple[dict[str, int], ...], goods_of)}
    verbs = ("builder",)
    steps = ("second",)
    events = {
        GoodsTaken: goods_taken,
        BuilderRoused: roused,
        SecondTileOffered: offered,
        SecondTileTaken: taken,
        SecondTileDeclined: declined,
    }

    def begun(self, state: State, rules: Rules) -> State:
        return replace(state, goods=(dict.fromkeys(GOODS, 0),) * len(state.track))

    def completed(self, state: State, rules: Rules, root: int, chance: Chance) -> GoodsTaken | None:
        """§7.2: goods go to the seat that completed the city, whoever owns it."""
        marks = state.features[root].marks
        goods = {good: marks.count(good) for good in GOODS if good in marks}
        return GoodsTaken(state.turn, root, goods) if goods else None

    def deploy(self, state: State, rules: Rules, seat: int, part: Part) -> list[Args]:
        """§7.4, §7.6: the builder and the pig go where their owner has a meeple already."""
        laid = state.tiles[part.cell]
        return [
            args
            for kind, where in COMPANIONS.items()
            if state.supply[seat][kind]
            for place, args in spots(laid.tile, laid.turn, kind, where)
            if rules.meeples(state.features[feature_at(state, part.cell, place)].figures, seat)
        ]

    def joining(self, state: State, rules: Rules, event: TilePlaced, chance: Chance) -> BuilderRoused | None:
        """§7.5: judged when the tile is placed, and never in the second part of a double turn."""
        if part_of(state).kind == "builder":
            return None
        for root in met(state, PIECES[event.tile][event.turn], event.cell):
            if any(figure.kind == "builder" and figure.seat == event.seat for figure in state.features[root].figures):
                return BuilderRoused(state.turn)
        return None

    def after(self, state: State, rules: Rules, part: Part, chance: Chance) -> SecondTileOffered | None:
        return SecondTileOffered(state.turn) if part.extra and can_lay(state, rules) else None

    def menu(self, state: State, rules: Rules, seat: int, errand: Errand) -> Menu:
        return (Choice("builder", (("build",), ("rest",)), "7.5"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        return [SecondTileTaken(seat) if move.args == ("build",) else SecondTileDeclined(seat)]

    def more(self, state: State, rules: Rules, feature: Feature, seat: int, moment: Moment) -> int:
        """§7.6: with a pig of its own a seat gets one point more for every city of the farm."""
        pig = any(figure.kind == "pig" and figure.seat == seat for figure in feature.figures)
        return servings(state, rules, feature) if pig else 0

    def escort(self, state: State, rules: Rules, feature: Feature, figure: Figure) -> tuple[Figure, ...]:
        """§7.7: with its owner's last meeple the builder or pig leaves a feature."""
        others = tuple(other for other in feature.figures if other != figure and other.seat == figure.seat)
        if rules.meeples(others, figure.seat):
            return ()
        return tuple(other for other in others if other.kind in COMPANIONS)

    def final(self, state: State, rules: Rules) -> tuple[Award, ...]:
        """§7.3: ten points for the most of each kind, to everybody who has as many."""
        awards, owned = list[Award](), goods_of(state)
        for good in GOODS:
            most = max(own[good] for own in owned)
            awards += [Award(seat, MOST_OF_A_KIND, good) for seat, own in enumerate(owned) if most == own[good] > 0]
        return tuple(awards)


BOX = Traders()
