"""The hooks through which a box changes the game, and the rules that the boxes of a table make together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from engine.chance import Chance
from engine.games.carcassonne.state import Award, Feature, FeatureScored, Figure, Options, Part, State, Task, TilePlaced
from engine.games.carcassonne.tiles import START, SUPPLY, Args, count_tiles_of
from engine.menu import Menu, MenuEntry, Move
from engine.refusal import Refused

MEEPLE_SEGMENTS = frozenset({"road", "city", "cloister", "field"})
BASE_ORDER = ("road", "city", "cloister", "garden", "field")
BASE_VERBS = ("place", "figure", "pass", "score", "draw")
ROUNDS = {
    "1a": "award_turn_start",
    "1c": "award_tile_placed",
    "3": "award_before_features",
    "4": "award_turn_end",
}
"""The scoring rounds that a box can open, each with its hook: before a tile is drawn (1a), once it is placed (1c),
before its completed features are scored (3) and after all that (4). The keys sort in the order of the turn."""

Moment = Literal["scored", "final", "message", "recalled"]
"""Why a feature is counted: it is complete, the game is over, a message asks, or the abbot goes home."""

RoundHook = Callable[["State", "Rules", Part], tuple[Award, ...]]


class Deck(Struct, frozen=True):
    """The start tile, the tiles placed beside it, and the bags, which are drawn empty one after another."""

    start: str
    bags: tuple[tuple[str, ...], ...]
    beside: tuple[TilePlaced, ...] = ()


class BoxHooks(Protocol):
    """One box of the game: its pieces, its moves, and the hooks at which it changes the base game.

    A box overrides only the hooks that it needs. It is switched on by the option of its name; `about` describes that
    switch, and `title` names it. A box with `switches` has no option: it is on when one of those other boxes is.

    * `settings` are further options, `state_fields` fields of the state, each with its type and default;
      `view_fields` are fields of the view, each with its type and a function of the state.
    * `supply` are the figures that each seat gets. For a kind of figure `strength` is what it counts for the lead and
      `segments` where it can be placed. `non_meeples` are the kinds that are no meeples; the `unobtrusive` kinds leave
      a feature free for others.
    * `scoring_figures` is the number of figures that each seat has on the track. `feature_kinds` are kinds of features
      that the box adds, in the order of the final scoring.
    * `verbs` are its moves and `tasks` its tasks (`Task.step`). A task in `tasks_within_round` does not end
      the scoring round; a task in `shared_tasks` goes from seat to seat, and bots expect no points of it.
    * `events` maps each of its events to the function that applies it. `point_events` are those that give their
      `points` to their `seat`, each with the reason.
    """

    option: str
    about: str
    switches: tuple[str, ...] = ()
    title: str | None = None
    default: bool = False
    settings: Mapping[str, tuple[Any, Any]] = {}
    state_fields: Mapping[str, tuple[Any, Any]] = {}
    view_fields: Mapping[str, tuple[Any, Callable[[State], Any]]] = {}
    supply: Mapping[str, int] = {}
    strength: Mapping[str, int] = {}
    segments: Mapping[str, frozenset[str]] = {}
    non_meeples: frozenset[str] = frozenset()
    unobtrusive: frozenset[str] = frozenset()
    scoring_figures: int = 1
    feature_kinds: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    tasks_within_round: tuple[str, ...] = ()
    shared_tasks: frozenset[str] = frozenset()
    events: Mapping[type, Callable[[State, Any], State]] = {}
    point_events: Mapping[type, str] = {}

    # Before the game.

    def objection(self, options: Options) -> Refused | None:
        """Return why the box cannot be played with these options, or None."""
        return None

    def mix_deck(self, deck: Deck) -> Deck:
        """Return the deck with the tiles of the box."""
        return mix_in_tiles(deck, self.option)

    def prepare(self, state: State, rules: Rules) -> State:
        """Set up the pieces of the box."""
        return state

    # The turn, in its order.

    def award_turn_start(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """Return the awards of round 1a, before a tile is drawn."""
        return ()

    def offer_instead_of_tile(self, state: State, rules: Rules, part: Part) -> MenuEntry | None:
        """Return a move that is possible instead of drawing a tile, or None."""
        return None

    def filter_bag(self, state: State, rules: Rules, bag: Sequence[str]) -> Sequence[str]:
        """Return those tiles of the bag that can be drawn now; at least one."""
        return bag

    def pick_tile(self, state: State, rules: Rules, bag: Sequence[str], chance: Chance) -> str | None:
        """Return the tile that is drawn, or None if all tiles of the bag have the same chance."""
        return None

    def react_to_drawing(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """Return the next event of round 1b, before the tile is placed; called until it returns None."""
        return None

    def offer_besides(self, state: State, rules: Rules, part: Part) -> MenuEntry | None:
        """Return a move that is possible besides, before the tile is placed and before the figure, or None."""
        return None

    def take_own_tile(self, state: State, rules: Rules, seat: int) -> Struct | None:
        """Return the event with which a seat takes a tile of its own instead of drawing one, or None without one."""
        return None

    def offer_for_unfit_tile(self, state: State, rules: Rules, part: Part) -> MenuEntry | None:
        """Return a move that is possible with a drawn tile that fits nowhere, or None."""
        return None

    def filter_cells(self, state: State, rules: Rules, tile: str, options: Sequence[Args]) -> Sequence[Args]:
        """Return those of the options (cell, turn) where the box allows the tile."""
        return options

    def react_to_tile(self, state: State, rules: Rules, event: TilePlaced, chance: Chance) -> Struct | None:
        """Return the event that follows the placing of a tile, or None; the state is the one before it."""
        return None

    def award_tile_placed(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """Return the awards of round 1c, before a figure is placed."""
        return ()

    def bars_figures(self, state: State, cell: str) -> bool:
        """Return whether no figure can be put on the tile of a cell."""
        return False

    def offer_figures(self, state: State, rules: Rules, seat: int, part: Part) -> Sequence[Args]:
        """Return further options (kind, segment) for placing a figure; the segment of another tile names its cell."""
        return ()

    def offer_instead_of_figure(self, state: State, rules: Rules, seat: int, part: Part) -> MenuEntry | None:
        """Return a move that is possible instead of placing a figure, or None."""
        return None

    def after_figure(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """Return the next event of round 2, after the figure; called until it returns None."""
        return None

    def award_before_features(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """Return the awards that begin round 3, while all figures are still in place."""
        return ()

    def before_feature(self, state: State, rules: Rules, root: int, chance: Chance) -> Struct | None:
        """Return the next event before a completed feature is scored; called until it returns None."""
        return None

    def after_scoring(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """Return the next event after the completed features are scored; called until it returns None."""
        return None

    def end_scoring(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """Return the next event that ends round 3, after `after_scoring` of all boxes; called until it returns None."""
        return None

    def after_round(self, state: State, rules: Rules, chance: Chance) -> Struct | None:
        """Return the event that follows a scoring round in which figures of the seat on turn moved, or None."""
        return None

    def award_turn_end(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """Return the awards of round 4."""
        return ()

    def after_tile(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """Return the next event after all scoring of a tile; called until it returns None."""
        return None

    def end_turn(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """Return the next event after all parts of a turn; called until it returns None."""
        return None

    # The points of a feature.

    def adjust_strength(self, state: State, rules: Rules, feature: Feature, figure: Figure, strength: int) -> int:
        """Return what a figure counts for the lead on this feature; so far it is `strength`."""
        return strength

    def break_tie(self, state: State, rules: Rules, feature: Feature, leaders: tuple[int, ...]) -> tuple[int, ...]:
        """Return those of several level leaders who lead."""
        return leaders

    def select_figures(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Figure, ...] | None:
        """Return the figures that are scored and go home, or None for all of them."""
        return None

    def count_double_tiles(self, state: State, rules: Rules, feature: Feature) -> int:
        """Return how many double tiles a feature has, to subtract from the number of its tiles: each counts once."""
        return 0

    def adjust_points(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        """Return the points of a feature, regardless of the figures on it; so far they are `points`."""
        return points

    def count_city_again(self, state: State, rules: Rules, city: Feature) -> int:
        """Return how many more times a completed city counts for a farm."""
        return 0

    def count_more_cities(self, state: State, rules: Rules, farm: Feature) -> int:
        """Return how many completed cities a farm touches that are no features: Carcassonne (§30) or Leipzig (§32)."""
        return 0

    def count_extra_farm_points(self, state: State, rules: Rules, farm: Feature) -> int:
        """Return the points that a farm brings besides those for each city."""
        return 0

    def count_extra_points(self, state: State, rules: Rules, feature: Feature, seat: int, moment: Moment) -> int:
        """Return the points that a leading seat gets in addition, in the same award."""
        return 0

    def award_without_lead(
        self, state: State, rules: Rules, feature: Feature, moment: Moment
    ) -> tuple[Award, ...] | None:
        """Return the awards of a feature on which the lead does not matter, or None if it does."""
        return None

    def award_bonus(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...]:
        """Return awards that come after those for the feature itself."""
        return ()

    def find_companions(self, state: State, rules: Rules, feature: Feature, figure: Figure) -> tuple[Figure, ...]:
        """Return the figures that cannot stay on a feature when this figure leaves it."""
        return ()

    def remember_score(self, state: State, rules: Rules, event: FeatureScored) -> State:
        """Return the state after a feature was scored, with what the box remembers of it."""
        return state

    # The end.

    def begin_overtime(self, state: State, rules: Rules) -> Struct | None:
        """Return the event that begins one more turn after the last tile, or None."""
        return None

    def before_final_scoring(self, state: State, rules: Rules, chance: Chance) -> Struct | None:
        """Return the next event before the features are counted at the end; called until it returns None."""
        return None

    def award_at_end(self, state: State, rules: Rules) -> tuple[Award, ...] | None:
        """Return the awards at the very end, or None if the box has none."""
        return None

    # For bots.

    def estimate_completion(self, state: State, root: int) -> float:
        """Return the chance that nothing of this box keeps a road or city from being completed."""
        return 1.0

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return the points that a seat can still expect from the pieces of this box."""
        return 0.0

    def prune_menu(self, state: State, rules: Rules, seat: int, menu: Menu) -> Menu:
        """Return the menu without the moves of this box that no bot makes; at least one move."""
        return menu

    # Its own moves and tasks.

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        """Return the moves of a seat that is asked by a task."""
        return ()

    def resolve_task(self, state: State, rules: Rules, task: Task, chance: Chance) -> Struct | None:
        """Return the event that ends a task without asking; None waits for the seats it asks."""
        return None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """Return the events of a move with one of its verbs."""
        return ()


