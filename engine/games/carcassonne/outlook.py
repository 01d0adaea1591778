"""Who is likely to win: the points that each seat can expect from what it has, and from the meeples it still holds.

Every number in capitals was tuned by matches of this outlook against itself with that number changed.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Iterator
from math import exp, sqrt
from typing import TypeVar

from msgspec.structs import replace

from engine.games.carcassonne import scoring
from engine.games.carcassonne.board import FITS, PIECES, near
from engine.games.carcassonne.boxes import rules_of
from engine.games.carcassonne.expansion import Rules
from engine.games.carcassonne.rules import score
from engine.games.carcassonne.state import Feature, Part, State, find
from engine.win_shares import Shares, from_points

EAGER, CAREFUL = {"city": 0.25, "road": 0.22}, 0.22
"""How likely a seat uses a tile that fits where something of its own goes on, ..."""
PART, MOST = 0.4, 5.0
"""... if it has this part of its turns for it, and at most so many."""
HOLD, FADE, BUSY = 6.0, 0.75, 12
"""The worth of the first meeple in the supply, what part of that the next one has, and the turns to earn it."""
BACK = 4.0
"""What it is worth that a meeple comes back, with turns to use it again."""
FARM = 0.85
"""A farmer stays to the end, and others may join him."""
ERRAND, COMPANION = 4.0, 1.5
"""What a message may bring, and a figure beside one's meeple that counts for nothing by itself."""
SPREAD, UNSURE = 2.5, 1.1
"""So many points ahead are a factor of e: with no tile left, and more with the root of the tiles to come."""

REMEMBERED = 4096
"""So many features of late are known by heart: positions of one thought share nearly all of them."""


Fact = TypeVar("Fact")
Facts = dict[int, tuple[Feature, Fact]]
"""By the id of the feature, which is held, so that its id names nothing else."""
LEADERS: Facts[tuple[int, ...]] = {}
WORTHS: Facts[tuple[int, int]] = {}
GAPS: Facts[tuple[str, ...]] = {}


def outlook(state: State) -> Shares:
    """Each seat's share of the victory."""
    ahead = Ahead(state)
    points = [float(score(state, seat)) + ahead.supply(seat) for seat in range(len(state.track))]
    for root, feature in state.features.items():
        if feature.figures:
            ahead.claim(points, root, feature)
    for box in ahead.rules.hooks["final"]:
        for award in box.final(state, ahead.rules) or ():
            points[award.seat] += award.points * ahead.played
    for box in ahead.rules.hooks["promise"]:
        for seat in range(len(points)):
            points[seat] += box.promise(state, ahead.rules, seat)
    points[state.turn] += ahead.pending()
    return from_points(points, ahead.coming.unit)


class Coming:
    """The tiles still to come, and how likely they fill a cell: positions of one thought share them."""

    def __init__(self, bags: tuple[tuple[str, ...], ...], seats: int) -> None:
        self.tiles = Counter(tile for bag in bags for tile in bag)
        self.left = self.tiles.total()
        turns = self.left / seats
        self.tries = min(turns * PART, MOST)
        self.busy = min(1.0, turns / BUSY)
        self.unit = SPREAD + UNSURE * sqrt(self.left)
        self.filled = defaultdict[str, dict[int, float]](dict)

    def fills(self, kind: str, code: int) -> float:
        """How likely a cell of which its neighbours ask this is filled by a seat to whom something goes on there."""
        share = sum(number for tile, number in self.tiles.items() if FITS[tile][code]) / (self.left or 1)
        left: float = (1 - EAGER.get(kind, CAREFUL) * share) ** self.tries
        return 1 - left


_coming = functools.lru_cache(maxsize=512)(Coming)


