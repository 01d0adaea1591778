"""The course of the game: horses, start boxes, cards (§1 to §3, §5.1) and scores (§8), and what comes next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.chance import Chance
from engine.game import Standing
from engine.games.turfmaster.ride import BONUS_CARDS, HAND_CARDS, HEDGES, POINTS, RACES, START_HEDGE
from engine.games.turfmaster.rounds import (
    continue_round,
    decide_in_round,
    end_round,
    make_round_menu,
    roll_dice,
)
from engine.games.turfmaster.state import (
    Arrived,
    BonusPaid,
    BoxesRolled,
    Dealt,
    Discarded,
    Entered,
    Event,
    GameEnded,
    Horse,
    Options,
    RaceBegan,
    RollerFound,
    State,
    Throw,
    draw_cards,
    sort_cards,
)
from engine.menu import Menu, Move, Subset
from engine.refusal import Refused

USUAL_HORSES = {2: 2, 3: 2, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1}
POSSIBLE_HORSES = {2: (2, 3, 4), 3: (2,), 4: (1, 2), 5: (1,), 6: (1,), 7: (1,), 8: (1,)}


def objection(options: Options, seats: int) -> Refused | None:
    """§1.1: at least four horses run, and at most eight."""
    if _choose_horses(options, seats) in POSSIBLE_HORSES[seats]:
        return None
    return Refused(
        "With {seats} players each can bring {possible} horses, not {horses}.",
        rule="1.1",
        seats=seats,
        possible=", ".join(map(str, POSSIBLE_HORSES[seats])),
        horses=options.horses,
    )


def _choose_horses(options: Options, seats: int) -> int:
    """§1.1: return how many horses each player brings."""
    return USUAL_HORSES[seats] if options.horses == "as_usual" else int(options.horses)


def setup(options: Options, seats: int, chance: Chance) -> list[Event]:
    return [Entered(seats, _choose_horses(options, seats), options)]


def menu(state: State, seat: int) -> Menu:
    """Return what a seat may do: discard surplus cards before a race, or act in a round that is not at its end."""
    if state.stage == "riding":
        return make_round_menu(state, seat) if state.done < len(state.order) else ()
    return _offer_discard(state, seat) if state.stage == "dealing" else ()


def decide(state: State, seat: int, move: Move, chance: Chance) -> list[Event]:
    """Return the events of a move: a discard before a race, or a move in a round."""
    if state.stage == "dealing":
        return [_discard(state, seat, move.args)]
    return decide_in_round(state, seat, move, chance)


def upkeep(state: State, chance: Chance) -> Event | None:
    """Return what happens next without a decision; None if a seat decides, or the game is over."""
    if state.stage == "riding":
        return continue_round(state, chance) if state.done < len(state.order) else end_round(state)
    if state.stage == "dealing":
        return _continue_dealing(state, chance)
    return None if state.places else _begin_race(state, chance)


def _begin_race(state: State, chance: Chance) -> Event:
    """§2: begin a race, after rolls for the boxes of the first one; end the game after the last.

    §2.4: the other races begin in the boxes that the race before gave.
    """
    if len(state.boxes) < len(state.horses):
        return _roll_for_boxes(state, chance)
    if state.race == RACES:
        return GameEnded(rank_seats(state))
    return RaceBegan(state.race + 1, _choose_hedges(state, state.race + 1))


def _choose_hedges(state: State, race: int) -> tuple[int, ...]:
    """§9.1, §9.2: return the hedges of a race: all but the one on the start row, or none in a race without hurdles."""
    has_hurdles = {"none": False, "race3": race == RACES, "all": True}[state.options.grand_national]
    return tuple(number for number in HEDGES if number != START_HEDGE) if has_hurdles else ()


def _roll_for_boxes(state: State, chance: Chance) -> BoxesRolled:
    """§2.1, §2.3: one roll-off for every player's first horse, another one for the second, and so on."""
    order, throws = _roll_off(range(state.seats), chance)
    roll_offs_before = len(state.boxes) // state.seats
    horses_of_first_seat = [horse for horse in state.horses if horse.seat == 0]
    number = horses_of_first_seat[roll_offs_before].number  # the horses of all seats have the same numbers
    return BoxesRolled(order, throws, number)


def _roll_off(seats: Sequence[int], chance: Chance) -> tuple[tuple[int, ...], tuple[Throw, ...]]:
    """§2.2: sort the seats by their rolls, the highest first; equal ones roll again among themselves."""
    throws = _throw_dice(seats, chance)
    order = list[int]()
    all_throws = throws
    for total in sorted(set(map(_sum_dice, throws)), reverse=True):
        equal = [throw.seat for throw in throws if _sum_dice(throw) == total]
        if len(equal) > 1:
            among_equal, more_throws = _roll_off(equal, chance)
            order = [*order, *among_equal]
            all_throws = (*all_throws, *more_throws)
        else:
            order += equal
    return tuple(order), all_throws


def _throw_dice(seats: Iterable[int], chance: Chance) -> tuple[Throw, ...]:
    return tuple(Throw(seat, roll_dice(chance)) for seat in seats)


