"""A round: what the riders decide, and what happens without them (§3.3, §4 to §7)."""

from __future__ import annotations

from collections.abc import Iterator

from engine.chance import Chance
from engine.games.turfmaster import board
from engine.games.turfmaster.board import is_joker, token, worth
from engine.games.turfmaster.preparation import dice, drawn
from engine.games.turfmaster.ride import FALL, MOST, STAY, Rides, Way, rides, way
from engine.games.turfmaster.state import (
    BonusTaken,
    Chose,
    DiceRolled,
    Event,
    Fell,
    Horse,
    PaceSet,
    Passed,
    Played,
    Revealed,
    Rode,
    State,
    Stayed,
    has_bonus,
    running,
)
from engine.menu import Choice, Menu, Move

BOTH = "both"


def decisions(state: State, seat: int) -> Menu:
    """What this seat may do in a round."""
    if _is_choosing(state):
        acts = _choices(state, seat)
    elif state.kind == "dice" and not state.pace:
        acts = _paces(state) if seat == state.thrower else ()
    elif seat != _rider(state).seat:
        return ()
    elif state.kind == "cards" and state.options.simultaneous_cards:
        return _ride_acts(state)  # §4.5: the cards lie on the table, it is too late for the bonus
    else:
        acts = _ride_acts(state) if state.kind == "dice" else _card_acts(state)
    return (*acts, *_bonus(state, seat)) if acts else ()


def _bonus(state: State, seat: int) -> Menu:
    """§3.3: for any horse of one's own that is still running."""
    horses = [_called(horse) for horse in state.horses if horse.seat == seat and has_bonus(state, horse)]
    return (Choice("bonus", tuple(horses), "3.3"),) if horses else ()


def turn_of(state: State) -> int | None:
    """The horse whose rider decides now; none while cards are chosen at once or the pace is not set."""
    waiting = _is_choosing(state) or (state.kind == "dice" and not state.pace)
    return None if waiting or state.done == len(state.order) else state.order[state.done]


def acting(state: State, seat: int) -> int | None:
    """The horse this seat decides for now, if any."""
    horse = _chooser(state, seat)
    if horse is not None:
        return state.horses.index(horse)
    place = turn_of(state)
    return place if place is not None and state.horses[place].seat == seat else None


def _called(horse: Horse) -> tuple[str, ...]:
    return (f"horse{horse.number}",) if horse.number else ()


def _card_acts(state: State) -> Menu:
    """§4.2: a card, and where it takes the horse whose turn it is."""
    horse = _rider(state)
    if not horse.hand:
        return (Choice("pass", rule="4.4"),)
    before, limit = _way(state), state.limits[state.done]
    plays = [
        (card, end)
        for card in dict.fromkeys(horse.hand)
        for end in (rides(before, worth(card), "cards").ends if _may_ride(card, limit) else (STAY,))
    ]
    return (Choice("play", tuple(plays), "4.2"),)


def _may_ride(card: str, limit: int) -> bool:
    """§7.4, §7.5: no more than the handicap allows, unless it is a joker."""
    return worth(card) <= limit or is_joker(card)


def _rider(state: State) -> Horse:
    return state.horses[state.order[state.done]]


def _way(state: State) -> Way:
    """What is before the horse in turn; a table remembers it, for it is asked again at once."""
    remembered: Way | None = state.__dict__.get("way")
    if remembered is None:
        horse = _rider(state)
        assert horse.field is not None
        most = MOST if state.kind == "cards" else max(_points(state))
        remembered = way(horse.field, [other.field for other in state.horses], state.hedges, most)
        state.__dict__["way"] = remembered
    return remembered


def _rides(state: State, points: int) -> Rides:
    return rides(_way(state), points, state.kind)


def _is_choosing(state: State) -> bool:
    """§4.5: until everybody has chosen, no card is turned up."""
    if state.kind == "dice" or not state.options.simultaneous_cards or any(horse.card for horse in state.horses):
        return False
    return any(_has_to_choose(state, horse) for horse in _runners(state))


def _choices(state: State, seat: int) -> Menu:
    """§4.5: a card for each of one's horses, in the order of play."""
    horse = _chooser(state, seat)
    if horse is None:
        return ()
    if not horse.hand:
        return (Choice("pass", rule="4.4"),)
    return (Choice("choose", tuple((card,) for card in dict.fromkeys(horse.hand)), rule="4.5"),)


def _chooser(state: State, seat: int) -> Horse | None:
    """Where all choose at once, the player's first horse that still needs a card or to pass."""
    if not _is_choosing(state):
        return None
    return next((horse for horse in _runners(state) if horse.seat == seat and _has_to_choose(state, horse)), None)


