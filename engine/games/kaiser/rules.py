"""The rules, in the order of the README, whose paragraphs they cite."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.game import Meta, Standing
from engine.games.kaiser.board import CENTRE, DISTANCE, FORMATION, WAYS, WORTH, Rank
from engine.menu import Choice, Menu, Move
from engine.refusal import Refused

Item = TypeVar("Item")

CORNERS: dict[int, str] = {3: "ABC", 4: "ABCD"}
PAIRS = {"adjacent": "AB", "opposite": "AC"}
FORTRESS_BONUS = 5
QUIET_ROUNDS = 60
REPETITIONS = 3


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
        bool, msgspec.Meta(description="A player without emperor still scores the stones left to him (§6.2)")
    ] = True


META = Meta(
    name="kaiser",
    title="Kaiser, König, Edelmann",
    seats=(2, 3, 4),
    options=Options,
    edition=1,
    stage="complete",
    designer="Heinrich Semmeloch",
    publisher="Otto Maier Verlag Ravensburg",
    year=1976,
    minutes=45,
    about="Lead your emperor to the centre of the fortress. Emperors step one point, kings two, noblemen three, and "
    "whoever loses the emperor is out.",
)


class Stone(Struct, frozen=True):
    """A figure on the board and whose it is."""

    seat: int
    rank: Rank


class State(Struct, frozen=True):
    """A round in progress, and the points of the rounds before."""

    corners: tuple[str, ...] = ()
    options: Options = Options()
    round: int = 0
    first: int = 0
    turn: int = 0
    moved: bool = False
    stones: dict[str, Stone] = {}
    opened: tuple[bool, ...] = ()
    out: tuple[bool, ...] = ()
    nearest: tuple[int, ...] = ()
    quiet: int = 0
    mark: int = 0
    seen: dict[int, int] = {}
    repeated: int = 0
    last: tuple[str, str] | None = None
    decided: bool = False
    victor: int | None = None
    counted: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    victories: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


class Assembled(Struct, frozen=True, omit_defaults=True, tag=True):
    """The players took their corners, clockwise."""

    corners: tuple[str, ...]
    options: Options


class RoundBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    """All stones stand in their formation, and this seat begins."""

    round: int
    first: int


class Moved(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    rank: Rank
    start: str
    end: str


class Captured(Struct, frozen=True, omit_defaults=True, tag=True):
    """A stone left the board; the capturing one stands in its place."""

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


def objection(options: Options, seats: int) -> Refused | None:
    """§1.2: only two players can choose to sit across the board."""
    if options.corners == "opposite" and seats != 2:
        return Refused("Opposite corners are for two players; leave “corners” at adjacent.", rule="1.2")
    return None


def setup(options: Options, seats: int, chance: Chance) -> list[Event]:
    corners = _corners(options, seats, chance)
    return [Assembled(corners, options), RoundBegan(1, chance.pick("start player", range(seats)))]


def _corners(options: Options, seats: int, chance: Chance) -> tuple[str, ...]:
    """§1.3: with three, chance decides who sits between the other two; the seats stay in clockwise order."""
    if seats == 2:
        return tuple(PAIRS[options.corners])
    corners = tuple(CORNERS[seats])
    if seats == 3:
        middle = chance.pick("middle corner", range(3))
        return tuple(corners[(seat - middle + 1) % 3] for seat in range(3))
    return corners


def menu(state: State, seat: int) -> Menu:
    """§2, §3: whoever is on turn must move one figure, exactly as far as it is worth."""
    if seat != state.turn or state.moved or state.decided:
        return ()
    targets = tuple(dict.fromkeys(_targets(state, seat)))
    return (Choice("move", targets, rule="2.1"),) if targets else ()


def _targets(state: State, seat: int) -> Iterator[tuple[str, str]]:
    """Start and end of every legal move, once for each free way."""
    stones = state.stones
    free, may_capture = stones.keys().isdisjoint, state.opened[seat]
    for start, stone in stones.items():
        if stone.seat != seat:
            continue
        for ends, between in WAYS[stone.rank][start]:
            if free(between):  # §2.3
                taken = stones.get(ends[1])
                if taken is None or (may_capture and taken.seat != seat):  # §4.1, §4.2
                    yield ends


def decide(state: State, seat: int, move: Move, chance: Chance) -> list[Event]:
    start, end = move.args
    moved = Moved(seat, state.stones[start].rank, start, end)
    taken = state.stones.get(end)
    return [moved] if taken is None else [moved, Captured(seat, end, taken.seat, taken.rank)]


def upkeep(state: State, chance: Chance) -> Event | None:
    if state.places:
        return None
    if state.decided:
        return _reckoning(state)
    return _fall(state) or _decision(state) or _turn(state)


def _fall(state: State) -> Event | None:
    """§4.3: an emperor that was taken takes its player out of the round."""
    if state.quiet or not state.moved:
        return None
    emperors = {stone.seat for stone in state.stones.values() if stone.rank == "emperor"}
    for seat, out in enumerate(state.out):
        if not out and seat not in emperors:
            return Fell(seat)
    return None


def _decision(state: State) -> Event | None:
    """§5: how a round ends."""
    inside = state.stones.get(CENTRE)
    if inside is not None:
        return RoundWon(inside.seat, "fortress")
    alive = [seat for seat, out in enumerate(state.out) if not out]
    if len(alive) == 1 and state.options.last_emperor == "wins":
        return RoundWon(alive[0], "last emperor")
    if state.repeated >= REPETITIONS:
        return RoundDrawn("repetition")
    if state.quiet >= QUIET_ROUNDS * len(alive):
        return RoundDrawn("quiet")
    return None


def _turn(state: State) -> Event | None:
    """§3: the turn goes round clockwise; who cannot move passes, and who is out is passed over."""
    if state.moved:
        return TurnBegan(_next(state, state.turn))
    can_move = next(_targets(state, state.turn), None)
    return None if can_move else Passed(state.turn)


def _next(state: State, seat: int) -> int:
    seats = len(state.out)
    after = ((seat + step) % seats for step in range(1, seats + 1))
    return next(other for other in after if not state.out[other])


def _reckoning(state: State) -> Event:
    """§6: every seat scores in turn, then the next round begins or the game ends."""
    for seat in range(len(state.out)):
        if seat not in state.counted:
            return _score(state, seat)
    if state.round < state.options.rounds:
        return RoundBegan(state.round + 1, (state.first + 1) % len(state.out))
    return GameEnded(_places(state))


def _score(state: State, seat: int) -> Scored:
    counts = state.options.eliminated_score or not state.out[seat]
    stones = sum(WORTH[stone.rank] for stone in state.stones.values() if stone.seat == seat) if counts else 0
    return Scored(seat, stones, FORTRESS_BONUS if seat == state.victor else 0)


def _places(state: State) -> tuple[int, ...]:
    """§6.4: a single round goes to its winner; several are ranked by points, then by rounds won."""
    single = state.options.rounds == 1
    ranks = [
        (-(single and seat == state.victor), -state.points[seat], -state.victories[seat])
        for seat in range(len(state.out))
    ]
    return tuple(1 + sum(other < own for other in ranks) for own in ranks)


def standing(state: State) -> tuple[Standing, ...]:
    places = state.places or (None,) * len(state.points)
    return tuple(map(Standing, state.points, state.out, places))


def evolve(state: State, event: Event) -> State:
    match event:
        case Moved():
            return _moved(state, event)
        case TurnBegan(seat):
            return replace(state, turn=seat, moved=False)
        case Captured(seat):
            return _captured(state, seat)
        case Fell(seat):
            return replace(state, out=_with(state.out, seat, True))
        case Passed(seat):
            return _passed(state, seat)
        case RoundWon(seat):
            return replace(
                state, decided=True, victor=seat, victories=_with(state.victories, seat, state.victories[seat] + 1)
            )
        case RoundDrawn():
            return replace(state, decided=True)
        case Scored(seat, stones, bonus):
            points = _with(state.points, seat, state.points[seat] + stones + bonus)
            return replace(state, points=points, counted=(*state.counted, seat))
        case RoundBegan(number, first):
            return _formed(state, number, first)
        case Assembled(corners, options):
            zeros = (0,) * len(corners)
            return State(corners=corners, options=options, points=zeros, victories=zeros)
        case GameEnded(places):
            return replace(state, places=places)
    raise TypeError(f"no event of this game: {event!r}")


def _formed(state: State, number: int, first: int) -> State:
    """§1.4: the whole formation of every seat, in its corner."""
    seats = range(len(state.corners))
    stones = {place: Stone(seat, rank) for seat in seats for place, rank in FORMATION[state.corners[seat]].items()}
    none = (False,) * len(seats)
    return State(
        corners=state.corners,
        options=state.options,
        round=number,
        first=first,
        turn=first,
        stones=stones,
        opened=none,
        out=none,
        nearest=tuple(_emperor_distance(state.corners[seat]) for seat in seats),
        points=state.points,
        victories=state.victories,
    )


def _emperor_distance(corner: str) -> int:
    return next(DISTANCE[place] for place, rank in FORMATION[corner].items() if rank == "emperor")


def _moved(state: State, event: Moved) -> State:
    """§5.3 counts how often the same position came up, §5.4 for how long nothing has happened."""
    stones = dict(state.stones)
    stone = stones.pop(event.start)
    taken = stones.get(event.end)
    stones[event.end] = stone
    mark = state.mark ^ _mark(event.start, stone) ^ _mark(event.end, stone) ^ (_mark(event.end, taken) if taken else 0)
    position = _position(mark, event.seat)
    distance = DISTANCE[event.end]
    repeated = state.seen.get(position, 0) + 1
    nearer = event.rank == "emperor" and distance < state.nearest[event.seat]
    return replace(
        state,
        stones=stones,
        mark=mark,
        seen={**state.seen, position: repeated},
        repeated=repeated,
        moved=True,
        opened=_with(state.opened, event.seat, True),
        nearest=_with(state.nearest, event.seat, distance) if nearer else state.nearest,
        quiet=0 if nearer else state.quiet + 1,
        last=(event.start, event.end),
    )


def _captured(state: State, seat: int) -> State:
    """No position before a capture can come up again."""
    return replace(state, quiet=0, seen={_position(state.mark, seat): 1}, repeated=1)


def _position(mark: int, seat: int) -> int:
    """A position is where all stones stand, and who has just moved."""
    return mark ^ _mark("turn", Stone(seat, "emperor"))


def _passed(state: State, seat: int) -> State:
    return replace(state, moved=True, opened=_with(state.opened, seat, True), quiet=state.quiet + 1)


@functools.cache
def _mark(place: str, stone: Stone) -> int:
    """A number for a stone in a place; a position's mark is all of them combined, so that a move changes only two."""
    return int.from_bytes(hashlib.sha256(f"{place} {stone.seat} {stone.rank}".encode()).digest()[:6], "big")


def _with(items: tuple[Item, ...], place: int, item: Item) -> tuple[Item, ...]:
    return (*items[:place], item, *items[place + 1 :])