class Ahead:
    """What is still to come at a table."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.rules: Rules = rules_of(state.options)
        self.coming = _coming(state.bags, len(state.track))
        self.played = len(state.tiles) / (len(state.tiles) + self.coming.left)
        self.cells = tuple(state.tiles)
        self.room = 1 - exp(-1.2 * self.coming.left / (len(state.frontier) or 1))
        self.busy = self.coming.busy
        self.known = dict[int, float]()
        hooks = self.rules.hooks
        self.alone = not (hooks["might"] or hooks["level"] or hooks["worth"])

    def supply(self, seat: int) -> float:
        """The worth of the meeples a seat can still place."""
        return HOLD * self.busy * (1 - FADE ** self.held(seat)) / (1 - FADE)

    def last(self, seat: int) -> float:
        """The worth of the meeple a seat places next."""
        return HOLD * self.busy * FADE ** max(self.held(seat) - 1, 0)

    def held(self, seat: int) -> int:
        """How many meeples a seat can place."""
        supply = self.state.supply[seat].items()
        return sum(number for kind, number in supply if kind in self.rules.followers)

    def claim(self, points: list[float], root: int, feature: Feature) -> None:
        """Add what a feature promises to those who lead on it."""
        promised, closing = self.promise(root, feature)
        state, rules = self.state, self.rules
        paid = scoring.without_lead(state, rules, feature, "final") if rules.hooks["paid"] else None
        for award in paid or ():
            points[award.seat] += award.points
        for seat in self.leaders(feature) if paid is None else ():
            points[seat] += promised
            for box in rules.hooks["more"]:
                points[seat] += box.more(state, rules, feature, seat, "final")
        back, beside = closing * BACK * self.busy, COMPANION * self.busy
        for figure in feature.figures:
            points[figure.seat] += beside if figure.kind in rules.bystanders else back

    def promise(self, root: int, feature: Feature) -> tuple[float, float]:
        """What a feature will bring its leader, and how likely it is finished."""
        match feature.kind:
            case "city" | "road":
                return self._built(root, feature)
            case "field":
                return self._farm(feature), 0.0
            case "cloister" | "garden":
                missing = feature.open
                return 9 - missing * (1 - self.room), self.room**missing
        return float(self.worths(feature)[0]), 0.0

    def _built(self, root: int, feature: Feature) -> tuple[float, float]:
        now, whole = self.worths(feature)
        if not feature.open:
            return float(now), 1.0
        closing = self.closing(root, feature)
        return now + closing * (whole - now), closing

    def leaders(self, feature: Feature) -> tuple[int, ...]:
        """Who leads; remembered, unless a box lets more than the feature decide."""
        known = _known(LEADERS, feature) if self.alone else None
        if known is None:
            known = _remember(LEADERS, feature, scoring.leaders(self.state, self.rules, feature))
        return known

    def worths(self, feature: Feature) -> tuple[int, int]:
        """What a feature is worth as it lies, and complete; remembered like its leaders."""
        known = _known(WORTHS, feature) if self.alone else None
        if known is None:
            now = scoring.worth(self.state, self.rules, feature, "final")
            whole = scoring.worth(self.state, self.rules, replace(feature, open=0), "scored")
            known = _remember(WORTHS, feature, (now, whole))
        return known

    def _farm(self, feature: Feature) -> float:
        features, points = self.state.features, 0.0
        for city in {find(self.state.parents, city) for city in feature.cities}:
            other = features[city]
            points += self.closing(city, other) if other.open else 1.0
        return 3 * FARM * points

    def closing(self, root: int, feature: Feature) -> float:
        """How likely a road or city is finished, by whoever wants it."""
        if root not in self.known:
            self.known[root] = self._closing(root, feature)
        return self.known[root]

    def _closing(self, root: int, feature: Feature) -> float:
        chance, frontier, filled = 1.0, self.state.frontier, self.coming.filled[feature.kind]
        for cell in self.gaps(root, feature):
            code = frontier[cell]
            if code not in filled:
                filled[code] = self.coming.fills(feature.kind, code)
            chance *= filled[code]
        return chance

    def gaps(self, root: int, feature: Feature) -> tuple[str, ...]:
        """The empty cells at which a road or city goes on; what no tile has changed since is not looked for again."""
        known = _known(GAPS, feature)
        return known if known is not None else _remember(GAPS, feature, self._gaps(root, feature))

    def _gaps(self, root: int, feature: Feature) -> tuple[str, ...]:
        """Each cell once and always in the same order, so that every machine comes to the same number."""
        state, found = self.state, dict[str, None]()
        for number in feature.tiles:
            cell = self.cells[number]
            laid = state.tiles[cell]
            for place, segment in enumerate(PIECES[laid.tile][laid.turn].segments, laid.first):
                if segment.kind == feature.kind and find(state.parents, place) == root:
                    found |= {beyond: None for end in segment.ends if (beyond := near(cell)[end]) in state.frontier}
        return tuple(found)

    def pending(self) -> float:
        """What the seat on turn may still gain with the tile it has just laid, or the errand it is on."""
        if not self.state.work:
            return 0.0
        work = self.state.work[-1]
        if not isinstance(work, Part):
            return ERRAND
        if work.step != "figure":
            return 0.0
        return max((self._placed(work, root) for root in self._free(work)), default=0.0)

    def _free(self, part: Part) -> Iterator[int]:
        """The features that a meeple on the new tile could claim."""
        state, supply = self.state, self.state.supply[self.state.turn]
        laid = state.tiles[part.cell]
        for place, segment in enumerate(PIECES[laid.tile][laid.turn].segments, laid.first):
            root = find(state.parents, place)
            if root in state.features and not state.features[root].figures:
                followers = self.rules.followers.items()
                if any(supply[kind] and segment.kind in where for kind, where in followers):
                    yield root

    def _placed(self, part: Part, root: int) -> float:
        """What claiming this feature would gain."""
        feature = self.state.features[root]
        promised, closing = self.promise(root, feature)
        if root in part.done:
            return promised
        return max(0.0, promised + closing * BACK * self.busy - self.last(self.state.turn))


def _known(facts: Facts[Fact], feature: Feature) -> Fact | None:
    """What was found out about this very feature of late."""
    known = facts.get(id(feature))
    return known[1] if known is not None and known[0] is feature else None


def _remember(facts: Facts[Fact], feature: Feature, fact: Fact) -> Fact:
    if len(facts) >= REMEMBERED:
        facts.clear()
    facts[id(feature)] = feature, fact
    return fact
