"""The rules, in the order of the book; § is a paragraph of it."""

from __future__ import annotations

from collections.abc import Iterator

from engine.chance import Chance
from engine.game import Meta, Standing
from engine.games.kaiser.board import CENTRE, WAYS, WORTH
from engine.games.kaiser.state import (
    Assembled,
    Captured,
    Event,
    Fell,
    GameEnded,
    Moved,
    Options,
    Passed,
    RoundBegan,
    RoundDrawn,
    RoundWon,
    Scored,
    State,
    TurnBegan,
)
from engine.menu import Choice, Menu, Move
from engine.refusal import Refused

CORNERS: dict[int, str] = {3: "ABC", 4: "ABCD"}
CORNERS_OF_TWO = {"adjacent": "AB", "opposite": "AC"}
FORTRESS_BONUS = 5
QUIET_ROUNDS = 60
REPETITIONS = 3

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
    about="Lead your emperor to the centre of the fortress. Emperors step one point, kings two, noblemen three. "
    "Lose your emperor, and you are out.",
)


def objection(options: Options, seats: int) -> Refused | None:
    """§1.2: only two players can choose to sit across the board."""
    if options.corners == "opposite" and seats != 2:
        return Refused("Opposite corners are for two players; leave “corners” at adjacent.", rule="1.2")
    return None


def setup(options: Options, seats: int, chance: Chance) -> list[Event]:
    """Return the corners of the seats, and the first round with its start player."""
    corners = _assign_corners(options, seats, chance)
    return [Assembled(corners, options), RoundBegan(1, chance.pick("start player", range(seats)))]


def _assign_corners(options: Options, seats: int, chance: Chance) -> tuple[str, ...]:
    """§1.3: with three, chance decides which player sits in the middle; the seats stay in clockwise order."""
    if seats == 2:
        return tuple(CORNERS_OF_TWO[options.corners])
    corners = tuple(CORNERS[seats])
    if seats == 3:
        middle_seat = chance.pick("middle corner", range(3))
        middle_corner = 1  # of 0, 1 and 2
        return tuple(corners[(middle_corner + seat - middle_seat) % 3] for seat in range(3))
    return corners


def menu(state: State, seat: int) -> Menu:
    """§2, §3: the seat on turn must move one stone, exactly as far as it is worth; nothing after the round."""
    if seat != state.turn or state.moved or state.decided:
        return ()
    moves = tuple(dict.fromkeys(_find_moves(state, seat)))
    return (Choice("move", moves, rule="2.1"),) if moves else ()


def _find_moves(state: State, seat: int) -> Iterator[tuple[str, str]]:
    """Yield start and end of every legal move, once for each free way."""
    stones = state.stones
    is_free = stones.keys().isdisjoint
    may_capture = state.opened[seat]
    for start, stone in stones.items():
        if stone.seat != seat:
            continue
        for ends, between in WAYS[stone.rank][start]:
            if is_free(between):  # §2.3
                _, end = ends
                victim = stones.get(end)
                if victim is None or (may_capture and victim.seat != seat):  # §4.1, §4.2
                    yield ends


def decide(state: State, seat: int, move: Move, chance: Chance) -> list[Event]:
    """Return the events of a move: a stone moves, and captures the stone at its end if there is one."""
    start, end = move.args
    moved = Moved(seat, state.stones[start].rank, start, end)
    victim = state.stones.get(end)
    return [moved] if victim is None else [moved, Captured(seat, end, victim.seat, victim.rank)]


def upkeep(state: State, chance: Chance) -> Event | None:
    """Return what happens next without a decision; None if the seat on turn decides, or the game is over."""
    if state.places:
        return None
    if state.decided:
        return _score_round(state)
    return _drop_out(state) or _end_round(state) or _change_turn(state)


def _drop_out(state: State) -> Event | None:
    """§4.3: a player whose emperor was captured is out of the round."""
    if state.quiet or not state.moved:  # a capture sets `quiet` to 0, so nothing was captured
        return None
    emperors = {stone.seat for stone in state.stones.values() if stone.rank == "emperor"}
    for seat, out in enumerate(state.out):
        if not out and seat not in emperors:
            return Fell(seat)
    return None


def _end_round(state: State) -> Event | None:
    """§5: the round ends by an emperor in the fortress, by the last emperor, or in a draw; None if it goes on."""
    inside = state.stones.get(CENTRE)
    if inside is not None:
        return RoundWon(inside.seat, "fortress")
    alive = [seat for seat, out in enumerate(state.out) if not out]
    if len(alive) == 1 and state.options.last_emperor == "wins":
        return RoundWon(alive[0], "last emperor")
    if state.repeated >= REPETITIONS:
        return RoundDrawn("repetition")
    if state.quiet >= QUIET_ROUNDS * len(alive):  # `quiet` counts turns
        return RoundDrawn("quiet")
    return None


def _change_turn(state: State) -> Event | None:
    """§3: the turn goes round clockwise; a player who cannot move passes."""
    if state.moved:
        return TurnBegan(_find_next_seat(state))
    can_move = any(_find_moves(state, state.turn))
    return None if can_move else Passed(state.turn)


def _find_next_seat(state: State) -> int:
    """§3.3: players who are out have no turns; a seat that is left alone has all of them."""
    seats = len(state.out)
    clockwise = ((state.turn + step) % seats for step in range(1, seats + 1))
    return next(seat for seat in clockwise if not state.out[seat])


def _score_round(state: State) -> Event:
    """§6: every seat scores in turn, then the next round begins or the game ends."""
    for seat in range(len(state.out)):
        if seat not in state.counted:
            return _score_seat(state, seat)
    if state.round < state.options.rounds:
        return RoundBegan(state.round + 1, (state.first + 1) % len(state.out))
    return GameEnded(_rank_seats(state))


def _score_seat(state: State, seat: int) -> Scored:
    """§6.1, §6.2: the stones left on the board, and a bonus for winning the round."""
    counts = state.options.eliminated_score or not state.out[seat]
    stones = sum(WORTH[stone.rank] for stone in state.stones.values() if stone.seat == seat) if counts else 0
    return Scored(seat, stones, FORTRESS_BONUS if seat == state.victor else 0)


def _rank_seats(state: State) -> tuple[int, ...]:
    """§6.4: a single round goes to its winner; all other ranks are by points, then by rounds won."""
    ranks = list[tuple[int, int, int]]()  # the lowest is the best
    for seat, points in enumerate(state.points):
        wins_single_round = state.options.rounds == 1 and seat == state.victor
        ranks.append((0 if wins_single_round else 1, -points, -state.victories[seat]))
    return tuple(1 + sum(other < own for other in ranks) for own in ranks)


def standing(state: State) -> tuple[Standing, ...]:
    """Return the points of each seat, whether it is out, and its place once the game is over."""
    places = state.places or (None,) * len(state.points)
    return tuple(map(Standing, state.points, state.out, places))


def sources(event: Event, seat: int) -> tuple[tuple[str, int], ...]:
    """Return the points of this seat in a scoring: for its stones, and for winning; nothing for other events."""
    if isinstance(event, Scored) and event.seat == seat:
        return (("stones", event.stones), ("winning", event.bonus))
    return ()
