"""The options, the state of a round, the events, how each changes the state, and what everybody sees of it."""

from __future__ import annotations

import functools
import hashlib
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.kaiser.board import FORMATION, STEPS_TO_CENTRE, WAYS, Rank, Stone

Item = TypeVar("Item")


class Options(Struct, frozen=True):
    corners: Annotated[
        Literal["adjacent", "opposite"],
        msgspec.Meta(description="With two players: neighbouring corners, or corners across the board (§1.2)"),
    ] = "adjacent"
    rounds: Annotated[
        int, msgspec.Meta(ge=1, le=12, description="How many rounds are played for points, the start passing on (§6.3)")
    ] = 1
    last_emperor: Annotated[
        Literal["wins", "must_enter"],
        msgspec.Meta(description="The last emperor wins at once, or still has to reach the fortress (§5.2)"),
    ] = "wins"
    eliminated_score: Annotated[
        bool, msgspec.Meta(description="A player without an emperor still scores the stones left on the board (§6.2)")
    ] = True


class State(Struct, frozen=True):
    """A round, and the points of the rounds before it."""

    corners: tuple[str, ...] = ()  # the sector of each seat
    options: Options = Options()
    round: int = 0
    first: int = 0
    turn: int = 0
    moved: bool = False  # whether the seat on turn has moved or passed
    stones: dict[str, Stone] = {}  # by crossing
    opened: tuple[bool, ...] = ()  # which seats have had their first turn, and may capture (§4.1)
    out: tuple[bool, ...] = ()
    nearest: tuple[int, ...] = ()  # the fewest steps that each emperor has ever been from the centre
    quiet: int = 0  # turns since a capture or an emperor's advance (§5.4)
    mark: int = 0  # the hash of all stones on their crossings
    seen: dict[int, int] = {}  # how often each position came up since the last capture, by its hash (§5.3)
    repeated: int = 0  # how often the present position came up
    last: tuple[str, str] | None = None  # start and end of the last move
    decided: bool = False
    victor: int | None = None
    counted: tuple[int, ...] = ()  # the seats that have scored this round
    points: tuple[int, ...] = ()
    victories: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


class Assembled(Struct, frozen=True, omit_defaults=True, tag=True):
    """The players took their corners, clockwise."""

    corners: tuple[str, ...]
    options: Options


class RoundBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    """All stones were set up in their formation; seat `first` has the first turn."""

    round: int
    first: int


