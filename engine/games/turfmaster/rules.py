"""The rules of play, in the order of the README, whose paragraphs they cite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from engine.chance import Chance
from engine.game import Standing
from engine.games.turfmaster import board
from engine.games.turfmaster.board import Field, front, is_joker, worth
from engine.games.turfmaster.ride import FALL, MOST, STAY, Ride, rides
from engine.games.turfmaster.state import (
    Arrived,
    BonusPaid,
    BonusTaken,
    BoxesRolled,
    Chose,
    Dealt,
    DiceRolled,
    Discarded,
    Entered,
    Event,
    Fell,
    GameEnded,
    HedgePlaced,
    HedgeRemoved,
    Horse,
    Options,
    PaceSet,
    Passed,
    Played,
    RaceBegan,
    RaceEnded,
    Revealed,
    Rode,
    RollerFound,
    RoundBegan,
    State,
    Stayed,
    Throw,
    has_bonus,
    horse_at,
    running,
)
from engine.menu import Choice, Menu, Move, Subset

USUAL = {2: 2, 3: 2, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1}
POSSIBLE = {2: (2, 3, 4), 3: (2,), 4: (1, 2), 5: (1,), 6: (1,), 7: (1,), 8: (1,)}
BOTH = "both"


def objection(options: Options, seats: int) -> str:
    """§1.1: at least four horses run, and at most eight."""
    if _horses(options, seats) in POSSIBLE[seats]:
        return ""
    return f"With {seats} players each brings {' or '.join(map(str, POSSIBLE[seats]))}, not {options.horses} horses."


def _horses(options: Options, seats: int) -> int:
    return USUAL[seats] if options.horses == "as_usual" else int(options.horses)


def setup(options: Options, seats: int, chance: Chance) -> list[Event]:
    return [Entered(seats, _horses(options, seats), options)]


def upkeep(state: State, chance: Chance) -> Event | None:
    if state.places:
        return None
    match state.stage:
        case "boxes":
            return _before_the_race(state, chance)
        case "dealing":
            return _dealing(state, chance)
        case "riding" if state.done < len(state.order):
            return _turn(state, chance)
        case "riding":
            return _between_rounds(state)


def _before_the_race(state: State, chance: Chance) -> Event:
    """§2: boxes by dice for the first race; each later one begins in the boxes the last one gave."""
    if len(state.boxes) < len(state.horses):
        number = state.horses[len(state.boxes) // state.seats].number
        order, throws = _roll_off(range(state.seats), chance)
        return BoxesRolled(order, throws, number)
    if state.race == board.RACES:
        return GameEnded(_places(state))
    return RaceBegan(state.race + 1, _hedges(state, state.race + 1))


def _roll_off(seats: Sequence[int], chance: Chance) -> tuple[tuple[int, ...], tuple[Throw, ...]]:
    """§2.1, §2.2: the highest roll first; whoever rolled the same rolls again among themselves."""
    throws = _throws(seats, chance)
    order, rolls = list[int](), throws
    for total in sorted(set(map(_total, throws)), reverse=True):
        equal = [throw.seat for throw in throws if _total(throw) == total]
        if len(equal) > 1:
            among, again = _roll_off(equal, chance)
            order, rolls = [*order, *among], (*rolls, *again)
        else:
            order += equal
    return tuple(order), rolls


def _throws(seats: Iterable[int], chance: Chance) -> tuple[Throw, ...]:
    return tuple(Throw(seat, _dice(chance)) for seat in seats)


def _dice(chance: Chance) -> tuple[int, int]:
    return chance.roll("die", 6), chance.roll("die", 6)


def _total(throw: Throw) -> int:
    return sum(throw.dice)


def _hedges(state: State, race: int) -> tuple[int, ...]:
    """§9.1, §9.2: all hedges but the one on the start row."""
    hurdles = {"none": False, "race3": race == board.RACES, "all": True}[state.options.grand_national]
    return tuple(number for number in board.HEDGES if number != board.START_HEDGE) if hurdles else ()


def _dealing(state: State, chance: Chance) -> Event | None:
    """§3: every horse gets its cards; who kept some puts as many away; then the first roller is found."""
    if state.served < len(state.horses):
        return _deal(state, state.horses[state.served], chance)
    if any(_surplus(state, horse) > 0 for horse in state.horses):
        return None
    return _first_roller(state, chance)


def _deal(state: State, horse: Horse, chance: Chance) -> Event:
    if horse.bonus and horse.bonus == state.race - 1 and horse.hand and not horse.paid:  # §3.6
        lost = _drawn("bonus paid", horse.hand, min(board.BONUS, len(horse.hand)), chance)
        return BonusPaid(horse.seat, len(lost), horse.number, lost)
    cards = _drawn("deal", horse.pack, _full_hand(state, horse), chance)
    return Dealt(horse.seat, len(cards), horse.number, cards)


def _drawn(label: str, cards: tuple[str, ...], count: int, chance: Chance) -> tuple[str, ...]:
    left, drawn = list(cards), list[str]()
    for _ in range(count):
        drawn.append(chance.pick(label, left))
        left.remove(drawn[-1])
    return board.in_order(drawn)


def _full_hand(state: State, horse: Horse) -> int:
    """§3.1, §3.4: ten cards, and twelve in the last race for a horse that never had its bonus."""
    return board.DEALT + (board.BONUS if state.race == board.RACES and not horse.bonus else 0)


def _surplus(state: State, horse: Horse) -> int:
    return len(horse.hand) - _full_hand(state, horse)


def _first_roller(state: State, chance: Chance) -> RollerFound:
    """§5.1: all roll, whoever has the first start box first; the highest roll it is."""
    first = state.horses[state.boxes[0]].seat
    left = [(first + step) % state.seats for step in range(state.seats)]
    throws: tuple[Throw, ...] = ()
    while len(left) > 1:
        latest = _throws(left, chance)
        throws += latest
        left = [throw.seat for throw in latest if _total(throw) == max(map(_total, latest))]
    return RollerFound(left[0], throws)


def menu(state: State, seat: int) -> Menu:
    if state.places:
        return ()
    match state.stage:
        case "dealing":
            return _discards(state, seat)
        case "riding" if state.done < len(state.order):
            return _decisions(state, seat)
    return ()


def _discards(state: State, seat: int) -> Menu:
    """§3.5: one horse after the other."""
    for horse in state.horses:
        surplus = _surplus(state, horse)
        if horse.seat == seat and surplus > 0:
            return (Subset("discard", horse.hand, surplus, surplus, rule="3.5"),)
    return ()


def _decisions(state: State, seat: int) -> Menu:
    if state.kind == "dice":
        acts = _dice_acts(state, seat)
    elif not state.options.simultaneous_cards:
        acts = _card_acts(state, seat)
    elif _is_choosing(state):
        acts = _choices(state, seat)
    else:
        return _ride_acts(state, seat)  # §4.5: the cards lie on the table, it is too late for the bonus
    return (*acts, *_bonus(state, seat)) if acts else ()


def _bonus(state: State, seat: int) -> Menu:
    """§3.3: for any horse of one's own that is still running."""
    horses = tuple(_called(horse) for horse in state.horses if horse.seat == seat and has_bonus(state, horse))
    return (Choice("bonus", horses, rule="3.3"),) if horses else ()


