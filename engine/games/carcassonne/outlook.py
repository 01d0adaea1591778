"""The contract's `outlook`: the points that each seat can expect from its features, meeples and boxes; and `prune`.

Every number in capitals was tuned by matches of this outlook against itself with that number changed.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Iterator
from math import exp, sqrt

from msgspec.structs import replace

from engine.games.carcassonne import scoring
from engine.games.carcassonne.boxes import get_rules
from engine.games.carcassonne.hooks import Rules
from engine.games.carcassonne.offers import is_barred
from engine.games.carcassonne.state import Award, Feature, Part, State, count_points_of, find_root
from engine.games.carcassonne.tiles import FITTING_TURNS, PIECES, list_neighbours
from engine.menu import Menu
from engine.win_shares import Shares, from_points

USE_OF_FITTING_TILE, USE_OF_OTHER_TILE = {"city": 0.25, "road": 0.22}, 0.22
"""The chance that a seat uses a tile that fits to extend a feature of its own, by the kind of the feature."""
TURNS_FOR_FEATURE, MOST_TURNS = 0.4, 5.0
"""The part of a seat's remaining turns that it has for one feature, and the most turns."""
FIRST_MEEPLE, NEXT_MEEPLE, MEEPLE_TURNS = 6.0, 0.75, 12
"""The points of the first meeple in the supply, the part of them for each further one, and the turns to earn them."""
MEEPLE_BACK = 4.0
"""The points of a meeple that comes back with turns left to use it again."""
NEIGHBOUR_RATE = 1.2
"""How quickly the chance grows, with the tiles left for each empty cell, that a cell beside a cloister is filled."""
FARM_CERTAINTY = 0.85
"""The part of its points that a farm keeps: other farmers may still join it."""
TASK_POINTS, COMPANION_POINTS = 4.0, 1.5
"""The points of a task such as a message, and of a figure that counts nothing by itself beside the own meeple."""
LEAD_SCALE_AT_END, LEAD_SCALE_GROWTH = 2.5, 1.1
"""A lead of how many points multiplies a seat's odds by e: without tiles left, and what is added to that for the square
root of the tiles left."""

CLOISTER_POINTS = 9
"""The points of a complete cloister or garden."""

CACHE_SIZE = 4096
"""The features whose facts are cached: the positions that a bot compares share nearly all of them."""


class Facts:
    """The leaders, the points now and if complete, and the open cells of a feature, each None until it is needed.

    They hold as long as the feature is the same object: each change of a feature makes a new one.
    """

    __slots__ = ("feature", "leaders", "open_cells", "points")

    def __init__(self, feature: Feature) -> None:
        self.feature = feature
        self.leaders: tuple[int, ...] | None = None
        self.points: tuple[int, int] | None = None
        self.open_cells: tuple[str, ...] | None = None


FACTS: dict[int, Facts] = {}
"""A cache by the id of a feature; it holds the feature too, so that no other object can get the same id."""


def outlook(state: State) -> Shares:
    """Return each seat's share of the victory, by the points that it can expect to have at the end.

    A bonus of the very end counts by how much of the game is `played`, because others may still take it.
    """
    estimate = Estimate(state)
    points = [float(count_points_of(state, seat)) + estimate.value_supply(seat) for seat in range(len(state.track))]
    for root, feature in state.features.items():
        if feature.figures:
            estimate.add_feature(points, root, feature)
    for box in estimate.rules.hooks["award_at_end"]:
        for award in box.award_at_end(state, estimate.rules) or ():
            points[award.seat] += award.points * estimate.played
    for box in estimate.rules.hooks["estimate_points"]:
        for seat in range(len(points)):
            points[seat] += box.estimate_points(state, estimate.rules, seat)
    points[state.turn] += estimate.value_turn()
    return from_points(points, estimate.coming.lead_scale)


