"""§19, fruit trees, on tiles of our own: who places a meeple beside a tree may harvest it, or sell fruit."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.board import DATA
from engine.games.carcassonne.expansion import Box, Rules
from engine.games.carcassonne.land import near_to, signs_at
from engine.games.carcassonne.state import Award, Errand, Part, State, awarded, on_top, part_of, slot, standing_figures
from engine.menu import Choice, Menu, Move, Subset

FRUITS: tuple[str, ...] = tuple(DATA["fruit"]["kinds"])
VALUES: tuple[int, ...] = tuple(DATA["fruit"]["values"])
SOLD: tuple[int, ...] = tuple(DATA["fruit"]["sold"])
Baskets = tuple[dict[str, int], ...]
Picked = dict[str, tuple[int, ...]]


class FruitOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """A meeple was placed beside a tree."""

    seat: int


class FruitHarvested(Struct, frozen=True, omit_defaults=True, tag=True):
    """The top token of a tree is worth its value and goes into the basket."""

    seat: int
    cell: str
    fruit: str
    points: int


class FruitSold(Struct, frozen=True, omit_defaults=True, tag=True):
    """Fruit of different kinds left the game for points."""

    seat: int
    fruits: tuple[str, ...]
    points: int


class FruitLeft(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int


def baskets(state: State) -> Baskets:
    """The harvested fruit of every seat."""
    found: Baskets = slot(state, "baskets")
    return found


def picked(state: State) -> Picked:
    """The tokens that were taken from each tree."""
    found: Picked = slot(state, "picked")
    return found


def trees(state: State) -> dict[str, str]:
    """§19.2: every tree by its cell, with its fruit; they are planted in a fixed order."""
    cells = [cell for cell in state.tiles if "tree" in signs_at(state, cell)]
    return dict(zip(cells, FRUITS, strict=False))


def on_tree(state: State, cell: str) -> list[int]:
    """The values of the tokens that are still on a tree, in no order."""
    values = list(VALUES)
    for value in picked(state).get(cell, ()):
        values.remove(value)
    return values


def shown(state: State) -> dict[str, int]:
    """How many tokens every tree has left."""
    return {cell: len(on_tree(state, cell)) for cell in trees(state)}


def offered(state: State, event: FruitOffered) -> State:
    part = part_of(state)
    noted = replace(part, notes=(*part.notes, "fruit"))
    return replace(state, work=(*on_top(state, noted), Errand("fruit")))


def harvested(state: State, event: FruitHarvested) -> State:
    taken = picked(state)
    taken = {**taken, event.cell: (*taken.get(event.cell, ()), event.points)}
    full = _changed(state, event.seat, (event.fruit,), 1)
    state = replace(state, picked=taken, baskets=full, work=state.work[:-1])
    return awarded(state, (Award(event.seat, event.points, "fruit"),))


def sold(state: State, event: FruitSold) -> State:
    state = replace(state, baskets=_changed(state, event.seat, event.fruits, -1), work=state.work[:-1])
    return awarded(state, (Award(event.seat, event.points, "fruit"),))


def _changed(state: State, seat: int, fruits: Sequence[str], by: int) -> Baskets:
    own = baskets(state)[seat]
    changed = {**own, **{fruit: own.get(fruit, 0) + by for fruit in fruits}}
    return tuple(changed if other == seat else kept for other, kept in enumerate(baskets(state)))


def stayed(state: State, event: FruitLeft) -> State:
    return replace(state, work=state.work[:-1])


class FruitTrees(Box):
    """Trees with four tokens each, harvested once a turn."""

    option = "fruit_trees"
    about = "Fruit to harvest and to sell, 6 tiles of our own (§19)"
    slots = {"baskets": (Baskets, ()), "picked": (Picked, {})}
    shows = {"baskets": (Baskets, baskets), "trees": (dict[str, int], shown)}
    verbs = ("harvest", "sell", "keep")
    steps = ("fruit",)
    inside = ("fruit",)
    events = {FruitOffered: offered, FruitHarvested: harvested, FruitSold: sold, FruitLeft: stayed}
    paying = {FruitHarvested: "fruit", FruitSold: "fruit"}

    def begun(self, state: State, rules: Rules) -> State:
        return replace(state, baskets=({},) * len(state.track))

    def after_figure(self, state: State, rules: Rules, part: Part, chance: Chance) -> FruitOffered | None:
        """§19.3: after a meeple was placed beside a tree, once a tile."""
        if "fruit" in part.notes or not part.placed:
            return None
        near = [cell for cell in near_to(part.placed.partition("/")[0]) if "tree" in signs_at(state, cell)]
        placed = [figure for figure in standing_figures(state) if figure.place == part.placed]
        if not near or not rules.meeples(placed, state.turn):
            return None
        return FruitOffered(state.turn) if self._ripe(state, part) or self._stock(state) else None

    def promise(self, state: State, rules: Rules, seat: int) -> float:
        """What the basket would bring if it were sold at once; there is no other use for it."""
        kinds = sum(count > 0 for count in baskets(state)[seat].values())
        return float(SOLD[min(kinds, len(SOLD)) - 1]) if kinds else 0.0

    def _ripe(self, state: State, part: Part) -> list[str]:
        near = near_to(part.placed.partition("/")[0])
        return [cell for cell in trees(state) if cell in near and on_tree(state, cell)]

    def _stock(self, state: State) -> list[str]:
        return [fruit for fruit in FRUITS if baskets(state)[state.turn].get(fruit)]

    def menu(self, state: State, rules: Rules, seat: int, errand: Errand) -> Menu:
        part = state.work[-2]
        assert isinstance(part, Part)
        ripe, stock = self._ripe(state, part), self._stock(state)
        entries = [Choice("harvest", tuple((cell,) for cell in ripe), "19.4")] if ripe else []
        selling = (Subset("sell", tuple(stock), 1, min(len(stock), len(SOLD)), "19.5"),) if stock else ()
        return (*entries, *selling, Choice("keep", rule="19.3"))

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        if move.verb == "harvest":
            cell = move.args[0]
            return [FruitHarvested(seat, cell, trees(state)[cell], chance.pick("fruit", on_tree(state, cell)))]
        if move.verb == "sell":
            return [FruitSold(seat, move.args, SOLD[len(move.args) - 1])]
        return [FruitLeft(seat)]


BOX = FruitTrees()