def _called(horse: Horse) -> tuple[str, ...]:
    return (f"horse{horse.number}",) if horse.number else ()


def _card_acts(state: State, seat: int) -> Menu:
    """§4.2: a card, and where it takes the horse whose turn it is."""
    horse = _at_turn(state)
    if horse.seat != seat:
        return ()
    if not horse.hand:
        return (Choice("pass", rule="4.4"),)
    options = tuple((card, end) for card in dict.fromkeys(horse.hand) for end in _ends(state, horse, card))
    return (Choice("play", options, rule="4.2"),)


def _ends(state: State, horse: Horse, card: str) -> Iterable[str]:
    return _rides(state, horse, worth(card)) if _may_ride(state, card) else (STAY,)


def _may_ride(state: State, card: str) -> bool:
    """§7.4, §7.5: no more than the handicap allows, unless it is a joker."""
    return is_joker(card) or worth(card) <= state.limits[state.done]


def _at_turn(state: State) -> Horse:
    return state.horses[state.order[state.done]]


def _rides(state: State, horse: Horse, points: int) -> dict[str, Ride]:
    assert horse.field is not None
    others = frozenset(other.field for other in state.horses if other.field and other is not horse)
    return rides(horse.field, others, state.hedges, points, state.kind)


def _is_choosing(state: State) -> bool:
    """§4.5: nobody's card is turned up while somebody still has to choose."""
    return not any(horse.card for horse in state.horses) and any(map(_has_to_choose, _field(state), [state] * 8))


