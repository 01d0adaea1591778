"""The contract a game fulfils, and the two functions that need nothing else: `play` and `fold`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, Protocol, get_args

from msgspec import Struct

from engine import menu as menus
from engine.chance import Chance
from engine.menu import Menu, Move
from engine.refusal import Refused

GUARD = 1_000


class Meta(Struct, frozen=True):
    """What the box says; `hidden_draws` are the labels of draws out of something that not everybody may see.

    `skips` are verbs that need no words and leave things as they are: a table may make them for a player who is late.
    """

    name: str
    title: str
    seats: tuple[int, ...]
    options: type[Struct]
    edition: int
    stage: Literal["complete", "trial"]
    designer: str
    publisher: str
    year: int
    minutes: int
    about: str
    hidden_draws: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()


class Standing(Struct, frozen=True):
    """How one seat stands: its score so far, whether it is out, and its place once all is over (1 is best)."""

    score: int
    out: bool = False
    place: int | None = None


class Game(Protocol):
    """A module that offers these names is a game.

    It may offer `outlook(state)` too, see `engine.win_shares`, and `sources(event, seat)`,
    which says where points come from.
    """

    __name__: str
    __file__: str
    META: Meta
    State: Any
    Event: Any
    View: Any

    def __hash__(self) -> int:
        """Modules may be keys; so may games."""

    def objection(self, options: Any, seats: int) -> Refused | None:
        """Why these options do not go with so many seats, in a sentence; None where they do."""

    def setup(self, options: Any, seats: int, chance: Chance) -> Sequence[Any]:
        """The first events."""

    def menu(self, state: Any, seat: int) -> Menu:
        """Everything that seat may do now; `()` means wait. Several seats may have menus at once."""

    def decide(self, state: Any, seat: int, move: Move, chance: Chance) -> Sequence[Any]:
        """Only what the player did; may assume that the move is on the menu."""

    def upkeep(self, state: Any, chance: Chance) -> Any:
        """The next event the rules force, or None when it is somebody's turn to decide or all is over."""

    def evolve(self, state: Any, event: Any) -> Any:
        """The state after an event; never refuses, never draws, never computes a score."""

    def view(self, state: Any, seat: int | None) -> Any:
        """Everything this seat, or a spectator, may know; built up, never stripped down."""

    def hear(self, event: Any, seat: int | None) -> Any:
        """The event as this seat may learn it, or None."""

    def redeal(self, state: Any, seat: int | None, chance: Chance) -> Any:
        """The same table with everything that this seat cannot know dealt anew."""

    def standing(self, state: Any) -> tuple[Standing, ...]:
        """How every seat stands; places are given exactly when the game is over."""


class Played(NamedTuple):
    """Where a move led, and the events that led there."""

    state: Any
    events: tuple[Any, ...]


class Endless(Exception):
    """The rules force one thing after another and never come to rest: a fault of the game."""


def begin(game: Game, options: Any, seats: int, chance: Chance) -> Played:
    """Set a new game up and let its first forced events happen."""
    why = objection(game, options, seats)
    if why:
        raise why
    return settle(game, game.State(), game.setup(options, seats, chance), chance)


def objection(game: Game, options: Any, seats: int) -> Refused | None:
    """Why such a table cannot be opened, or None."""
    if seats not in game.META.seats:
        allowed = ", ".join(map(str, game.META.seats))
        return Refused(
            "{game} is played by {allowed} players, not by {seats}.", game=game.META.title, allowed=allowed, seats=seats
        )
    return game.objection(options, seats)


def play(game: Game, state: Any, seat: int, move: Move, chance: Chance) -> Played:
    """Refuse what is not on the menu; otherwise do it, and let happen what the rules then force."""
    check(game.menu(state, seat), move)
    return perform(game, state, seat, move, chance)


def check(menu: Menu, move: Move) -> None:
    """Refuse what is not on this menu."""
    if not menus.allows(menu, move):
        raise _off(menu, move)


def perform(game: Game, state: Any, seat: int, move: Move, chance: Chance) -> Played:
    """Make a move that is known to be on the menu, and let the rules do what follows from it."""
    return settle(game, state, game.decide(state, seat, move, chance), chance)


def fold(game: Game, events: Iterable[Any], state: Any = None) -> Any:
    """The position these events lead to; needs no rules."""
    state = game.State() if state is None else state
    evolve = game.evolve
    for event in events:
        state = evolve(state, event)
    return state


def events(game: Game) -> dict[str, type[Struct]]:
    """The event classes of a game by name, in whatever module it keeps them."""
    return {kind.__name__: kind for kind in get_args(game.Event) or (game.Event,)}


def is_over(game: Game, state: Any) -> bool:
    return all(standing.place is not None for standing in game.standing(state))


def settle(game: Game, state: Any, first: Sequence[Any], chance: Chance) -> Played:
    """These events, and then all that the rules force; with no events a position made by hand comes to rest."""
    events, upkeep, evolve = list(first), game.upkeep, game.evolve
    for event in first:
        state = evolve(state, event)
    for _ in range(GUARD):
        event = upkeep(state, chance)
        if event is None:
            return Played(state, tuple(events))
        state = evolve(state, event)
        events.append(event)
    raise Endless(f"{game.META.name} did not come to rest within {GUARD} forced events; the last was {events[-1]!r}")


def _off(menu: Menu, move: Move) -> Refused:
    if not menu:
        return Refused("It is not your turn: there is nothing for you to do now.")
    try:
        menus.from_text(menu, str(move))
    except Refused as refused:
        return refused
    return Refused("“{move}” is not one of your moves now.", move=move)