HOOKS = tuple(name for name, hook in vars(BoxHooks).items() if callable(hook) and not name.startswith("_"))


class Rules(Struct, frozen=True, eq=False):
    """The base game together with the boxes of a table.

    `hooks` has the boxes that override each hook, `rounds` the hooks of each scoring round, `feature_order` the kinds
    of features in the order of the final scoring; `verbs` and `tasks` name the box of each move and task, None if it is
    a move of the base game. The other fields have what the boxes say, all together.
    """

    boxes: tuple[BoxHooks, ...]
    hooks: dict[str, tuple[BoxHooks, ...]]
    rounds: dict[str, tuple[RoundHook, ...]]
    supply: dict[str, int]
    strength: dict[str, int]
    segments: dict[str, frozenset[str]]
    non_meeples: frozenset[str]
    unobtrusive: frozenset[str]
    shared_tasks: frozenset[str]
    scoring_figures: int
    feature_order: tuple[str, ...]
    verbs: dict[str, BoxHooks]
    tasks: dict[str, BoxHooks]

    def make_deck(self) -> Deck:
        """Return the deck of the base game with the tiles of each box mixed in."""
        bag = [name for name, count in count_tiles_of("base").items() for _ in range(count)]
        bag.remove(START)
        deck = Deck(START, (tuple(bag),))
        for box in self.boxes:
            deck = box.mix_deck(deck)
        return deck

    def select_meeples(self, figures: Iterable[Figure], seat: int) -> list[Figure]:
        """Return the meeples of a seat among these figures."""
        return [figure for figure in figures if figure.seat == seat and figure.kind not in self.non_meeples]