def prune(state: State, seat: int, menu: Menu) -> Menu:
    """Return the menu without the moves that no bot of any level makes: those that cost more than they bring."""
    rules = get_rules(state.options)
    for box in rules.hooks["prune_menu"]:
        menu = box.prune_menu(state, rules, seat, menu)
    return menu


class ComingTiles:
    """The tiles still to come, and what depends only on them; positions with the same bags share it.

    `turns_for_feature` are the turns that a seat has for one feature, `meeple_use` the share of its points that a
    meeple can still earn. A lead of `lead_scale` points multiplies a seat's odds by e. `filled` caches the chance that
    a cell is filled, by kind of feature and surroundings.
    """

    def __init__(self, bags: tuple[tuple[str, ...], ...], seats: int) -> None:
        self.counts = Counter(tile for bag in bags for tile in bag)
        self.tiles_left = self.counts.total()
        turns_of_each_seat = self.tiles_left / seats
        self.turns_for_feature = min(turns_of_each_seat * TURNS_FOR_FEATURE, MOST_TURNS)
        self.meeple_use = min(1.0, turns_of_each_seat / MEEPLE_TURNS)
        self.lead_scale = LEAD_SCALE_AT_END + LEAD_SCALE_GROWTH * sqrt(self.tiles_left)
        self.filled = defaultdict[str, dict[int, float]](dict)

    def find_filling_chance(self, kind: str, surroundings: int) -> float:
        """Return the chance that a seat fills a cell with these surroundings to extend its feature of this kind."""
        fitting = sum(number for tile, number in self.counts.items() if FITTING_TURNS[tile][surroundings])
        share = fitting / (self.tiles_left or 1)
        missed_in_one_turn = 1 - USE_OF_FITTING_TILE.get(kind, USE_OF_OTHER_TILE) * share
        missed: float = missed_in_one_turn**self.turns_for_feature
        return 1 - missed


find_coming_tiles = functools.lru_cache(maxsize=512)(ComingTiles)