class Moved(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    rank: Rank
    start: str
    end: str


class Captured(Struct, frozen=True, omit_defaults=True, tag=True):
    """A stone of `victim` left the board; the stone that captured it took its place."""

    seat: int
    at: str
    victim: int
    rank: Rank


class Fell(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat lost its emperor and is out of this round."""

    seat: int


class Passed(Struct, frozen=True, omit_defaults=True, tag=True):
    """No stone of this seat can move."""

    seat: int


class TurnBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int


class RoundWon(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    by: Literal["fortress", "last emperor"]


class RoundDrawn(Struct, frozen=True, omit_defaults=True, tag=True):
    by: Literal["repetition", "quiet"]


class Scored(Struct, frozen=True, omit_defaults=True, tag=True):
    """Points for the stones a seat has left, and for winning the round."""

    seat: int
    stones: int
    bonus: int = 0


class GameEnded(Struct, frozen=True, omit_defaults=True, tag=True):
    places: tuple[int, ...]


Event = (
    Assembled | RoundBegan | Moved | Captured | Fell | Passed | TurnBegan | RoundWon | RoundDrawn | Scored | GameEnded
)


def evolve(state: State, event: Event) -> State:
    """Return the state after an event; no rule is applied."""
    match event:
        case Moved():
            return _move(state, event)
        case TurnBegan(seat):
            return replace(state, turn=seat, moved=False)
        case Captured(seat):
            return _capture(state, seat)
        case Fell(seat):
            return replace(state, out=_set_item(state.out, seat, item=True))
        case Passed(seat):
            return _pass(state, seat)
        case RoundWon(seat):
            victories = _set_item(state.victories, seat, state.victories[seat] + 1)
            return replace(state, decided=True, victor=seat, victories=victories)
        case RoundDrawn():
            return replace(state, decided=True)
        case Scored(seat, stones, bonus):
            points = _set_item(state.points, seat, state.points[seat] + stones + bonus)
            return replace(state, points=points, counted=(*state.counted, seat))
        case RoundBegan(number, first):
            return _begin_round(state, number, first)
        case Assembled(corners, options):
            zeros = (0,) * len(corners)
            return State(corners=corners, options=options, points=zeros, victories=zeros)
        case GameEnded(places):
            return replace(state, places=places)
    raise TypeError(f"no event of this game: {event!r}")


def _begin_round(state: State, number: int, first: int) -> State:
    """§1.4: set up the formation of every seat in its corner."""
    seats = range(len(state.corners))
    stones = {start: Stone(seat, rank) for seat in seats for start, rank in FORMATION[state.corners[seat]].items()}
    all_false = (False,) * len(seats)
    return State(
        corners=state.corners,
        options=state.options,
        round=number,
        first=first,
        turn=first,
        stones=stones,
        opened=all_false,
        out=all_false,
        nearest=tuple(_count_emperor_steps(state.corners[seat]) for seat in seats),
        points=state.points,
        victories=state.victories,
    )


def _count_emperor_steps(corner: str) -> int:
    """Return how many steps from the centre the emperor of a corner begins."""
    return next(STEPS_TO_CENTRE[start] for start, rank in FORMATION[corner].items() if rank == "emperor")


def _move(state: State, event: Moved) -> State:
    """Move a stone; §5.3 count how often this position came up, §5.4 count the turns in which nothing happens.

    If the stone captures another one, `Captured` follows, and `_capture` starts both counts again.
    """
    stones = dict(state.stones)
    stone = stones.pop(event.start)
    victim = stones.get(event.end)
    stones[event.end] = stone
    # The moved stone changes the hash of all stones at its start and at its end, and so does a victim that is gone.
    mark = state.mark ^ _hash_stone(event.start, stone) ^ _hash_stone(event.end, stone)
    if victim:
        mark ^= _hash_stone(event.end, victim)
    position_hash = _hash_position(mark, event.seat)
    repeated = state.seen.get(position_hash, 0) + 1
    distance = STEPS_TO_CENTRE[event.end]
    nearer = event.rank == "emperor" and distance < state.nearest[event.seat]
    return replace(
        state,
        stones=stones,
        mark=mark,
        seen={**state.seen, position_hash: repeated},
        repeated=repeated,
        moved=True,
        opened=_set_item(state.opened, event.seat, item=True),  # it may capture from its next turn on
        nearest=_set_item(state.nearest, event.seat, distance) if nearer else state.nearest,
        quiet=0 if nearer else state.quiet + 1,
        last=(event.start, event.end),
    )


def _capture(state: State, seat: int) -> State:
    """Start both counts again: no position before a capture can come up after it."""
    return replace(state, quiet=0, seen={_hash_position(state.mark, seat): 1}, repeated=1)


def _pass(state: State, seat: int) -> State:
    """Count the pass as the seat's opening turn (§4.1), and as a turn in which nothing happens (§5.4)."""
    return replace(state, moved=True, opened=_set_item(state.opened, seat, item=True), quiet=state.quiet + 1)


def _hash_position(mark: int, seat: int) -> int:
    """Return a number for a position: the crossings of all stones, and the seat that has just moved.

    The seat counts like an emperor on a crossing “turn”, which is none of the board.
    """
    return mark ^ _hash_stone("turn", Stone(seat, "emperor"))


@functools.cache
def _hash_stone(crossing: str, stone: Stone) -> int:
    """Return a number for a stone on a crossing (Zobrist hashing).

    The XOR of these numbers is the hash of a position, so that a move needs no look at the other stones.
    """
    return int.from_bytes(hashlib.sha256(f"{crossing} {stone.seat} {stone.rank}".encode()).digest()[:6], "big")


def _set_item(items: tuple[Item, ...], index: int, item: Item) -> tuple[Item, ...]:
    return (*items[:index], item, *items[index + 1 :])


class View(Struct, frozen=True):
    """The board as everybody sees it.

    `turn` is None once the round is decided. `quiet` counts the turns since a capture or an emperor's advance.
    """

    corners: tuple[str, ...]
    round: int
    rounds: int
    turn: int | None
    stones: dict[str, Stone]
    may_capture: tuple[bool, ...]
    out: tuple[bool, ...]
    points: tuple[int, ...]
    quiet: int
    last: tuple[str, str] | None
    places: tuple[int, ...]

    def find_stones(self, seat: int, rank: Rank) -> list[str]:
        """Return the crossings of a seat's stones of this rank."""
        return [crossing for crossing, stone in self.stones.items() if stone.seat == seat and stone.rank == rank]

    def find_last_way(self) -> tuple[str, ...]:
        """Return the crossings of the last move, from its start to its end; none if that stone was captured since.

        Of several ways it is any that is still free; if none is, only the two ends are known.
        """
        if self.last is None or self.last[1] not in self.stones:
            return ()
        start, end = self.last
        for ends, between in WAYS[self.stones[end].rank][start]:
            if ends == self.last and self.stones.keys().isdisjoint(between):
                return (start, *between, end)
        return start, end


def view(state: State, seat: int | None) -> View:
    """Return the board, which all seats see alike."""
    return View(
        corners=state.corners,
        round=state.round,
        rounds=state.options.rounds,
        turn=None if state.decided else state.turn,
        stones=state.stones,
        may_capture=state.opened,
        out=state.out,
        points=state.points,
        quiet=state.quiet,
        last=state.last,
        places=state.places,
    )


def hear(event: Event, seat: int | None) -> Event:
    """Return what a seat may know of an event: all of it."""
    return event


def redeal(state: State, seat: int | None, chance: Chance) -> State:
    """Return the state as it is: a seat knows all of it, so there is nothing to deal again."""
    return state