def combine_boxes(boxes: Sequence[BoxHooks]) -> Rules:
    """Return the rules of the base game with these boxes."""
    hooks = {name: tuple(box for box in boxes if _overrides(box, name)) for name in HOOKS}
    rounds = dict[str, tuple[RoundHook, ...]]()
    for key, name in ROUNDS.items():
        rounds[key] = tuple(getattr(box, name) for box in hooks[name])  # the hooks themselves, to be called
    supply = sum((Counter(box.supply) for box in boxes), Counter(SUPPLY))
    base_verbs = dict.fromkeys(BASE_VERBS)  # they have no box, but no box may use them either
    more_kinds = [dict.fromkeys(box.feature_kinds) for box in boxes]
    return Rules(
        boxes=tuple(boxes),
        hooks=hooks,
        rounds=rounds,
        supply=dict(supply),
        strength=merge_distinct("strength", {"meeple": 1}, *(box.strength for box in boxes)),
        segments=merge_distinct("segments", {"meeple": MEEPLE_SEGMENTS}, *(box.segments for box in boxes)),
        non_meeples=frozenset().union(*(box.non_meeples for box in boxes)),
        unobtrusive=frozenset().union(*(box.unobtrusive for box in boxes)),
        shared_tasks=frozenset().union(*(box.shared_tasks for box in boxes)),
        scoring_figures=max((box.scoring_figures for box in boxes), default=1),
        feature_order=tuple(merge_distinct("feature kinds", dict.fromkeys(BASE_ORDER), *more_kinds)),
        verbs=merge_distinct("verbs", base_verbs, *(dict.fromkeys(box.verbs, box) for box in boxes)),
        tasks=merge_distinct("tasks", *(dict.fromkeys(box.tasks, box) for box in boxes)),
    )


