"""§19, fruit trees, on tiles of our own: after placing a meeple beside a tree a seat may harvest it, or sell fruit."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Rules
from engine.games.carcassonne.land import get_signs
from engine.games.carcassonne.state import (
    Award,
    Part,
    State,
    Task,
    add_note,
    apply_awards,
    get_current_part,
    list_figures,
    make_getter,
    pop_work,
    push_work,
)
from engine.games.carcassonne.tiles import DATA, list_nine_cells
from engine.menu import Choice, Menu, MenuEntry, Move, Subset

FRUITS: tuple[str, ...] = tuple(DATA["fruit"]["kinds"])
TOKEN_VALUES: tuple[int, ...] = tuple(DATA["fruit"]["values"])
PRICES: tuple[int, ...] = tuple(DATA["fruit"]["sold"])
"""The points for selling one, two, three ... different fruits."""

Baskets = tuple[dict[str, int], ...]
"""How many of each fruit every seat has."""

PickedTokens = dict[str, tuple[int, ...]]
"""The values of the tokens that were taken from trees, by the cell of the tree."""


class FruitOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """A meeple was placed beside a tree."""

    seat: int


class FruitHarvested(Struct, frozen=True, omit_defaults=True, tag=True):
    """The top token of a tree brought its value and went into the basket."""

    seat: int
    cell: str
    fruit: str
    points: int


class FruitSold(Struct, frozen=True, omit_defaults=True, tag=True):
    """Fruits of different kinds were sold for points and left the game."""

    seat: int
    fruits: tuple[str, ...]
    points: int


class FruitLeft(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat neither harvested nor sold fruit."""

    seat: int


get_baskets = make_getter("baskets", Baskets)
get_picked_tokens = make_getter("picked", PickedTokens)


def find_fruit_by_tree(state: State) -> dict[str, str]:
    """§19.2: Return the fruit of every tree by its cell; the trees bear the fruits in a fixed order."""
    cells = [cell for cell in state.tiles if "tree" in get_signs(state, cell)]
    return dict(zip(cells, FRUITS, strict=False))


def list_tokens_on_tree(state: State, cell: str) -> list[int]:
    """Return the values of the tokens that are still on a tree."""
    values = list(TOKEN_VALUES)
    for value in get_picked_tokens(state).get(cell, ()):
        values.remove(value)
    return values


def count_tokens(state: State) -> dict[str, int]:
    """Count the tokens that are still on each tree, for the view."""
    return {cell: len(list_tokens_on_tree(state, cell)) for cell in find_fruit_by_tree(state)}


def apply_fruit_offered(state: State, event: FruitOffered) -> State:
    return push_work(add_note(state, "fruit"), Task("fruit"))


def apply_fruit_harvested(state: State, event: FruitHarvested) -> State:
    """Take a token from the tree, put its fruit into the basket of the seat, and pay its value."""
    picked = get_picked_tokens(state)
    picked = {**picked, event.cell: (*picked.get(event.cell, ()), event.points)}
    state = replace(pop_work(state), picked=picked, baskets=_change_basket(state, event.seat, (event.fruit,), 1))
    return apply_awards(state, (Award(event.seat, event.points, "fruit"),))


def apply_fruit_sold(state: State, event: FruitSold) -> State:
    """Take the fruits out of the basket of the seat, and pay for them."""
    state = replace(pop_work(state), baskets=_change_basket(state, event.seat, event.fruits, -1))
    return apply_awards(state, (Award(event.seat, event.points, "fruit"),))


def _change_basket(state: State, seat: int, fruits: Sequence[str], change: int) -> Baskets:
    """Return all baskets, with `change` more of each of these fruits in the one of a seat."""
    baskets = list(get_baskets(state))
    own = baskets[seat]
    baskets[seat] = {**own, **{fruit: own.get(fruit, 0) + change for fruit in fruits}}
    return tuple(baskets)


