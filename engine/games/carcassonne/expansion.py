"""What a box that is mixed into the game may change: the named places at which the turn and the scoring ask it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from engine.chance import Chance
from engine.games.carcassonne.board import START, SUPPLY, Args, tiles_of
from engine.games.carcassonne.state import Award, Errand, Feature, Figure, Options, Part, State, TilePlaced
from engine.menu import Entry, Menu, Move


class Deck(Struct, frozen=True):
    """The tile the game begins with, and the bags that are drawn empty one after the other."""

    start: str
    bags: tuple[tuple[str, ...], ...]


class Expansion(Struct, frozen=True, eq=False):
    """The hooks of one box; what a box does not change stays empty.

    `deck` mixes tiles in, `begun` lays things ready, `fitting` narrows where a tile may go, `joining` speaks up when
    one is placed; `deploy` offers further figures, `act` a deed instead of a figure; `completed` comes before the
    scoring of a feature, `worth` changes what it is worth, `extra` adds to that for one seat, `bonus` awards beside it;
    `escort` says who goes home with a figure, `closed` what a scoring round leads to, `after` what follows a tile,
    `final` what is counted at the end. `errands`, `menus`, `decide`, `evolve` are steps, menus, verbs, events it adds.
    `rounds` are the scoring rounds 1a (start of the turn), 1b (tile drawn), 1c (tile placed), 4 (end of the turn);
    round 2 (after the figure) begins with an act, round 3 is the scoring of features.
    """

    option: str
    supply: dict[str, int] = {}
    strength: dict[str, int] = {}
    scoring_figures: int = 1
    followers: dict[str, frozenset[str]] = {}
    deck: Callable[[Deck], Deck] | None = None
    begun: Callable[[State], State] | None = None
    fitting: Callable[[State, str, Sequence[Args]], Sequence[Args]] | None = None
    joining: Callable[[State, TilePlaced], Any] | None = None
    deploy: Callable[[State, int, Part, Rules], Sequence[Args]] | None = None
    act: Callable[[State, int, Rules], Entry | None] | None = None
    rounds: dict[str, Callable[[State, Part], tuple[Award, ...]]] = {}
    completed: Callable[[State, int], Any] | None = None
    worth: Callable[[Feature, int], int] | None = None
    extra: Callable[[State, Feature, int], int] | None = None
    bonus: Callable[[State, Feature], tuple[Award, ...]] | None = None
    escort: Callable[[Feature, Figure, Rules], tuple[Figure, ...]] | None = None
    closed: Callable[[State, Chance], Any] | None = None
    after: Callable[[State, Part], Any] | None = None
    errands: dict[str, Callable[[State, Errand], Struct]] = {}
    menus: dict[str, Callable[[State, Errand, Rules], Menu]] = {}
    decide: dict[str, Callable[[State, int, Move, Rules], Sequence[Any]]] = {}
    final: Callable[[State], tuple[Award, ...]] | None = None
    evolve: dict[type, Callable[[State, Any], State]] = {}


class Rules(Struct, frozen=True, eq=False):
    """The base game together with the boxes of a table: every hook with all that hang on it."""

    boxes: tuple[Expansion, ...]
    supply: dict[str, int]
    strength: dict[str, int]
    scoring_figures: int
    followers: dict[str, frozenset[str]]
    rounds: dict[str, tuple[Callable[[State, Part], tuple[Award, ...]], ...]]
    errands: dict[str, Callable[[State, Errand], Struct]]
    menus: dict[str, Callable[[State, Errand, Rules], Menu]]
    decide: dict[str, Callable[[State, int, Move, Rules], Sequence[Any]]]
    hooks: dict[str, tuple[Any, ...]]

    def deck(self) -> Deck:
        """The start tile and the bags with every box mixed in."""
        bag = [name for name, count in tiles_of("base").items() for _ in range(count)]
        bag.remove(START)
        deck = Deck(START, (tuple(bag),))
        return functools.reduce(lambda mixed, mix: mix(mixed), self.hooks["deck"], deck)


MEEPLE_PLACES = frozenset({"road", "city", "cloister", "field"})
ROUNDS = ("1a", "1b", "1c", "4")
HOOKS = tuple(field.name for field in fields(Expansion) if field.default is None)


def united(boxes: Sequence[Expansion]) -> Rules:
    """The base game with these boxes."""
    return Rules(
        boxes=tuple(boxes),
        supply=_merged(SUPPLY, *(box.supply for box in boxes)),
        strength=_merged({"meeple": 1}, *(box.strength for box in boxes)),
        scoring_figures=max((box.scoring_figures for box in boxes), default=1),
        followers=_merged({"meeple": MEEPLE_PLACES}, *(box.followers for box in boxes)),
        rounds={place: tuple(box.rounds[place] for box in boxes if place in box.rounds) for place in ROUNDS},
        errands=_merged(*(box.errands for box in boxes)),
        menus=_merged(*(box.menus for box in boxes)),
        decide=_merged(*(box.decide for box in boxes)),
        hooks={name: tuple(hook for box in boxes if (hook := getattr(box, name)) is not None) for name in HOOKS},
    )


def _merged(*parts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for part in parts for key, value in part.items()}


def mixed_in(deck: Deck, box: str) -> Deck:
    """The deck with the tiles of a box mixed into its last bag."""
    more = tuple(name for name, count in tiles_of(box).items() for _ in range(count))
    return Deck(deck.start, (*deck.bags[:-1], deck.bags[-1] + more))


def wanted(options: Options, boxes: Sequence[Expansion]) -> Sequence[Expansion]:
    """Those boxes that the options ask for."""
    return [box for box in boxes if getattr(options, box.option)]