def _choices(state: State, seat: int) -> Menu:
    """§4.5: a card for each of one's horses, in the order of play."""
    for horse in _field(state):
        if horse.seat == seat and _has_to_choose(horse, state):
            if not horse.hand:
                return (Choice("pass", rule="4.4"),)
            return (Choice("choose", tuple((card,) for card in dict.fromkeys(horse.hand)), rule="4.5"),)
    return ()


def _field(state: State) -> Iterator[Horse]:
    """The horses of this round, in the order of play."""
    return (state.horses[place] for place in state.order)


def _has_to_choose(horse: Horse, state: State) -> bool:
    return not horse.chosen and (bool(horse.hand) or _may_pass(state, horse))


def _may_pass(state: State, horse: Horse) -> bool:
    """§4.4: a horse without cards, for which some could still be had."""
    return not horse.hand and not horse.passed and has_bonus(state, horse)


def _dice_acts(state: State, seat: int) -> Menu:
    if not state.pace:
        paces = (*dict.fromkeys(map(str, state.dice)), BOTH)
        return (Choice("pace", tuple((pace,) for pace in paces), rule="5.3"),) if seat == state.thrower else ()
    return _ride_acts(state, seat)


def _ride_acts(state: State, seat: int) -> Menu:
    if _at_turn(state).seat != seat:
        return ()
    return (Choice("ride", _ride_options(state), rule="6.1"),)


def _ride_options(state: State) -> tuple[tuple[str, ...], ...]:
    """Where the horse in turn can ride; a handicapped one on the dice names its die first (§7.6)."""
    horse, points = _at_turn(state), _points(state)
    if len(points) == 1:
        return tuple((end,) for end in _rides(state, horse, points[0]))
    return tuple((str(die), end) for die in points for end in _rides(state, horse, die))


def _points(state: State) -> tuple[int, ...]:
    """What the horse in turn may ride: its card, the pace of the dice, or one die of its choice."""
    if state.kind == "cards":
        return (worth(_at_turn(state).card),)
    if state.pace != BOTH:
        return (int(state.pace),)
    total = sum(state.dice)
    return (total,) if total <= state.limits[state.done] else tuple(dict.fromkeys(state.dice))


def decide(state: State, seat: int, move: Move, chance: Chance) -> list[Event]:
    match move.verb, move.args:
        case "play", (card, end):
            horse = _at_turn(state)
            points = worth(card) if _may_ride(state, card) else 0
            return [Played(seat, card, horse.number), _ridden(state, horse, points, end)]
        case "ride", (*die, end):
            points = int(die[0]) if die else _points(state)[0]
            return [_ridden(state, _at_turn(state), points, end)]
        case "pace", (pace,):
            return [PaceSet(seat, pace)]
        case "choose", (card,):
            return [Chose(seat, _chooser(state, seat).number, card)]
        case "pass", _:
            return [Passed(seat, _chooser(state, seat).number)]
        case "bonus", called:
            return [_take_bonus(state, horse_at(state, seat, int(called[0][5:]) if called else 0), chance)]
        case _, cards:
            return [_discard(state, seat, cards)]


def _chooser(state: State, seat: int) -> Horse:
    """The first horse of a player that still needs a card, or to pass."""
    return next(horse for horse in _field(state) if horse.seat == seat and _has_to_choose(horse, state))


def _ridden(state: State, horse: Horse, points: int, end: str) -> Event:
    assert horse.field is not None
    if not points:
        return Stayed(horse.seat, "over the limit", horse.number)
    ride = _rides(state, horse, points)[end]
    if end == FALL:
        return Fell(horse.seat, ride.end, horse.number)
    if end == STAY:
        return Stayed(horse.seat, "blocked", horse.number)
    return Rode(horse.seat, horse.field, ride.end, ride.ridden, horse.number, points - ride.ridden)


def _take_bonus(state: State, place: int, chance: Chance) -> BonusTaken:
    horse = state.horses[place]
    cards = _drawn("bonus", horse.pack, board.BONUS, chance)
    return BonusTaken(horse.seat, len(cards), horse.number, cards)


def _discard(state: State, seat: int, cards: tuple[str, ...]) -> Discarded:
    horse = next(horse for horse in state.horses if horse.seat == seat and _surplus(state, horse) > 0)
    return Discarded(seat, len(cards), horse.number, board.in_order(cards))