def _overrides(box: BoxHooks, name: str) -> bool:
    return getattr(type(box), name) is not getattr(BoxHooks, name)


def merge_distinct(what: str, *parts: Mapping[Any, Any]) -> dict[Any, Any]:
    """Merge mappings; raise ValueError if two boxes use the same key."""
    counted = Counter(key for part in parts for key in part)
    clashes = [str(key) for key, count in counted.items() if count > 1]
    if clashes:
        raise ValueError(f"two boxes have the same {what}: {', '.join(clashes)}")
    return {key: value for part in parts for key, value in part.items()}


def mix_in_tiles(deck: Deck, box: str) -> Deck:
    """Return the deck with the tiles of a box in its last bag; those before it only begin the game: the river."""
    more = tuple(name for name, count in count_tiles_of(box).items() for _ in range(count))
    return Deck(deck.start, (*deck.bags[:-1], deck.bags[-1] + more), deck.beside)


def place_tile(state: State, rules: Rules, event: TilePlaced, chance: Chance) -> list[Struct]:
    """Return the event of placing a tile, and those with which boxes react to it."""
    events: list[Struct] = [event]
    for box in rules.hooks["react_to_tile"]:
        reaction = box.react_to_tile(state, rules, event, chance)
        if reaction:
            events.append(reaction)
    return events


def pick_tile(state: State, rules: Rules, chance: Chance) -> str:
    """Pick a tile from the first bag, all with the same chance unless a box says otherwise."""
    bag: Sequence[str] = state.bags[0]
    for box in rules.hooks["filter_bag"]:
        bag = box.filter_bag(state, rules, bag)
    for box in rules.hooks["pick_tile"]:
        tile = box.pick_tile(state, rules, bag, chance)
        if tile is not None:
            return tile
    return chance.pick("tile", bag)