def _sum_dice(throw: Throw) -> int:
    return sum(throw.dice)


def _continue_dealing(state: State, chance: Chance) -> Event | None:
    """§3: deal to each horse, wait until all surplus cards are put away, then find the first roller."""
    if state.served < len(state.horses):
        return _deal(state, state.horses[state.served], chance)
    if any(_count_surplus(state, horse) > 0 for horse in state.horses):
        return None
    return _find_first_roller(state, chance)


def _deal(state: State, horse: Horse, chance: Chance) -> Event:
    """Deal a horse its hand; §3.6: before that, take the price of its bonus out of the cards that are left over."""
    if _owes_price(state, horse) and horse.hand:
        price = draw_cards("bonus paid", horse.hand, min(BONUS_CARDS, len(horse.hand)), chance)
        return BonusPaid(horse.seat, len(price), horse.number, price)
    cards = draw_cards("deal", horse.pack, _count_full_hand(state, horse), chance)
    return Dealt(horse.seat, len(cards), horse.number, cards)


def _owes_price(state: State, horse: Horse) -> bool:
    """§3.6: whether a horse had its bonus cards in the race before, and has not paid for them."""
    had_bonus = horse.bonus > 0 and horse.bonus == state.race - 1
    return had_bonus and not horse.paid


def _count_full_hand(state: State, horse: Horse) -> int:
    """§3.1, §3.4: ten cards, and twelve in the last race for a horse without its bonus."""
    return HAND_CARDS + (BONUS_CARDS if state.race == RACES and not horse.bonus else 0)


def _count_surplus(state: State, horse: Horse) -> int:
    return len(horse.hand) - _count_full_hand(state, horse)


def _find_first_roller(state: State, chance: Chance) -> RollerFound:
    """§5.1: all roll, from the player in the first start box on; equal ones for the highest roll roll again."""
    first = state.horses[state.boxes[0]].seat
    seats = [(first + step) % state.seats for step in range(state.seats)]
    throws: tuple[Throw, ...] = ()
    while len(seats) > 1:
        latest = _throw_dice(seats, chance)
        throws += latest
        highest = max(map(_sum_dice, latest))
        seats = [throw.seat for throw in latest if _sum_dice(throw) == highest]
    return RollerFound(seats[0], throws)


def find_discarding_horse(state: State, seat: int) -> int | None:
    """§3.5: return the index of the first horse for which this seat holds too many cards; None if there is none."""
    for index, horse in enumerate(state.horses):
        if horse.seat == seat and _count_surplus(state, horse) > 0:
            return index
    return None


def _offer_discard(state: State, seat: int) -> Menu:
    """§3.5: put the surplus cards of one horse after the other away."""
    index = find_discarding_horse(state, seat)
    if index is None:
        return ()
    horse = state.horses[index]
    surplus = _count_surplus(state, horse)
    return (Subset("discard", horse.hand, least=surplus, most=surplus, rule="3.5"),)


def _discard(state: State, seat: int, cards: tuple[str, ...]) -> Discarded:
    """§3.5: put these cards away, from the first horse of the seat that has too many."""
    index = find_discarding_horse(state, seat)
    assert index is not None
    return Discarded(seat, len(cards), state.horses[index].number, sort_cards(cards))


Score = tuple[int, ...]
"""Points, then how often first, second, third and fourth."""


def rank_seats(state: State) -> tuple[int, ...]:
    """§8.5: return the final places, shared where the scores are equal."""
    scores = [_score_seat(state, seat) for seat in range(state.seats)]
    return tuple(1 + sum(other > own for other in scores) for own in scores)


def _score_seat(state: State, seat: int) -> Score:
    return _combine_scores(state, [_score_horse(horse) for horse in state.horses if horse.seat == seat])


def _score_horse(horse: Horse) -> Score:
    """§8.5: return the points of a horse, and how often it came in at each place that gives points."""
    scoring_places = range(1, len(POINTS) + 1)
    return (horse.points, *(horse.arrivals.count(place) for place in scoring_places))


def _combine_scores(state: State, scores: list[Score]) -> Score:
    """§8.5, §8.6: a player counts the best horse, or all horses together."""
    if state.options.team_score == "best_horse":
        return max(scores)
    return tuple(map(sum, zip(*scores, strict=True)))


def standing(state: State) -> tuple[Standing, ...]:
    """Return the points of each seat, and its place once the game is over."""
    places = state.places or (None,) * state.seats
    return tuple(Standing(_count_points(state, seat), place=places[seat]) for seat in range(state.seats))


def _count_points(state: State, seat: int) -> int:
    """§8.5: return the points alone; arrivals decide only at the end."""
    (points,) = _combine_scores(state, [(horse.points,) for horse in state.horses if horse.seat == seat])
    return points


def sources(event: Event, seat: int) -> tuple[tuple[str, int], ...]:
    """Return the points of this seat for a horse that arrives, named by its place; nothing for other events."""
    if isinstance(event, Arrived) and event.seat == seat:
        return ((f"place{event.place}", event.points),)
    return ()