def apply_fruit_left(state: State, event: FruitLeft) -> State:
    return pop_work(state)


class FruitTrees(BoxHooks):
    """Trees with four tokens each, harvested once a turn."""

    option = "fruit_trees"
    about = "Fruit to harvest and to sell, 6 tiles of our own (§19)"
    state_fields = {"baskets": (Baskets, ()), "picked": (PickedTokens, {})}
    view_fields = {"baskets": (Baskets, get_baskets), "trees": (dict[str, int], count_tokens)}
    verbs = ("harvest", "sell", "keep")
    tasks = ("fruit",)
    tasks_within_round = ("fruit",)
    events = {
        FruitOffered: apply_fruit_offered,
        FruitHarvested: apply_fruit_harvested,
        FruitSold: apply_fruit_sold,
        FruitLeft: apply_fruit_left,
    }
    point_events = {FruitHarvested: "fruit", FruitSold: "fruit"}

    def prepare(self, state: State, rules: Rules) -> State:
        return replace(state, baskets=({},) * len(state.track))

    def after_figure(self, state: State, rules: Rules, part: Part, chance: Chance) -> FruitOffered | None:
        """§19.3: Offer fruit after a meeple was placed beside a tree, once a tile, if there is any to pick or sell."""
        if "fruit" in part.notes or not self._is_meeple_beside_tree(state, rules, part.placed):
            return None
        can_choose = self._list_ripe_trees(state, part) or self._list_fruits_in_basket(state)
        return FruitOffered(state.turn) if can_choose else None

    def _is_meeple_beside_tree(self, state: State, rules: Rules, place: str) -> bool:
        """Whether the figure at this place is a meeple of the seat on turn on or beside the tile of a tree."""
        placed = [figure for figure in list_figures(state) if figure.place == place]
        if not rules.select_meeples(placed, state.turn):
            return False
        return any("tree" in get_signs(state, cell) for cell in list_nine_cells(placed[0].cell))

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return what the basket would bring if it were sold now; it has no other use."""
        fruits = [fruit for fruit, count in get_baskets(state)[seat].items() if count]
        number_sold = min(len(fruits), len(PRICES))
        return float(PRICES[number_sold - 1]) if number_sold else 0.0

    def _list_ripe_trees(self, state: State, part: Part) -> list[str]:
        """Return the cells of the trees that still have tokens, around the meeple that was placed in this part."""
        cell_of_meeple = part.placed.partition("/")[0]
        around = list_nine_cells(cell_of_meeple)
        return [cell for cell in find_fruit_by_tree(state) if cell in around and list_tokens_on_tree(state, cell)]

    def _list_fruits_in_basket(self, state: State) -> list[str]:
        """Return the different fruits that the seat on turn has."""
        return [fruit for fruit in FRUITS if get_baskets(state)[state.turn].get(fruit)]

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        """§19.3 to §19.5: Offer the ripe trees to harvest, the different fruits in the basket to sell, or neither."""
        part = get_current_part(pop_work(state))  # below the question
        trees, fruits = self._list_ripe_trees(state, part), self._list_fruits_in_basket(state)
        entries = list[MenuEntry]()
        if trees:
            entries.append(Choice("harvest", tuple((cell,) for cell in trees), "19.4"))
        if fruits:
            entries.append(Subset("sell", tuple(fruits), least=1, most=min(len(fruits), len(PRICES)), rule="19.5"))
        return (*entries, Choice("keep", rule="19.3"))

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§19.4, §19.5: Draw one of the tokens on a tree, sell fruits of different kinds, or do neither."""
        if move.verb == "harvest":
            cell = move.args[0]
            points = chance.pick("fruit", list_tokens_on_tree(state, cell))
            return [FruitHarvested(seat, cell, find_fruit_by_tree(state)[cell], points)]
        if move.verb == "sell":
            return [FruitSold(seat, move.args, PRICES[len(move.args) - 1])]
        return [FruitLeft(seat)]


BOX = FruitTrees()
