"""The contract that every game implements, and the functions that run any game: `begin`, `play` and `fold`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, get_args

from msgspec import Struct

from engine import menu as menus
from engine.chance import Chance
from engine.menu import Menu, Move
from engine.refusal import Refused

MAX_FORCED_EVENTS = 1_000


class Meta(Struct, frozen=True):
    """The facts on the box: title, numbers of seats, options, authors.

    `about` holds for every table; `about_options` are sentences that follow it at tables with an option, by its name.
    `hidden_draws` are the labels of draws from something that not every seat may see. `skips` are verbs without
    arguments that change nothing, such as `pass`: a table may make these moves for a player who is late.
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
    about_options: Mapping[str, str] = {}
    hidden_draws: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()


class Standing(Struct, frozen=True):
    """The score of a seat so far, whether it is out of the game, and its place once the game is over (1 is best)."""

    score: int
    out: bool = False
    place: int | None = None


class Game(Protocol):
    """The contract: a module that offers these names is a game.

    It may also offer `outlook(state)`, see `engine.win_shares`, and `prune(state, seat, menu)`, which leaves out moves
    that no bot makes. `sources(event, seat)` says where points come from, and `advance(state, chance)` applies several
    forced events at once, see `settle`. `make_edition(number)` returns an earlier edition of which there is no module.
    """

    __name__: str
    __file__: str
    META: Meta
    State: Any
    Event: Any
    View: Any

    def __hash__(self) -> int:
        """Modules can be keys of a dict, and so can games."""

    def objection(self, options: Any, seats: int) -> Refused | None:
        """Return the reason why these options cannot be played with this number of seats, or None."""

    def setup(self, options: Any, seats: int, chance: Chance) -> Sequence[Any]:
        """Return the first events."""

    def menu(self, state: Any, seat: int) -> Menu:
        """Return everything that the seat may do now; `()` means wait. Several seats may have menus at once."""

    def decide(self, state: Any, seat: int, move: Move, chance: Chance) -> Sequence[Any]:
        """Return the events of this move alone; the move is on the menu."""

    def upkeep(self, state: Any, chance: Chance) -> Any:
        """Return the next event that the rules force; None if a player has to decide or the game is over."""

    def evolve(self, state: Any, event: Any) -> Any:
        """Return the state after an event; never refuse, never draw, never compute a score."""

    def view(self, state: Any, seat: int | None) -> Any:
        """Return everything that this seat, or a spectator, may know; build it up, do not copy the state and remove."""

    def hear(self, event: Any, seat: int | None) -> Any:
        """Return the event as this seat, or a spectator, may learn it; None if it may not learn it."""

    def redeal(self, state: Any, seat: int | None, chance: Chance) -> Any:
        """Return the state with everything that this seat cannot know dealt again."""

    def standing(self, state: Any) -> tuple[Standing, ...]:
        """Return the standing of every seat; it has places if and only if the game is over."""


class Outcome(NamedTuple):
    """The state after a move, and the events that led to it."""

    state: Any
    events: tuple[Any, ...]


class EndlessUpkeep(Exception):
    """The rules force one event after another without end: a fault of the game."""


def begin(game: Game, options: Any, seats: int, chance: Chance) -> Outcome:
    """Set up a new game and apply the events that the rules force."""
    refusal = objection(game, options, seats)
    if refusal:
        raise refusal
    return settle(game, game.State(), game.setup(options, seats, chance), chance)


def objection(game: Game, options: Any, seats: int) -> Refused | None:
    """Return the reason why a table with these options and seats cannot be opened, or None."""
    if seats not in game.META.seats:
        allowed = ", ".join(map(str, game.META.seats))
        return Refused(
            "{game} is played by {allowed} players, not by {seats}.", game=game.META.title, allowed=allowed, seats=seats
        )
    return game.objection(options, seats)


def play(game: Game, state: Any, seat: int, move: Move, chance: Chance) -> Outcome:
    """Make a move and apply the events that the rules force; raise Refused if it is not on the menu."""
    check(game.menu(state, seat), move)
    return perform(game, state, seat, move, chance)


def check(menu: Menu, move: Move) -> None:
    """Raise Refused if the move is not on this menu."""
    if not menus.allows(menu, move):
        raise _explain_refusal(menu, move)


def perform(game: Game, state: Any, seat: int, move: Move, chance: Chance) -> Outcome:
    """Make a move that is on the menu, without a check, and apply the events that the rules force."""
    return settle(game, state, game.decide(state, seat, move, chance), chance)


def fold(game: Game, events: Iterable[Any], state: Any = None) -> Any:
    """Return the state after these events; no rule is applied."""
    state = game.State() if state is None else state
    evolve = game.evolve
    for event in events:
        state = evolve(state, event)
    return state


def get_event_types(game: Game) -> dict[str, type[Struct]]:
    """Return the event classes of a game by name."""
    return {kind.__name__: kind for kind in get_args(game.Event) or (game.Event,)}


def is_over(game: Game, state: Any) -> bool:
    """Whether the game is over: only then every seat has its place."""
    return all(standing.place is not None for standing in game.standing(state))


def settle(game: Game, state: Any, first: Sequence[Any], chance: Chance) -> Outcome:
    """Apply these events, and then all that the rules force; for a state made by hand, call it without events.

    A game's `advance` only saves time: it returns the same events and state as `upkeep` and `evolve` do one by one.
    """
    events = list(first)
    upkeep = game.upkeep
    evolve = game.evolve
    advance = getattr(game, "advance", None)
    for event in first:
        state = evolve(state, event)
    for _ in range(MAX_FORCED_EVENTS):
        if advance and (several := advance(state, chance)):
            state, forced = several
            events += forced
        event = upkeep(state, chance)
        if event is None:
            return Outcome(state, tuple(events))
        state = evolve(state, event)
        events.append(event)
    code = inspect.unwrap(upkeep).__code__
    raise EndlessUpkeep(
        f"{code.co_filename}:{code.co_firstlineno}: {code.co_name} of {game.META.name} "
        f"forced {MAX_FORCED_EVENTS} events in a row without end; the last was {events[-1]!r}"
    )


def _explain_refusal(menu: Menu, move: Move) -> Refused:
    """Return the refusal of a move that is not on the menu; that of a text that cannot be parsed is the best one."""
    if not menu:
        return Refused("It is not your turn: there is nothing for you to do now.")
    try:
        menus.parse_move(menu, str(move))
    except Refused as refused:
        return refused
    return Refused("“{move}” is not one of your moves now.", move=move)


def rank_seats(standing: Sequence[Standing], resigned: Mapping[int, int]) -> tuple[int, ...]:
    """Return the places: first by the game, then the seats that resigned, the last one to resign first.

    `resigned` has the entry at which each of these seats resigned.
    """

    def rank(seat: int) -> tuple[int, int, int]:
        """Return the rank of a seat: seats are compared by the first number, then by the next; the lowest is best."""
        own = standing[seat]
        if seat in resigned:
            return (1, -resigned[seat], 0)  # the later, the better
        if own.place is not None:
            return (0, own.place, 0)
        return (0, int(own.out), -own.score)  # the game is not over: those who are still in come first, by points

    ranks = [rank(seat) for seat in range(len(standing))]
    return tuple(1 + sum(other < own for other in ranks) for own in ranks)
