"""The rules of play; the paragraphs cited are those of the book."""

from __future__ import annotations

from engine.chance import Chance
from engine.games.turfmaster import board
from engine.games.turfmaster.finish import between_rounds, places
from engine.games.turfmaster.preparation import dealing, discard, discards, start_boxes
from engine.games.turfmaster.rounds import act, decisions, turn
from engine.games.turfmaster.state import Entered, Event, GameEnded, Options, RaceBegan, State
from engine.menu import Menu, Move
from engine.refusal import Refused

USUAL = {2: 2, 3: 2, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1}
POSSIBLE = {2: (2, 3, 4), 3: (2,), 4: (1, 2), 5: (1,), 6: (1,), 7: (1,), 8: (1,)}


def objection(options: Options, seats: int) -> Refused | None:
    """§1.1: at least four horses run, and at most eight."""
    if _horses(options, seats) in POSSIBLE[seats]:
        return None
    return Refused(
        "With {seats} players each can bring {possible} horses, not {horses}.",
        rule="1.1",
        seats=seats,
        possible=", ".join(map(str, POSSIBLE[seats])),
        horses=options.horses,
    )


def _horses(options: Options, seats: int) -> int:
    return USUAL[seats] if options.horses == "as_usual" else int(options.horses)


def setup(options: Options, seats: int, chance: Chance) -> list[Event]:
    return [Entered(seats, _horses(options, seats), options)]


def upkeep(state: State, chance: Chance) -> Event | None:
    if state.stage == "riding":
        return turn(state, chance) if state.done < len(state.order) else between_rounds(state)
    if state.stage == "dealing":
        return dealing(state, chance)
    return None if state.places else _before_the_race(state, chance)


def _before_the_race(state: State, chance: Chance) -> Event:
    """§2: boxes by dice for the first race; each later one begins in the boxes the last one gave."""
    if len(state.boxes) < len(state.horses):
        return start_boxes(state, chance)
    if state.race == board.RACES:
        return GameEnded(places(state))
    return RaceBegan(state.race + 1, _hedges(state, state.race + 1))


def _hedges(state: State, race: int) -> tuple[int, ...]:
    """§9.1, §9.2: all hedges but the one on the start row."""
    hurdles = {"none": False, "race3": race == board.RACES, "all": True}[state.options.grand_national]
    return tuple(number for number in board.HEDGES if number != board.START_HEDGE) if hurdles else ()


def menu(state: State, seat: int) -> Menu:
    if state.stage == "riding":
        return decisions(state, seat) if state.done < len(state.order) else ()
    return discards(state, seat) if state.stage == "dealing" else ()


def decide(state: State, seat: int, move: Move, chance: Chance) -> list[Event]:
    if state.stage == "dealing":
        return [discard(state, seat, move.args)]
    return act(state, seat, move, chance)