def _runners(state: State) -> Iterator[Horse]:
    """The horses of this round, in the order of play."""
    return (state.horses[place] for place in state.order)


def _has_to_choose(state: State, horse: Horse) -> bool:
    return not horse.chosen and (bool(horse.hand) or _may_pass(state, horse))


def _may_pass(state: State, horse: Horse) -> bool:
    """§4.4: a horse without cards, for which some could still be had."""
    return not horse.hand and not horse.passed and has_bonus(state, horse)


def _paces(state: State) -> Menu:
    paces = (*dict.fromkeys(map(str, state.dice)), BOTH)
    return (Choice("pace", tuple((pace,) for pace in paces), "5.3"),)


def _ride_acts(state: State) -> Menu:
    return (Choice("ride", _ride_options(state), "6.1"),)


def _ride_options(state: State) -> tuple[tuple[str, ...], ...]:
    """Where the horse in turn can ride; a handicapped one on the dice names its die first (§7.6)."""
    points = _points(state)
    if len(points) == 1:
        return tuple([(end,) for end in _rides(state, points[0]).ends])
    return tuple([(str(die), end) for die in points for end in _rides(state, die).ends])


def _points(state: State) -> tuple[int, ...]:
    """What the horse in turn may ride: its card, the pace of the dice, or one die of its choice."""
    if state.kind == "cards":
        return (worth(_rider(state).card),)
    if state.pace != BOTH:
        return (int(state.pace),)
    total = sum(state.dice)
    return (total,) if total <= state.limits[state.done] else tuple(dict.fromkeys(state.dice))


def act(state: State, seat: int, move: Move, chance: Chance) -> list[Event]:
    """What a rider does in a round."""
    match move.verb, move.args:
        case "play", (card, end):
            horse = _rider(state)
            points = worth(card) if _may_ride(card, state.limits[state.done]) else 0
            return [Played(seat, card, horse.number), _ridden(state, horse, points, end)]
        case "ride", (*die, end):
            points = int(die[0]) if die else _points(state)[0]
            return [_ridden(state, _rider(state), points, end)]
        case "pace", (pace,):
            return [PaceSet(seat, pace)]
        case "choose", (card,):
            return [Chose(seat, (_chooser(state, seat) or _rider(state)).number, card)]
        case "pass", _:
            return [Passed(seat, (_chooser(state, seat) or _rider(state)).number)]
        case _, called:
            return [_take_bonus(state, seat, called, chance)]


def _ridden(state: State, horse: Horse, points: int, end: str) -> Event:
    assert horse.field is not None
    if not points:
        return Stayed(horse.seat, "over the limit", horse.number)
    if end == STAY:
        return Stayed(horse.seat, "blocked", horse.number)
    possible = _rides(state, points)
    field, ridden = possible.ends[end], possible.ridden
    if end == FALL:
        return Fell(horse.seat, token(field), horse.number)
    return Rode(horse.seat, horse.field, field, end, ridden, horse.number, points - ridden)


def _take_bonus(state: State, seat: int, called: tuple[str, ...], chance: Chance) -> BonusTaken:
    horse = next(horse for horse in state.horses if horse.seat == seat and _called(horse) == called)
    cards = drawn("bonus", horse.pack, board.BONUS, chance)
    return BonusTaken(seat, len(cards), horse.number, cards)


def turn(state: State, chance: Chance) -> Event | None:
    """What happens in a round without anybody's decision."""
    if state.kind == "dice":
        return _dice_turn(state, chance)
    if _is_choosing(state):
        return None
    if any(horse.chosen for horse in state.horses):
        return _reveal(state, chance)
    horse = _rider(state)
    if horse.card:
        return _forced(state) if _may_ride(horse.card, state.limits[state.done]) else _ridden(state, horse, 0, STAY)
    if horse.hand or _may_pass(state, horse):
        return None
    return Stayed(horse.seat, "no card", horse.number)  # §4.4


def _reveal(state: State, chance: Chance) -> Revealed:
    chance.reveal("cards")
    return Revealed(tuple(horse.chosen for horse in state.horses))


def _dice_turn(state: State, chance: Chance) -> Event | None:
    if not state.dice:
        return DiceRolled(_roller(state), dice(chance))
    return _forced(state) if state.pace else None


def _roller(state: State) -> int:
    """§5.2: clockwise, passing over players who have no horse left on the course."""
    assert state.roller is not None
    seats = {state.horses[place].seat for place in running(state)}
    return next(seat for step in range(state.seats) if (seat := (state.roller + step) % state.seats) in seats)


def _forced(state: State) -> Event | None:
    """A ride that can end in one way only needs nobody's decision."""
    options = _ride_options(state)
    if len(options) > 1:
        return None
    return _ridden(state, _rider(state), _points(state)[0], options[0][0])