def _turn(state: State, chance: Chance) -> Event | None:
    """What happens in a round without anybody's decision."""
    if state.kind == "dice":
        return _dice_turn(state, chance)
    horse = _at_turn(state)
    if state.options.simultaneous_cards:
        if _is_choosing(state):
            return None
        if any(other.chosen for other in state.horses):
            chance.reveal("cards")
            return Revealed(tuple(other.chosen for other in state.horses))
        if horse.card:
            return _forced(state) if _may_ride(state, horse.card) else _ridden(state, horse, 0, STAY)
    if horse.hand or _may_pass(state, horse):
        return None
    return Stayed(horse.seat, "no card", horse.number)  # §4.4


def _dice_turn(state: State, chance: Chance) -> Event | None:
    if not state.dice:
        return DiceRolled(_roller(state), _dice(chance))
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
    return _ridden(state, _at_turn(state), _points(state)[0], options[0][0])


def _between_rounds(state: State) -> Event:
    return _arrival(state) or _race_end(state) or _hedge(state) or _next_round(state)


def _arrival(state: State) -> Event | None:
    """§8: when the round is played out the farthest horse arrives first, on equal terms the inner one."""
    past = [place for place in running(state) if front(_place(state, place)) > board.FINISH]
    if not past:
        return None
    horse = state.horses[min(past, key=lambda place: _rank(_place(state, place)))]
    place = len(state.arrived) + 1
    points = board.POINTS[place - 1] if place <= len(board.POINTS) else 0
    return Arrived(horse.seat, place, horse.number, points)


def _place(state: State, horse: int) -> Field:
    field = state.horses[horse].field
    assert field is not None
    return field


def _rank(field: Field) -> tuple[int, int]:
    """§1.4: ahead first; level, the inner lane first."""
    return -front(field), field[0]


def _race_end(state: State) -> Event | None:
    """§2.4: the order of arrival; whoever fell later stands before whoever fell earlier."""
    return None if running(state) else RaceEnded((*state.arrived, *reversed(state.fallen)))


def _hedge(state: State) -> Event | None:
    """§9.2: hedges change between rounds."""
    if not state.hedges:
        return None
    fields = [_place(state, horse) for horse in running(state)]
    if board.START_HEDGE not in state.hedges and all(index > 0 for _, index in fields):
        return HedgePlaced(board.START_HEDGE)
    passed = max(front(field) for field in board.HEDGES[board.FIRST_HEDGE])
    if board.FIRST_HEDGE in state.hedges and all(front(field) > passed for field in fields):
        return HedgeRemoved(board.FIRST_HEDGE)
    return None


def _next_round(state: State) -> RoundBegan:
    """§4.1, §7.1: order and handicaps hold for the whole round."""
    order = sorted(running(state), key=lambda horse: _rank(_place(state, horse)))
    fronts = [front(_place(state, horse)) for horse in order]
    limits = [_limit(len(state.arrived) + sum(other > own for other in fronts)) for own in fronts]
    return RoundBegan(state.round + 1, "dice" if state.round % 2 else "cards", tuple(order), tuple(limits))


def _limit(ahead: int) -> int:
    """§7.1 to §7.3: the most points for a horse with so many others ahead of it, arrived ones included."""
    return board.HANDICAPS[ahead] - 1 if ahead < len(board.HANDICAPS) else MOST


Score = tuple[int, ...]


def _score(state: State, seat: int) -> Score:
    """§8.5, §8.6: points, then better places."""
    scores = [_worth(horse) for horse in state.horses if horse.seat == seat]
    if state.options.team_score == "best_horse":
        return max(scores)
    return tuple(map(sum, zip(*scores, strict=True)))


def _worth(horse: Horse) -> Score:
    places = Counter(horse.arrivals)
    return (horse.points, *(places[place] for place in range(1, len(board.POINTS) + 1)))


def _places(state: State) -> tuple[int, ...]:
    scores = [_score(state, seat) for seat in range(state.seats)]
    return tuple(1 + sum(other > own for other in scores) for own in scores)


def standing(state: State) -> tuple[Standing, ...]:
    places = state.places or (None,) * state.seats
    return tuple(Standing(_score(state, seat)[0], place=places[seat]) for seat in range(state.seats))
