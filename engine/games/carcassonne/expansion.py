"""What a box that is mixed into the game may change: the named places at which the turn and the scoring ask it."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from engine.chance import Chance
from engine.games.carcassonne.board import START, SUPPLY, Args, tiles_of
from engine.games.carcassonne.state import (
    Award,
    Errand,
    Feature,
    FeatureScored,
    Figure,
    Options,
    Part,
    State,
    TilePlaced,
    drawable,
)
from engine.menu import Entry, Menu, Move
from engine.refusal import Refused

MEEPLE_PLACES = frozenset({"road", "city", "cloister", "field"})
BASE_ORDER = ("road", "city", "cloister", "garden", "field")
BASE_VERBS = ("place", "figure", "pass", "score", "draw")
ROUNDS = {"1a": "turn_begins", "1b": "tile_drawn", "1c": "tile_laid", "3": "before_features", "4": "turn_ends"}
Moment = Literal["scored", "final", "message", "recalled"]
"""Why a feature is counted: it is complete; the game is over; message 8 asks, as at the end; the abbot goes home."""


Round = Callable[["State", "Rules", Part], tuple[Award, ...]]


class Deck(Struct, frozen=True):
    """The tile the game begins with, those that lie beside it, and the bags that are drawn empty one after another."""

    start: str
    bags: tuple[tuple[str, ...], ...]
    beside: tuple[TilePlaced, ...] = ()


class Box(Protocol):
    """The hooks of one box; what it does not change keeps the default given here.

    A box has an option, a switch that says `about` itself under the name `title`, or is in play with the `switches` of
    other boxes. `slots` are its own fields of the table (type and default), `shows` its own fields of the view (type
    and where it comes from).

    `supply` adds figures to everybody's; `strength` says what a figure counts for the lead; `followers` where it may be
    placed on the tile just laid; `bystanders` are no meeples; beside `passable` ones a feature still counts as free.

    `verbs` and `steps` are the moves and errands that are its own, `events` what they lead to; those that are `paying`
    bring their `points` to their `seat`, for the reason given. An errand `inside` a scoring round does not end it.
    `kinds` are features of its own, in the order in which they are counted at the end.
    """

    option: str
    about: str
    switches: tuple[str, ...] = ()
    title: str | None = None
    default: bool = False
    settings: Mapping[str, tuple[Any, Any]] = {}
    slots: Mapping[str, tuple[Any, Any]] = {}
    shows: Mapping[str, tuple[Any, Callable[[State], Any]]] = {}
    supply: Mapping[str, int] = {}
    strength: Mapping[str, int] = {}
    followers: Mapping[str, frozenset[str]] = {}
    bystanders: frozenset[str] = frozenset()
    passable: frozenset[str] = frozenset()
    scoring_figures: int = 1
    kinds: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    events: Mapping[type, Callable[[State, Any], State]] = {}
    paying: Mapping[type, str] = {}

    # Before the game.

    def objection(self, options: Options) -> Refused | None:
        """Why the box does not go with these options."""
        return None

    def deck(self, deck: Deck) -> Deck:
        """Mix its tiles in, if it has any."""
        return mixed_in(deck, self.option)

    def begun(self, state: State, rules: Rules) -> State:
        """Lay things ready."""
        return state

    # The turn, in its order.

    def turn_begins(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """Points of round 1a, before a tile is drawn."""
        return ()

    def instead(self, state: State, rules: Rules, part: Part) -> Entry | None:
        """What may be done instead of drawing a tile."""
        return None

    def tile_drawn(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """Points of round 1b, before the tile is laid."""
        return ()

    def fitting(self, state: State, rules: Rules, tile: str, places: Sequence[Args]) -> Sequence[Args]:
        """Narrow down where a tile may go."""
        return places

    def joining(self, state: State, rules: Rules, event: TilePlaced, chance: Chance) -> Struct | None:
        """Speak up when a tile is laid; the state is the one before."""
        return None

    def tile_laid(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """Points of round 1c, before a figure is placed."""
        return ()

    def deploy(self, state: State, rules: Rules, seat: int, part: Part) -> Sequence[Args]:
        """Further figures, and further places for them; a place elsewhere is written with its cell."""
        return ()

    def act(self, state: State, rules: Rules, seat: int, part: Part) -> Entry | None:
        """A deed instead of placing a figure."""
        return None

    def after_figure(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """What follows the figure in round 2; asked until there is nothing left."""
        return None

    def before_features(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """Points at the beginning of round 3, when everybody still stands there."""
        return ()

    def joined(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """What else happens once the completed features are scored; asked until there is nothing left."""
        return None

    def completed(self, state: State, rules: Rules, root: int, chance: Chance) -> Struct | None:
        """What comes before the scoring of a feature; asked until there is nothing left."""
        return None

    def after_features(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """What ends round 3, after all features; asked until there is nothing left."""
        return None

    def closed(self, state: State, rules: Rules, chance: Chance) -> Struct | None:
        """What a scoring round leads to."""
        return None

    def turn_ends(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """Points of round 4."""
        return ()

    def after(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """What follows a tile; asked until there is nothing left."""
        return None

    # What a feature is worth.

    def might(self, state: State, rules: Rules, feature: Feature, figure: Figure, strength: int) -> int:
        """What a figure counts for the lead."""
        return strength

    def level(self, state: State, rules: Rules, feature: Feature, leaders: tuple[int, ...]) -> tuple[int, ...]:
        """Who leads of those who are level."""
        return leaders

    def taking_part(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Figure, ...] | None:
        """The figures that a scoring pays and sends home, where they are not all."""
        return None

    def worth(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        """What a feature is worth, whoever has figures on it."""
        return points

    def servings(self, state: State, rules: Rules, city: Feature) -> int:
        """How often more a completed city counts for a farm."""
        return 0

    def more(self, state: State, rules: Rules, feature: Feature, seat: int, moment: Moment) -> int:
        """More points in the same award, for a seat that leads."""
        return 0

    def paid(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...] | None:
        """The awards of a feature that does not go by the lead."""
        return None

    def bonus(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...]:
        """Awards beside those of a feature, after them."""
        return ()

    def escort(self, state: State, rules: Rules, feature: Feature, figure: Figure) -> tuple[Figure, ...]:
        """Who goes home together with a figure that leaves alone."""
        return ()

    def scored(self, state: State, rules: Rules, event: FeatureScored) -> State:
        """Remember what a feature brought."""
        return state

    # The end.

    def overtime(self, state: State, rules: Rules) -> Struct | None:
        """A turn that is still to come when no tile is left."""
        return None

    def ending(self, state: State, rules: Rules, chance: Chance) -> Struct | None:
        """What is counted before the features; asked until there is nothing left."""
        return None

    def final(self, state: State, rules: Rules) -> tuple[Award, ...] | None:
        """What is counted at the very end."""
        return None

    # For bots.

    def promise(self, state: State, rules: Rules, seat: int) -> float:
        """The points a seat may still expect of what the box gave it, for the outlook."""
        return 0.0

    # Moves and errands of its own.

    def menu(self, state: State, rules: Rules, seat: int, errand: Errand) -> Menu:
        """What a seat may do about an errand."""
        return ()

    def errand(self, state: State, rules: Rules, errand: Errand, chance: Chance) -> Struct | None:
        """What the rules make of an errand by themselves; None waits for those it asks."""
        return None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """What one of its verbs brings about."""
        return ()


HOOKS = tuple(name for name, hook in vars(Box).items() if callable(hook) and not name.startswith("_"))


class Rules(Struct, frozen=True, eq=False):
    """The base game together with the boxes of a table; `hooks` names for every hook the boxes that change it."""

    boxes: tuple[Box, ...]
    hooks: dict[str, tuple[Box, ...]]
    rounds: dict[str, tuple[Round, ...]]
    supply: dict[str, int]
    strength: dict[str, int]
    followers: dict[str, frozenset[str]]
    bystanders: frozenset[str]
    passable: frozenset[str]
    scoring_figures: int
    order: tuple[str, ...]
    verbs: dict[str, Box]
    steps: dict[str, Box]

    def deck(self) -> Deck:
        """The start tile and the bags with every box mixed in."""
        bag = [name for name, count in tiles_of("base").items() for _ in range(count)]
        bag.remove(START)
        deck = Deck(START, (tuple(bag),))
        return functools.reduce(lambda mixed, box: box.deck(mixed), self.boxes, deck)

    def meeples(self, figures: Iterable[Figure], seat: int) -> list[Figure]:
        """The meeples of a seat among these figures."""
        return [figure for figure in figures if figure.seat == seat and figure.kind not in self.bystanders]


def united(boxes: Sequence[Box]) -> Rules:
    """The base game with these boxes."""
    return Rules(
        boxes=tuple(boxes),
        hooks={name: tuple(box for box in boxes if _changes(box, name)) for name in HOOKS},
        rounds={
            place: tuple(getattr(box, name) for box in boxes if _changes(box, name)) for place, name in ROUNDS.items()
        },
        supply=dict(sum((Counter(box.supply) for box in boxes), Counter(SUPPLY))),
        strength=apart("strength", {"meeple": 1}, *(box.strength for box in boxes)),
        followers=apart("followers", {"meeple": MEEPLE_PLACES}, *(box.followers for box in boxes)),
        bystanders=frozenset().union(*(box.bystanders for box in boxes)),
        passable=frozenset().union(*(box.passable for box in boxes)),
        scoring_figures=max((box.scoring_figures for box in boxes), default=1),
        order=tuple(apart("kinds", *(dict.fromkeys(kinds) for kinds in (BASE_ORDER, *(box.kinds for box in boxes))))),
        verbs=apart("verbs", dict.fromkeys(BASE_VERBS), *(dict.fromkeys(box.verbs, box) for box in boxes)),
        steps=apart("steps", *(dict.fromkeys(box.steps, box) for box in boxes)),
    )


def laid(state: State, rules: Rules, event: TilePlaced, chance: Chance) -> list[Struct]:
    """A tile is laid, and the boxes speak up."""
    events: list[Struct] = [event]
    for box in rules.hooks["joining"]:
        more = box.joining(state, rules, event, chance)
        if more:
            events.append(more)
    return events


def can_lay(state: State, rules: Rules) -> bool:
    """Whether the seat on turn has a tile to lay, from the bag or of its own."""
    return drawable(state) or any(box.instead(state, rules, Part()) for box in rules.hooks["instead"])


def _changes(box: Box, name: str) -> bool:
    return getattr(type(box), name) is not getattr(Box, name)


def apart(what: str, *parts: Mapping[Any, Any]) -> dict[Any, Any]:
    """All parts in one; two of them with the same key are a fault of the boxes."""
    counted = Counter(key for part in parts for key in part)
    clashes = [str(key) for key, count in counted.items() if count > 1]
    if clashes:
        raise ValueError(f"two boxes have the same {what}: {', '.join(clashes)}")
    return {key: value for part in parts for key, value in part.items()}


def mixed_in(deck: Deck, box: str) -> Deck:
    """The deck with the tiles of a box mixed into its last bag."""
    more = tuple(name for name, count in tiles_of(box).items() for _ in range(count))
    return Deck(deck.start, (*deck.bags[:-1], deck.bags[-1] + more), deck.beside)