class Estimate:
    """An estimate of the points still to come in one position.

    * `played` is the share of all tiles that is on the table, `cells` are the cells of tiles by their numbers.
    * `neighbour_chance` is the chance that an empty cell beside a cloister is filled; `completion` caches the chance
      that a feature is completed, by the feature.
    * `has_fixed_awards` is true if on some features of a box the lead does not matter.
    * `can_cache` is true if no box makes the worth of a feature depend on the rest of the table.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.rules: Rules = get_rules(state.options)
        self.coming = find_coming_tiles(state.bags, len(state.track))
        self.played = len(state.tiles) / (len(state.tiles) + self.coming.tiles_left)
        self.cells = tuple(state.tiles)
        self.neighbour_chance = 1 - exp(-NEIGHBOUR_RATE * self.coming.tiles_left / (len(state.frontier) or 1))
        self.meeple_use = self.coming.meeple_use
        self.completion = dict[int, float]()
        hooks = self.rules.hooks
        self.has_fixed_awards = bool(hooks["award_without_lead"])
        self.boxes_with_extra_points = hooks["count_extra_points"]
        # These hooks see more than the feature, so that an unchanged feature may be worth more or less than before.
        self.can_cache = not (hooks["adjust_strength"] or hooks["break_tie"] or hooks["adjust_points"])

    def value_supply(self, seat: int) -> float:
        """Return what the meeples that a seat can still place are worth, each NEXT_MEEPLE of the one before.

        This is the sum of a geometric series.
        """
        meeples = self.count_meeples(seat)
        return FIRST_MEEPLE * self.meeple_use * (1 - NEXT_MEEPLE**meeples) / (1 - NEXT_MEEPLE)

    def value_next_meeple(self, seat: int) -> float:
        """Return what a seat loses by placing one more meeple: what the last one in its supply is worth."""
        return FIRST_MEEPLE * self.meeple_use * NEXT_MEEPLE ** max(self.count_meeples(seat) - 1, 0)

    def count_meeples(self, seat: int) -> int:
        """Count the meeples that a seat can place."""
        supply = self.state.supply[seat]
        return sum([supply[kind] for kind in self.rules.segments])

    def add_feature(self, points: list[float], root: int, feature: Feature) -> None:
        """Add what a feature is expected to bring to each seat, and what its figures are worth when they come back."""
        expected, completion = self.value_feature(root, feature)
        fixed_awards = self.find_fixed_awards(feature) if self.has_fixed_awards else None
        if fixed_awards is None:
            self._add_points_of_leaders(points, feature, expected)
        else:
            for award in fixed_awards:
                points[award.seat] += award.points
        for figure in feature.figures:
            is_companion = figure.kind in self.rules.non_meeples
            points_back = COMPANION_POINTS if is_companion else completion * MEEPLE_BACK
            points[figure.seat] += points_back * self.meeple_use

    def _add_points_of_leaders(self, points: list[float], feature: Feature, expected: float) -> None:
        """Add the points that are expected of a feature to those of its leaders, with what boxes add for each."""
        for seat in self.find_leaders(feature):
            points[seat] += expected
            for box in self.boxes_with_extra_points:
                points[seat] += box.count_extra_points(self.state, self.rules, feature, seat, "final")

    def find_fixed_awards(self, feature: Feature) -> tuple[Award, ...] | None:
        """Return the awards of a feature on which the lead does not matter, or None if it does."""
        return scoring.award_without_lead(self.state, self.rules, feature, "final")

    def value_feature(self, root: int, feature: Feature) -> tuple[float, float]:
        """Return the points that a feature is expected to bring its leader, and the chance that it is completed."""
        match feature.kind:
            case "city" | "road":
                return self._value_road_or_city(root, feature)
            case "field":
                return self._value_farm(feature), 0.0
            case "cloister" | "garden":
                missing = feature.open
                expected = CLOISTER_POINTS - missing * (1 - self.neighbour_chance)
                return expected, self.neighbour_chance**missing
        now, _complete = self.count_now_and_complete(feature)
        return float(now), 0.0  # no tile completes the features that only boxes have

    def _value_road_or_city(self, root: int, feature: Feature) -> tuple[float, float]:
        """Return what it is expected to bring, and the chance that it is completed.

        It brings the points that it has now, and what its completion adds times the chance of that.
        """
        now, complete = self.count_now_and_complete(feature)
        if not feature.open:
            return float(now), 1.0
        completion = self.find_completion_chance(root, feature)
        return now + completion * (complete - now), completion

    def find_leaders(self, feature: Feature) -> tuple[int, ...]:
        """Return the leaders of a feature; cached, unless a box of this table makes them depend on more than it."""
        facts = get_facts(feature)
        if facts.leaders is None or not self.can_cache:
            facts.leaders = scoring.find_leaders(self.state, self.rules, feature)
        return facts.leaders

    def count_now_and_complete(self, feature: Feature) -> tuple[int, int]:
        """Return what a feature is worth as it is, and if it were complete; cached like its leaders."""
        facts = get_facts(feature)
        if facts.points is None or not self.can_cache:
            now = scoring.count_points(self.state, self.rules, feature, "final")
            complete = scoring.count_points(self.state, self.rules, replace(feature, open=0), "scored")
            facts.points = now, complete
        return facts.points

    def _value_farm(self, feature: Feature) -> float:
        """Return the points for the cities of a farm, of which unfinished ones count by their chance of completion.

        Other farmers may still join it, so that it keeps only a part of them.
        """
        features = self.state.features
        expected_cities = 0.0
        for root in {find_root(self.state.parents, city) for city in feature.cities}:
            city = features[root]
            expected_cities += self.find_completion_chance(root, city) if city.open else 1.0
        for box in self.rules.hooks["count_more_cities"]:
            expected_cities += box.count_more_cities(self.state, self.rules, feature)
        return scoring.CITY_POINTS * FARM_CERTAINTY * expected_cities

    def find_completion_chance(self, root: int, feature: Feature) -> float:
        """Return the chance that a road or city is completed: that every cell where it goes on is filled."""
        if root not in self.completion:
            self.completion[root] = self._compute_completion_chance(root, feature)
        return self.completion[root]

    def _compute_completion_chance(self, root: int, feature: Feature) -> float:
        """Multiply the chances of the cells where the feature goes on, and those that boxes leave it."""
        chance = 1.0
        frontier = self.state.frontier
        filled = self.coming.filled[feature.kind]
        for cell in self.find_open_cells(root, feature):
            surroundings = frontier[cell]
            if surroundings not in filled:
                filled[surroundings] = self.coming.find_filling_chance(feature.kind, surroundings)
            chance *= filled[surroundings]
        for box in self.rules.hooks["estimate_completion"]:
            chance *= box.estimate_completion(self.state, root)
        return chance

    def find_open_cells(self, root: int, feature: Feature) -> tuple[str, ...]:
        """Return the empty cells at which a road or city goes on; cached until a tile changes the feature."""
        facts = get_facts(feature)
        if facts.open_cells is None:
            facts.open_cells = self._search_open_cells(root, feature)
        return facts.open_cells

    def _search_open_cells(self, root: int, feature: Feature) -> tuple[str, ...]:
        """Find the cells in a fixed order, so that every machine multiplies to the same number."""
        state = self.state
        cells = dict[str, None]()
        for tile_number in feature.tiles:
            cell = self.cells[tile_number]
            placed = state.tiles[cell]
            for segment_number, segment in enumerate(PIECES[placed.tile][placed.turn].segments, placed.first):
                if segment.kind == feature.kind and find_root(state.parents, segment_number) == root:
                    beyond = (list_neighbours(cell)[end] for end in segment.ends)
                    cells |= {one: None for one in beyond if one in state.frontier}
        return tuple(cells)

    def value_turn(self) -> float:
        """Return what the seat on turn can still gain with the tile that it has just placed, or with its task.

        A task that goes from seat to seat is worth nothing to it.
        """
        if not self.state.work:
            return 0.0
        work = self.state.work[-1]
        if not isinstance(work, Part):
            return 0.0 if work.step in self.rules.shared_tasks else TASK_POINTS
        if work.step != "figure":
            return 0.0
        return max((self._value_claim(work, root) for root in self._iter_claimable_features(work)), default=0.0)

    def _iter_claimable_features(self, part: Part) -> Iterator[int]:
        """Yield the features of the new tile that a meeple could claim."""
        state = self.state
        supply = state.supply[state.turn]
        if self.rules.hooks["bars_figures"] and is_barred(state, self.rules, part.cell):
            return
        placed = state.tiles[part.cell]
        for number, segment in enumerate(PIECES[placed.tile][placed.turn].segments, placed.first):
            root = find_root(state.parents, number)
            if not state.features[root].figures:
                grounds_by_kind = self.rules.segments.items()
                if any(supply[kind] and segment.kind in grounds for kind, grounds in grounds_by_kind):
                    yield root

    def _value_claim(self, part: Part, root: int) -> float:
        """Return what a feature is expected to bring less what the meeple on it is worth."""
        feature = self.state.features[root]
        expected, completion = self.value_feature(root, feature)
        if root in part.done:  # the meeple comes back at once
            return expected
        back = completion * MEEPLE_BACK * self.meeple_use
        return max(0.0, expected + back - self.value_next_meeple(self.state.turn))


def get_facts(feature: Feature) -> Facts:
    """Return the cached facts about exactly this object; new ones know nothing yet."""
    facts = FACTS.get(id(feature))
    if facts is None or facts.feature is not feature:
        if len(FACTS) >= CACHE_SIZE:
            FACTS.clear()
        facts = FACTS[id(feature)] = Facts(feature)
    return facts
